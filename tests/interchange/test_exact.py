"""Merging what says the same word for word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memories.interchange import System, import_from
from memories.interchange.exact import merge, plan_merges
from memories.repository import Author, MemoryRepository
from tests.interchange.conftest import Made

Maker = Callable[..., dict[str, Any]]


@pytest.fixture
def stored(made: Made, payload: Maker, tmp_path: Path) -> Callable[..., MemoryRepository]:
    """A database with these memories, duplicates too, as only an import brings them in."""

    def store(*rows: dict[str, Any]) -> MemoryRepository:
        (tmp_path / "m.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        repository = made("target")
        import_from(repository, tmp_path / "m.jsonl", System.JSONL)
        return repository

    return store


def crane(payload: Maker, name: str, **more: Any) -> dict[str, Any]:
    return payload("crane", "Lifts 40 t over the quay") | {"id": name, "created_at": 1.7e9} | more


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"quality": 0.4}, {"quality": 0.6}),
        ({"created_at": 1.71e9}, {"created_at": 1.6e9}),
        ({"facts": ["lifts 40 t over the quay"]}, {"facts": ["Lifts 40 t over the quay!"], "quality": 0.9}),
    ],
)
def test_the_better_one_is_kept(stored: Any, payload: Maker, one: Any, other: Any) -> None:
    plan = plan_merges(stored(crane(payload, "a", **one), crane(payload, "b", **other)), 0.92)
    assert [(group.keeper.id, [m.id for m in group.others]) for group in plan.exact] == [("b", ["a"])]


def test_of_two_as_good_the_more_recalled_is_kept(stored: Any, payload: Maker) -> None:
    repository = stored(crane(payload, "a"), crane(payload, "b"))
    repository.usage.record_recall(["b"])
    assert plan_merges(repository, 0.92).exact[0].keeper.id == "b"


def test_other_words_another_tier_and_another_claim_are_left(stored: Any, payload: Maker) -> None:
    repository = stored(
        crane(payload, "a"),
        crane(payload, "b", facts=["Lifts 40 t over the old quay"]),
        crane(payload, "c", tier=1),
    )
    assert plan_merges(repository, 0.8).exact == ()


def test_merging_unites_tags_repoints_edges_and_can_be_undone(
    stored: Any, payload: Maker, author: Author
) -> None:
    repository = stored(
        crane(payload, "a", tags=["steel"], quality=0.9),
        crane(payload, "b", tags=["port"]),
        payload("hook", relations=[{"type": "part_of", "target_id": "b"}]) | {"id": "h"},
    )
    plan = plan_merges(repository, 0.92)
    (outcome,) = merge(repository, plan.exact, author)
    assert {"steel", "port"} <= set(repository.get("a").memory.tags)
    assert [edge.target_id for edge in repository.snapshot().edges_of(["h"])] == ["a"]
    assert plan_merges(repository, 0.92).exact == ()
    repository.undo(outcome.operation_id, author)
    assert repository.count() == 3


def test_a_group_changed_meanwhile_is_left_alone(stored: Any, payload: Maker, author: Author) -> None:
    repository = stored(crane(payload, "a"), crane(payload, "b"))
    plan = plan_merges(repository, 0.92)
    repository.update("a", {"quality": 0.1}, author, patch=True)
    (outcome,) = merge(repository, plan.exact, author)
    assert outcome.error is not None
    assert repository.count() == 2
