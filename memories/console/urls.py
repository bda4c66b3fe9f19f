"""The console's addresses: those of every page module."""

from __future__ import annotations

from memories.console.navigation import page_patterns

app_name = "console"
urlpatterns = list(page_patterns())
