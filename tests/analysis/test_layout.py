"""The map: components at once, a layout that is kept, and a place for what comes later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memories.analysis import layout, projection
from memories.analysis.projection import Layout, Matrix
from memories.embedding import Embedder
from memories.repository import Author, MemoryRepository
from memories.settings import load_settings

AUTHOR = Author(actor="agent")
THINGS = ("tide tables", "recipe for bread", "git branches", "violin strings", "tax rules", "garden soil")


@pytest.fixture
def repository(tmp_path: Path, fast_embedder: Embedder) -> MemoryRepository:
    found = MemoryRepository(load_settings(hermes_home=tmp_path, environ={}), fast_embedder)
    found.add_many([memory(at) for at in range(24)], AUTHOR)
    return found


def memory(at: int) -> dict[str, object]:
    thing = THINGS[at % len(THINGS)]
    facts = [f"Note {at} about {thing}"]
    return {"domain": "Notes", "subject": f"Note_{at}", "facts": facts, "tier": 2, "category": "fact"}


def clusters(count: int, each: int) -> Matrix:
    random = np.random.default_rng(7)
    centres = random.normal(size=(count, 48))
    rows = np.repeat(centres, each, axis=0) + 0.05 * random.normal(size=(count * each, 48))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def quiet(done: int, total: int) -> None:
    assert 0 <= done <= total


def test_components_are_the_same_each_time_and_fill_the_square() -> None:
    vectors = clusters(3, 20)

    first, second = projection.principal_components(vectors), projection.principal_components(vectors)

    assert np.array_equal(first, second)
    assert np.abs(first).max() == pytest.approx(1)


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_a_handful_has_a_picture_too(rows: int) -> None:
    vectors = clusters(1, 5)[:rows]

    assert projection.umap_layout(vectors, quiet).shape == (rows, 2)


def test_a_layout_keeps_neighbours_together_and_repeats() -> None:
    vectors = clusters(3, 15)

    first, second = projection.umap_layout(vectors, quiet), projection.umap_layout(vectors, quiet)

    centres = first.reshape(3, 15, 2).mean(axis=1)
    spread = np.linalg.norm(first.reshape(3, 15, 2) - centres[:, None], axis=2).mean()
    apart = min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert np.array_equal(first, second)
    assert apart > 2 * spread


def test_what_comes_later_stands_with_its_neighbours() -> None:
    vectors = clusters(3, 15)
    xy = np.repeat(np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32), 15, axis=0)

    found = projection.placed(vectors[::15], vectors[1:], xy[1:])

    assert np.allclose(found, [[0, 0], [1, 0], [0, 1]], atol=0.05)


def test_at_most_so_many_are_fitted_evenly() -> None:
    chosen = projection.chosen_to_fit([str(at) for at in range(1000)], most=100)

    assert len(chosen) == 100
    assert (chosen[0], chosen[-1]) == (0, 999)
    assert max(np.diff(chosen)) <= 11


def test_without_a_layout_the_map_shows_components(repository: MemoryRepository) -> None:
    found = layout.memory_map(repository)

    assert (found.method, len(found.ids), found.total, found.unusable) == ("components", 24, 24, 0)


def test_a_layout_is_kept_and_a_later_memory_moves_no_other(repository: MemoryRepository) -> None:
    layout.make_layout(repository, quiet)
    before = layout.memory_map(repository)

    added = repository.add(memory(24), AUTHOR).memory_id
    after = layout.memory_map(repository)

    assert (before.method, before.by_neighbours, after.by_neighbours) == ("umap", 0, 1)
    assert after.ids == (*before.ids, added)
    assert np.array_equal(after.xy[:-1], before.xy)
    assert np.isfinite(after.xy).all()


def test_a_map_beyond_its_limit_says_that_it_is_a_sample(repository: MemoryRepository) -> None:
    found = layout.memory_map(repository, most=10)

    assert (len(found.ids), found.total, found.is_sample) == (10, 24, True)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"not a file of ours"])
def test_a_damaged_layout_is_as_good_as_none(repository: MemoryRepository, damage: bytes) -> None:
    folder = repository.path / ".memsuite" / "cache"
    layout.make_layout(repository, quiet)
    (folder / "layout.npz").write_bytes(damage)

    assert layout.memory_map(repository).method == "components"


def test_the_layout_of_another_model_is_not_used(repository: MemoryRepository) -> None:
    ids = layout.memory_map(repository).ids
    other = Layout("umap", "other/model@3#x", ids, np.zeros((len(ids), 2), dtype=np.float32))
    layout.save(repository.path / ".memsuite" / "cache", other)

    assert layout.memory_map(repository).method == "components"


def test_a_stopped_layout_keeps_nothing(repository: MemoryRepository) -> None:
    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        layout.make_layout(repository, stop)

    assert layout.memory_map(repository).method == "components"


def test_an_empty_database_has_an_empty_map(tmp_path: Path, fast_embedder: Embedder) -> None:
    empty = MemoryRepository(load_settings(hermes_home=tmp_path, environ={}), fast_embedder)

    assert layout.memory_map(empty).ids == ()
    assert layout.make_layout(empty, quiet) == 0
