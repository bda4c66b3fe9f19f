"""A world in which a text stands everywhere that text can: in memories, their history, the audit, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from console.samples import payload
from django.contrib.auth.models import Group, User
from django.utils import timezone
from django.utils.http import urlencode

from memories.console.audit import recorded_as
from memories.console.job_models import Job, State
from memories.console.saved_filter_models import LONGEST_NAME, SavedFilter
from memories.console.selection import By, select
from memories.contract import MemsuiteError
from memories.contract.limits import DOMAIN_MAX, TAG_MAX, TYPE_MAX
from memories.repository import AddResult, Author, BulkChange, MemoryRepository
from memories.repository.ids import new_id
from memories.repository.lessons import Evidence, NewLesson
from memories.repository.turn_records import NewTurn, TurnKind

_RESERVED_IN_LABELS = re.compile(r"[:\[\]]")


@dataclass(frozen=True)
class Stored:
    """The memories of one text: ``kept`` has a history, an edge and a conflict; ``trashed`` was deleted."""

    text: str
    kept: AddResult
    trashed: AddResult
    tagging: str
    author: Author


@dataclass(frozen=True)
class Held:
    """The console's own rows that hold one text. ``user`` is named by it."""

    user: User
    arguments: Mapping[str, str]


def store(repository: MemoryRepository, texts: Sequence[str]) -> list[Stored]:
    """The memories of each text."""
    return [_stored(repository, number, text) for number, text in enumerate(texts)]


def _stored(repository: MemoryRepository, number: int, text: str) -> Stored:
    who = Author(actor=f"console:{text}", source=text, session_id=text, user_id=text, platform=text)
    label = _RESERVED_IN_LABELS.sub("", text)
    fields = {
        "domain": label[:DOMAIN_MAX],
        "facts": [text, f"port={text}", f"`{text}` in backticks"],
        "type": text[:TYPE_MAX],
        "tags": [text[:TAG_MAX]],
        "relations": [{"type": "requires", "target": text}],
        "quality": 0.2,
    }
    kept = repository.add(payload(f"A{number}_{label}", **fields), who)
    to_kept = {"relations": [{"type": "requires", "target_id": kept.memory_id}]}
    long_ago = timezone.now() - timedelta(days=200)  # it is stale by now
    repository.add(payload(f"B{number}_{label}", **fields | to_kept), who, at=long_ago)
    # Renamed to the first one's subject, it contradicts it: a conflict that is open.
    rival = repository.add(payload(f"D{number}_{label}", **fields | {"facts": [text, f"port=7{text}"]}), who)
    repository.update(rival.memory_id, {"subject": f"A{number}_{label}"}, who, patch=True)
    gone = repository.add(payload(f"C{number}_{label}", **fields), who)
    repository.update(kept.memory_id, {"facts": [text, f"port=8{text}"], "tier": 3}, who, patch=True)
    with suppress(MemsuiteError):
        # The same subject with another value: kept out, and shown as a conflict.
        repository.add(payload(f"A{number}_{label}", **fields | {"facts": [f"port=9{text}"]}), who)
    repository.delete(gone.memory_id, who, note=text)
    _said(repository, text)
    _taught(repository, text)
    return Stored(text, kept, gone, new_id(), who)


def _said(repository: MemoryRepository, text: str) -> None:
    """A captured turn of the text, said twice in two wordings."""
    for said in (text, f"{text} {text}"):
        turn = NewTurn(
            new_id(),
            TurnKind.EXCHANGE,
            said,
            text,
            timezone.now(),
            text,
            text,
            session_id=text,
            user_id=text,
            platform=text,
            truncated=True,
        )
        vectors = repository.turns.embed([turn])
        repository.turns.file([turn], vectors, Author("capture"), threshold=0.0)


def _taught(repository: MemoryRepository, text: str) -> None:
    """A waiting lesson that says the text in every place, and another one it could be merged into."""
    evidence = Evidence("turn", text, text, text, text, text, said=text, corrected=text)
    proposed = {"domain": text, "subject": text, "facts": [text], "tier": 1, "category": "correction"}
    lesson = NewLesson(text, (evidence,), proposed, text, text)
    other = replace(lesson, evidence=(replace(evidence, id=f"{text} again"),))
    repository.lessons.propose([lesson, other], Author(f"console:{text}"))


def hold(repository: MemoryRepository, stored: Stored) -> Held:
    """The console's rows of one text: a person and a group of that name, a saved filter, an operation with
    a note, one that failed, a selection and a job."""
    text = stored.text
    user = User.objects.create(username=text, is_superuser=True)
    user.groups.add(Group.objects.create(name=text))
    saved = SavedFilter.objects.create(
        owner=user, name=text[:LONGEST_NAME], query=urlencode({"q": text, "how": "contains"})
    )
    _record(stored)
    by_tag = urlencode({"tag": text[:TAG_MAX]})
    selection = select(user, repository, By.TAGS, query=by_tag, back=f"/memories/?{by_tag}")
    job = _job(user, stored)
    lesson = repository.lessons.list(user_id=text).rows[0]
    (conflict, *_) = repository.conflicts(memory_id=stored.kept.memory_id)
    arguments = {
        "backup": "lancedb-manual-20260101-000000",
        "cluster_key": "isolated",
        "conflict_id": conflict.id,
        "lesson_id": lesson.id,
        "memory_id": stored.kept.memory_id,
        "operation_id": stored.tagging,
        "saved_id": str(saved.pk),
        "selection_key": selection.pk,
        "job_key": job.pk,
    }
    return Held(user, arguments)


def _record(stored: Stored) -> None:
    text, ids = stored.text, [stored.kept.memory_id]
    given = {"value": text, "tags": [text], "target": text}
    who = Author(actor=stored.author.actor, source="console", operation_id=stored.tagging)
    with recorded_as(who, "add_tags", ids=ids, parameters=given, note=text, texts={"fact": text}) as event:
        event.complete(changed=0)
    refused = recorded_as(stored.author, "set_type", ids=ids, parameters=given, note=text, address=text)
    with suppress(MemsuiteError), refused:
        BulkChange.of(text)


def _job(user: User, stored: Stored) -> Job:
    return Job.objects.create(
        kind="bulk",
        label=f"Add the tag {stored.text}",
        owner=user,
        actor=stored.author.actor,
        back=f"/memories/?{urlencode({'q': stored.text})}",
        operation_id=stored.tagging,
        state=State.FAILED,
        total=1,
        queued_at=timezone.now(),
        finished_at=timezone.now(),
        result={"changed": 0, "unchanged": 0, "refused": {stored.kept.memory_id: ["not_found", stored.text]}},
        error_message=stored.text,
    )


def other_arguments(stored: Stored, held: Held) -> Iterator[dict[str, str]]:
    """Addresses with the other object of their kind: the memory in the trash, an operation of the agent's,
    and ones that do not exist but are spelt with the text."""
    yield dict(held.arguments)
    yield {**held.arguments, "memory_id": stored.trashed.memory_id, "operation_id": stored.kept.operation_id}
    spelt = stored.text.replace("/", "").strip() or "x"
    # Numbers cannot be spelt with it.
    yield {name: spelt if name != "saved_id" else "999" for name in held.arguments}
