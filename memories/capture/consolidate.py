"""Corrections of many conversations, grouped into lessons for a person to decide about.

Read from captured turns and from Hermes' own history. Running it twice adds nothing: evidence that any lesson
holds is left out, whatever was decided about that lesson. Lessons are committed in portions, so a run that
was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memories.capture.lessons import Said, Wording, embedded, lesson_in, propose, says_the_same
from memories.capture.state_db import Message, user_messages
from memories.repository import Author, MemoryRepository
from memories.repository.lessons import Lesson, NewLesson
from memories.repository.turn_reading import TurnFilter
from memories.repository.turn_records import Turn, TurnKind

PORTION = 50
"""Lessons in one commit."""

Progress = Callable[[int], None]
"""Told how many messages and turns have been read so far."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a run found, and what it wrote. With a dry run ``created`` and ``extended`` hold nothing, and
    ``found`` what would be put forward."""

    read: int
    corrections: int
    known: int
    found: tuple[NewLesson, ...]
    created: tuple[Lesson, ...] = ()
    extended: tuple[Lesson, ...] = ()
    pruned: int = 0
    prunable: int = 0
    dry_run: bool = False

    def as_answer(self) -> dict[str, Any]:
        """Lessons and counts."""
        lessons = self.found if self.dry_run else (*self.created, *self.extended)
        return {
            "success": True,
            "dry_run": self.dry_run,
            "read": self.read,
            "corrections": self.corrections,
            "known": self.known,
            "created": len(self.created),
            "extended": len(self.extended),
            "prunable_turns": self.prunable,
            "pruned_turns": self.pruned,
            "lessons": [_told(lesson) for lesson in lessons],
        }


@dataclass(slots=True)
class _Reading:
    """Counts of one run while it reads."""

    progress: Progress
    read: int = 0
    drafts: list[NewLesson] = field(default_factory=list)

    def take(self, said: Said) -> None:
        self.read += 1
        if lesson := lesson_in(said):
            self.drafts.append(lesson)
        if self.read % 100 == 0:
            self.progress(self.read)


def consolidate(
    repository: MemoryRepository,
    author: Author,
    *,
    state_db: Path | None,
    since: datetime | None = None,
    dry_run: bool = False,
    prune: bool = False,
    progress: Progress = lambda read: None,
) -> Consolidated:
    """Find corrections, group those that say the same, and put forward what is new.

    ``state_db`` None leaves Hermes' history out; ``prune`` puts turns that nobody has seen for long, and
    that had little trust, into the trash. Raises what reading, embedding and writing may.
    """
    reading = _Reading(progress)
    for said in _said(repository, state_db, since):
        reading.take(said)
    progress(reading.read)
    seen = {key for lesson in repository.lessons.all() for key in lesson.evidence_keys}
    fresh = [draft for draft in reading.drafts if draft.evidence[0].key not in seen]
    groups = grouped(repository, fresh)
    prunable = repository.turns.prunable()
    result = Consolidated(
        read=reading.read,
        corrections=len(reading.drafts),
        known=len(reading.drafts) - len(fresh),
        found=tuple(groups),
        prunable=len(prunable),
        dry_run=dry_run,
    )
    if dry_run:
        return result
    result = _proposed(repository, author, groups, result)
    return replace(result, pruned=repository.turns.trash(prunable, author)) if prune else result


def grouped(repository: MemoryRepository, drafts: Sequence[NewLesson]) -> list[NewLesson]:
    """Drafts that say the same joined into one lesson, never of two people: its rule is the shortest of
    theirs, its evidence that of all in the order of time, and what was said most often comes first."""
    wordings = embedded(repository, [draft.rule for draft in drafts])
    groups: list[list[NewLesson]] = []
    for draft in sorted(drafts, key=lambda one: (len(one.rule), one.evidence[0].at)):
        group = next((group for group in groups if _belongs(draft, group, wordings)), None)
        if group is None:
            groups.append([draft])
        else:
            group.append(draft)
    return sorted(map(_joined, groups), key=lambda lesson: -len(lesson.evidence))


def _belongs(draft: NewLesson, group: Sequence[NewLesson], wordings: dict[str, Wording]) -> bool:
    """Near-identical to the group's shortest rule; a chain of small steps must not join what differs."""
    first = group[0]
    if draft.user_id != first.user_id:
        return False
    return draft.rule == first.rule or says_the_same(wordings[draft.rule], wordings[first.rule])


def _joined(group: Sequence[NewLesson]) -> NewLesson:
    evidence = sorted((one for draft in group for one in draft.evidence), key=lambda one: one.at)
    notes = dict.fromkeys(draft.note for draft in group if draft.note)
    return replace(group[0], evidence=tuple(evidence), note=" ".join(notes))


def _proposed(
    repository: MemoryRepository, author: Author, groups: Sequence[NewLesson], result: Consolidated
) -> Consolidated:
    created: dict[str, Lesson] = {}
    extended: dict[str, Lesson] = {}
    for start in range(0, len(groups), PORTION):
        done = propose(repository, groups[start : start + PORTION], author)
        created |= {lesson.id: lesson for lesson in done.created}
        for lesson in done.extended:
            (created if lesson.id in created else extended)[lesson.id] = lesson
    return replace(result, created=tuple(created.values()), extended=tuple(extended.values()))


def _said(repository: MemoryRepository, state_db: Path | None, since: datetime | None) -> Iterator[Said]:
    """What people said, in turns first; a message that was captured as a turn is not read twice."""
    captured: set[tuple[str, str]] = set()
    for turn, after in _turns_with_answers(repository):
        captured.add((turn.session_id, _beginning(turn.user_text)))
        if since is None or turn.occurred_at >= since:
            yield _of_turn(turn, after)
    for message in user_messages(state_db, since=since) if state_db is not None else ():
        if (message.session_id, _beginning(message.text)) not in captured:
            yield _of_message(message)


def _turns_with_answers(repository: MemoryRepository) -> Iterator[tuple[Turn, str]]:
    """Exchanges in the order of time, each with the answer before it in its session."""
    chosen = TurnFilter(kind=str(TurnKind.EXCHANGE))
    turns = repository.turns.of(repository.turns.ids(chosen)).values()
    answers: dict[str, str] = {}
    for turn in sorted(turns, key=lambda turn: (turn.occurred_at, turn.id)):
        yield turn, answers.get(turn.session_id, "")
        answers[turn.session_id] = turn.assistant_text


def _of_turn(turn: Turn, after: str) -> Said:
    return Said(
        "turn",
        turn.id,
        turn.user_text,
        after,
        turn.session_id,
        turn.user_id,
        turn.platform,
        turn.occurred_at.isoformat(timespec="seconds"),
    )


def _of_message(message: Message) -> Said:
    return Said(
        "message",
        str(message.id),
        message.text,
        message.after,
        message.session_id,
        message.user_id,
        message.platform,
        message.at.isoformat(timespec="seconds"),
    )


def _beginning(text: str) -> str:
    """Enough to recognise a message by: a turn is cut, and its secrets are masked."""
    return " ".join(text.split())[:120]


def _told(lesson: Lesson | NewLesson) -> dict[str, Any]:
    told: dict[str, Any] = {
        "rule": lesson.rule,
        "count": len(lesson.evidence),
        "category": lesson.proposed["category"],
        "tier": lesson.proposed["tier"],
        "note": lesson.note,
        "sessions": len({one.session_id for one in lesson.evidence}),
    }
    if isinstance(lesson, Lesson):
        told = {"id": lesson.id} | told | {"status": str(lesson.status)}
    return told
