"""Clusters of a repository: found by nearness, named by their words, steady while memories come and go."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from analysis.conftest import AUTHOR, form

from memories.analysis.clusters import Clusters, clusters, communities
from memories.analysis.join import Lists, nearest_of_all
from memories.analysis.neighbours import NeighbourGraph
from memories.repository import MemoryRepository
from memories.repository.snapshot import State

if TYPE_CHECKING:
    from analysis.conftest import Add

TOPICS = {
    "tide": ["The tide table of the harbour", "Tide gauges in the harbour", "High tide at the harbour wall"],
    "invoice": ["An invoice is paid in thirty days", "The invoice has a prefix", "Paid invoices are kept"],
    "editor": ["The editor saves on focus loss", "The editor theme is dark", "A font of the editor"],
}  # fmt: skip


def graph_of(lists: Lists) -> NeighbourGraph:
    ids = tuple(f"{number:06}" for number in range(len(lists)))
    return NeighbourGraph(State("made", 1), "made", ids, lists)


def topics(rows: int, groups: int, seed: int) -> np.ndarray:
    """Unit rows around some centres, in no order."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((groups, 64))
    made = centres[chance.integers(groups, size=rows)] + 0.8 * chance.standard_normal((rows, 64))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


def adjusted_rand(one: list[int], other: list[int]) -> float:
    """1 where two ways to part the same things are one, about 0 where they agree by chance alone."""

    def pairs(counts: Counter[object]) -> float:
        return sum(count * (count - 1) / 2 for count in counts.values())

    both, ours, theirs = Counter(zip(one, other, strict=True)), Counter(one), Counter(other)
    together, expected = pairs(both), pairs(ours) * pairs(theirs) / pairs(Counter({0: len(one)}))
    return (together - expected) / ((pairs(ours) + pairs(theirs)) / 2 - expected)


def fill(add: Add) -> dict[str, set[str]]:
    return {
        topic: {add(f"Notes:{topic}_{at}", fact) for at, fact in enumerate(facts)}
        for topic, facts in TOPICS.items()
    }


def sets(found: Clusters) -> list[set[str]]:
    return [set(cluster.ids) for cluster in found.clusters]


def test_memories_of_one_topic_are_one_cluster(repository: MemoryRepository, add: Add) -> None:
    made = fill(add)

    found = clusters(repository)

    assert sorted(map(sorted, sets(found))) == sorted(map(sorted, made.values()))
    assert found.coverage == 1.0
    for cluster in found.clusters:
        topic = next(topic for topic, ids in made.items() if ids == set(cluster.ids))
        assert topic in cluster.words
        assert 0.4 < cluster.cohesion <= 1.0


def test_a_memory_by_itself_is_isolated(repository: MemoryRepository, add: Add) -> None:
    fill(add)
    alone = add("Zoo:Giraffe", "Giraffes sleep standing upright")

    found = clusters(repository)

    assert found.isolated == (alone,)
    assert found.coverage == pytest.approx(9 / 10)


def test_an_empty_database_has_none(repository: MemoryRepository) -> None:
    found = clusters(repository)

    assert (found.clusters, found.isolated, found.coverage) == ((), (), 0.0)


def test_the_topics_are_found_again_in_many_rows() -> None:
    chance = np.random.default_rng(3)
    centres = chance.standard_normal((30, 64))
    truth = chance.integers(30, size=2_000)
    made = centres[truth] + 0.8 * chance.standard_normal((2_000, 64))
    made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    labels = communities(graph_of(nearest_of_all(made)))

    assert adjusted_rand(labels.tolist(), truth.tolist()) > 0.9


def test_two_runs_are_equal() -> None:
    matrix = topics(1_500, 40, seed=5)

    first, second = (communities(graph_of(nearest_of_all(matrix.copy()))) for _ in range(2))

    assert (first == second).all()


def test_one_more_memory_changes_its_neighbourhood_alone() -> None:
    matrix = topics(1_501, 40, seed=6)
    before = communities(graph_of(nearest_of_all(matrix[:-1])))
    lists = nearest_of_all(matrix)
    after = communities(graph_of(lists))

    assert adjusted_rand(before.tolist(), after[:-1].tolist()) > 0.99
    touched = set(after[lists.near[-1]].tolist()) | set(before[lists.near[-1]].tolist())
    changed = {row for row in range(1_500) if before[row] != after[row]}
    assert all({int(before[row]), int(after[row])} & touched for row in changed)


def test_what_is_all_alike_is_said_to_tell_little(repository: MemoryRepository, add: Add) -> None:
    words = product(
        ("tide", "table", "harbour"), ("north", "south", "east", "west"), ("wall", "gate", "mole")
    )
    payloads = [
        form(f"Havlys:Note_{at}", f"The {' '.join(said)} of the harbour town")
        for at, said in enumerate(words)
    ]
    repository.add_many(payloads, AUTHOR)

    assert clusters(repository).tells_little
