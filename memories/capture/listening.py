"""What the capture worker tells whoever listens to turns as they are filed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memories.repository import MemoryRepository
from memories.repository.turn_records import NewTurn, Turn


@dataclass(frozen=True, slots=True)
class FiledTurn:
    """A turn that has just been filed. ``row`` is the stored row it became or was counted into, as it
    stands now; ``before`` the turn before it in its session, None for a session's first; ``shown`` what
    tools returned in it, "" where the host does not tell or no tool but recall was called."""

    turn: NewTurn
    row: Turn
    before: Turn | None
    shown: str = ""


class Listener(Protocol):
    """Hears corrections, retractions and good outcomes in turns, and acts on them."""

    def is_correction(self, turn: NewTurn, after: str) -> bool:
        """Whether the person corrects or instructs in this turn. ``after`` is what the assistant had said
        in the turn before, "" where there was none. Asked before the turn is filed."""
        ...

    def filed(self, repository: MemoryRepository, turns: Sequence[FiledTurn]) -> None:
        """Exchanges of one batch in their order. Never called twice for one turn; a ``MemsuiteError``
        raised here is logged, and the turns stay filed."""
        ...
