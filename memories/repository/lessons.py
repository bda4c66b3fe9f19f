"""Lessons: rules drawn from corrections, waiting for a person to decide about them.

Nothing here becomes a memory by itself: approving writes down which memory a person made of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import schema
from memories.repository.engine import is_in, quoted
from memories.repository.ids import new_id
from memories.repository.records import Author, Row
from memories.repository.revisions import Stamp
from memories.repository.snapshot import Snapshot, batches
from memories.repository.transaction import Transaction
from memories.repository.write_context import WriteContext


class LessonStatus(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place where a person said it. ``source`` is ``turn`` (a captured one) or ``message`` (a row of
    Hermes' own history); ``id`` is unique among those of its source. ``said`` is the correction,
    ``corrected`` what it was about ("" where that is not known)."""

    source: str
    id: str
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    at: str = ""
    said: str = ""
    corrected: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.source, self.id


@dataclass(frozen=True, slots=True)
class Lesson:
    """One row of ``lessons``. ``proposed`` is the memory in contract form, as ``add`` takes it;
    ``count`` how often it was said; times are aware and in UTC."""

    id: str
    rule: str
    evidence: tuple[Evidence, ...]
    count: int
    category: str
    tier: int
    proposed: Mapping[str, Any]
    status: LessonStatus
    merged_into: str
    memory_id: str
    user_id: str
    created_at: datetime
    updated_at: datetime
    decided_by: str
    decided_at: datetime | None
    note: str
    generation: int

    @property
    def is_open(self) -> bool:
        return self.status is LessonStatus.WAITING

    @property
    def evidence_keys(self) -> frozenset[tuple[str, str]]:
        return frozenset(evidence.key for evidence in self.evidence)


@dataclass(frozen=True, slots=True)
class NewLesson:
    """A lesson to propose; ``category`` and ``tier`` are those of ``proposed``."""

    rule: str
    evidence: tuple[Evidence, ...]
    proposed: Mapping[str, Any]
    user_id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class LessonPage:
    """``total`` counts all that were asked for, ``rows`` are those of this page, newest first."""

    total: int
    rows: tuple[Lesson, ...]


@dataclass(frozen=True, slots=True)
class Proposed:
    """What came of proposing: new lessons, those that got more evidence, and how many were known."""

    created: tuple[Lesson, ...] = ()
    extended: tuple[Lesson, ...] = ()
    known: int = 0


Matcher = Callable[[NewLesson, Sequence[Lesson]], Lesson | None]
"""Finds among the stored lessons the one that a new one repeats; None where there is none."""


