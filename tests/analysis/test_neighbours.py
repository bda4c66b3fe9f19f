"""The graph of a repository: right in every state, refreshed by what changed, kept on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from analysis.conftest import AUTHOR, form

from memories.analysis import neighbours
from memories.analysis.join import NEAREST
from memories.analysis.neighbours import NeighbourGraph, neighbour_graph
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from analysis.conftest import Add

    from memories.embedding.base import Embedder

WORDS = ("harbour", "tide", "gauge", "backup", "nightly", "editor", "release", "deploy", "cache", "token")


def fill(repository: MemoryRepository, start: int, stop: int) -> list[str]:
    """Memories of three words each, most of them near to some and far from others."""
    chance = np.random.default_rng(start)
    payloads = [
        form(f"Havlys:Note_{number}", f"The {' and '.join(chance.choice(WORDS, 3))} of number {number}")
        for number in range(start, stop)
    ]
    return [getattr(result, "memory_id", "") for result in repository.add_many(payloads, AUTHOR)]


def assert_right(graph: NeighbourGraph, repository: MemoryRepository) -> None:
    """The graph says of every memory what the repository's exact search says of its vector."""
    snapshot = repository.snapshot()
    vectors = snapshot.all_vectors().by_id()
    assert graph.state == snapshot.state
    assert list(graph.ids) == sorted(vectors)
    for name, vector in vectors.items():
        best = [pair for pair in snapshot.nearest(vector, limit=NEAREST + 1) if pair[0] != name][:NEAREST]
        assert [cosine for _, cosine in graph.of(name)] == pytest.approx([pair[1] for pair in best], abs=1e-5)


def test_an_empty_database_has_an_empty_graph(repository: MemoryRepository) -> None:
    graph = neighbour_graph(repository)

    assert len(graph) == 0
    assert [len(part) for part in graph.pairs(0.0)] == [0, 0, 0]
    assert graph.of("nobody") == []


def test_each_memory_has_its_nearest(repository: MemoryRepository) -> None:
    fill(repository, 0, 60)

    assert_right(neighbour_graph(repository), repository)


def test_what_is_added_edited_deleted_and_restored_is_taken_in(repository: MemoryRepository) -> None:
    ids = fill(repository, 0, 60)
    neighbour_graph(repository)
    fill(repository, 60, 64)
    assert_right(neighbour_graph(repository), repository)

    repository.update(ids[3], {"facts": ["A mast and a sail in the harbour"]}, AUTHOR, patch=True)
    repository.delete(ids[5], AUTHOR)
    assert_right(neighbour_graph(repository), repository)

    repository.restore(ids[5], AUTHOR)
    assert_right(neighbour_graph(repository), repository)


def test_a_state_is_computed_once(repository: MemoryRepository) -> None:
    fill(repository, 0, 20)

    assert neighbour_graph(repository) is neighbour_graph(repository)


def test_a_few_more_memories_are_compared_and_not_all(
    repository: MemoryRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(repository, 0, 60)
    neighbour_graph(repository)
    monkeypatch.setattr(neighbours, "nearest_of_all", computing_all)

    fill(repository, 60, 62)

    assert_right(neighbour_graph(repository), repository)


def test_a_new_process_starts_from_the_file(
    repository: MemoryRepository, fast_embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(repository, 0, 60)
    first = neighbour_graph(repository)
    fill(repository, 60, 62)
    another = MemoryRepository.open(repository.settings, fast_embedder)
    monkeypatch.setattr(neighbours, "nearest_of_all", computing_all)

    graph = neighbour_graph(another)

    assert_right(graph, another)
    assert len(graph) == len(first) + 2


@pytest.mark.parametrize(
    "harm", ["cut short", "a byte changed", "not ours", "another database's", "another model's"]
)
def test_a_file_that_cannot_be_trusted_is_no_file(
    repository: MemoryRepository, fast_embedder: Embedder, harm: str
) -> None:
    fill(repository, 0, 40)
    neighbour_graph(repository)
    spoil(repository.path / ".memsuite" / "cache" / "neighbours.bin", harm)

    another = MemoryRepository.open(repository.settings, fast_embedder)

    assert_right(neighbour_graph(another), another)


def test_where_no_file_can_be_written_the_graph_is_there_all_the_same(
    repository: MemoryRepository, add: Add
) -> None:
    add("Havlys:Tide", "The tide of the harbour")
    (repository.path / ".memsuite" / "cache").write_text("in the way")

    assert_right(neighbour_graph(repository), repository)


def test_pairs_are_listed_once_with_the_smaller_row_first(repository: MemoryRepository) -> None:
    fill(repository, 0, 40)
    graph = neighbour_graph(repository)

    one, other, cosines = graph.pairs(0.5)

    assert len(one) > 10
    assert (one < other).all()
    assert len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(one)
    assert cosines.min() >= 0.5
    known = {(name, near) for name in graph.ids for near, cosine in graph.of(name) if cosine >= 0.5}
    pairs = {(graph.ids[a], graph.ids[b]) for a, b in zip(one, other, strict=True)}
    assert {(a, b) if a < b else (b, a) for a, b in known} == pairs


def computing_all(matrix: object) -> None:
    raise AssertionError("everything was compared with everything again")


def spoil(file: Path, harm: str) -> None:
    content = file.read_bytes()
    header, _, body = content.partition(b"\n")
    spoilt = {
        "cut short": content[:-3],
        "a byte changed": content[:-1] + bytes([content[-1] ^ 1]),
        "not ours": b"\x00\xff",
        "another database's": header.replace(b'"lineage": "', b'"lineage": "x') + b"\n" + body,
        "another model's": header.replace(b'"embedding": "', b'"embedding": "x') + b"\n" + body,
    }[harm]
    assert spoilt != content
    file.write_bytes(spoilt)
