"""A source packed into a zip file: looked through whole before a byte of it is written."""

from __future__ import annotations

import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.sources import FILES_MAX

UNPACKED_MAX = 8 * 2**30
"""Bytes of all files together. A store of a million rows with vectors of 768 numbers is 4 GB."""

RATIO_MAX = 200
"""How much larger a file may become. Text shrinks to a tenth; what shrinks to less than this is made up."""

SMALL = 1 * 2**20
"""Bytes up to which the ratio does not matter: an empty table is a few hundred zeros."""

CHUNK = 1 * 2**20

_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The source itself, or what a zip file holds, in a folder that goes away afterwards.

    Raises ``invalid_parameter`` for names that lead out of the folder, mean a device, or hold a link;
    ``payload_too_large`` for a file that unpacks to more than any store. Nothing is unpacked then.
    """
    if not path.is_file() or not zipfile.is_zipfile(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="memsuite-unpacked-") as folder:
        try:
            with zipfile.ZipFile(path) as packed:
                _require_harmless(packed.infolist())
                for entry in packed.infolist():
                    if not entry.is_dir():
                        _unpack(packed, entry, Path(folder) / PurePosixPath(entry.filename))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise _refused("The zip file is damaged, or packed in a way that cannot be read.", "") from error
        yield _root(Path(folder))


def _root(folder: Path) -> Path:
    """The only thing in the folder, or the folder itself: people pack the directory or what is in it."""
    found = list(folder.iterdir())
    return found[0] if len(found) == 1 else folder


def _require_harmless(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > FILES_MAX or sum(entry.file_size for entry in entries) > UNPACKED_MAX:
        raise _too_large()
    for entry in entries:
        _require_plain_name(entry)
        if entry.flag_bits & 1:
            raise _refused("The zip file is encrypted.", entry.filename)
        if entry.file_size > SMALL and entry.file_size > RATIO_MAX * max(entry.compress_size, 1):
            raise _too_large()


def _require_plain_name(entry: zipfile.ZipInfo) -> None:
    # As it stands in the archive: the module itself would cut a name at a NUL.
    name = entry.orig_filename
    parts = name.removesuffix("/").split("/")
    mode = entry.external_attr >> 16
    linked = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
    outside = not name or name.startswith("/") or "\\" in name or ":" in name or not name.isprintable()
    if linked or outside or any(_is_no_name(part) for part in parts):
        raise _refused("A name in the zip file leads elsewhere.", name)


def _is_no_name(part: str) -> bool:
    return part in ("", ".", "..") or part.split(".")[0].rstrip().lower() in _DEVICES or len(part) > 255


def _unpack(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Never more than the entry said it was, whatever is in it."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    left = entry.file_size
    with packed.open(entry) as source, target.open("xb") as made:
        while piece := source.read(CHUNK):
            left -= len(piece)
            if left < 0:
                raise _too_large()
            made.write(piece)


def _too_large() -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        "source",
        "The zip file unpacks to more than any store is.",
        expected=UNPACKED_MAX,
    )


def _refused(message: str, received: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, "source", message, received=received)
