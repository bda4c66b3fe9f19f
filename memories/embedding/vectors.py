"""No vector leaves this room unchecked: a zero, short or non-finite one would poison the store for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memories.embedding.failures import embedding_failed

if TYPE_CHECKING:
    from memories.embedding.base import Vectors


def unit_rows(raw: object, *, count: int, dimension: int | None) -> Vectors:
    """`raw` (rows of numbers) as float32 of shape (count, dimension), each row of length one.

    Without `dimension` any will do, as long as all rows agree. Raises `embedding_failed`.
    """
    rows = _as_table(raw)
    if rows.shape[0] != count:
        raise embedding_failed(
            "the model returned another number of vectors", received=rows.shape[0], expected=count
        )
    if rows.shape[1] == 0 or dimension not in (None, rows.shape[1]):
        raise embedding_failed(
            "the model returned vectors of another dimension", received=rows.shape[1], expected=dimension
        )
    if not np.isfinite(rows).all():
        raise embedding_failed("the model returned a vector with a number that is not finite")
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not (norms > 0).all():
        raise embedding_failed("the model returned a zero vector")
    unit: Vectors = (rows / norms).astype(np.float32)
    return unit


def _as_table(raw: object) -> Vectors:
    try:
        table = np.asarray(raw)
    except ValueError:
        raise embedding_failed("the model returned vectors of unequal length") from None
    if table.ndim != 2 or table.dtype.kind not in "fiu":
        raise embedding_failed("the model returned no table of numbers", received=str(table.shape))
    with np.errstate(over="ignore"):  # beyond float32 becomes infinite, which the caller refuses
        narrowed: Vectors = table.astype(np.float32)
    return narrowed
