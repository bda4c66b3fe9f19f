"""Where a benchmark works: never on a database that anybody uses."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memories.settings import Settings, load_settings


@contextmanager
def workspace(directory: Path | None = None) -> Iterator[Path]:
    """An empty directory made for one run, inside ``directory`` or the system's place for such, and
    removed at the end whatever happens."""
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="memsuite-bench-", dir=directory))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def settings_in(directory: Path, *, fsync: bool = True) -> Settings:
    """Settings whose every path lies in ``directory``, whatever the environment says."""
    environ = {"MEMSUITE_FSYNC": "on" if fsync else "off"}
    return load_settings(hermes_home=directory / "home", db_path=directory / "db", environ=environ)


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a database takes on the disk: bytes and number of its files, and how many table versions
    there are altogether."""

    bytes: int
    files: int
    versions: int

    def since(self, earlier: Footprint) -> Footprint:
        return Footprint(
            self.bytes - earlier.bytes, self.files - earlier.files, self.versions - earlier.versions
        )


def footprint(path: Path) -> Footprint:
    """The footprint of a directory. Sizes are those of the files, not of the blocks they take."""
    sizes = {file: file.stat().st_size for file in path.rglob("*") if file.is_file()}
    versions = sum(file.parent.name == "_versions" for file in sizes)
    return Footprint(sum(sizes.values()), len(sizes), versions)
