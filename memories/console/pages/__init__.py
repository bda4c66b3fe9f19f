"""One module a page. Each names its ``urlpatterns`` and, for a place in the rail, registers a ``Page``."""
