"""Deciding about lessons: each decision is recorded in the audit, and only approving makes a memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import HttpRequest

from memories.console.audit import Event, recorded
from memories.console.memory_form import Payload
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository
from memories.repository.adding import LESSON
from memories.repository.lessons import Lesson, LessonStatus
from memories.repository.preflight import AddStatus


@dataclass(frozen=True, slots=True)
class Approved:
    """What an approval did. ``operation_id`` is "" where the memory was stored before in these words; with
    ``update_suggested`` nothing was done, since another memory has this subject."""

    status: AddStatus
    memory_id: str
    operation_id: str = ""


def approve(request: HttpRequest, store: MemoryRepository, lesson: Lesson, payload: Payload) -> Approved:
    """Make a memory of a lesson. Raises ``version_conflict`` where somebody has decided meanwhile, and
    what an add raises."""
    _require_open(store, lesson)
    with recorded(request, "approve_lesson", parameters=_about(lesson)) as event:
        result = store.add(payload, replace(event.author, source=LESSON))
        done = Approved(result.status, result.memory_id, result.operation_id)
        if done.status is not AddStatus.UPDATE_SUGGESTED:
            _decide(store, lesson, LessonStatus.APPROVED, event, memory_id=done.memory_id)
        event.complete(
            changed=int(done.status.writes),
            unchanged=int(not done.status.writes),
            operation_id=done.operation_id,
        )
    return done


def approve_into(
    request: HttpRequest, store: MemoryRepository, lesson: Lesson, payload: Payload, memory_id: str
) -> Approved:
    """Add a lesson's facts to a memory that is stored. Raises what an update raises."""
    _require_open(store, lesson)
    stored = store.get(memory_id).memory
    fresh = [fact for fact in payload.get("facts", []) if fact not in stored.facts]
    patch = {"facts": [*stored.facts, *fresh], "base_revision": stored.revision}
    with recorded(request, "approve_lesson", ids=[memory_id], parameters=_about(lesson)) as event:
        result = store.update(memory_id, patch, replace(event.author, source=LESSON), patch=True)
        _decide(store, lesson, LessonStatus.APPROVED, event, memory_id=memory_id)
        event.complete(changed=int(result.status.writes), operation_id=result.operation_id)
    return Approved(result.status, memory_id, result.operation_id)


def reject(request: HttpRequest, store: MemoryRepository, lesson: Lesson, note: str) -> Lesson:
    """Turn a lesson down; it does not come back while its evidence is the same."""
    with recorded(request, "reject_lesson", parameters=_about(lesson), note=note) as event:
        decided = _decide(store, lesson, LessonStatus.REJECTED, event, note=note)
        event.complete(changed=1, operation_id="")
    return decided


def merge(request: HttpRequest, store: MemoryRepository, lesson: Lesson, into: str) -> Lesson:
    """Put a lesson's evidence to another one that says the same."""
    parameters = _about(lesson) | {"into": into}
    with recorded(request, "merge_lesson", parameters=parameters) as event:
        decided = _decide(store, lesson, LessonStatus.MERGED, event, merged_into=into)
        event.complete(changed=1, operation_id="")
    return decided


def reopen(request: HttpRequest, store: MemoryRepository, lesson: Lesson) -> Lesson:
    """Take a decision back. A memory that was made of the lesson stays."""
    with recorded(request, "reopen_lesson", parameters=_about(lesson)) as event:
        decided = _decide(store, lesson, LessonStatus.WAITING, event)
        event.complete(changed=1, operation_id="")
    return decided


def _decide(
    store: MemoryRepository, lesson: Lesson, status: LessonStatus, event: Event, **values: str
) -> Lesson:
    # An operation of its own: the one the event names is that of the memory, and undoes that alone.
    author = Author(event.author.actor, source=event.author.source)
    return store.lessons.decide(lesson.id, status, author, **values)


def _require_open(store: MemoryRepository, lesson: Lesson) -> None:
    now = store.lessons.get(lesson.id)
    if not now.is_open:
        raise MemsuiteError(
            ErrorCode.VERSION_CONFLICT,
            "status",
            f"Somebody has decided about this lesson meanwhile: it is {now.status}.",
            received=lesson.id,
        )


def _about(lesson: Lesson) -> dict[str, str]:
    return {"lesson": lesson.id}