class Lessons:
    """The lessons of one database. Everything raised is a ``MemsuiteError``."""

    def __init__(self, context: WriteContext) -> None:
        self._context = context

    # -- reading ----------------------------------------------------------------------

    def list(
        self,
        *,
        status: LessonStatus | str = "",
        user_id: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> LessonPage:
        """Lessons of a status ("" for all) and of one person (None for everybody's), newest first."""
        found = [
            lesson
            for lesson in self.all()
            if status in ("", lesson.status) and user_id in (None, lesson.user_id)
        ]
        return LessonPage(len(found), tuple(found[offset : offset + limit]))

    def all(self) -> tuple[Lesson, ...]:
        """Every lesson, the newest first. A person decides about each, so they are never many."""
        return self._context.store.read(_all)

    def get(self, lesson_id: str) -> Lesson:
        """Raises ``not_found``."""
        return self._context.store.read(lambda snapshot: _one(snapshot, lesson_id))

    def counts(self) -> dict[LessonStatus, int]:
        """How many lessons there are of each status."""
        found = self.all()
        return {status: sum(lesson.status is status for lesson in found) for status in LessonStatus}

    # -- writing ----------------------------------------------------------------------

    def propose(
        self, new: Sequence[NewLesson], author: Author, *, repeats: Matcher | None = None
    ) -> Proposed:
        """Put lessons forward; nothing that was put forward before comes a second time.

        Evidence that any stored lesson holds already, a rejected one too, is not counted again. What
        is left of a new lesson goes to the waiting lesson ``repeats`` names for it, or becomes a lesson
        of its own. Decided under the write lock, so that two processes cannot both propose it.
        """
        with self._transaction(author, "propose_lessons") as transaction:
            stored = list(_all(transaction.snapshot))
            made = _Proposing(transaction.stamp, stored, repeats)
            for lesson in new:
                made.take(lesson)
            for row in (*made.created.values(), *made.extended.values()):
                transaction.replace(schema.LESSONS, _row(row))
        return Proposed(tuple(made.created.values()), tuple(made.extended.values()), made.known)

    def decide(
        self,
        lesson_id: str,
        status: LessonStatus | str,
        author: Author,
        *,
        memory_id: str = "",
        merged_into: str = "",
        note: str = "",
    ) -> Lesson:
        """Write down a person's decision; ``waiting`` opens a lesson again.

        Raises ``not_found``, ``invalid_parameter`` (an approval names the memory made of it, a merge the
        lesson it went into) and ``version_conflict`` when somebody has decided otherwise meanwhile.
        """
        wanted = _wanted(lesson_id, status, memory_id, merged_into)
        with self._transaction(author, "decide_lesson", note) as transaction:
            before = _one(transaction.snapshot, lesson_id)
            if not before.is_open and wanted is not LessonStatus.WAITING:
                raise _decided_already(before)
            decided = _decided(before, wanted, transaction.stamp, memory_id, merged_into, note)
            transaction.replace(schema.LESSONS, _row(decided))
            if wanted is LessonStatus.MERGED:
                into = _extended(_one(transaction.snapshot, merged_into), before.evidence, transaction.stamp)
                transaction.replace(schema.LESSONS, _row(into))
        return decided

    def edit(self, lesson_id: str, author: Author, *, rule: str, proposed: Mapping[str, Any]) -> Lesson:
        """Change the wording of a waiting lesson. Raises ``not_found`` and ``version_conflict``."""
        with self._transaction(author, "edit_lesson") as transaction:
            before = _one(transaction.snapshot, lesson_id)
            if not before.is_open:
                raise _decided_already(before)
            edited = replace(
                before,
                rule=rule,
                proposed=dict(proposed),
                category=str(proposed["category"]),
                tier=int(proposed["tier"]),
                updated_at=transaction.stamp.at,
                generation=transaction.stamp.generation,
            )
            transaction.replace(schema.LESSONS, _row(edited))
        return edited

    def erase(self, ids: Collection[str], author: Author) -> int:
        """Delete rows for good, for purge; returns how many were there."""
        with self._transaction(author, "erase_lessons") as transaction:
            there = [
                row["id"]
                for batch in batches(ids)
                for row in transaction.snapshot.rows(schema.LESSONS, is_in("id", batch), ["id"])
            ]
            for name in there:
                transaction.delete(schema.LESSONS, name)
        return len(there)

    def _transaction(
        self, author: Author, operation: str, note: str = ""
    ) -> AbstractContextManager[Transaction]:
        context = self._context
        # A lesson has no vector; only a database that has never been written to needs the model's name.
        known = context.store.snapshot().embedding_id
        identity = None if known else context.embedder.identity
        return context.store.transaction(
            author, operation, wait=context.lock_wait, identity=identity, note=note
        )


class _Proposing:
    """Sorts new lessons into those to make and those that add to a stored one."""

    def __init__(self, stamp: Stamp, stored: Sequence[Lesson], repeats: Matcher | None) -> None:
        self._stamp = stamp
        self._stored = {lesson.id: lesson for lesson in stored}
        self._seen = {key for lesson in stored for key in lesson.evidence_keys}
        self._repeats = repeats
        self.created: dict[str, Lesson] = {}
        self.extended: dict[str, Lesson] = {}
        self.known = 0

    def take(self, new: NewLesson) -> None:
        fresh = tuple(evidence for evidence in new.evidence if evidence.key not in self._seen)
        if not fresh:
            self.known += 1
            return
        self._seen |= {evidence.key for evidence in fresh}
        match = self._match(new)
        if match is None:
            made = _made(replace(new, evidence=fresh), self._stamp)
            self.created[made.id] = self._stored[made.id] = made
            return
        longer = _extended(match, fresh, self._stamp)
        self._stored[longer.id] = longer
        (self.created if longer.id in self.created else self.extended)[longer.id] = longer

    def _match(self, new: NewLesson) -> Lesson | None:
        if self._repeats is None:
            return None
        same_person = [lesson for lesson in self._stored.values() if lesson.user_id == new.user_id]
        found = self._repeats(new, same_person)
        # A rejected lesson stays as it was decided; new evidence for it is a new question.
        return found if found is not None and found.status is not LessonStatus.REJECTED else None


def _made(new: NewLesson, stamp: Stamp) -> Lesson:
    return Lesson(
        id=new_id(),
        rule=new.rule,
        evidence=new.evidence,
        count=len(new.evidence),
        category=str(new.proposed["category"]),
        tier=int(new.proposed["tier"]),
        proposed=dict(new.proposed),
        status=LessonStatus.WAITING,
        merged_into="",
        memory_id="",
        user_id=new.user_id,
        created_at=stamp.at,
        updated_at=stamp.at,
        decided_by="",
        decided_at=None,
        note=new.note,
        generation=stamp.generation,
    )


def _extended(lesson: Lesson, evidence: Iterable[Evidence], stamp: Stamp) -> Lesson:
    added = tuple(piece for piece in evidence if piece.key not in lesson.evidence_keys)
    return replace(
        lesson,
        evidence=(*lesson.evidence, *added),
        count=lesson.count + len(added),
        updated_at=stamp.at,
        generation=stamp.generation,
    )


def _decided(
    lesson: Lesson, status: LessonStatus, stamp: Stamp, memory_id: str, merged_into: str, note: str
) -> Lesson:
    opened = status is LessonStatus.WAITING
    return replace(
        lesson,
        status=status,
        memory_id=memory_id,
        merged_into=merged_into,
        note=note or lesson.note,
        decided_by="" if opened else stamp.actor,
        decided_at=None if opened else stamp.at,
        updated_at=stamp.at,
        generation=stamp.generation,
    )


def _wanted(lesson_id: str, status: LessonStatus | str, memory_id: str, merged_into: str) -> LessonStatus:
    try:
        wanted = LessonStatus(status)
    except ValueError as error:
        raise _invalid("status", status, [str(known) for known in LessonStatus]) from error
    if wanted is LessonStatus.APPROVED and not memory_id:
        raise _invalid("memory_id", memory_id, "the id of the memory that was made of the lesson")
    if wanted is LessonStatus.MERGED and merged_into in ("", lesson_id):
        raise _invalid("merged_into", merged_into, "the id of another lesson")
    return wanted


def _invalid(name: str, received: object, expected: object) -> MemsuiteError:
    message = f"{name} does not fit this decision."
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, name, message, received=received, expected=expected)


