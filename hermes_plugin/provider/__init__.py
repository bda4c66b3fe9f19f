"""The memory provider behind the plugin folder, importable without Hermes and without LanceDB.

Only light modules load here: LanceDB and the embedding model are imported on the warm-up thread,
because importing them takes over a second and the host waits for `initialize`.
"""

from __future__ import annotations

from .identity import PROVIDER_NAME, TOOL_NAMES
from .provider import SuiteProvider

__all__ = ["PROVIDER_NAME", "TOOL_NAMES", "SuiteProvider"]
