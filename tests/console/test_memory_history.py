"""A memory's history: what each change made of it, and going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.memory_forms import screen
from console.samples import AUTHOR, payload

from memories.console.memory_history import HistoryEntry, history_of, who
from memories.repository import Author, BulkChange, MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

INGRID = Author("console:ingrid", source="console")
PORT, TABLES = "port=8410 host=tide.havlys.internal", "Serves tide tables per harbour"


@pytest.fixture
def stored(repository: MemoryRepository) -> str:
    return repository.add(payload(), AUTHOR).memory_id


def entries(repository: MemoryRepository, memory_id: str) -> list[HistoryEntry]:
    return history_of(repository.get(memory_id), repository.revisions(memory_id))


def test_a_new_memory_has_one_entry(repository: MemoryRepository, stored: str) -> None:
    (born,) = entries(repository, stored)

    assert (born.revision, born.did, born.is_present, born.can_restore) == (1, "created", True, False)
    assert [change.kind for change in born.facts] == ["add", "add"]
    assert born.by == "agent, session s-1"


def test_each_change_is_told_by_fact_and_by_word(repository: MemoryRepository, stored: str) -> None:
    facts = ["port=8420 host=tide.havlys.internal", "Answers 204 without a gauge"]
    repository.update(stored, {"facts": facts}, INGRID, patch=True)

    newest = entries(repository, stored)[0]

    assert (newest.revision, newest.did, newest.by) == (2, "updated", "ingrid, console")
    assert [change.kind for change in newest.facts] == ["edit", "gone", "add"]
    assert ("del", "8410") in newest.facts[0].words
    assert ("ins", "8420") in newest.facts[0].words


def test_other_fields_are_told_too(repository: MemoryRepository, stored: str) -> None:
    other = repository.add(payload("Gauge_relay"), AUTHOR).memory_id
    patch = {"tier": 1, "quality": 0.9, "relations": [{"type": "uses", "target_id": other}]}
    repository.update(stored, patch, INGRID, patch=True)
    repository.apply(BulkChange.of("remove_tags", ["api"]), [stored], INGRID, note="too broad")

    untagged, updated = entries(repository, stored)[:2]

    assert [(c.label, c.before, c.after) for c in updated.values] == [
        ("tier", "2", "1"),
        ("quality", "0.5", "0.9"),
        ("relation", "", f"uses {other}"),
    ]
    assert [(c.label, c.before, c.after) for c in untagged.values] == [("tag", "api", "")]
    assert untagged.note == "too broad"


def test_trash_and_return_are_in_it(repository: MemoryRepository, stored: str) -> None:
    repository.delete(stored, INGRID)
    repository.restore(stored, INGRID)

    restored, deleted, born = entries(repository, stored)

    assert (restored.did, restored.revision, restored.is_present) == ("restored", 2, True)
    assert (deleted.did, deleted.revision, deleted.can_restore) == ("moved to the trash", 0, False)
    assert (born.revision, born.can_restore) == (1, True)


def test_an_earlier_revision_is_restored_from_the_page(
    client_as: ClientAs, repository: MemoryRepository, stored: str
) -> None:
    repository.update(stored, {"facts": ["port=1"]}, INGRID, patch=True)
    curator = client_as("curator")
    shown = screen(curator.get(f"/memories/{stored}/"))
    assert [e for e in shown.elements if e.attributes.get("aria-label") == "Restore revision 1"]

    answer = curator.post(f"/memories/{stored}/restore/", {"revision": "1"}, follow=True)

    memory = repository.get(stored).memory
    assert (memory.facts, memory.revision) == ((PORT, TABLES), 3)
    assert "Restored revision 1 of Havlys:Tide_API" in screen(answer).words


@pytest.mark.parametrize(("revision", "status"), [("9", 404), ("two", 400), ("-1", 400), ("9" * 30, 400)])
def test_a_revision_that_is_not_there_is_refused(
    client_as: ClientAs, repository: MemoryRepository, stored: str, revision: str, status: int
) -> None:
    answer = client_as("curator").post(f"/memories/{stored}/restore/", {"revision": revision})

    assert answer.status_code == status
    assert repository.get(stored).memory.revision == 1


@pytest.mark.parametrize(
    ("actor", "session", "says"),
    [
        ("agent", "b71e40c2-11", "agent, session b71e40c2"),
        ("console:ingrid", "", "ingrid, console"),
        ("import:mnemosyne", "", "mnemosyne, import"),
        ("command", "", "command"),
    ],
)
def test_actors_are_named_as_people_say_it(actor: str, session: str, says: str) -> None:
    assert who(actor, session) == says
