"""What every reader of a store is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from memories.interchange.items import Item


class Reader(Protocol):
    """Reads one source through, as often as it is asked to. Changes nothing in it.

    ``total`` is how many items there are, 0 where that is not known beforehand. ``whole`` tells that the
    source holds every table of a database of ours, so that an empty one takes them as they are;
    ``generation`` is then the one it had.
    """

    @property
    def total(self) -> int: ...

    @property
    def whole(self) -> bool: ...

    @property
    def generation(self) -> int: ...

    def items(self) -> Iterator[Item]:
        """In an order that stays as long as the source does. Raises what makes the whole source
        unusable: it was written meanwhile, it is no store of this kind, it is hostile."""
        ...


class ForeignReader:
    """The parts that readers of other systems share: nothing of theirs is taken as it is."""

    total = 0
    whole = False
    generation = 0
