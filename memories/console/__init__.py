"""The web console: everything of this app that is Django's.

``pages`` holds one module a page; the modules beside it are what every page stands on.
"""