def _decided_already(lesson: Lesson) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.VERSION_CONFLICT,
        "status",
        f"The lesson is {lesson.status} already; open it again first.",
        received=lesson.id,
        expected=str(LessonStatus.WAITING),
    )


def _all(snapshot: Snapshot) -> tuple[Lesson, ...]:
    found = [_lesson_of(row) for row in snapshot.rows(schema.LESSONS)]
    return tuple(sorted(found, key=lambda lesson: (lesson.created_at, lesson.id), reverse=True))


def _one(snapshot: Snapshot, lesson_id: str) -> Lesson:
    rows = snapshot.rows(schema.LESSONS, f"id = {quoted(lesson_id)}")
    if not rows:
        raise MemsuiteError(ErrorCode.NOT_FOUND, "lesson_id", "No lesson has this id.", received=lesson_id)
    return _lesson_of(rows[0])


_COLUMNS = tuple(column.name for column in fields(Lesson))


def _lesson_of(row: Row) -> Lesson:
    values = {name: row[name] for name in _COLUMNS}
    values["evidence"] = tuple(Evidence(**piece) for piece in json.loads(row["evidence"]))
    values["proposed"] = json.loads(row["proposed"])
    values["status"] = LessonStatus(row["status"])
    return Lesson(**values)


def _row(lesson: Lesson) -> Row:
    row = {name: getattr(lesson, name) for name in _COLUMNS}
    row["evidence"] = _json([asdict(piece) for piece in lesson.evidence])
    row["proposed"] = _json(dict(lesson.proposed))
    row["status"] = str(lesson.status)
    return row


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
