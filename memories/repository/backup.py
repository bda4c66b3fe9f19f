"""Backups: one state of the database copied aside whole, and checked before it counts as one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.repository.backup_check import Check, check
from memories.repository.contents import contents_of, plain
from memories.repository.engine import as_ours, unavailable
from memories.repository.files import DatabaseFiles, flush_all, flush_directory
from memories.repository.head import write_head
from memories.repository.health import bytes_below
from memories.repository.manifest import Manifest, ManifestError
from memories.repository.snapshot import Snapshot
from memories.settings import private_directory

PREFIX = "lancedb-"
PRE_COMPACT, MANUAL, PRE_PURGE = "pre-compact", "manual", "pre-purge"
REPLACED = "replaced"
"""A state that a restore has put aside: the directory as it was, whole and unchecked."""

KINDS = (PRE_COMPACT, MANUAL, PRE_PURGE, REPLACED)

KEPT = 2
"""Verified backups that are kept of each kind: the newest ones."""

SCRATCH = 64 * 2**20
"""Bytes that must stay free beside what is written."""

LABEL = "BACKUP.json"
UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True)
class Backup:
    """A managed backup. ``created_at`` is the moment its state was taken, ``generation`` that of its
    HEAD; ``verified_at`` is None for one that a restore has put aside."""

    name: str
    path: Path
    kind: str
    created_at: datetime
    verified_at: datetime | None
    generation: int
    memories: int
    size: int

    @property
    def verified(self) -> bool:
        return self.verified_at is not None

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": str(self.path),
            "kind": self.kind,
            "created_at": self.created_at.isoformat(timespec="seconds"),
            "age_seconds": max(0, round((datetime.now(UTC) - self.created_at).total_seconds())),
            "verified": self.verified,
            "verified_at": self.verified_at.isoformat(timespec="seconds") if self.verified_at else None,
            "generation": self.generation,
            "memories": self.memories,
            "bytes": self.size,
        }

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "backed_up",
            "backup": self.as_dict(),
            "contract_version": CONTRACT_VERSION,
        }


class Backups:
    """The managed backups of one database. Whoever makes one holds off maintenance meanwhile, which
    alone removes files; writers may go on."""

    def __init__(self, files: DatabaseFiles, folder: Path) -> None:
        self._files = files
        self.folder = folder

    def list(self) -> list[Backup]:
        """Newest first. What was left unfinished is none."""
        if not self.folder.is_dir():
            return []
        found = (_read(path) for path in self.folder.glob(f"{PREFIX}*") if path.is_dir())
        named = [backup for backup in found if backup is not None]
        return sorted(named, key=lambda backup: (backup.created_at, backup.name), reverse=True)

    def get(self, name: str) -> Backup:
        """Raises ``not_found``."""
        found = next((backup for backup in self.list() if backup.name == name), None)
        if found is None:
            raise MemsuiteError(
                ErrorCode.NOT_FOUND,
                "name",
                "There is no backup of this name.",
                received=name,
                expected=[backup.name for backup in self.list()],
            )
        return found

    def require_room(self, needed: int) -> None:
        """Raises ``disk_full`` where a copy of so many bytes would not leave enough."""
        self._prepare()
        require_room(self.folder, needed)

    def make(self, snapshot: Snapshot, kind: str) -> Backup:
        """Copy the state of a snapshot, and check the copy in a fresh process.

        Raises ``disk_full``, ``store_read_only`` (the backup directory cannot be written) and
        ``store_unavailable`` when the copy is not what it should be; no backup is left then.
        """
        self._prepare()
        self._drop_unfinished()
        taken = datetime.now(UTC)
        name = self._free_name(kind, taken)
        target = self.folder / f"{name}{UNFINISHED}"
        try:
            self._copy(snapshot, target)
            self._label(snapshot, target, kind, taken)
            require_equal(check(target), json.loads((target / LABEL).read_text(encoding="utf-8"))["contents"])
            _note_verified(target)
            flush_all(path for path in target.rglob("*") if path.is_file())
            target.replace(self.folder / name)
            flush_directory(self.folder)
        except BaseException as error:
            shutil.rmtree(target, ignore_errors=True)
            if isinstance(error, OSError):
                raise as_ours(error, self.folder) from error
            raise
        self._thin(kind)
        return self.get(name)

    def take_in(self, directory: Path, generation: int, memories: int) -> Path:
        """Move a replaced database directory among the backups; returns where it is now."""
        self._prepare()
        taken = datetime.now(UTC)
        target = self.folder / self._free_name(REPLACED, taken)
        shutil.move(directory, target)
        write_label(
            target,
            {
                "kind": REPLACED,
                "created_at": taken.isoformat(),
                "verified_at": None,
                "generation": generation,
                "memories": memories,
                "contents": {},
            },
        )
        self._thin(REPLACED)
        return target

    def remove(self, name: str) -> None:
        """Delete a backup for good. Raises ``not_found``."""
        shutil.rmtree(self.get(name).path)

    def _prepare(self) -> None:
        try:
            private_directory(self.folder)
        except OSError as error:
            raise as_ours(error, self.folder) from error

    def _drop_unfinished(self) -> None:
        for leftover in self.folder.glob(f"{PREFIX}*{UNFINISHED}"):
            shutil.rmtree(leftover, ignore_errors=True)

    def _free_name(self, kind: str, at: datetime) -> str:
        """As the older suite named them; a second one within a second gets a number."""
        name = f"{PREFIX}{kind}-{at:%Y%m%d-%H%M%S}"
        others = (f"{name}-{number}" for number in range(2, 100))
        return next(free for free in (name, *others) if not (self.folder / free).exists())

    def _copy(self, snapshot: Snapshot, target: Path) -> None:
        """The files of just this state: a table opens without the versions before it."""
        for path in _files_of(self._files, snapshot):
            copied = target / path.relative_to(self._files.root)
            copied.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
        copied_files = DatabaseFiles(target)
        copied_files.create()
        write_head(copied_files.head, replace(snapshot.head, previous={}), fsync=True)
        _copy_usage(self._files.usage, copied_files.usage)

    @staticmethod
    def _label(snapshot: Snapshot, target: Path, kind: str, taken: datetime) -> None:
        label = {
            "kind": kind,
            "created_at": taken.isoformat(),
            "verified_at": None,
            "generation": snapshot.head.generation,
            "contents": plain(contents_of(snapshot)),
        }
        write_label(target, label)

    def _thin(self, kind: str) -> None:
        """Remove all but the newest of a kind."""
        mine = [backup for backup in self.list() if backup.kind == kind]
        for backup in mine[KEPT:]:
            shutil.rmtree(backup.path, ignore_errors=True)


def require_room(folder: Path, needed: int) -> None:
    """Raises ``disk_full`` where so many bytes more would leave too little."""
    free = shutil.disk_usage(folder).free
    if free < needed + SCRATCH:
        raise MemsuiteError(
            ErrorCode.DISK_FULL,
            "disk",
            f"{free:,} bytes are free at {folder}, {needed + SCRATCH:,} are needed. Nothing was changed.",
            received=free,
            expected=needed + SCRATCH,
        )


def require_equal(found: Check, contents: dict[str, dict[str, Any]]) -> None:
    """Raises ``store_unavailable`` unless a directory holds just these contents, each row as written."""
    if not found.sound:
        raise _unequal("; ".join(found.problems[:3]))
    differing = sorted(
        name for name in contents.keys() | found.contents if contents.get(name) != found.contents.get(name)
    )
    if differing:
        raise _unequal(f"other rows than it should hold in {', '.join(differing)}")


def contents_of_backup(backup: Backup) -> dict[str, dict[str, Any]]:
    """What a backup held when it was made; nothing for a state that a restore put aside."""
    found: dict[str, dict[str, Any]] = _labelled(backup.path)["contents"]
    return found


def label_anew(backup: Backup) -> None:
    """Check a backup whose contents were changed on purpose, and say what it holds now. Raises
    ``store_unavailable`` when it is not whole; it counts as unverified then."""
    files = DatabaseFiles(backup.path)
    for left in (files.write_lock, files.readers_lock, files.heads):
        left.unlink(missing_ok=True)
    label = _labelled(backup.path) | {"verified_at": None}
    write_label(backup.path, label)
    found = check(backup.path)
    if not found.sound:
        raise _unequal("; ".join(found.problems[:3]))
    verified = datetime.now(UTC).isoformat() if backup.verified else None
    write_label(
        backup.path,
        label | {"contents": found.contents, "generation": found.generation, "verified_at": verified},
    )


def write_label(target: Path, label: dict[str, Any]) -> None:
    temporary = target / f"{LABEL}.{os.getpid()}.tmp"
    temporary.write_text(json.dumps(label), encoding="utf-8")
    temporary.replace(target / LABEL)


def _unequal(reason: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE, "backup", f"The copy did not prove to be whole: {reason}.", received=""
    )


def _files_of(files: DatabaseFiles, snapshot: Snapshot) -> Iterator[Path]:
    """Every file a state is made of. Raises ``store_unavailable`` where one cannot be told."""
    for name, version in snapshot.head.tables.items():
        try:
            manifest = Manifest(files.table(name), version)
            parts = [part.path for part in manifest.files()]
        except ManifestError as error:
            raise unavailable(files.table(name), str(error)) from error
        yield manifest.path
        yield from parts


def _copy_usage(source: Path, target: Path) -> None:
    """The counts of use, by SQLite's own copying, which waits for nobody's transaction to be half done.
    Counts that cannot be read are no reason to have no backup."""
    if not source.is_file():
        return
    try:
        with (
            closing(sqlite3.connect(source, timeout=5)) as reading,
            closing(sqlite3.connect(target)) as writing,
        ):
            reading.backup(writing)
    except sqlite3.Error:
        target.unlink(missing_ok=True)


def _note_verified(target: Path) -> None:
    write_label(target, _labelled(target) | {"verified_at": datetime.now(UTC).isoformat()})


def _labelled(path: Path) -> dict[str, Any]:
    label: dict[str, Any] = json.loads((path / LABEL).read_text(encoding="utf-8"))
    return label


def _read(path: Path) -> Backup | None:
    """A backup by its label; None for a directory that is none of ours."""
    if path.name.endswith(UNFINISHED):
        return None
    try:
        label = _labelled(path)
        verified = label["verified_at"]
        return Backup(
            name=path.name,
            path=path,
            kind=str(label["kind"]),
            created_at=datetime.fromisoformat(label["created_at"]),
            verified_at=datetime.fromisoformat(verified) if verified else None,
            generation=int(label["generation"]),
            memories=int(label["contents"].get("memories", {}).get("rows", label.get("memories", 0))),
            size=bytes_below(path),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
