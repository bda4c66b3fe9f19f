"""Bringing a backup back in place of the database, whatever state that is in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memories.contract import CONTRACT_VERSION, MemsuiteError
from memories.repository import schema
from memories.repository.backup import (
    LABEL,
    Backup,
    Backups,
    contents_of_backup,
    require_equal,
    require_room,
)
from memories.repository.backup_check import check
from memories.repository.engine import as_ours, unavailable
from memories.repository.exchange import exchange
from memories.repository.files import DatabaseFiles, flush_all
from memories.repository.head import parse_head, read_line, write_head
from memories.repository.ids import new_id
from memories.repository.locks import ReadersLock, WriteLock
from memories.repository.manifest import Manifest, ManifestError
from memories.repository.purging import MARKER
from memories.repository.upkeep.journal import journal_path
from memories.settings import Settings

READERS_WAIT = 10.0
"""Seconds to wait for readers to leave. Writers are not waited for: one at work refuses a restore."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RestoreBackupResult:
    """``aside`` is where the replaced state is kept, None where there was none."""

    backup: Backup
    aside: Path | None

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "restored",
            "backup": self.backup.as_dict(),
            "aside": str(self.aside) if self.aside else "",
            "contract_version": CONTRACT_VERSION,
        }


class BackupRestorer:
    """Restores into one database directory."""

    def __init__(self, settings: Settings) -> None:
        # Where the path is a link, what it leads to is replaced.
        self._files = DatabaseFiles(settings.db_path.resolve())
        self._backups = Backups(self._files, settings.backups_dir)

    def restore(self, name: str, progress: Progress | None = None) -> RestoreBackupResult:
        """Verified before and after; the replaced state goes among the backups, untouched.

        Raises ``not_found``, ``store_busy`` while anybody writes or maintains, ``disk_full``, and
        ``store_unavailable`` where the backup, or what was brought back from it, is not whole: the
        database is then as it was.
        """
        tell = progress or _silent
        backup = self._backups.get(name)
        try:
            tell("verify")
            self._verify(backup, backup.path)
            existed = self._files.root.is_dir() and any(self._files.root.iterdir())
            self._files.create()
            with self._alone():
                tell("copy")
                prepared = self._prepare(backup)
                tell("exchange")
                self._put_in_place(backup, prepared)
                aside = self._set_aside(prepared) if existed else None
        except OSError as error:
            raise as_ours(error, self._files.root) from error
        return RestoreBackupResult(backup, aside)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No maintenance, no writer, no reader."""
        with (
            WriteLock(self._files.side / "maintenance.lock").held(0.0),
            WriteLock(self._files.write_lock).held(0.0),
            ReadersLock(self._files.readers_lock).alone(READERS_WAIT),
        ):
            yield

    @staticmethod
    def _verify(backup: Backup, directory: Path) -> None:
        found = check(directory)
        # Of a state that a restore had put aside nothing is known but what it says of itself.
        require_equal(found, contents_of_backup(backup) if backup.verified else found.contents)

    def _prepare(self, backup: Backup) -> Path:
        """The backup as a database directory beside the one it will replace."""
        require_room(self._files.root.parent, backup.size)
        prepared = self._files.root.with_name(f"{self._files.root.name}.restoring")
        shutil.rmtree(prepared, ignore_errors=True)
        locks = (self._files.write_lock.name, self._files.readers_lock.name, "maintenance.lock")
        shutil.copytree(backup.path, prepared, ignore=shutil.ignore_patterns(LABEL, *locks, "heads"))
        files = DatabaseFiles(prepared)
        files.create()
        self._share_locks(files)
        line = read_line(files.head)
        if line is None:
            raise unavailable(files.head, f"{files.head} is missing.")
        # A history of its own: a cache must not take its numbers for those of the replaced one.
        head = parse_head(line, files.head)
        write_head(files.head, replace(head, lineage=new_id(), place=files.place), fsync=True)
        self._keep_beside(files)
        flush_all(path for path in prepared.rglob("*") if path.is_file())
        return prepared

    def _share_locks(self, files: DatabaseFiles) -> None:
        """The same lock files under both names: who waits for the lock while the directories change
        places then waits for the same lock as everybody after."""
        for mine, theirs in (
            (self._files.write_lock, files.write_lock),
            (self._files.readers_lock, files.readers_lock),
            (self._files.side / "maintenance.lock", files.side / "maintenance.lock"),
        ):
            if mine.exists():
                os.link(mine, theirs)

    def _keep_beside(self, files: DatabaseFiles) -> None:
        """What is no part of the state that is replaced: turns that wait to be filed, how maintenance has
        fared, and a purge that is not finished, which the backup may have to go through as well."""
        spool = self._files.side / "spool"
        if spool.is_dir() and not (files.side / "spool").exists():
            shutil.copytree(spool, files.side / "spool")
        for path in (journal_path(self._files), self._files.side / MARKER):
            if path.is_file():
                shutil.copyfile(path, files.side / path.name)

    def _put_in_place(self, backup: Backup, prepared: Path) -> None:
        """Afterwards ``prepared`` is the name of the replaced directory."""
        exchange(self._files.root, prepared)
        try:
            self._verify(backup, self._files.root)
        except BaseException:
            exchange(self._files.root, prepared)
            shutil.rmtree(prepared, ignore_errors=True)
            raise

    def _set_aside(self, replaced: Path) -> Path:
        """Among the backups, or beside the database where those cannot take it."""
        old = DatabaseFiles(replaced)
        for lock in (old.write_lock, old.readers_lock, old.side / "maintenance.lock"):
            lock.unlink(missing_ok=True)
        try:
            return self._backups.take_in(replaced, *_counted(old))
        except (OSError, MemsuiteError):
            beside = replaced.with_name(f"{self._files.root.name}.replaced-{os.getpid()}")
            return replaced.rename(beside) if replaced.exists() else beside


def _counted(files: DatabaseFiles) -> tuple[int, int]:
    """Generation and memories of a state put aside, by HEAD and the manifest; 0 where they cannot be read."""
    try:
        line = read_line(files.head)
        if line is None:
            return 0, 0
        head = parse_head(line, files.head)
        manifest = Manifest(files.table(schema.MEMORIES), head.tables.get(schema.MEMORIES, 0))
        rows = sum(fragment.rows - fragment.deleted for fragment in manifest.fragments)
    except (MemsuiteError, ManifestError):
        return 0, 0
    return head.generation, rows


def _silent(step: str) -> None:
    """Nobody watches."""
