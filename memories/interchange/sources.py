"""Opening what a person names as a source: a plain file or a directory, and nothing that only looks so."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from memories.contract import ErrorCode, MemsuiteError

FILES_MAX = 100_000
"""Files of one directory source. A store of a million rows that nobody compacts has fewer."""


def source_at(text: str) -> Path:
    """The path a person gave. Raises ``invalid_parameter`` where nothing is there, or something else than a
    plain file or a directory (a device, a pipe, a socket)."""
    try:
        path = Path(text).expanduser()
        mode = path.stat().st_mode
    except (OSError, ValueError, RuntimeError) as error:
        raise _refused("There is nothing that can be read here.", text) from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _refused("A source is a file or a directory.", text)
    return path


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A plain file to read. Raises ``invalid_parameter`` for anything else."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise _refused(f"It cannot be read ({error.strerror}).", str(path)) from error


def require_plain_inside(folder: Path) -> None:
    """Raises ``invalid_parameter`` where a directory holds anything but files and directories: a link in
    it could lead the reader anywhere."""
    seen = 0
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            seen += 1
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                waiting.append(path)
            elif not stat.S_ISREG(mode):
                raise _refused("The directory holds a link or a device.", str(path))
            if seen > FILES_MAX:
                raise MemsuiteError(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "source",
                    "The directory holds more files than any store.",
                    expected=FILES_MAX,
                )


def signature(path: Path) -> str:
    """Changes when the source does: the names, sizes and times of its files."""
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape"))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and not file.name.endswith(("-shm", ".lock")):
            found = file.stat()
            digest.update(
                f"{file}\0{found.st_size}\0{found.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
            )
    return digest.hexdigest()


def _refused(message: str, received: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, "source", message, received=received)
