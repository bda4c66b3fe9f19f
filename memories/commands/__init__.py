"""What the management commands share: one base class, one error shape, one way to print.

`base` needs Django; the other modules do not, so that the plugin's own command line may print with them.
"""
