"""A quick bound of how many indexed words two memories share, for many pairs at once.

Each memory's words are bits of a short row; two rows share at least the bits of the words they share. A pair
whose shared bits are too few is so for sure, whatever else would be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memories.analysis.join import Matrix, Rows

BITS = 1024
"""Some fifty words a memory: four bits in common by chance."""

_CHUNK = 8192
_SPREAD = 2_654_435_761  # odd and near 2^32 over the golden ratio: neighbouring numbers fall far apart

Signatures = npt.NDArray[np.uint64]


def signatures(ids: pa.ChunkedArray, texts: pa.ChunkedArray, rows: Mapping[str, int]) -> Signatures:
    """A row of bits for each of ``rows`` (ids to rows), shape (rows, BITS / 64); ``texts`` hold blank-joined
    words beside their ids."""
    made = np.zeros((len(rows), BITS // 64), dtype=np.uint64)
    words = pc.split_pattern(texts.combine_chunks(), " ")
    numbers = pc.dictionary_encode(words.flatten()).indices.to_numpy().astype(np.uint64)
    bits = ((numbers * np.uint64(_SPREAD)) >> np.uint64(8)) % np.uint64(BITS)
    ends = words.offsets.to_numpy()
    places = np.array([rows.get(name, -1) for name in ids.to_pylist()], dtype=np.int64)
    for start in range(0, len(places), _CHUNK):
        stop = min(start + _CHUNK, len(places))
        lengths = np.diff(ends[start : stop + 1])
        mask = np.zeros((stop - start, BITS), dtype=np.bool_)
        mask[np.repeat(np.arange(stop - start), lengths), bits[ends[start] : ends[stop]]] = True
        there = places[start:stop] >= 0
        made[places[start:stop][there]] = np.packbits(mask, axis=1).view(np.uint64)[there]
    return made


def most_shared(found: Signatures, one: Rows, other: Rows) -> Matrix:
    """For each pair of rows the largest share of the shorter one's words that the other can have, float32."""
    lengths = np.bitwise_count(found).sum(axis=1).astype(np.float32)
    shared = np.empty(len(one), dtype=np.float32)
    for start in range(0, len(one), _CHUNK):
        stop = start + _CHUNK
        both = found[one[start:stop]] & found[other[start:stop]]
        shared[start:stop] = np.bitwise_count(both).sum(axis=1)
    shorter: Matrix = np.maximum(np.minimum(lengths[one], lengths[other]), np.float32(1))
    return shared / shorter
