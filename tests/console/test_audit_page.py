from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload
from django.test import Client
from django.urls import reverse

from memories.console.audit import recorded_as
from memories.console.audit_blanking import blank_texts
from memories.console.audit_csv import guarded
from memories.console.audit_filter import AuditFilter
from memories.console.audit_history import History, Operation, find
from memories.repository import Author, BulkChange, MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

pytestmark = pytest.mark.django_db

INGRID = Author("console:ingrid", source="console")


def retagged(repository: MemoryRepository, ids: list[str], tag: str = "harbour", note: str = "") -> str:
    """A recorded operation as the console does it; returns its id."""
    change = BulkChange.of("add_tags", [tag])
    with recorded_as(INGRID, "add_tags", ids=ids, parameters={"tags": [tag]}, note=note) as event:
        result = repository.apply(change, ids, event.author, note=note)
        event.complete(
            changed=len(result.changed), unchanged=len(result.unchanged), refused=len(result.refused)
        )
    return event.operation_id


def listed(repository: MemoryRepository, **query: str) -> list[Operation]:
    return History(repository, AuditFilter.of(query)).page(0, 100)


def ids_of(operations: list[Operation]) -> list[str]:
    return [one.operation_id for one in operations]


def page(client: Client, name: str, *arguments: str, **query: str) -> str:
    answer = client.get(reverse(f"console:{name}", args=arguments), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_what_agents_and_people_did_stands_in_one_history_newest_first(repository: MemoryRepository) -> None:
    added = repository.add(payload(), AUTHOR)
    updated = repository.update(added.memory_id, {"quality": 0.9}, AUTHOR, patch=True)
    tagged = retagged(repository, [added.memory_id])
    deleted = repository.delete(added.memory_id, AUTHOR, note="gone")

    found = listed(repository)

    assert ids_of(found) == [deleted.operation_id, tagged, updated.operation_id, added.operation_id]
    assert [one.action for one in found] == ["delete", "add_tags", "update", "add"]
    assert [one.recorded for one in found] == [False, True, False, False]
    assert [one.actor for one in found] == ["agent", "console:ingrid", "agent", "agent"]


def test_memories_of_one_operation_are_counted_in_one_line(repository: MemoryRepository) -> None:
    repository.add_many([payload(f"Subject_{number}") for number in range(7)], AUTHOR)

    assert [one.memories for one in listed(repository)] == [7]


def test_the_history_follows_the_store(repository: MemoryRepository) -> None:
    repository.add(payload("First"), AUTHOR)
    before = len(listed(repository))
    repository.add(payload("Second"), AUTHOR)

    assert (before, len(listed(repository))) == (1, 2)


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ({"who": "agent"}, ["add"]),
        ({"who": "console:ingrid"}, ["trash", "add_tags"]),
        ({"action": "add_tags"}, ["add_tags"]),
        ({"result": "failed"}, ["trash"]),
        ({"result": "done"}, ["add_tags", "add"]),
        ({"until": "2001-01-01"}, []),
        ({"since": "2001-01-01", "until": "9999-12-31"}, ["trash", "add_tags", "add"]),
    ],
)
def test_filters_narrow_both_kinds(
    query: dict[str, str], actions: list[str], repository: MemoryRepository
) -> None:
    added = repository.add(payload(), AUTHOR)
    retagged(repository, [added.memory_id])
    with pytest.raises(RuntimeError), recorded_as(INGRID, "trash", ids=[added.memory_id]):
        raise RuntimeError

    assert [one.action for one in listed(repository, **query)] == actions


def test_a_memory_id_finds_what_touched_it_and_what_only_named_it(repository: MemoryRepository) -> None:
    mine, other = (repository.add(payload(name), AUTHOR) for name in ("Mine", "Other"))
    tagged = retagged(repository, [mine.memory_id, *(f"m-{number}" for number in range(30))])
    with recorded_as(
        INGRID, "trash", ids=[*(f"m-{number}" for number in range(30)), mine.memory_id]
    ) as event:
        event.complete()
    retagged(repository, [other.memory_id])

    found = listed(repository, memory=mine.memory_id)

    assert ids_of(found) == [event.operation_id, tagged, mine.operation_id]


def test_pages_hold_every_operation_once(repository: MemoryRepository) -> None:
    for number in range(9):
        added = repository.add(payload(f"Subject_{number}"), AUTHOR)
        if number % 2:
            retagged(repository, [added.memory_id])
    history = History(repository, AuditFilter())
    whole = ids_of(history.page(0, 100))

    pages = [one for offset in range(0, 15, 4) for one in ids_of(history.page(offset, 4))]

    assert history.total == len(whole) == len(set(whole)) == 13
    assert pages == whole == ids_of(list(history.every()))


def test_the_page_names_who_did_what(repository: MemoryRepository, client_as: ClientAs) -> None:
    added = repository.add(payload(), AUTHOR)
    retagged(repository, [added.memory_id], note="all harbours")

    shown = page(client_as("viewer"), "audit")

    for words in ("2 operations", "tagged", "ingrid, console", "all harbours", "agent, session s-1"):
        assert words in shown


