"""What the two commands about the form of memories share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memories.commands.base import SuiteCommand
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.interchange.formats import FormatRow


class FormatCommand(SuiteCommand):
    """Reads the database at the path, whichever suite it is of."""

    def rows(self, settings: Settings) -> list[FormatRow]:
        # Imported here because they bring the engine along, which `--help` need not wait for.
        from memories.interchange.formats import older_formats, own_formats
        from memories.repository.foreign import is_older_suite

        if is_older_suite(settings.db_path):
            return list(older_formats(settings.db_path))
        with self.repository(settings, create=False) as repository:
            return list(own_formats(repository))

    def counted(self, rows: Sequence[FormatRow]) -> dict[str, int]:
        from memories.interchange.formats import counts

        return counts(rows)

    def headline(self, counts: Mapping[str, int]) -> str:
        listed = ", ".join(f"{count:,} {plan.replace('_', ' ')}" for plan, count in counts.items())
        return f"{sum(counts.values()):,} memories: {listed}."
