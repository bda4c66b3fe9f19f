"""Lessons out of corrections: the rule, its evidence, and the memory it would become if a person says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memories.capture.contradictions import (
    Contradiction,
    contradicted_by_each,
    forbids,
    values_in,
    without_contrast,
)
from memories.capture.corrections import Correction, corrections_in, is_correction
from memories.capture.listening import FiledTurn
from memories.capture.outcomes import approves, bears_out, takes_back
from memories.capture.phrases import PhraseKind
from memories.capture.rules import content_words, corrected_sentence, needs_context, teaching_sentences
from memories.contract import Category, MemsuiteError, Tier, validate_add
from memories.contract.limits import FACTS_MAX
from memories.repository import Author, MemoryRepository
from memories.repository.lessons import Evidence, Lesson, LessonStatus, NewLesson, Proposed
from memories.repository.turn_records import NewTurn
from memories.repository.vectors import Vector
from memories.screening import find_instructions, mask_secrets
from memories.text.normalise import tokens
from memories.text.query import analyse

DOMAIN = "Lessons"
"""Domain of a proposed memory until a person names a better one."""

CLOSE_COSINE = 0.80
"""From here on in meaning, a rule says the same as one that has all of its words and some more."""

WORDED_COSINE = 0.50
"""Rules of the same words need not be so close: models know some languages less well. Where each has a word
that the other lacks (`in English`, `in Norwegian`), no closeness makes them the same."""

CAPTURE = Author("capture", source="capture")
"""Who proposes what was heard live."""

_LONGEST_QUOTE = 600
_SUBJECT_WORDS = 4


@dataclass(frozen=True, slots=True)
class Said:
    """What a person wrote, and the answer of the assistant it followed ("" for none). ``source`` is
    ``turn`` or ``message``, ``at`` an ISO time."""

    source: str
    id: str
    text: str
    after: str = ""
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Wording:
    """A rule with its unit vector, and for each of its words the forms that count as the same;
    words of a contrast (`…, not 7777`) do not count."""

    rule: str
    vector: Vector
    words: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, rule: str, vector: Vector) -> Wording:
        return cls(
            rule, vector, tuple(term.variants | {term.word} for term in analyse(without_contrast(rule)).terms)
        )

    def lacks_nothing_of(self, other: Wording) -> bool:
        """Whether every word of the other rule is in this one, in some form."""
        return all(any(word & own for own in self.words) for word in other.words)


def lesson_in(said: Said) -> NewLesson | None:
    """The lesson of one message; None where it corrects nothing, or states no rule."""
    found = corrections_in(said.text, after=said.after)
    rules = [mask_secrets(rule)[0] for rule in teaching_sentences(found)]
    if not rules:
        return None
    corrected = mask_secrets(corrected_sentence(rules[0], said.after))[0]
    proposed = _proposed(rules, corrected, found[0])
    if proposed is None:
        return None
    evidence = Evidence(
        said.source,
        said.id,
        said.session_id,
        said.user_id,
        said.platform,
        said.at,
        said=mask_secrets(said.text)[0][:_LONGEST_QUOTE],
        corrected=corrected,
    )
    note = "; ".join(f"It {finding.reason}." for finding in find_instructions(said.text))
    return NewLesson(rules[0], (evidence,), proposed, said.user_id, note)


def says_the_same(one: Wording, other: Wording) -> bool:
    """Whether two rules are near-identical: of the same words or all of the shorter one's, close in meaning,
    without other values, and both or neither forbidding."""
    mine, theirs = values_in(without_contrast(one.rule)), values_in(without_contrast(other.rule))
    if (mine or theirs) and not (mine <= theirs or theirs <= mine):
        return False
    if forbids(one.rule) != forbids(other.rule):
        return False
    held = one.lacks_nothing_of(other), other.lacks_nothing_of(one)
    if not any(held):
        return False
    return float(one.vector @ other.vector) >= (WORDED_COSINE if all(held) else CLOSE_COSINE)


def propose(repository: MemoryRepository, drafts: Sequence[NewLesson], author: Author) -> Proposed:
    """Put lessons forward. What a stored one says already adds its evidence to that; a lesson that
    contradicts a tier-1 memory says so in its note. Embeds before it takes the lock."""
    if not drafts:
        return Proposed()
    stored = [lesson.rule for lesson in repository.lessons.all()]
    wordings = embedded(repository, [*(draft.rule for draft in drafts), *stored])
    noted = _with_contradictions(repository, drafts, wordings)
    return repository.lessons.propose(noted, author, repeats=_Repeats(wordings))


def embedded(repository: MemoryRepository, rules: Iterable[str]) -> dict[str, Wording]:
    """The distinct rules with their vectors."""
    distinct = list(dict.fromkeys(rules))
    if not distinct:
        return {}
    vectors = repository.embedder.embed_documents(distinct)
    return {
        rule: Wording.of(rule, np.asarray(vector)) for rule, vector in zip(distinct, vectors, strict=True)
    }


class LessonListener:
    """What the capture worker tells of each turn it files: lessons are proposed, trust moves."""

    def __init__(self, author: Author = CAPTURE) -> None:
        self._author = author

    def is_correction(self, turn: NewTurn, after: str) -> bool:
        """Whether the person corrects or instructs in this turn."""
        return is_correction(turn.user_text, after=after)

    def filed(self, repository: MemoryRepository, turns: Sequence[FiledTurn]) -> None:
        """Propose the lessons of a batch, and move the trust of the turns that these speak about."""
        drafts = [lesson for one in turns if one.turn.is_correction and (lesson := lesson_in(_said(one)))]
        propose(repository, drafts, self._author)
        before = [(one.turn, one.before.id) for one in turns if one.before is not None]
        repository.turns.doubt([name for turn, name in before if _is_taken_back(turn)], self._author)
        approved = [name for turn, name in before if _is_approved(turn)]
        repository.turns.confirm([*approved, *_borne_out(turns)], self._author)


class _Repeats:
    """Finds the stored lesson that a new one repeats."""

    def __init__(self, wordings: Mapping[str, Wording]) -> None:
        self._wordings = wordings

    def __call__(self, new: NewLesson, stored: Sequence[Lesson]) -> Lesson | None:
        same = [lesson for lesson in stored if self._same(new.rule, lesson.rule)]
        # A lesson still waiting takes the evidence rather than one that was decided.
        return min(same, key=lambda lesson: lesson.status is not LessonStatus.WAITING, default=None)

    def _same(self, rule: str, other: str) -> bool:
        if rule == other:
            return True
        # One that came while the new ones were embedded has no vector: its words alone decide.
        known = rule in self._wordings and other in self._wordings
        return known and says_the_same(self._wordings[rule], self._wordings[other])


def _borne_out(turns: Sequence[FiledTurn]) -> list[str]:
    """Rows of the turns whose answer a tool's result in the same turn confirms."""
    return [one.row.id for one in turns if one.shown and bears_out(one.shown, one.turn.assistant_text)]


