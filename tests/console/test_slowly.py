"""What takes long is computed once for each state, and nobody waits longer than they said."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload

from memories.console import slowly
from memories.console.slowly import Slowly
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs


class Hurried(Slowly[object]):
    """Waits a moment, however patient one is."""

    def of(self, repository: MemoryRepository, patience: float = 0) -> object:
        return super().of(repository, min(patience, 0.01))


@pytest.fixture
def large(repository: MemoryRepository, monkeypatch: pytest.MonkeyPatch) -> MemoryRepository:
    """One memory, which counts as too many to be computed at once."""
    monkeypatch.setattr(slowly, "AT_ONCE", 0)
    repository.add(payload(), AUTHOR)
    return repository


def test_a_state_is_computed_once(repository: MemoryRepository) -> None:
    repository.add(payload(), AUTHOR)
    seen: list[int] = []
    counted: Slowly[int] = Slowly(lambda store: seen.append(1) or store.count())

    assert [counted.of(repository), counted.of(repository)] == [1, 1]
    assert len(seen) == 1
    repository.add(payload("Another"), AUTHOR)
    assert counted.of(repository) == 2


def test_who_is_not_patient_is_told_to_come_back_and_finds_it_done(large: MemoryRepository) -> None:
    may_end = threading.Event()
    counted: Slowly[int] = Slowly(lambda store: (may_end.wait(30), store.count())[1])

    with pytest.raises(MemsuiteError) as refused:
        counted.of(large, patience=0.01)
    may_end.set()

    assert refused.value.code is ErrorCode.HEAVY_WORK_BUSY
    assert counted.of(large) == 1


def test_a_failure_is_told_and_tried_again(large: MemoryRepository) -> None:
    failures = [MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "", "Not now.")]

    def compute(store: MemoryRepository) -> int:
        if failures:
            raise failures.pop()
        return store.count()

    counted: Slowly[int] = Slowly(compute)

    with pytest.raises(MemsuiteError, match=r"Not now\."):
        counted.of(large)
    assert counted.of(large) == 1


def test_a_page_says_busy_and_the_rail_does_without_its_number(
    large: MemoryRepository, client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memories.console import duplicate_groups

    may_end = threading.Event()
    late = Hurried(lambda store: may_end.wait(30))
    monkeypatch.setattr(duplicate_groups, "found_duplicates", late)
    viewer = client_as("viewer")

    busy, other = viewer.get("/duplicates/"), viewer.get("/memories/")
    may_end.set()

    assert busy.status_code == 503
    assert "Retry-After" in busy.headers
    assert "heavy_work_busy" in busy.content.decode()
    assert other.status_code == 200
