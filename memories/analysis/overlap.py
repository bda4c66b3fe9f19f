"""A quick bound of how many indexed words two memories share, for many pairs at once.

Each memory's words are bits of a short row; two rows share at least the bits of the words they share. A pair
whose shared bits are too few is so for sure, whatever else would be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memories.analysis.indexed_words import IndexedWords
from memories.analysis.join import Matrix, Rows
from memories.repository import Snapshot

BITS = 4096
"""With a hundred tokens a memory two or three bits are in common by chance."""

_CHUNK = 4096

Signatures = npt.NDArray[np.uint64]


def signatures(snapshot: Snapshot, rows: Mapping[str, int]) -> Signatures:
    """A row of bits for each of ``rows`` (ids to rows), shape (rows, BITS / 64)."""
    made = np.zeros((len(rows), BITS // 64), dtype=np.uint64)
    known = IndexedWords()
    bits = np.zeros(0, dtype=np.int64)
    for stretch in known.of(snapshot):
        new = [crc32(word.encode()) % BITS for word in known.spelled[len(bits) :]]
        bits = np.concatenate([bits, np.array(new, dtype=np.int64)])
        mask = np.zeros((len(stretch.ids), BITS), dtype=np.bool_)
        mask[stretch.places, bits[stretch.words]] = True
        places = np.array([rows.get(name, -1) for name in stretch.ids], dtype=np.int64)
        there = places >= 0
        made[places[there]] = np.packbits(mask, axis=1).view(np.uint64)[there]
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
