"""The map of all memories at one state: a layout kept on the disk, and a place for each memory that is there.

The file is a cache: what does not read as it was written, or belongs to another model, is as good as none.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from memories.analysis.projection import (
    Layout,
    Matrix,
    Progress,
    chosen_to_fit,
    placed,
    principal_components,
    umap_layout,
)
from memories.repository import MemoryRepository
from memories.repository.vectors import VectorRows

MOST_POINTS = 50_000
"""More are shown as an even sample, which the page says: a screen has about as many places to tell apart."""

_FORMAT = 1
_NAME = "layout.npz"
_UNIT = 1e-3


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Where memories stand. ``ids`` ascending, ``xy`` float32 of shape (n, 2) about within -1 to 1.

    ``total`` counts the memories with a usable vector, of which ``ids`` may be a sample; ``unusable`` those
    without; ``by_neighbours`` how many of the shown were placed after the layout was made.
    """

    method: str
    ids: tuple[str, ...]
    xy: Matrix
    total: int
    unusable: int
    by_neighbours: int

    @property
    def is_sample(self) -> bool:
        return len(self.ids) < self.total


def memory_map(repository: MemoryRepository, most: int = MOST_POINTS) -> MemoryMap:
    """The map of the newest state: the kept layout with newer memories placed by their neighbours, or the
    principal components while there is none. Changes nothing. Raises what reading may raise."""
    identity, vectors = repository.read(lambda state: (state.embedding_id, state.all_vectors()))
    every = _usable(vectors)
    ids = [every[at] for at in chosen_to_fit(every, most)]
    unusable = len(vectors.position) - len(every)
    kept = load(_folder(repository))
    if kept is None or kept.embedding_id != identity or not kept.ids:
        matrix = vectors.of(ids).matrix if ids else np.zeros((0, 1), dtype=np.float32)
        return MemoryMap("components", tuple(ids), principal_components(matrix), len(every), unusable, 0)
    xy, newer = _placed(kept, ids, vectors)
    return MemoryMap(kept.method, tuple(ids), xy, len(every), unusable, newer)


def make_layout(repository: MemoryRepository, progress: Progress) -> int:
    """Work a layout out and keep it; how many memories it was fitted on.

    ``progress`` is told (steps done, steps in all) and may raise to stop: then nothing is kept.
    """
    identity, vectors = repository.read(lambda state: (state.embedding_id, state.all_vectors()))
    every = _usable(vectors)
    ids = tuple(every[at] for at in chosen_to_fit(every))
    xy = umap_layout(vectors.of(ids).matrix, progress) if ids else np.zeros((0, 2), dtype=np.float32)
    save(_folder(repository), Layout("umap", identity, ids, xy))
    return len(ids)


def load(folder: Path) -> Layout | None:
    """The layout in a cache folder; None where there is none that can be read."""
    try:
        with np.load(folder / _NAME, allow_pickle=False) as kept:
            told = json.loads(str(kept["told"]))
            ids, xy = tuple(str(kept["ids"]).split("\n")), np.asarray(kept["xy"], dtype=np.float32)
        if told["format"] != _FORMAT or xy.shape != (len(ids), 2) or not np.isfinite(xy).all():
            return None
        return Layout(str(told["method"]), str(told["embedding"]), ids, xy)
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        return None


def save(folder: Path, layout: Layout) -> None:
    """Keep a layout in one step. Where that is not possible, as in a directory that may only be read, the
    map shows components."""
    told = {"format": _FORMAT, "method": layout.method, "embedding": layout.embedding_id}
    unfinished = folder / f"{_NAME}.{os.getpid()}.tmp"
    try:
        if not layout.ids or not folder.parent.is_dir():
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        with unfinished.open("wb") as file:
            np.savez(
                file,
                told=np.array(json.dumps(told)),
                ids=np.array("\n".join(layout.ids)),
                xy=layout.xy,
            )
        unfinished.replace(folder / _NAME)
    except OSError:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _folder(repository: MemoryRepository) -> Path:
    return repository.path / ".memsuite" / "cache"


def _placed(kept: Layout, ids: list[str], vectors: VectorRows) -> tuple[Matrix, int]:
    """Places for ``ids``: their own where the layout has them, else among the fitted that are still there."""
    row_of = {name: row for row, name in enumerate(kept.ids)}
    xy = np.zeros((len(ids), 2), dtype=np.float32)
    own = [(at, row_of[name]) for at, name in enumerate(ids) if name in row_of]
    others = [at for at, name in enumerate(ids) if name not in row_of]
    if own:
        rows, fitted_rows = (list(part) for part in zip(*own, strict=True))
        xy[rows] = kept.xy[fitted_rows]
    if others:
        there = [name for name in kept.ids if name in vectors.position]
        fitted = vectors.of(there)
        places = kept.xy[[row_of[name] for name in there]] if there else np.zeros((0, 2), dtype=np.float32)
        xy[others] = placed(vectors.of([ids[at] for at in others]).matrix, fitted.matrix, places)
    return xy, len(others)


def _usable(vectors: VectorRows) -> list[str]:
    """The ids whose vector is finite and of length one, ascending."""
    if not vectors.position:
        return []
    ids = sorted(vectors.position)
    rows = vectors.matrix[[vectors.position[name] for name in ids]]
    with np.errstate(all="ignore"):
        good = np.abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT
    return [name for name, fine in zip(ids, good.tolist(), strict=True) if fine]
