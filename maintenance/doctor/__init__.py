"""The doctor: looks at everything a user can get wrong, and says how to mend it. It changes nothing unless
it is asked to (``mend``), and then only what is safe.

No Django, so that the plugin's own command line can ask as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from maintenance.doctor.configuration import examine_settings
from maintenance.doctor.findings import Finding, Report, State
from maintenance.doctor.host import examine_host
from maintenance.doctor.mending import Mended, mend
from maintenance.doctor.places import examine_places
from maintenance.doctor.upkeep import examine_upkeep
from memories.settings import Settings

__all__ = ["Finding", "Mended", "Report", "State", "examine", "mend"]


def examine(settings: Settings) -> Report:
    """Every check there is, in the order in which a person would look. Raises nothing of its own."""
    return Report(tuple(_findings(settings)))


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from examine_places(settings)
    yield from examine_settings(settings)
    yield from examine_host(settings)
    # Imported here: the engine and the model take over a second, and the plugin imports this module lightly.
    from maintenance.doctor.database import examine_database
    from maintenance.doctor.model import examine_model
    from memories.embedding import create_embedder

    embedder = create_embedder(settings)
    try:
        yield from examine_model(settings, embedder)
        yield from examine_database(settings, embedder)
        yield from examine_upkeep(settings)
    finally:
        embedder.close()
