"""Each row's nearest rows among unit vectors: exact, by blocked products.

Every pair is multiplied once. What may stand in a list is packed into one integer (list, distance, member),
so that merging lists is one sort and equal distances are ordered by row, whatever the blocks were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memories.contract import ErrorCode, MemsuiteError

Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

NEAREST = 16
"""Members of a list. A graph of communities and a group of duplicates both need about this many."""

SCALE = 1_000_000
"""Cosines count in millionths: two float32 products of one pair may differ in the seventh digit."""

_ROW_BITS, _DISTANCE_BITS = 21, 21  # a distance is 0 to 2 · SCALE
_MOST_ROWS = 1 << _ROW_BITS
_BLOCK = 1 << 24
"""Products held at a time, 64 MiB of them."""
_FLUSH = 1 << 20
_SAMPLE, _LEAST_SAMPLE = 2048, 64
_SLACK = np.float32(2e-6)
_NEVER, _ANY, _NONE = np.float32(-3), np.float32(-2), np.float32(2)
"""A score that is no pair's, and bounds that every pair reaches, or none."""


@dataclass(frozen=True, slots=True)
class Lists:
    """For each row the nearest others, best first: ``near`` their rows, int32, shape (rows, NEAREST), -1
    where there are fewer; ``cosines`` beside it, float32, 0 where there is none."""

    near: npt.NDArray[np.int32]
    cosines: Matrix

    def __len__(self) -> int:
        return len(self.near)


def nearest_of_all(matrix: Matrix) -> Lists:
    """The lists of all rows. ``matrix`` is float32, shape (rows, dimension), of unit rows.

    Raises ``payload_too_large`` above two million rows.
    """
    rows = len(matrix)
    if rows >= _MOST_ROWS:
        raise MemsuiteError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            "",
            "There are too many memories to compare each with each.",
            received=rows,
            expected=_MOST_ROWS,
        )
    gathered = _Gathered(_least_that_counts(matrix))
    for start, end in _blocks(rows):
        scores = matrix[start:end] @ matrix[start:].T
        # A pair within the block comes up twice, and each row with itself.
        scores[np.tril_indices(end - start)] = _NEVER
        one, other = _passing(scores, gathered.least[start:end, None])
        gathered.add(one + start, scores[one, other], other + start)
        one, other = _passing(scores, gathered.least[None, start:])
        gathered.add(other + start, scores[one, other], one + start)
    return _lists(gathered.merged(), rows)


def refreshed(lists: Lists, matrix: Matrix, kept: Rows, changed: Rows) -> Lists:
    """The lists of ``matrix`` from those of an earlier one.

    ``kept[row]`` is the earlier row of each row, -1 for ``changed`` ones, which are compared anew with all.
    A list that held a row which is gone or changed is made anew; the others only take in what came.
    """
    now = _carried(lists, kept)
    anew = np.unique(np.concatenate([changed, np.flatnonzero(_lost(lists, now, kept))]))
    least = np.where(now.near[:, -1] >= 0, now.cosines[:, -1] - _SLACK, _ANY)
    least[anew] = _NONE
    keys = [_best_of(matrix, anew), *_joining(matrix, changed, least)]
    touched = _sorted_lists(np.concatenate(keys), now, anew)
    places = np.unique(_list_of(touched))
    new = _lists(touched, len(matrix))
    now.near[places], now.cosines[places] = new.near[places], new.cosines[places]
    return now


# --- pairs ----------------------------------------------------------------------------


@dataclass
class _Gathered:
    """Members found so far; ``least`` is the cosine below which one can no longer enter each list."""

    least: Matrix
    _merged: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    _waiting: list[Keys] = field(default_factory=list)
    _count: int = 0

    def add(self, lists: Rows, cosines: Matrix, members: Rows) -> None:
        self._waiting.append(_packed(lists, cosines, members))
        self._count += len(lists)
        if self._count >= max(_FLUSH, 4 * len(self.least)):
            self.merged()

    def merged(self) -> Keys:
        keys = np.concatenate([self._merged, *self._waiting])
        self._merged = _first_of_each(keys)
        self._waiting, self._count = [], 0
        full = self._merged[NEAREST - 1 :][_ranks(self._merged)[NEAREST - 1 :] == NEAREST - 1]
        lists = _list_of(full)
        self.least[lists] = np.maximum(self.least[lists], _cosine_of(full) - _SLACK)
        return self._merged


