"""Ways to damage a database directory on disk, as accidents do."""

from __future__ import annotations

import os
from pathlib import Path

from memories.repository.head import parse_head
from memories.repository.manifest import Manifest, manifest_path


def head_version(root: Path, table: str) -> int:
    head = root / "HEAD"
    return parse_head(head.read_text(), head).tables[table]


def manifest_file(root: Path, table: str = "memories") -> Path:
    """The manifest of the version that HEAD names."""
    return manifest_path(root / f"{table}.lance", head_version(root, table))


def data_files(root: Path, table: str = "memories") -> list[Path]:
    """The data files of the version that HEAD names, in the order they were written."""
    manifest = Manifest(root / f"{table}.lance", head_version(root, table))
    return [part.path for fragment in manifest.fragments for part in fragment.files if part.size]


def cut(path: Path, size: int) -> None:
    os.truncate(path, size)


def overwrite(path: Path, position: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        file.write(content)


def flip(path: Path, position: int, length: int) -> None:
    """Turn every bit of some bytes."""
    content = path.read_bytes()[position : position + length]
    overwrite(path, position, bytes(byte ^ 0xFF for byte in content))


def listing(root: Path) -> dict[str, bytes]:
    """Every file below a directory with its content."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
