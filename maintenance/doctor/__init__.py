"""The doctor: looks at everything a user can get wrong, changes nothing, and says how to mend it.

No Django, so that the plugin's own command line can ask as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from maintenance.doctor.configuration import examine_settings
from maintenance.doctor.findings import Finding, Report, State
from maintenance.doctor.host import examine_host
from maintenance.doctor.places import examine_places
from memories.settings import Settings

__all__ = ["Finding", "Report", "State", "examine"]


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
    finally:
        embedder.close()