def _least_that_counts(matrix: Matrix) -> Matrix:
    """For each row the cosine of its last nearest within a sample: a bound for that among all."""
    rows = len(matrix)
    wanted = min(_SAMPLE, max(_LEAST_SAMPLE, rows // 16))
    sample = matrix[:: max(1, rows // wanted)]
    least = np.full(rows, _ANY, dtype=np.float32)
    # One more than a list holds, since a row of the sample finds itself there.
    if len(sample) <= NEAREST + 1:
        return least
    for start, end in _blocks(rows, len(sample)):
        scores = matrix[start:end] @ sample.T
        least[start:end] = np.partition(scores, -(NEAREST + 1), axis=1)[:, -(NEAREST + 1)] - _SLACK
    return least


def _best_of(matrix: Matrix, rows: Rows) -> Keys:
    """The members of some rows' lists, straight from their products with all."""
    members = min(NEAREST, len(matrix) - 1)
    keys = [np.zeros(0, dtype=np.uint64)]
    for start, end in _blocks(len(rows), len(matrix)) if members > 0 else ():
        some = rows[start:end]
        scores = matrix[some] @ matrix.T
        scores[np.arange(len(some)), some] = _NEVER
        best = np.argpartition(scores, -members, axis=1)[:, -members:]
        cosines = np.take_along_axis(scores, best, axis=1)
        keys.append(_packed(np.repeat(some, members), cosines.ravel(), best.ravel()))
    return np.concatenate(keys)


def _joining(matrix: Matrix, changed: Rows, least: Matrix) -> Iterator[Keys]:
    """What changed rows bring to the lists of others."""
    for start, end in _blocks(len(changed), len(matrix)):
        some = changed[start:end]
        scores = matrix[some] @ matrix.T
        member, of = _passing(scores, least[None, :])
        yield _packed(of, scores[member, of], some[member])


def _passing(scores: Matrix, least: Matrix) -> tuple[Rows, Rows]:
    """Rows and columns of the scores that reach their bound."""
    mask = scores >= least
    flat = mask.reshape(-1)
    whole = len(flat) // 8 * 8
    # Nearly all are below: eight are looked at in one step.
    eights = np.flatnonzero(flat[:whole].view(np.uint64))
    offsets, bits = np.nonzero(flat[:whole].reshape(-1, 8)[eights])
    found = np.concatenate([eights[offsets] * 8 + bits, whole + np.flatnonzero(flat[whole:])])
    rows, columns = np.divmod(found, mask.shape[1])
    return rows, columns


def _blocks(rows: int, columns: int | None = None) -> Iterator[tuple[int, int]]:
    """Stretches of rows whose products with ``columns`` (all rows, where not said) fit into a block."""
    size = max(1, _BLOCK // max(1, columns or rows))
    size = min(size, 2048)
    for start in range(0, rows, size):
        yield start, min(start + size, rows)


# --- packing --------------------------------------------------------------------------


def _packed(lists: Rows, cosines: Matrix, members: Rows) -> Keys:
    distances = np.rint((1.0 - cosines.astype(np.float64)) * SCALE).clip(0, 2 * SCALE).astype(np.uint64)
    high = lists.astype(np.uint64) << np.uint64(_ROW_BITS + _DISTANCE_BITS)
    keys: Keys = np.bitwise_or.reduce([high, distances << np.uint64(_ROW_BITS), members.astype(np.uint64)])
    return keys


def _list_of(keys: Keys) -> Rows:
    lists: Rows = (keys >> np.uint64(_ROW_BITS + _DISTANCE_BITS)).astype(np.int64)
    return lists


def _member_of(keys: Keys) -> npt.NDArray[np.int32]:
    return (keys & np.uint64(_MOST_ROWS - 1)).astype(np.int32)


def _cosine_of(keys: Keys) -> Matrix:
    distances = (keys >> np.uint64(_ROW_BITS)) & np.uint64((1 << _DISTANCE_BITS) - 1)
    return (1.0 - distances.astype(np.float64) / SCALE).astype(np.float32)


def _ranks(ordered: Keys) -> Rows:
    """The place of each key within its list."""
    lists = _list_of(ordered)
    places = np.arange(len(ordered))
    firsts = np.ones(len(ordered), dtype=np.bool_)
    firsts[1:] = lists[1:] != lists[:-1]
    return places - np.maximum.accumulate(np.where(firsts, places, 0))


def _first_of_each(keys: Keys) -> Keys:
    """The best of each list, in order."""
    ordered = np.sort(keys)
    best: Keys = ordered[_ranks(ordered) < NEAREST]
    return best


def _lists(ordered: Keys, rows: int) -> Lists:
    near = np.full((rows, NEAREST), -1, dtype=np.int32)
    cosines = np.zeros((rows, NEAREST), dtype=np.float32)
    places = _list_of(ordered), _ranks(ordered)
    near[places], cosines[places] = _member_of(ordered), _cosine_of(ordered)
    return Lists(near, cosines)


# --- an earlier state carried on --------------------------------------------------------


def _carried(lists: Lists, kept: Rows) -> Lists:
    """The earlier lists at their new rows, members that are gone or changed left as -1."""
    if not len(lists):
        return _lists(np.zeros(0, dtype=np.uint64), len(kept))
    places = np.full(len(lists) + 1, -1, dtype=np.int32)  # the last is that of -1
    places[kept[kept >= 0]] = np.flatnonzero(kept >= 0)
    near = places[lists.near[kept]]
    near[kept < 0] = -1
    return Lists(near, np.where(near >= 0, lists.cosines[kept], np.float32(0)))


def _lost(lists: Lists, now: Lists, kept: Rows) -> npt.NDArray[np.bool_]:
    """Which rows' lists are shorter than they were."""
    before = np.where(kept >= 0, (lists.near >= 0).sum(axis=1)[kept], 0) if len(lists) else 0
    lost: npt.NDArray[np.bool_] = (now.near >= 0).sum(axis=1) < before
    return lost


def _sorted_lists(keys: Keys, now: Lists, anew: Rows) -> Keys:
    """The lists that some keys belong to, with what they hold already unless made ``anew``."""
    held = np.setdiff1d(_list_of(keys), anew)
    near, cosines = now.near[held], now.cosines[held]
    there = near >= 0
    had = _packed(np.repeat(held, NEAREST)[there.ravel()], cosines[there], near[there].astype(np.int64))
    return _first_of_each(np.concatenate([keys, had]))