def _is_taken_back(turn: NewTurn) -> bool:
    return takes_back(turn.assistant_text)


def _is_approved(turn: NewTurn) -> bool:
    return not turn.is_correction and approves(turn.user_text)


def _said(one: FiledTurn) -> Said:
    turn = one.turn
    return Said(
        source="turn",
        id=one.row.id,
        text=turn.user_text,
        after=one.before.assistant_text if one.before is not None else "",
        session_id=turn.session_id,
        user_id=turn.user_id,
        platform=turn.platform,
        at=turn.occurred_at.isoformat(timespec="seconds"),
    )


def _with_contradictions(
    repository: MemoryRepository, drafts: Sequence[NewLesson], wordings: Mapping[str, Wording]
) -> list[NewLesson]:
    vectors = [wordings[draft.rule].vector for draft in drafts]
    found = contradicted_by_each(repository, [draft.rule for draft in drafts], vectors)
    return [
        replace(draft, note=" ".join(filter(None, [draft.note, *map(_told, contradictions)])))
        for draft, contradictions in zip(drafts, found, strict=True)
    ]


def _told(contradiction: Contradiction) -> str:
    memory = contradiction.memory
    name = f"{memory.domain}:{memory.subject} ({memory.id})"
    return f"Contradicts the tier-1 memory {name}: {contradiction.reason}."


def _proposed(rules: Sequence[str], corrected: str, first: Correction) -> dict[str, Any] | None:
    """The memory in contract form; None where the contract takes no such text."""
    facts = list(rules)
    if corrected and needs_context(rules[0]):
        facts.append(f"Said in answer to: “{corrected}”")
    is_preference = first.kind in (PhraseKind.PHRASE, PhraseKind.INSTRUCTION) and not first.forbids
    payload: dict[str, Any] = {
        "domain": DOMAIN,
        "subject": subject_of(rules[0]),
        "facts": facts[:FACTS_MAX],
        "tier": int(Tier.REUSABLE if is_preference else Tier.CRITICAL),
        "category": str(Category.USER_PREF if is_preference else Category.CORRECTION),
    }
    for attempt in (payload, payload | {"facts": [rules[0].replace("[", "(").replace("]", ")")]}):
        try:
            validate_add(attempt)
        except MemsuiteError:
            continue
        return attempt
    return None


def subject_of(rule: str) -> str:
    """The first words of content of a rule, in their order: a name until a person gives a better one."""
    told = content_words(rule)
    words = [word for word in dict.fromkeys(tokens(rule)) if word in told and word.isalnum()]
    return "_".join(words[:_SUBJECT_WORDS])[:80] or "rule"
