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

_STRETCH = 8_192


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
        for batch in table.to_batches(max_chunksize=_STRETCH) if table is not None else ():
            split = pc.split_pattern(batch.column(schema.TEXT), " ")
            coded = pc.dictionary_encode(split.flatten())
            places = np.repeat(np.arange(batch.num_rows), np.diff(split.offsets.to_numpy()))
            words = self._known(coded.dictionary)[coded.indices.to_numpy()]
            yield Stretch(batch.column("id").to_pylist(), places, words)

    def _known(self, dictionary: pa.Array) -> Numbers:
        for word in dictionary.to_pylist():
            if word not in self._numbers:
                self._numbers[word] = len(self.spelled)
                self.spelled.append(word)
        return np.array([self._numbers[word] for word in dictionary.to_pylist()], dtype=np.int64)
