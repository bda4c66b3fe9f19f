"""What is put right under the write lock without losing anything: leftovers beyond HEAD that the
engine trips over, and indexes whose files are damaged, which the rows can always make anew."""

from __future__ import annotations

from pathlib import Path

from memories.repository.engine import unavailable
from memories.repository.files import DatabaseFiles
from memories.repository.head import Head
from memories.repository.manifest import Manifest, ManifestError, manifest_damage, manifest_path

TORN = ".torn"
"""Added to the name of a manifest set aside; the engine looks only at names it knows."""


def require_versions(files: DatabaseFiles, head: Head) -> None:
    """Raises ``store_unavailable``, naming the file, when a version HEAD names has no whole manifest:
    what is left then is another state, which must be neither read nor built upon."""
    for name, version in head.tables.items():
        path = manifest_path(files.table(name), version)
        if damage := manifest_damage(path):
            raise unavailable(path, f"{path} {damage}; HEAD names version {version} of {name}.")


def torn_beyond(files: DatabaseFiles, head: Head) -> list[Path]:
    """Manifests past HEAD that are not whole. A power cut can leave one, and the engine, which looks
    at the newest first, then opens no version at all."""
    found: list[Path] = []
    for name, version in head.tables.items():
        later = manifest_path(files.table(name), version + 1)
        while later.exists():
            if manifest_damage(later):
                found.append(later)
            version += 1
            later = manifest_path(files.table(name), version + 1)
    return found


def set_aside(paths: list[Path]) -> None:
    """Rename what HEAD does not count, so that the engine no longer sees it."""
    for path in paths:
        path.replace(path.with_name(path.name + TORN))


def damaged_indexes(table: Path, version: int) -> list[str]:
    """Names of the indexes of a table version of which a file is missing or of another size."""
    try:
        indexes = Manifest(table, version).indexes
    except ManifestError:
        return []
    return [
        index.name
        for index in indexes
        if not index.folder.is_dir() or any(part.damage for part in index.files)
    ]
