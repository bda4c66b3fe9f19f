"""Checks of the directories: are they there, whose are they, on what ground, with how much room."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from maintenance.doctor.filesystem import ground_of
from maintenance.doctor.findings import Finding, good, note, problem
from memories.settings import Settings

# Compaction and backups each write a copy beside what is there (spec 07), and the engine needs scratch room
# for the fragment it rewrites; below this many free bytes a small database is short of room as well.
SCRATCH_BYTES = 256 * 1024 * 1024


def examine_places(settings: Settings) -> Iterator[Finding]:
    """Home, database place, permissions, file system and room, in that order."""
    yield from _home(settings)
    yield from _database_place(settings)
    yield from _permissions(settings)
    yield from _file_system(settings)
    yield from _room(settings)


def _home(settings: Settings) -> Iterator[Finding]:
    home = settings.hermes_home
    source = settings.sources.get("hermes_home", "default")
    if home.is_dir():
        yield good("hermes_home", f"Hermes home is {home} (from {source}).", path=str(home), source=source)
    else:
        yield problem(
            "hermes_home",
            f"The Hermes home {home} (from {source}) does not exist.",
            "Start Hermes once, or name the right directory with --hermes-home or HERMES_HOME.",
            path=str(home),
            source=source,
        )


def _database_place(settings: Settings) -> Iterator[Finding]:
    path, source = settings.db_path, settings.sources.get("db_path", "default")
    if path.exists() and not path.is_dir():
        yield problem(
            "db_path",
            f"The database path {path} (from {source}) is a file, not a directory.",
            "Point db_path at a directory.",
            path=str(path),
        )
        return
    yield good("db_path", f"The database is at {path} (from {source}).", path=str(path), source=source)
    nearest = _nearest_existing(path)
    if not os.access(nearest, os.W_OK | os.X_OK):
        yield problem(
            "writable",
            f"{nearest} cannot be written by this user: reading works, every write answers store_read_only.",
            f"Make it yours: sudo chown -R $(id -un) '{nearest}'",
            path=str(nearest),
        )
    if not path.resolve().is_relative_to(settings.hermes_home.resolve()):
        yield note(
            "outside_home",
            "The database lies outside the Hermes home; 'hermes backup' takes it along only when it is below "
            "your home directory.",
            path=str(path),
        )


def _permissions(settings: Settings) -> Iterator[Finding]:
    if os.name != "posix":
        return
    open_directories = [
        path
        for path in (settings.db_path, settings.suite_dir, settings.backups_dir)
        if path.is_dir() and _others_may(path)
    ]
    for path in open_directories:
        yield note(
            "permissions",
            f"{path} can be read by other users of this machine ({_mode(path)}).",
            f"chmod 700 '{path}'",
            path=str(path),
        )
    secret = settings.secret_file
    exposed = secret.is_file() and _others_may(secret)
    if exposed:
        yield problem(
            "permissions",
            f"The secret file {secret} can be read by other users ({_mode(secret)}).",
            f"chmod 600 '{secret}'",
            path=str(secret),
        )
    if not open_directories and not exposed:
        yield good("permissions", "What is stored is closed to other users.")


def _file_system(settings: Settings) -> Iterator[Finding]:
    ground = ground_of(settings.db_path)
    if ground.trusted:
        kind = ground.kind or "an unnamed type"
        yield good(
            "file_system", f"Locks and renames can be trusted on this file system ({kind}).", kind=ground.kind
        )
        return
    what = f"a folder synced by {ground.synced_by}" if ground.synced_by else f"a {ground.kind} file system"
    yield problem(
        "file_system",
        f"The database lies on {what}, where locks and renames cannot be trusted: two writers could harm it.",
        "Move it to a local disk and set db_path; keep copies there with backups instead.",
        kind=ground.kind,
        synced_by=ground.synced_by,
    )


def _room(settings: Settings) -> Iterator[Finding]:
    size = _bytes_below(settings.db_path)
    free = shutil.disk_usage(_nearest_existing(settings.db_path)).free
    needed = size + SCRATCH_BYTES
    details = {"free_bytes": free, "database_bytes": size, "needed_bytes": needed}
    if free >= needed:
        yield good("disk_space", f"{_size(free)} free, the database takes {_size(size)}.", **details)
        return
    yield problem(
        "disk_space",
        f"Only {_size(free)} free; compaction and backups need {_size(needed)}.",
        "Free some space, or move the database to a larger disk and set db_path.",
        **details,
    )


def _nearest_existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _others_may(path: Path) -> bool:
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


def _bytes_below(path: Path) -> int:
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except FileNotFoundError:
                continue  # a writer compacted meanwhile
    return total


def _size(size: int) -> str:
    kib = size / 1024
    return f"{kib:,.0f} KiB" if kib < 1024 else f"{kib / 1024:,.0f} MiB"
