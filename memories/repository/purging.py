"""Purging: memories erased for good, from the database, what lies beside it, and the managed backups."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.repository.backup import Backup, label_anew
from memories.repository.erasing import Erased, erase
from memories.repository.files import DatabaseFiles, flush_file
from memories.repository.store import Store
from memories.repository.traces import Traces
from memories.repository.upkeep import Maintenance
from memories.settings import Settings

Progress = Callable[[str], None]
"""Told what is being gone through: the database, then each backup by its name."""

Elsewhere = Callable[[Collection[str]], None]
"""Erases memories from what a door keeps of its own; called before the purge counts as done."""


MARKER = "purge.json"
"""Beside the tables: the ids of a purge that is under way."""


class Copies(StrEnum):
    """What becomes of the managed backups, all of which may hold the memories."""

    REWRITE = "rewrite"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """``rows`` are how many left each table of the database. ``backups`` says of each backup what
    became of it."""

    memory_ids: tuple[str, ...]
    rows: Mapping[str, int]
    spool_lines: int
    backups: Mapping[str, str]

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "purged",
            "memory_ids": list(self.memory_ids),
            "rows": {name: count for name, count in self.rows.items() if count},
            "spool_lines": self.spool_lines,
            "backups": dict(self.backups),
            "contract_version": CONTRACT_VERSION,
        }


class Purger:
    """Purges of one database. What it has begun is noted beside the tables until it is done, so that a
    kill cannot leave a half-erased memory unnoticed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._maintenance = Maintenance(settings)
        self._files = self._maintenance.files

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Ids of a purge that was killed before its end."""
        return unfinished_purge(self._files)

    def purge(
        self,
        ids: Collection[str],
        copies: Copies = Copies.REWRITE,
        *,
        elsewhere: Elsewhere | None = None,
        progress: Progress | None = None,
    ) -> PurgeResult:
        """Erase memories, stored or in the trash, and finish what an earlier purge has left.

        Raises ``memory_not_found`` (naming an id of which there is nothing), ``store_busy`` while anybody
        writes, maintains, or does not stop reading, and ``store_unavailable`` naming a backup that cannot
        be rewritten; run it again then, with the backups dropped.
        """
        tell = progress or _silent
        with self._maintenance.alone():
            wanted = tuple(dict.fromkeys([*ids, *self.unfinished]))
            self._require_known(wanted)
            self._note(wanted)
            tell("database")
            erased = erase(Store(self._files.root, fsync=self._settings.fsync), wanted)
            shutil.rmtree(self._settings.cache_dir, ignore_errors=True)
            backups = self._backups(wanted, copies, tell)
            if elsewhere is not None:
                elsewhere(wanted)
            self._marker.unlink(missing_ok=True)
        return PurgeResult(wanted, erased.rows, erased.spool_lines, backups)

    def _require_known(self, wanted: Collection[str]) -> None:
        """Nothing is begun for a mistyped id; what an earlier purge has begun may be gone already."""
        if not wanted:
            raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "ids", "A purge needs the id of a memory.")
        store = Store(self._files.root, fsync=self._settings.fsync)
        known = store.read(lambda snapshot: Traces.of(snapshot, wanted)).known
        for name in wanted:
            if name not in known and name not in self.unfinished:
                raise MemsuiteError(
                    ErrorCode.MEMORY_NOT_FOUND,
                    "ids",
                    "No memory has this id, and none in the trash.",
                    received=name,
                )

    def _backups(self, ids: Collection[str], copies: Copies, tell: Progress) -> dict[str, str]:
        done: dict[str, str] = {}
        for backup in self._maintenance.backups.list():
            tell(backup.name)
            if copies is Copies.DROP:
                self._maintenance.backups.remove(backup.name)
                done[backup.name] = "dropped"
            else:
                rewritten = self._rewritten(backup, ids)
                done[backup.name] = "rewritten" if rewritten.known else "held nothing"
        return done

    def _rewritten(self, backup: Backup, ids: Collection[str]) -> Erased:
        """A backup is a database directory too. What it holds then is checked like a new one."""
        try:
            erased = erase(Store(backup.path, fsync=self._settings.fsync), ids)
            label_anew(backup)
        except MemsuiteError as error:
            raise MemsuiteError(
                error.code,
                "backups",
                f"The backup {backup.name} could not be rewritten: {error.message} Run the purge again and "
                "have the backups dropped.",
                received=backup.name,
            ) from error
        return erased

    @property
    def _marker(self) -> Path:
        return self._files.side / MARKER

    def _note(self, ids: Collection[str]) -> None:
        self._marker.write_text(json.dumps(sorted(ids)), encoding="utf-8")
        flush_file(self._marker)


def unfinished_purge(files: DatabaseFiles) -> tuple[str, ...]:
    """Ids of a purge that was killed before its end, () where there is none."""
    try:
        found = json.loads((files.side / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    return tuple(str(name) for name in found)


def _silent(step: str) -> None:
    """Nobody watches."""
