"""The nearest rows of every row, against the same by one plain product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.analysis import join
from memories.analysis.join import NEAREST, SCALE, Lists, Matrix, nearest_of_all, refreshed


def unit_rows(rows: int, seed: int, dimension: int = 24, topics: int = 0) -> Matrix:
    """Random unit rows, gathered around some topics where these are asked for."""
    chance = np.random.default_rng(seed)
    made = chance.standard_normal((rows, dimension))
    if topics:
        made = 0.6 * made + chance.standard_normal((topics, dimension))[chance.integers(topics, size=rows)]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


def plain_cosines(matrix: Matrix) -> Matrix:
    """The best cosines of each row, best first, 0 where there are fewer rows."""
    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -np.inf)
    best = -np.sort(-cosines, axis=1)[:, :NEAREST]
    best = np.where(np.isfinite(best), best, 0)
    return np.pad(best, ((0, 0), (0, NEAREST - best.shape[1])))


def assert_nearest(lists: Lists, matrix: Matrix) -> None:
    """Each list holds the best cosines, of the rows it names, best first, each row once and never itself."""
    assert lists.cosines == pytest.approx(plain_cosines(matrix), abs=3 / SCALE)
    for row, (near, cosines) in enumerate(zip(lists.near, lists.cosines, strict=True)):
        members = near[near >= 0]
        assert row not in members
        assert len(set(members)) == len(members) == min(NEAREST, len(matrix) - 1)
        assert matrix[members] @ matrix[row] == pytest.approx(cosines[: len(members)], abs=3 / SCALE)


@pytest.mark.parametrize("rows", [0, 1, 2, 16, 17, 18, 300, 3_000])
def test_every_row_gets_its_nearest(rows: int) -> None:
    matrix = unit_rows(rows, seed=rows, topics=max(1, rows // 40))

    assert_nearest(nearest_of_all(matrix), matrix)


def test_small_blocks_and_flushes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = unit_rows(700, seed=4, topics=9)
    whole = nearest_of_all(matrix)
    monkeypatch.setattr(join, "_BLOCK", 9_000)
    monkeypatch.setattr(join, "_FLUSH", 50)

    parts = nearest_of_all(matrix)

    assert_nearest(parts, matrix)
    assert (parts.near == whole.near).mean() > 0.999  # products of other blocks round otherwise


def test_equal_rows_are_listed_in_order() -> None:
    matrix = np.repeat(unit_rows(1, seed=1), 40, axis=0)

    lists = nearest_of_all(matrix)

    assert lists.near[39].tolist() == list(range(NEAREST))
    assert lists.near[3].tolist() == [row for row in range(NEAREST + 1) if row != 3]


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 120), gone=st.integers(0, 40), came=st.integers(0, 40), edited=st.integers(0, 40),
    seed=st.integers(0, 2**20),
)  # fmt: skip
def test_refreshed_lists_are_those_of_a_new_computation(
    rows: int, gone: int, came: int, edited: int, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    before = unit_rows(rows, seed=seed, topics=5)
    stays = np.sort(chance.permutation(rows)[min(gone, rows - 1) :])
    kept = np.concatenate([stays, np.full(came, -1, dtype=np.int64)])
    matrix = np.concatenate([before[stays], unit_rows(came, seed=seed + 1)])
    order = chance.permutation(len(kept))
    kept, matrix = kept[order], matrix[order]
    changed = np.flatnonzero((kept < 0) | (chance.permutation(len(kept)) < edited))
    matrix[changed] = unit_rows(len(changed), seed=seed + 2, topics=3)
    kept[changed] = -1

    assert_nearest(refreshed(nearest_of_all(before), matrix, kept, changed), matrix)
