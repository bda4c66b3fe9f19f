"""What one version of a table consists of, read from the engine's own manifest.

The engine opens a table whose files are missing or cut short without a word, and its errors often
name no file. The manifest lists every file of a version with its size, so that we can. Only the few
fields of the published table format that this needs are read; nothing here is ever written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from uuid import UUID

_FOOTER = struct.Struct("<QHH4s")
"""At the end: where the manifest's message begins, the format's version, and the mark."""
_LENGTH = struct.Struct("<I")
_MARK = b"LANC"
_NEWEST_FIRST = 2**64 - 1
"""Manifests are named so that the newest version sorts first."""

# Field numbers of the format's messages.
_FRAGMENTS, _INDEX_SECTION = 2, 6
_FRAGMENT_ID, _FRAGMENT_FILES, _FRAGMENT_DELETIONS, _FRAGMENT_ROWS = 1, 2, 3, 4
_DATA_PATH, _DATA_SIZE = 1, 6
_DELETION_KIND, _DELETION_VERSION, _DELETION_ID, _DELETION_ROWS = 1, 2, 3, 4
_INDEX, _INDEX_UUID, _INDEX_NAME, _INDEX_FILES = 1, 1, 3, 10
_INDEX_FILE_PATH, _INDEX_FILE_SIZE = 1, 2
_UUID_BYTES = 1

Message = dict[int, list[int | bytes]]
"""Values by field number, in their order: integers, or the bytes of text and of inner messages."""


class ManifestError(Exception):
    """The file is not a manifest that can be read."""


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a table version; ``size`` in bytes, None where the manifest does not say."""

    path: Path
    size: int | None

    @property
    def damage(self) -> str:
        """What can be seen from outside: "" when the file is there and as long as it should be."""
        try:
            found = self.path.stat().st_size
        except FileNotFoundError:
            return "missing"
        except OSError as error:
            return error.strerror or "unreadable"
        if self.size is not None and found != self.size:
            return f"{found} bytes instead of {self.size}"
        return "" if found else "empty"


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows written together; ``rows`` counts the ``deleted`` ones too. A row's address is the
    fragment's number times 2**32 plus its place."""

    number: int
    rows: int
    deleted: int
    files: tuple[PartFile, ...]

    def addresses(self, start: int, end: int) -> range:
        return range((self.number << 32) + start, (self.number << 32) + min(end, self.rows))


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """An index as it lies on disk."""

    name: str
    folder: Path
    files: tuple[PartFile, ...]


class Manifest:
    """The files of one version of the table at ``table``. Raises ``ManifestError``."""

    def __init__(self, table: Path, version: int) -> None:
        self.table = table
        self.path = manifest_path(table, version)
        try:
            self._bytes = self.path.read_bytes()
            position, _, _, mark = _FOOTER.unpack(self._bytes[-_FOOTER.size :])
            if mark != _MARK:
                raise ManifestError(f"{self.path} is cut short or overwritten")
            self._message = _message(_block(self._bytes, position))
        except (OSError, struct.error, ValueError, IndexError) as error:
            raise ManifestError(f"{self.path} cannot be read: {error}") from error

    @cached_property
    def fragments(self) -> tuple[Fragment, ...]:
        try:
            return tuple(self._fragment(_message(value)) for value in _inner(self._message, _FRAGMENTS))
        except (ValueError, IndexError, TypeError) as error:
            raise ManifestError(f"{self.path} cannot be read: {error}") from error

    @cached_property
    def indexes(self) -> tuple[IndexFiles, ...]:
        try:
            sections = self._message.get(_INDEX_SECTION, [])
            found = [_message(_block(self._bytes, int(position))) for position in sections]
            return tuple(self._index(_message(value)) for part in found for value in _inner(part, _INDEX))
        except (struct.error, ValueError, IndexError, TypeError) as error:
            raise ManifestError(f"{self.path} cannot be read: {error}") from error

    def files(self) -> Iterator[PartFile]:
        """Every file of this version but the manifest itself."""
        for fragment in self.fragments:
            yield from fragment.files
        for index in self.indexes:
            yield from index.files

    def _fragment(self, message: Message) -> Fragment:
        number = _number(message, _FRAGMENT_ID)
        files = [_message(value) for value in _inner(message, _FRAGMENT_FILES)]
        parts = [
            PartFile(self.table / "data" / _text(file, _DATA_PATH), _number(file, _DATA_SIZE) or None)
            for file in files
        ]
        deletions = [_message(value) for value in _inner(message, _FRAGMENT_DELETIONS)]
        parts.extend(PartFile(self._deletion_path(number, deletion), None) for deletion in deletions)
        deleted = sum(_number(deletion, _DELETION_ROWS) for deletion in deletions)
        return Fragment(number, _number(message, _FRAGMENT_ROWS), deleted, tuple(parts))

    def _deletion_path(self, fragment: int, message: Message) -> Path:
        name = f"{fragment}-{_number(message, _DELETION_VERSION)}-{_number(message, _DELETION_ID)}"
        kind = "bin" if _number(message, _DELETION_KIND) else "arrow"
        return self.table / "_deletions" / f"{name}.{kind}"

    def _index(self, message: Message) -> IndexFiles:
        identifier = _message(_inner(message, _INDEX_UUID)[0])
        folder = self.table / "_indices" / str(UUID(bytes=_inner(identifier, _UUID_BYTES)[0]))
        files = [_message(value) for value in _inner(message, _INDEX_FILES)]
        parts = tuple(
            PartFile(folder / _text(file, _INDEX_FILE_PATH), _number(file, _INDEX_FILE_SIZE) or None)
            for file in files
        )
        return IndexFiles(_text(message, _INDEX_NAME), folder, parts)


