"""ChromaDB palaces: the drawers of MemPalace and the documents of Nexus, as turns. Read from a copy, since
opening a palace writes in it."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.items import Item, MisfitItem, Note, TurnItem
from memories.interchange.readers import values
from memories.interchange.readers.base import ForeignReader
from memories.interchange.readers.conversation import sides_of
from memories.interchange.sources import require_plain_inside
from memories.interchange.systems import CHROMA_FILE, System

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

ROWS_AT_ONCE = 500
_TIMES = ("timestamp", "filed_at", "created_at", "date")
_INDEXES = "closet"
"""MemPalace's closets are lines that point at drawers; nothing in them is said only there."""


class PalaceReader(ForeignReader):
    """Every document of every collection that holds text of its own."""

    def __init__(self, path: Path, system: System) -> None:
        self._path = path
        self._system = system
        require_plain_inside(path)

    def items(self) -> Iterator[Item]:
        with _copy_of(self._path) as copy, _client(copy) as client:
            for name in sorted(collection.name for collection in client.list_collections()):
                if _INDEXES in name:
                    yield Note("collections of pointers left out")
                    continue
                yield from self._collection(client, name)

    def _collection(self, client: ClientAPI, name: str) -> Iterator[Item]:
        collection = client.get_collection(name, embedding_function=None)
        for start in range(0, collection.count(), ROWS_AT_ONCE):
            found = collection.get(limit=ROWS_AT_ONCE, offset=start, include=["documents", "metadatas"])
            documents, metadata = found["documents"] or [], found["metadatas"] or []
            for drawer, text, about in zip(found["ids"], documents, metadata, strict=True):
                yield self._turn(f"{name} {drawer}", drawer, text, dict(about or {}))

    def _turn(self, place: str, drawer: str, text: Any, about: Mapping[str, Any]) -> Item:
        row = values.plain({"id": drawer, "document": text, **about})
        try:
            said = values.text_of(text, "document").strip()
            if not said:
                raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "document", "The drawer holds no text.")
            return TurnItem(place, _id(drawer), said, _columns(self._system, said, about))
        except MemsuiteError as error:
            return MisfitItem(place, "turn", drawer[: values.ID_MAX], error, row)


def _columns(system: System, text: str, about: Mapping[str, Any]) -> dict[str, Any]:
    correction = about.get("is_correction") in (True, 1, "true", "True")
    user, assistant = sides_of(text)
    trust = values.number(about.get("trust_score"), "trust_score", 0.0, 1.0, 1.0 if correction else 0.5)
    said_at = _time(about)
    return {
        "kind": "exchange",
        "user_text": user,
        "assistant_text": assistant,
        "wing": _label(about, "wing") or ("corrections" if correction else "general"),
        "room": _label(about, "room") or "conversations",
        "session_id": _label(about, "session_id")
        or _label(about, "source_file").removeprefix("hermes-session:"),
        "user_id": _label(about, "user_id"),
        "platform": _label(about, "platform"),
        "source": f"import:{system}",
        "trust": trust,
        "is_correction": correction,
        "occurred_at": said_at,
        "last_seen_at": said_at,
    }


def _time(about: Mapping[str, Any]) -> datetime | None:
    for name in _TIMES:
        value = about.get(name)
        if value not in (None, ""):
            return values.iso_time(value, name) if isinstance(value, str) else values.seconds(value, name)
    return None


def _label(about: Mapping[str, Any], name: str) -> str:
    return str(about.get(name) or "").strip()[: values.ID_MAX]


def _id(drawer: str) -> str:
    """The drawer's own id where ours may look like that."""
    try:
        return values.identifier(drawer)
    except MemsuiteError:
        return hashlib.sha256(drawer.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@contextmanager
def _copy_of(palace: Path) -> Iterator[Path]:
    """The palace's own database, copied as of one moment even while a writer is at work. Documents and what
    is said about them are all in it; the vectors beside it are of no use here."""
    with tempfile.TemporaryDirectory(prefix="memsuite-palace-") as folder:
        copy = Path(folder)
        source = palace / CHROMA_FILE
        try:
            address = f"{source.resolve().as_uri()}?mode=ro"
            if not source.with_name(f"{CHROMA_FILE}-wal").exists():
                # Reading in WAL mode would leave files beside it.
                address += "&immutable=1"
            with (
                closing(sqlite3.connect(address, uri=True)) as original,
                closing(sqlite3.connect(copy / CHROMA_FILE)) as made,
            ):
                original.backup(made)
        except sqlite3.Error as error:
            raise _unreadable(palace) from error
        for folder_of_vectors in palace.iterdir():
            if folder_of_vectors.is_dir():
                shutil.copytree(folder_of_vectors, copy / folder_of_vectors.name)
        yield copy


@contextmanager
def _client(palace: Path) -> Iterator[ClientAPI]:
    """Raises ``invalid_parameter`` where the reader's package is missing, or cannot read this palace."""
    try:
        import chromadb
        from chromadb.config import Settings
    except ImportError as error:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            "from",
            "Reading a palace takes the package chromadb: install hermes-memory-suite[chroma].",
        ) from error
    try:
        client = chromadb.PersistentClient(str(palace), settings=Settings(anonymized_telemetry=False))
    except Exception as error:  # its errors have no common ancestor
        raise _unreadable(palace) from error
    try:
        yield client
    finally:
        client.clear_system_cache()


def _unreadable(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER, "source", "This is no palace that can be read.", received=str(path)
    )
