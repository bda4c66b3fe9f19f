"""The indexed words of all memories as numbers, a stretch of memories at a time: together they are text of
hundreds of megabytes that nobody has to hold at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from memories.repository import Snapshot, schema

Numbers = npt.NDArray[np.int64]

_STRETCH = 16_384


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some memories: ``ids``, and beside each other ``places`` (which of them) and ``words`` (numbers), one
    pair for each word that stands in one, repeats included."""

    ids: list[str]
    places: Numbers
    words: Numbers


@dataclass
class IndexedWords:
    """``spelled`` gives each number its word, as far as they have come up."""

    spelled: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def of(self, snapshot: Snapshot) -> Iterator[Stretch]:
        """Every memory of a state, in the order of the table."""
        table = snapshot.arrow(schema.MEMORIES, columns=["id", schema.TEXT])
        if table is None:
            return
        for start in range(0, table.num_rows, _STRETCH):
            part = table.slice(start, _STRETCH)
            split = pc.split_pattern(part[schema.TEXT].combine_chunks(), " ")
            coded = pc.dictionary_encode(split.flatten())
            places = np.repeat(np.arange(part.num_rows), np.diff(split.offsets.to_numpy()))
            words = self._known(coded.dictionary)[coded.indices.to_numpy()]
            yield Stretch(part["id"].to_pylist(), places, words)

    def _known(self, dictionary: pa.Array) -> Numbers:
        """The number of each of some distinct words; new ones get the next."""
        words = dictionary.to_pylist()
        new = [word for word in words if word not in self._numbers]
        self._numbers |= zip(new, range(len(self.spelled), len(self.spelled) + len(new)), strict=True)
        self.spelled += new
        return np.array([self._numbers[word] for word in words], dtype=np.int64)
