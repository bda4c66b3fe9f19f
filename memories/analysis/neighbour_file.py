"""The neighbour graph on the disk, so that a new process starts from the last one's.

A header line of JSON, then the ids, the lists and the cosines as bytes. It is a cache: whatever does not read
as it was written, or belongs to another database or model, is as good as no file.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memories.analysis.join import NEAREST, Lists
from memories.repository.snapshot import State

FORMAT = 1
_NAME = "neighbours.bin"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file holds."""

    state: State
    embedding_id: str
    ids: tuple[str, ...]
    lists: Lists


def load(folder: Path) -> Kept | None:
    """The graph in a cache folder; None where there is none that can be trusted."""
    try:
        header, _, body = (folder / _NAME).read_bytes().partition(b"\n")
        told = json.loads(header)
        if told["format"] != FORMAT or told["sha256"] != hashlib.sha256(body).hexdigest():
            return None
        return _read(told, body)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(folder: Path, kept: Kept) -> None:
    """Write the graph in one step. Where that is not possible, as in a directory that may only be read, the
    next process computes it again."""
    body = "\n".join(kept.ids).encode() + kept.lists.near.tobytes() + kept.lists.cosines.tobytes()
    told = {
        "format": FORMAT,
        "lineage": kept.state.lineage,
        "generation": kept.state.generation,
        "embedding": kept.embedding_id,
        "rows": len(kept.ids),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    unfinished = folder / f"{_NAME}.{os.getpid()}.tmp"
    try:
        if not folder.parent.is_dir():
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        unfinished.write_bytes(json.dumps(told).encode() + b"\n" + body)
        unfinished.replace(folder / _NAME)
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _read(told: dict[str, object], body: bytes) -> Kept:
    rows = int(str(told["rows"]))
    size = rows * NEAREST * 4
    split = len(body) - 2 * size
    near = np.frombuffer(body, dtype=np.int32, count=rows * NEAREST, offset=split)
    cosines = np.frombuffer(body, dtype=np.float32, count=rows * NEAREST, offset=split + size)
    ids = tuple(body[:split].decode().split("\n")) if rows else ()
    if len(ids) != rows:
        raise ValueError("ids")
    return Kept(
        State(str(told["lineage"]), int(str(told["generation"]))),
        str(told["embedding"]),
        ids,
        Lists(near.reshape(rows, NEAREST), cosines.reshape(rows, NEAREST)),
    )
