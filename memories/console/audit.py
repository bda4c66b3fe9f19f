"""Writing the audit history: what a door intends before the store changes, and how it ended.

    with recorded(request, "add_tags", ids=ids, parameters={"tags": tags}, note=note) as event:
        result = repository().apply(change, ids, event.author, note=note)
        event.complete(changed=len(result.changed), unchanged=..., refused=...)

The operation id of ``event.author`` joins the intent, what the store writes, and the completion. What a
crash left open between them is settled by ``audit_reconcile``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest

from memories.console import audit_anchor, audit_chain
from memories.console.audit_chain import COMPLETIONS, EVENTS, Link, Value
from memories.console.audit_evidence import is_written
from memories.console.audit_models import Result
from memories.console.audit_process import this_process
from memories.console.repository_access import author, suite_settings
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author
from memories.repository.ids import new_id
from memories.repository.records import now

logger = logging.getLogger(__name__)

IDS_INLINE = 20
"""Ids kept in the event itself; longer lists lie whole in a payload beside it."""

UNEXPECTED, INTERRUPTED = "unexpected", "interrupted"
"""Codes of failures that are not the core's: an exception of another kind, and a process told to stop."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an operation ended; counts are None where nobody counted."""

    result: Result
    code: str = ""
    changed: int | None = None
    unchanged: int | None = None
    refused: int | None = None
    stored: bool = False
    recovered: bool = False


@dataclass(slots=True)
class Event:
    """An operation whose intent is written. ``author`` is whom the store is told, the operation named."""

    author: Author
    position: int
    outcome: Outcome | None = None

    @property
    def operation_id(self) -> str:
        return self.author.operation_id

    def complete(
        self,
        *,
        changed: int = 0,
        unchanged: int = 0,
        refused: int = 0,
        code: str = "",
        operation_id: str | None = None,
    ) -> None:
        """Say how it ended; written when the block ends. ``operation_id`` is what the store answered
        with: "" when it wrote nothing. Left out, whatever changed was stored."""
        stored = changed > 0 if operation_id is None else operation_id == self.operation_id
        result = Result.DONE if changed or stored else Result.NOTHING
        self.outcome = Outcome(result, code, changed, unchanged, refused, stored)


@contextmanager
def recorded(
    request: HttpRequest,
    action: str,
    *,
    ids: Sequence[str] = (),
    parameters: Mapping[str, object] | None = None,
    note: str = "",
    texts: Mapping[str, object] | None = None,
    undoes: str = "",
) -> Iterator[Event]:
    """Write the intent, run the block, write the completion.

    ``ids`` are the memories it concerns, ``parameters`` its values by name, ``texts`` what it quotes of
    memories, ``undoes`` the operation it takes back. Note, parameters and texts lie where a purge can
    blank them. The intent is committed before the block runs. A block that ends without ``complete``
    counts as done; an exception completes it as failed, with its code, and flies on.

    Raises ``store_unavailable`` when the intent cannot be written: nothing is done unrecorded.
    """
    intent = _Intent(
        author(request.user),
        action,
        ids=ids,
        text=_text(note, parameters, texts),
        undoes=undoes,
        user_id=str(request.user.pk or ""),
        address=request.META.get("REMOTE_ADDR", ""),
    )
    with _recorded(intent) as event:
        yield event


@contextmanager
def recorded_as(
    actor: Author,
    action: str,
    *,
    ids: Sequence[str] = (),
    parameters: Mapping[str, object] | None = None,
    note: str = "",
    texts: Mapping[str, object] | None = None,
    undoes: str = "",
    user_id: str = "",
    address: str = "",
) -> Iterator[Event]:
    """The same for what no request started: a job, a command. An operation id that ``actor`` has
    already is kept."""
    intent = _Intent(
        actor,
        action,
        ids=ids,
        text=_text(note, parameters, texts),
        undoes=undoes,
        user_id=user_id,
        address=address,
    )
    with _recorded(intent) as event:
        yield event


def append_completion(event: int, outcome: Outcome) -> None:
    """Write how the event at this position ended. Raises DatabaseError; an event ends once."""
    values: dict[str, Value] = {
        "event_id": event,
        "at": audit_chain.stamp(now()),
        "result": str(outcome.result),
        "code": outcome.code,
        "changed": outcome.changed,
        "unchanged": outcome.unchanged,
        "refused": outcome.refused,
        "stored": int(outcome.stored),
        "recovered": int(outcome.recovered),
    }
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        link = audit_chain.append(cursor, chain_key(), COMPLETIONS, values)
    _noted(link)


def chain_key() -> bytes:
    """The key of this installation's chain."""
    return audit_chain.chain_key(str(settings.SECRET_KEY))


@dataclass(frozen=True, slots=True)
class _Intent:
    author: Author
    action: str
    ids: Sequence[str]
    text: str
    undoes: str
    user_id: str
    address: str


@contextmanager
def _recorded(intent: _Intent) -> Iterator[Event]:
    event = _begin(intent)
    try:
        yield event
    except BaseException as error:
        _end(event, Outcome(Result.FAILED, _code_of(error), stored=is_written(event.operation_id)))
        raise
    _end(event, event.outcome or Outcome(Result.DONE, stored=is_written(event.operation_id)))


def _begin(intent: _Intent) -> Event:
    named = replace(intent.author, operation_id=intent.author.operation_id or new_id())
    try:
        link = _append_event(named, intent)
    except DatabaseError as error:
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "audit",
            "The audit history cannot be written now, so nothing was changed. Try again; the log of the "
            "server tells more.",
        ) from error
    return Event(named, link.position)


def _append_event(who: Author, intent: _Intent) -> Link:
    """Write an intent and its payloads in one transaction."""
    ids = list(dict.fromkeys(intent.ids))
    payloads = {"ids": json.dumps(ids) if len(ids) > IDS_INLINE else "", "text": intent.text}
    salts = {part: audit_chain.new_salt() for part, body in payloads.items() if body}
    values: dict[str, Value] = {
        "operation_id": who.operation_id,
        "at": audit_chain.stamp(now()),
        "actor": who.actor,
        "user_id": intent.user_id,
        "address": intent.address,
        "process": this_process(),
        "action": intent.action,
        "undoes": intent.undoes,
        "ids": json.dumps(ids[:IDS_INLINE]),
        "ids_total": len(ids),
        "ids_digest": "",
        "text_digest": "",
    }
    values |= {f"{part}_digest": audit_chain.digest_of(salt, payloads[part]) for part, salt in salts.items()}
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        link = audit_chain.append(cursor, chain_key(), EVENTS, values)
        for part, salt in salts.items():
            audit_chain.add_payload(cursor, link.position, part, salt, payloads[part])
    _noted(link)
    return link


def _end(event: Event, outcome: Outcome) -> None:
    """The change itself stands, so a completion that cannot be written is left to the next start."""
    try:
        append_completion(event.position, outcome)
    except DatabaseError:
        logger.exception("operation %s stays open in the audit history", event.operation_id)


def _noted(link: Link) -> None:
    audit_anchor.raise_to(suite_settings(), link)


def _code_of(error: BaseException) -> str:
    if isinstance(error, MemsuiteError):
        return error.code.value
    return UNEXPECTED if isinstance(error, Exception) else INTERRUPTED


def _text(note: str, parameters: Mapping[str, object] | None, texts: Mapping[str, object] | None) -> str:
    given = {"note": note, "parameters": dict(parameters or {}), "texts": dict(texts or {})}
    kept = {name: value for name, value in given.items() if value}
    return json.dumps(kept, ensure_ascii=False, default=str) if kept else ""
