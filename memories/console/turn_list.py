"""Captured turns as a person looks through them: what a list's query asks for, and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.http import urlencode

from memories.capture.sentences import sentences
from memories.console.memory_form import BLANK, Draft
from memories.contract import Category, Tier
from memories.contract.limits import FACT_MAX
from memories.repository import MemoryRepository
from memories.repository.turn_reading import TurnFilter
from memories.repository.turn_records import Turn, TurnKind
from memories.repository.turns import Room
from memories.text.query import analyse

LONGEST_SEARCH = 500
LONGEST_NAME = 200
MOST_FOUND = 500
"""Turns that a search by words lists; beyond that more words narrow it better than more pages."""

SHOWN = 280
"""Characters of each side in the list; the rest unfolds."""

FACTS_PROPOSED = 4

_NOBODY = "this machine"


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """What is asked for; "" asks for nothing. ``person`` None is everybody, "" who has no name."""

    text: str = ""
    wing: str = ""
    room: str = ""
    kind: str = ""
    person: str | None = None
    trashed: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str]) -> TurnQuery:
        """What cannot be read counts as not asked."""
        kind = query.get("kind", "")
        return cls(
            text=query.get("q", "")[:LONGEST_SEARCH].strip(),
            wing=query.get("wing", "")[:LONGEST_NAME],
            room=query.get("room", "")[:LONGEST_NAME],
            kind=kind if kind in list(TurnKind) else "",
            person=query["person"][:LONGEST_NAME] if "person" in query else None,
            trashed=query.get("trashed") == "1",
        )

    @property
    def chosen(self) -> TurnFilter:
        return TurnFilter(
            user_id=self.person,
            wing=self.wing or None,
            room=self.room or None,
            kind=self.kind or None,
            trashed=self.trashed,
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The query of an address that asks for the same."""
        named = [("q", self.text), ("wing", self.wing), ("room", self.room), ("kind", self.kind)]
        person = [("person", self.person)] if self.person is not None else []
        trashed = [("trashed", "1")] if self.trashed else []
        return [pair for pair in named if pair[1]] + person + trashed

    @property
    def is_narrow(self) -> bool:
        """Whether it asks for less than everything of its tab."""
        return bool([name for name, _ in self.pairs if name != "trashed"])

    def address(self, path: str) -> str:
        return f"{path}?{urlencode(self.pairs)}" if self.pairs else path

    def ids(self, store: MemoryRepository) -> list[str]:
        """What is asked for: the best match first with words, last seen first without."""
        if not self.text:
            return store.turns.ids(self.chosen)
        words = analyse(self.text).lexical_query
        return store.turns.matching(words, self.chosen, limit=MOST_FOUND)


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two said: the beginning, and the rest if there is more."""

    who: str
    beginning: str
    rest: str = ""

    @classmethod
    def of(cls, who: str, text: str) -> Side:
        if len(text) <= SHOWN:
            return cls(who, text)
        at = text.rfind(" ", SHOWN // 2, SHOWN)
        at = at if at > 0 else SHOWN
        return cls(who, text[:at], text[at:])


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn in the list."""

    turn: Turn
    sides: tuple[Side, ...]
    person: str

    @property
    def trust(self) -> str:
        return f"{self.turn.trust:.2f}"

    @property
    def label(self) -> str:
        """What a control of this row is about, for those who cannot see it beside."""
        return self.sides[0].beginning[:60] if self.sides else self.turn.id


def rows_of(store: MemoryRepository, ids: Sequence[str]) -> list[TurnRow]:
    """The rows of some turns, in that order."""
    found = store.turns.of(ids)
    return [TurnRow(found[name], _sides(found[name]), person_named(found[name].user_id)) for name in ids]


def person_named(user_id: str) -> str:
    """How the list calls whose turns these are."""
    return user_id or _NOBODY


@dataclass(frozen=True, slots=True)
class Wing:
    """A wing with its rooms."""

    name: str
    rooms: tuple[Room, ...]

    @property
    def turns(self) -> int:
        return sum(room.turns for room in self.rooms)


def wings_of(store: MemoryRepository, query: TurnQuery) -> list[Wing]:
    """The wings of the tab that is shown, by name."""
    rooms = store.turns.rooms(TurnFilter(trashed=query.trashed))
    return [Wing(name, tuple(those)) for name, those in groupby(rooms, key=lambda room: room.wing)]


def wing_query(query: TurnQuery, wing: str = "", room: str = "") -> TurnQuery:
    """The same list narrowed to a wing or a room."""
    return replace(query, wing=wing, room=room)


def draft_of_turn(turn: Turn) -> Draft:
    """The form of a memory begun from a turn: what the person stated as facts, or what was answered where
    they only asked. Nothing is decided."""
    facts = _statements(turn.user_text) or _statements(turn.assistant_text)
    corrects = turn.is_correction
    return replace(
        BLANK,
        facts=facts[:FACTS_PROPOSED] or ("",),
        category=str(Category.CORRECTION if corrects else Category.FACT),
        tier=str(int(Tier(1) if corrects else Tier(2))),
    )


def _statements(text: str) -> tuple[str, ...]:
    said = (sentence for sentence in sentences(text) if not sentence.is_question)
    facts = (" ".join(sentence.text.split())[:FACT_MAX] for sentence in said)
    return tuple(fact for fact in facts if fact)


def _sides(turn: Turn) -> tuple[Side, ...]:
    if turn.kind == TurnKind.BUILTIN:
        return (Side.of("Built-in memory", turn.user_text),)
    asked, answered = ("Task", "Result") if turn.kind == TurnKind.DELEGATION else ("User", "Assistant")
    pairs = ((asked, turn.user_text), (answered, turn.assistant_text))
    return tuple(Side.of(who, text) for who, text in pairs if text)
