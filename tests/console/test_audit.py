from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from console.samples import payload
from django.db import DatabaseError, connection
from django.http import HttpRequest
from django.test import RequestFactory

from memories.console.audit import recorded, recorded_as
from memories.console.audit_blanking import blank_texts
from memories.console.audit_models import AuditCompletion, AuditEvent, AuditPayload, Result
from memories.console.repository_access import author
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, BulkChange, MemoryRepository

if TYPE_CHECKING:
    from console.people import Person

pytestmark = pytest.mark.django_db

COMMAND = Author("command", source="command")


@pytest.fixture
def request_of(rf: RequestFactory, person: Person) -> HttpRequest:
    made = rf.post("/", REMOTE_ADDR="127.0.0.7")
    made.user = person("curator")
    return made


def only_event() -> AuditEvent:
    return AuditEvent.objects.get()


def text_of(event: AuditEvent) -> dict[str, object]:
    body: dict[str, object] = json.loads(event.payloads.get(part="text").body)
    return body


def test_the_intent_stands_before_the_block_runs(request_of: HttpRequest) -> None:
    with recorded(request_of, "add_tags", ids=["m-1"], parameters={"tags": ["api"]}, note="tidy up") as event:
        intent = only_event()
        assert not AuditCompletion.objects.exists()
        event.complete()

    assert (intent.actor, intent.user_id) == ("console:curator", str(request_of.user.pk))
    assert (intent.address, intent.action) == ("127.0.0.7", "add_tags")
    assert (json.loads(intent.ids), intent.ids_total) == (["m-1"], 1)
    assert text_of(intent) == {"note": "tidy up", "parameters": {"tags": ["api"]}}


def test_the_store_and_the_history_share_the_operation_id(
    request_of: HttpRequest, repository: MemoryRepository
) -> None:
    with recorded(request_of, "add") as event:
        added = repository.add(payload(), event.author)
        event.complete(changed=1, operation_id=added.operation_id)

    assert added.operation_id == only_event().operation_id == event.operation_id
    end = only_event().completion
    assert (end.result, end.changed, end.stored) == (Result.DONE, 1, True)


def test_counts_are_kept_as_they_were_told(request_of: HttpRequest, repository: MemoryRepository) -> None:
    stored = repository.add(payload(), author(request_of.user)).memory_id
    ids = [stored, "not-there"]
    change = BulkChange.of("add_tags", ["harbour"])

    with recorded(request_of, "add_tags", ids=ids) as event:
        result = repository.apply(change, ids, event.author)
        event.complete(changed=len(result.changed), unchanged=0, refused=len(result.refused))

    end = only_event().completion
    assert (end.changed, end.unchanged, end.refused) == (1, 0, 1)


def test_what_changed_nothing_is_said_to_be_nothing(request_of: HttpRequest) -> None:
    with recorded(request_of, "add_tags", ids=["m-1"]) as event:
        event.complete(unchanged=1)

    end = only_event().completion
    assert (end.result, end.stored) == (Result.NOTHING, False)


def test_a_refusal_is_recorded_with_its_code_and_flies_on(request_of: HttpRequest) -> None:
    with pytest.raises(MemsuiteError), recorded(request_of, "update", ids=["m-1"]):
        raise MemsuiteError(ErrorCode.VERSION_CONFLICT, "base_revision", "Someone was quicker.")

    end = only_event().completion
    assert (end.result, end.code, end.stored) == (Result.FAILED, "version_conflict", False)


def test_a_failure_after_the_store_wrote_can_still_be_undone(
    request_of: HttpRequest, repository: MemoryRepository
) -> None:
    with pytest.raises(ZeroDivisionError), recorded(request_of, "add") as event:
        repository.add(payload(), event.author)
        _ = 1 // 0

    end = only_event().completion
    assert (end.result, end.code, end.stored) == (Result.FAILED, "unexpected", True)


def test_a_block_that_counts_nothing_was_done(request_of: HttpRequest, repository: MemoryRepository) -> None:
    with recorded(request_of, "backup"):
        pass

    end = only_event().completion
    assert (end.result, end.changed, end.stored) == (Result.DONE, None, False)


def test_a_job_keeps_the_operation_id_it_was_given() -> None:
    with recorded_as(Author("console:ingrid", operation_id="op-7"), "trash", user_id="3") as event:
        event.complete()

    assert (event.operation_id, only_event().operation_id, only_event().user_id) == ("op-7", "op-7", "3")


def test_a_long_list_of_ids_is_kept_whole_beside_the_event() -> None:
    ids = [f"m-{number}" for number in range(1200)]

    with recorded_as(COMMAND, "trash", ids=ids) as event:
        event.complete()

    assert len(json.loads(only_event().ids)) == 20
    assert only_event().ids_total == 1200
    assert json.loads(only_event().payloads.get(part="ids").body) == ids


def test_nothing_is_done_where_nothing_can_be_recorded() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_audit_event RENAME TO elsewhere")
    ran = False

    with pytest.raises(MemsuiteError) as refused, recorded_as(COMMAND, "trash"):
        ran = True

    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    assert not ran


@pytest.mark.parametrize("table", ["event", "completion", "payload"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories_audit_{table} SET {column} = 'x'",
        "DELETE FROM memories_audit_{table}",
        "INSERT OR REPLACE INTO memories_audit_{table} SELECT * FROM memories_audit_{table}",
    ],
)
def test_the_database_refuses_to_change_what_was_written(table: str, statement: str) -> None:
    with recorded_as(COMMAND, "trash", note="why") as event:
        event.complete()
    column = {"event": "actor", "completion": "code", "payload": "body"}[table]

    with pytest.raises(DatabaseError, match=r"append only|only be blanked"), connection.cursor() as cursor:
        cursor.execute(statement.format(table=table, column=column))


@pytest.mark.parametrize(
    "statement", ["DELETE FROM memories_audit_head", "UPDATE memories_audit_head SET position = position - 1"]
)
def test_the_seal_over_the_end_only_moves_on(statement: str) -> None:
    with recorded_as(COMMAND, "trash"):
        pass

    with pytest.raises(DatabaseError, match="only grows"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_purge_blanks_the_text_of_every_event_that_names_the_memory() -> None:
    ids = [f"m-{number}" for number in range(40)]
    for named, note in ((["m-39"], "one"), (ids, "many"), (["m-3"], "another")):
        with recorded_as(COMMAND, "trash", ids=named, note=note) as event:
            event.complete()

    blanked = blank_texts(["m-39"], COMMAND)

    left = AuditPayload.objects.filter(part="text", event__action="trash", blanked_at=None)
    assert blanked == 2
    assert [json.loads(kept.body) for kept in left] == [{"note": "another"}]
    assert not AuditPayload.objects.exclude(blanked_at=None).exclude(salt="", body="").exists()


def test_what_is_blank_stays_blank() -> None:
    with recorded_as(COMMAND, "trash", ids=["m-1"], note="private"):
        pass
    blank_texts(["m-1"], COMMAND)

    with pytest.raises(DatabaseError, match="only be blanked"), connection.cursor() as cursor:
        cursor.execute("UPDATE memories_audit_payload SET body = 'invented' WHERE blanked_at IS NOT NULL")


def test_deleting_a_person_changes_no_event(request_of: HttpRequest) -> None:
    with recorded(request_of, "trash"):
        pass
    before = AuditEvent.objects.values().get()

    request_of.user.delete()

    assert AuditEvent.objects.values().get() == before
