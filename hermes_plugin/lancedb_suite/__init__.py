"""lancedb-suite, a MemoryProvider for Hermes Agent: the thin folder that finds the installed package.

Hermes takes a folder for a memory provider when the first characters of this file name
MemoryProvider. The work is done in `hermes_plugin.provider`; an update of Hermes can rebuild its
environment and lose that package, and then a small stand-in says which command brings it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.memory_provider import MemoryProvider

from .missing_package import MissingPackageProvider

if TYPE_CHECKING:
    from hermes_plugin.provider import SuiteProvider as _Implementation
else:
    try:
        from hermes_plugin.provider import SuiteProvider as _Implementation
    except ImportError as _reason:
        _Implementation = MissingPackageProvider.because(_reason)


class LanceDBSuiteProvider(_Implementation, MemoryProvider):  # type: ignore[misc]
    """The provider as Hermes registers it: the package's, or the stand-in for it."""


def register(ctx: Any) -> None:
    """Register one provider with a context that takes memory providers.

    The general plugin manager offers a context that does not, and a newer host may find this both
    as a folder and as an entry point: in both cases nothing is registered a second time.
    """
    add = getattr(ctx, "register_memory_provider", None)
    if add is None:
        return
    present = getattr(getattr(ctx, "provider", None), "name", None)
    if present != "lancedb-suite":
        add(LanceDBSuiteProvider())
