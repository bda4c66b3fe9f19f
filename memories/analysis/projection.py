"""Two dimensions for many: the principal components at once, and a UMAP layout worked out beside the pages.

A layout is fitted on at most ``MOST_FITTED`` memories; every other one, and each that comes later, stands
among those of the fitted that are nearest to it. So a new memory finds its place without a new layout, and
nothing else moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
"""Vectors or places, one a row."""

MOST_FITTED = 10_000
"""The others are placed by their neighbours, which takes seconds where UMAP would take minutes."""

PLACED_BY = 5
_BLOCK = 2_048
_NEIGHBOURS, _SPREAD = 15, 0.1
_SEED = 42

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of fitted memories: ``ids`` ascending, ``xy`` float32 of shape (n, 2) within -1 to 1.
    ``method`` is ``umap`` or ``components``."""

    method: str
    embedding_id: str
    ids: tuple[str, ...]
    xy: Matrix


def principal_components(vectors: Matrix) -> Matrix:
    """The two directions along which the vectors differ most. Signs are fixed, so that the same vectors
    always give the same picture; shape (n, 2) within -1 to 1."""
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2), dtype=np.float32)
    centred = vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    _, directions = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    axes = directions[:, -2:][:, ::-1]
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, (0, 1)])
    return within_square(centred @ axes.astype(np.float32))


def umap_layout(vectors: Matrix, progress: Progress) -> Matrix:
    """A layout in which near memories stay near; shape (n, 2) within -1 to 1.

    ``progress`` is told (epochs done, epochs in all) and may raise to stop. The seed is fixed and one thread
    works, so that the same vectors give the same layout on one machine. Fewer than four vectors have no
    neighbourhoods to keep: they get their components.
    """
    if len(vectors) < 4:
        return principal_components(vectors)
    from umap import UMAP  # type: ignore[import-untyped]  # slow to import, and only here

    epochs = 200 if len(vectors) > 2_000 else 400
    model = UMAP(
        n_neighbors=min(_NEIGHBOURS, len(vectors) - 1),
        min_dist=_SPREAD,
        metric="cosine",
        init=principal_components(vectors).astype(np.float64) * 10,
        n_epochs=epochs,
        random_state=_SEED,
        n_jobs=1,
        tqdm_kwds={"file": _Bar(progress, epochs), "mininterval": 0.5},
    )
    # Off unless it is verbose, which would print as well.
    model.tqdm_kwds["disable"] = False
    return within_square(np.asarray(model.fit_transform(vectors), dtype=np.float32))


def chosen_to_fit(ids: Sequence[str], most: int = MOST_FITTED) -> list[int]:
    """Which of the memories (ascending ids) a layout is fitted on: evenly over all, first and last among
    them. Ids begin with the time they were made at, so every age is there."""
    if len(ids) <= most:
        return list(range(len(ids)))
    return sorted({round(at) for at in np.linspace(0, len(ids) - 1, most)})


def placed(vectors: Matrix, fitted: Matrix, xy: Matrix) -> Matrix:
    """Where vectors stand among fitted ones: between the ``PLACED_BY`` nearest, weighted by likeness.

    Exact, in blocks; shape (n, 2).
    """
    found = np.zeros((len(vectors), 2), dtype=np.float32)
    if not len(fitted):
        return found
    count = min(PLACED_BY, len(fitted))
    for start in range(0, len(vectors), _BLOCK):
        likeness = vectors[start : start + _BLOCK] @ fitted.T
        near = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        # To the eighth, so that the nearest decides and the others only lean on it.
        weights = np.clip(np.take_along_axis(likeness, near, axis=1), 1e-6, None) ** 8
        weights /= weights.sum(axis=1, keepdims=True)
        found[start : start + _BLOCK] = np.einsum("nk,nkd->nd", weights, xy[near])
    return found


def within_square(xy: Matrix) -> Matrix:
    """Moved and scaled, both axes alike, so that all lies within -1 to 1."""
    if not len(xy):
        return xy.astype(np.float32)
    low, high = xy.min(axis=0), xy.max(axis=0)
    size = float((high - low).max()) or 1.0
    moved: Matrix = ((xy - (low + high) / 2) * (2 / size)).astype(np.float32)
    return moved


class _Bar:
    """Reads UMAP's progress bar, the only way it tells how far it is."""

    def __init__(self, progress: Progress, epochs: int) -> None:
        self._progress, self._epochs = progress, epochs

    def write(self, text: str) -> int:
        share = text.rpartition("%")[0].strip().rpartition(" ")[2]
        if share.isdigit():
            self._progress(min(int(share) * self._epochs // 100, self._epochs - 1), self._epochs)
        return len(text)

    def flush(self) -> None:
        return
