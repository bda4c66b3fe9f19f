from __future__ import annotations

import numpy as np
import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.vectors import unit_rows


def test_rows_become_unit_float32() -> None:
    rows = unit_rows([[3, 4], [0, 1e-30]], count=2, dimension=2)
    assert rows.dtype == np.float32
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 1]]


@pytest.mark.parametrize(
    "raw",
    [
        [],
        [[1.0, 2.0]],
        [[1.0, 2.0], [1.0]],
        [[1.0], [2.0]],
        [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]],
        [[float("nan"), 1.0], [1.0, 1.0]],
        [[1e300, 1.0], [1.0, 1.0]],
        [[None, 1.0], [1.0, 1.0]],
        [["1", "2"], ["3", "4"]],
        [[0.0, 0.0], [1.0, 1.0]],
        [[True, False], [True, True]],
        {"a": 1},
        None,
    ],
)
def test_anything_but_the_expected_table_is_refused(raw: object) -> None:
    with pytest.raises(MemsuiteError) as refusal:
        unit_rows(raw, count=2, dimension=2)
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED


def test_without_a_known_dimension_rows_without_numbers_are_refused() -> None:
    with pytest.raises(MemsuiteError):
        unit_rows([[], []], count=2, dimension=None)