@pytest.mark.parametrize("query", [{"since": "yesterday"}, {"result": "fine"}, {"memory": "m" * 300}])
def test_a_filter_that_cannot_be_read_is_refused(query: dict[str, str], client_as: ClientAs) -> None:
    answer = client_as("viewer").get(reverse("console:audit"), query)

    assert answer.status_code == 400
    assert b"invalid_parameter" in answer.content


@pytest.mark.parametrize("query", [{"offset": "-1"}, {"offset": "9" * 40}, {"offset": "٣"}, {"size": "7"}])
def test_a_place_outside_the_list_shows_the_list(query: dict[str, str], client_as: ClientAs) -> None:
    assert client_as("viewer").get(reverse("console:audit"), query).status_code == 200


def test_an_operation_shows_its_counts_note_and_the_change(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    added = repository.add(payload(), AUTHOR)
    tagged = retagged(repository, [added.memory_id], tag="pilotage", note="all harbours")

    shown = page(client_as("viewer"), "audit_operation", tagged)

    for words in ("all harbours", "pilotage</ins>", "Tide_API", added.memory_id):
        assert words in shown


def test_a_change_of_facts_is_shown_fact_by_fact_even_after_a_later_one(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    added = repository.add(payload(facts=["Serves tide tables"]), AUTHOR)
    updated = repository.update(added.memory_id, {"facts": ["Serves current tables"]}, AUTHOR, patch=True)
    repository.delete(added.memory_id, AUTHOR)

    shown = page(client_as("viewer"), "audit_operation", updated.operation_id)
    born = page(client_as("viewer"), "audit_operation", added.operation_id)

    assert "<del>tide</del>" in shown
    assert "<ins>current</ins>" in shown
    assert "no longer stored" in shown
    assert '<span class="m-vh">Added: </span>Serves tide tables' in born


def test_undo_is_offered_to_who_may_and_only_until_it_is_done(
    repository: MemoryRepository, client_as: ClientAs
) -> None:
    tagged = retagged(repository, [repository.add(payload(), AUTHOR).memory_id])
    undo = reverse("console:undo", args=[tagged])

    before = page(client_as("curator"), "audit_operation", tagged)
    unseen = page(client_as("viewer"), "audit_operation", tagged)
    with recorded_as(INGRID, "undo", undoes=tagged) as event:
        event.complete(changed=len(repository.undo(tagged, event.author).undone))
    after = page(client_as("curator"), "audit_operation", tagged)

    assert undo in before
    assert undo not in unseen
    assert undo not in after
    assert reverse("console:audit_operation", args=[event.operation_id]) in after


def test_text_is_escaped_wherever_it_stands(repository: MemoryRepository, client_as: ClientAs) -> None:
    attack = "<img src=x onerror=alert(1)>"
    added = repository.add(payload(facts=[attack]), AUTHOR)
    tagged = retagged(repository, [added.memory_id], tag="x<b>", note=attack)

    for shown in (page(client_as("viewer"), "audit"), page(client_as("viewer"), "audit_operation", tagged)):
        assert "<img" not in shown
        assert "<b>" not in shown


def test_what_a_purge_blanked_is_said_to_be_gone(repository: MemoryRepository, client_as: ClientAs) -> None:
    added = repository.add(payload(), AUTHOR)
    tagged = retagged(repository, [added.memory_id], note="a private word")
    blank_texts([added.memory_id], INGRID)

    found = find(repository, tagged)

    assert found is not None
    assert (found.note, found.parameters, found.blanked) == ("", {}, True)
    assert "removed by a purge" in page(client_as("viewer"), "audit_operation", tagged)


def test_an_operation_that_never_was_is_not_found(client_as: ClientAs) -> None:
    assert client_as("viewer").get(reverse("console:audit_operation", args=["no"])).status_code == 404


def test_the_export_holds_what_the_list_holds(repository: MemoryRepository, client_as: ClientAs) -> None:
    tagged = retagged(repository, [repository.add(payload(), AUTHOR).memory_id], note="=1+1")

    answer = client_as("curator").get(reverse("console:audit_export"), {"who": "console:ingrid"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))

    assert answer["Cache-Control"] == "no-store"
    assert [row["operation_id"] for row in rows] == [tagged]
    assert (rows[0]["note"], rows[0]["parameters"], rows[0]["changed"]) == ("'=1+1", "tags=harbour", "1")


def test_what_is_exported_follows_the_filter_that_was_swapped_in(client_as: ClientAs) -> None:
    query = {"who": "agent", "result": "done"}

    answer = client_as("curator").get(reverse("console:audit"), query, headers={"hx-request": "true"})

    shown = answer.content.decode()
    assert shown.lstrip().startswith('<div class="m-stack" id="operations">')
    assert f"{reverse('console:audit_export')}?who=agent&amp;result=done" in shown


def test_a_viewer_sees_no_export(client_as: ClientAs) -> None:
    assert reverse("console:audit_export") not in page(client_as("viewer"), "audit")
    assert client_as("viewer").get(reverse("console:audit_export")).status_code == 403


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_made_text(start: str) -> None:
    assert guarded(f"{start}cmd()") == f"'{start}cmd()"


def test_other_cells_stay_as_they_are() -> None:
    assert [guarded(cell) for cell in ("", "a=b", "plain")] == ["", "a=b", "plain"]
