"""Where Django looks for models. Memories live in LanceDB; here are the permissions on them."""

from __future__ import annotations

from memories.console.models import Memory

__all__ = ["Memory"]
