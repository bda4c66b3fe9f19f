"""Captured turns: filed once, near repeats counted in, each person's apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, schema
from memories.repository.ids import new_id
from memories.repository.integrity import verify
from memories.repository.turn_filing import Filed
from memories.repository.turn_reading import TurnFilter, lexical_turns, whole_rows
from memories.repository.turn_records import NewTurn, TurnKind
from tests.repository.conftest import PayloadMaker

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FilesTurns = Callable[..., Filed]


def turn(said: str = "Where does the gateway listen?", **more: Any) -> NewTurn:
    given: dict[str, Any] = {
        "id": new_id(),
        "kind": TurnKind.EXCHANGE,
        "user_text": said,
        "assistant_text": "Noted.",
        "occurred_at": NOW,
        "wing": "general",
        "room": "conversations",
        "session_id": "session-1",
        "user_id": "ada",
    }
    return NewTurn(**(given | more))


def entry(text: str, **more: Any) -> NewTurn:
    """An entry of the built-in memory."""
    return turn(text, assistant_text="", kind=TurnKind.BUILTIN, room="memory", **more)


@pytest.fixture
def file(repository: MemoryRepository, agent: Author) -> FilesTurns:
    def filed(*turns: NewTurn, threshold: float = 0.88) -> Filed:
        return repository.turns.file(turns, repository.turns.embed(turns), agent, threshold=threshold)

    return filed


def test_a_database_without_turns_reads_as_if_it_had_none(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker
) -> None:
    repository.add(payload(), agent)
    assert schema.TURNS not in repository.snapshot().head.tables
    assert (repository.turns.count(), repository.turns.page().rows, repository.turns.rooms()) == (0, (), ())
    assert repository.lessons.all() == ()


def test_the_first_turn_makes_the_table_and_head_names_it(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    (made,) = file(turn("The gateway listens on port 8443")).turns
    assert schema.TURNS in repository.snapshot().head.tables
    kept = repository.turns.get(made.id)
    assert kept == made
    assert kept.text == "User: The gateway listens on port 8443\n\nAssistant: Noted."
    assert (kept.trust, kept.seen_count, kept.occurred_at) == (0.5, 1, NOW)


def test_what_a_killed_first_writer_left_of_the_table_is_made_anew(
    repository: MemoryRepository, agent: Author, payload: PayloadMaker, file: FilesTurns
) -> None:
    repository.add(payload(), agent)
    head = (repository.path / "HEAD").read_text()
    file(turn("This one is not in HEAD"))
    (repository.path / "HEAD").write_text(head)
    assert repository.turns.count() == 0
    (made,) = file(turn("This one is")).turns
    assert [row.id for row in repository.turns.page().rows] == [made.id]


def test_turns_without_head_are_damage_and_not_an_empty_database(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    file(turn())
    (repository.path / "HEAD").unlink()
    with pytest.raises(MemsuiteError) as refused:
        repository.turns.count()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE


def test_a_line_is_filed_once_however_often_it_is_read(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    lines = [turn("The gateway listens on port 8443"), turn("Bread is baked on Fridays")]
    file(*lines)
    again = file(*lines)
    assert (again.turns, set(again.known)) == ((), {line.id for line in lines})
    assert [row.seen_count for row in repository.turns.page().rows] == [1, 1]


def test_a_line_counted_into_another_turn_is_not_counted_again(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    file(turn("The gateway listens on port 8443"))
    repeat = turn("The gateway listens on port 8443")
    assert list(file(repeat).merged) == [repeat.id]
    assert file(repeat).known == (repeat.id,)
    assert [row.seen_count for row in repository.turns.page().rows] == [2]


def test_a_near_repeat_raises_trust_and_keeps_the_newer_wording(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    (first,) = file(turn("The gateway listens on port 8443 behind the proxy")).turns
    later = NOW + timedelta(days=3)
    file(turn("Behind the proxy the gateway listens on port 8443", occurred_at=later), threshold=0.8)
    kept = repository.turns.get(first.id)
    assert kept.seen_count == 2
    assert kept.trust == pytest.approx(0.6)
    assert kept.last_seen_at == later
    assert kept.text == first.text
    assert kept.variants == ("User: Behind the proxy the gateway listens on port 8443\n\nAssistant: Noted.",)


def test_trust_after_n_sightings_is_the_formula(repository: MemoryRepository, file: FilesTurns) -> None:
    (first,) = file(turn("Coffee is at four")).turns
    for _ in range(4):
        file(turn("Coffee is at four"))
    kept = repository.turns.get(first.id)
    assert kept.trust == pytest.approx(0.5 + 0.5 * (1 - 0.8 ** (kept.seen_count - 1)))
    assert kept.variants == ()


def test_repeats_inside_one_batch_are_found_too(repository: MemoryRepository, file: FilesTurns) -> None:
    filed = file(turn("Coffee is at four"), turn("Coffee is at four"))
    assert (len(filed.turns), len(filed.merged)) == (1, 1)
    assert repository.turns.page().rows[0].seen_count == 2


@pytest.mark.parametrize("other", [{"user_id": "bob"}, {"kind": TurnKind.DELEGATION}])
def test_only_turns_of_one_person_and_kind_are_one(
    repository: MemoryRepository, file: FilesTurns, other: dict[str, Any]
) -> None:
    file(turn("Coffee is at four"))
    file(turn("Coffee is at four", **other))
    assert [row.seen_count for row in repository.turns.page().rows] == [1, 1]


def test_corrections_are_trusted_and_never_merged(repository: MemoryRepository, file: FilesTurns) -> None:
    file(turn("No, coffee is at four", is_correction=True, wing="corrections"))
    file(turn("No, coffee is at four", is_correction=True, wing="corrections"))
    file(turn("No, coffee is at four"))
    rows = repository.turns.page().rows
    assert len(rows) == 3
    assert sorted(row.trust for row in rows) == [0.5, 1.0, 1.0]


def test_the_context_vector_holds_the_turn_before_it(repository: MemoryRepository, file: FilesTurns) -> None:
    first, second, third = turn("The gateway listens on port 8443"), turn("And the backup?"), turn("Tea?")
    file(first, second)
    file(third, turn("Elsewhere entirely", session_id="session-2"))
    rows = repository.read(lambda snapshot: whole_rows(snapshot, [first.id, second.id, third.id]))
    assert np.allclose(rows[first.id]["context_vector"], rows[first.id]["vector"])
    for earlier, later in ((first, second), (second, third)):
        both = rows[earlier.id]["vector"] + rows[later.id]["vector"]
        assert np.allclose(rows[later.id]["context_vector"], both / np.linalg.norm(both), atol=1e-6)


def test_the_mirror_replaces_and_removes_what_the_built_in_memory_did(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    file(entry("Prefers tea over coffee"), entry("Lives in Bergen"))
    file(entry("Lives in Oslo", retires="in Bergen"), entry("", retires="Prefers tea over coffee"))
    assert [row.text for row in repository.turns.page().rows] == ["Lives in Oslo"]
    assert repository.turns.count(TurnFilter(trashed=True)) == 2


def test_a_removal_read_again_spares_the_entry_that_came_back(
    repository: MemoryRepository, file: FilesTurns
) -> None:
    lines = [entry("Prefers tea"), entry("", retires="Prefers tea"), entry("Prefers tea")]
    file(*lines)
    file(*lines)
    assert [row.text for row in repository.turns.page().rows] == ["Prefers tea"]


def test_words_find_only_ones_own_turns(repository: MemoryRepository, file: FilesTurns) -> None:
    mine, theirs = turn("The gateway listens on port 8443"), turn("The gateway is down", user_id="bob")
    file(mine, theirs)
    found = repository.read(lambda at: lexical_turns(at, "gateway", TurnFilter(user_id="ada"), 10))
    assert [name for name, _ in found] == [mine.id]


def test_meaning_finds_only_ones_own_turns_as_they_stand_now(
    repository: MemoryRepository, file: FilesTurns, agent: Author, fast_embedder: Embedder
) -> None:
    vector = fast_embedder.embed_query("gateway port")
    mine = [turn(f"The gateway listens on port {port}") for port in (8443, 8444, 8445)]
    turns = repository.turns

    def found() -> set[str]:
        pairs = repository.read(lambda at: turns.vectors.nearest(at, vector, user_id="ada", limit=10))
        return {name for name, _ in pairs}

    file(mine[0], turn("The gateway is down", user_id="bob"), threshold=1.1)
    assert found() == {mine[0].id}
    file(*mine[1:], threshold=1.1)
    assert found() == {line.id for line in mine}
    turns.trash([mine[0].id], agent)
    assert found() == {line.id for line in mine[1:]}
    turns.restore([mine[0].id], agent)
    assert found() == {line.id for line in mine}
    turns.erase([mine[1].id], agent)
    assert found() == {mine[0].id, mine[2].id}


def test_a_trashed_turn_is_counted_nowhere_and_comes_back(
    repository: MemoryRepository, file: FilesTurns, person: Author
) -> None:
    (made,) = file(turn()).turns
    assert repository.turns.trash([made.id], person) == 1
    assert (repository.turns.count(), repository.turns.rooms()) == (0, ())
    assert repository.turns.restore([made.id], person) == 1
    assert repository.turns.count() == 1


def test_wings_are_renamed_and_merged(repository: MemoryRepository, file: FilesTurns, person: Author) -> None:
    file(turn("Tea", wing="kitchen"), turn("Coffee at four", wing="cafe"), turn("Deploy", wing="work"))
    assert repository.turns.rename_wing("cafe", "kitchen", person) == 1
    assert [(room.wing, room.turns) for room in repository.turns.rooms()] == [("kitchen", 2), ("work", 1)]
    with pytest.raises(MemsuiteError) as refused:
        repository.turns.rename_wing("work", "  ", person)
    assert refused.value.code is ErrorCode.INVALID_PARAMETER


def test_what_nobody_saw_for_half_a_year_may_be_pruned(
    repository: MemoryRepository, file: FilesTurns, agent: Author
) -> None:
    old = NOW - timedelta(days=181)
    lines = {
        "old": turn("The old printer is loud", occurred_at=old),
        "new": turn("Bread on Fridays"),
        "correction": turn("No, on Mondays", occurred_at=old, is_correction=True),
        "mirrored": entry("Prefers tea", occurred_at=old),
        "confirmed": turn("The cellar key hangs left", occurred_at=old),
    }
    file(*lines.values())
    repository.turns.confirm([lines["confirmed"].id], agent)
    assert repository.turns.prunable(NOW) == [lines["old"].id]


def test_doubt_lowers_trust_and_a_sighting_raises_it_from_there(
    repository: MemoryRepository, file: FilesTurns, agent: Author
) -> None:
    (made,) = file(turn("Coffee is at four")).turns
    repository.turns.doubt([made.id], agent)
    assert repository.turns.get(made.id).trust == pytest.approx(0.4)
    file(turn("Coffee is at four"))
    assert repository.turns.get(made.id).trust == pytest.approx(1 - 0.6 * 0.8)


def test_a_reembedding_takes_the_turns_along(
    repository: MemoryRepository, file: FilesTurns, agent: Author, real_embedder: Embedder
) -> None:
    lines = [turn("The gateway listens on port 8443"), turn("And the backup?")]
    file(*lines)
    other = MemoryRepository(repository.settings, real_embedder)
    result = other.reembedding().run(agent, lambda done, total: None)
    assert (result.memories, result.turns) == (0, 2)
    rows = other.read(lambda snapshot: whole_rows(snapshot, [line.id for line in lines]))
    expected = real_embedder.embed_documents([line.text for line in lines])
    for line, vector in zip(lines, expected, strict=True):
        assert np.allclose(rows[line.id]["vector"], vector, atol=1e-5)
    both = expected[0] + expected[1]
    assert np.allclose(rows[lines[1].id]["context_vector"], both / np.linalg.norm(both), atol=1e-5)
    assert {row["embedding_id"] for row in rows.values()} == {str(real_embedder.identity)}
    found = other.read(lambda at: lexical_turns(at, "gateway", TurnFilter(user_id="ada"), 10))
    assert [name for name, _ in found] == [lines[0].id]


def test_another_models_vectors_are_not_filed_beside_these(
    repository: MemoryRepository, file: FilesTurns, agent: Author, real_embedder: Embedder
) -> None:
    file(turn())
    other = MemoryRepository(repository.settings, real_embedder)
    with pytest.raises(MemsuiteError) as refused:
        other.turns.embed([turn("Something else")])
    assert refused.value.code is ErrorCode.EMBEDDING_MODEL_MISMATCH


def test_a_turn_whose_text_is_not_made_of_its_sides_is_named_by_the_deep_check(
    repository: MemoryRepository, file: FilesTurns, agent: Author
) -> None:
    (made,) = file(turn("Coffee is at four")).turns
    assert verify(repository.path, lambda done, total: None).sound
    turns = repository.turns
    turns._change([made.id], agent, "test", lambda kept, _: replace(kept, text="Something else"))
    found = verify(repository.path, lambda done, total: None)
    assert [(row.table, row.key) for row in found.rows] == [(schema.TURNS, made.id)]