def manifest_path(table: Path, version: int) -> Path:
    """Where the manifest of a version lies, in either of the engine's two ways to name it."""
    older = table / "_versions" / f"{version}.manifest"
    newer = table / "_versions" / f"{_NEWEST_FIRST - version:020}.manifest"
    return older if older.exists() and not newer.exists() else newer


def manifest_damage(path: Path) -> str:
    """ "" when a manifest ends as it should; cheap enough for every write."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - len(_MARK), 0))
            mark = file.read()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if mark == _MARK else "is cut short or overwritten"


def newest_version(table: Path) -> int | None:
    """The newest version with a manifest by the newer way to name it; None without any."""
    names = (path.stem for path in (table / "_versions").glob("*.manifest"))
    numbers = [_NEWEST_FIRST - int(name) for name in names if name.isdigit() and len(name) == 20]
    return max(numbers, default=None)


def versions_made(table: Path) -> dict[int, float]:
    """The versions that are kept, each with the time (seconds since the epoch) it was written."""
    made: dict[int, float] = {}
    for path in (table / "_versions").glob("*.manifest"):
        if path.stem.isdigit() and len(path.stem) == 20:
            with suppress(FileNotFoundError):  # removed since it was listed
                made[_NEWEST_FIRST - int(path.stem)] = path.stat().st_mtime
    return made


def damaged_files(tables: Mapping[Path, int]) -> list[tuple[Path, str]]:
    """The files of some table versions that are missing or of another size, and in what way."""
    found: list[tuple[Path, str]] = []
    for table, version in tables.items():
        try:
            parts = list(Manifest(table, version).files())
        except ManifestError:
            path = manifest_path(table, version)
            found.append((path, manifest_damage(path) or "cannot be understood"))
            continue
        found.extend((part.path, damage) for part in parts if (damage := part.damage))
    return found


def _block(content: bytes, position: int) -> bytes:
    """A message with its length before it."""
    (length,) = _LENGTH.unpack_from(content, position)
    start = position + _LENGTH.size
    if start + length > len(content):
        raise ValueError("a message is longer than the file")
    return content[start : start + length]


def _message(content: bytes) -> Message:
    """The fields of a protobuf message."""
    message: Message = {}
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        value: int | bytes
        match key & 7:
            case 0:
                value, place = _varint(content, place)
            case 1:
                value, place = content[place : place + 8], place + 8
            case 2:
                length, place = _varint(content, place)
                value, place = content[place : place + length], place + length
            case 5:
                value, place = content[place : place + 4], place + 4
            case kind:
                raise ValueError(f"a field of kind {kind}")
        message.setdefault(key >> 3, []).append(value)
    return message


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _inner(message: Message, field: int) -> list[bytes]:
    return [bytes(value) for value in message.get(field, []) if isinstance(value, bytes)]


def _number(message: Message, field: int) -> int:
    """A number, 0 where it is left out, as the format has it."""
    values = message.get(field, [0])
    return int(values[-1]) if isinstance(values[-1], int) else 0


def _text(message: Message, field: int) -> str:
    values = _inner(message, field)
    return values[-1].decode() if values else ""
