"""The engine's word search done by ourselves, for when its index cannot be read: the same words, the
same BM25, only slower, since every row is looked at."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

K1, B = 1.2, 0.75
"""The engine's parameters; with them its scores are met to the fifth digit."""


def bm25(ids: pa.ChunkedArray, texts: pa.ChunkedArray, words: str) -> list[tuple[str, float]]:
    """Ids and BM25 of the rows that hold any of the blank-joined ``words``, best first, ties by id.

    ``ids`` and ``texts`` are columns of strings of all rows: rarity and mean length are those of the
    whole table, whatever is left out of the answer later.
    """
    asked = Counter(words.split())
    tokens = pc.split_pattern(texts.combine_chunks(), " ")
    lengths = pc.list_value_length(tokens).to_numpy(zero_copy_only=False)
    if not asked or not len(lengths):
        return []
    flat, rows = pc.list_flatten(tokens), pc.list_parent_indices(tokens)
    mean = max(lengths.mean(), 1.0)
    scores = np.zeros(len(lengths))
    for word, times in asked.items():
        held = rows.filter(pc.equal(flat, word)).to_numpy(zero_copy_only=False)
        counts = np.bincount(held, minlength=len(lengths)).astype(float)
        holding = np.count_nonzero(counts)
        rarity = np.log(1 + (len(lengths) - holding + 0.5) / (holding + 0.5))
        scores += times * rarity * (K1 + 1) * counts / (counts + K1 * (1 - B + B * lengths / mean))
    names = ids.to_pylist()
    pairs = ((names[row], float(scores[row])) for row in np.flatnonzero(scores))
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
