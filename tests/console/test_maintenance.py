"""The maintenance page: what it tells, what it starts, whom it lets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload
from django.test import Client
from django.utils import timezone

from memories.console import upkeep_jobs
from memories.console.access import _CONFIRMED_AT
from memories.console.job_kinds import KINDS
from memories.console.job_models import Job, State
from memories.console.job_work import run
from memories.console.sizes import size
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait until the test does them: that they get a process of their own is tested elsewhere."""
    monkeypatch.setattr("memories.console.jobs.start_waiting", lambda: None)


@pytest.fixture
def operator(client_as: ClientAs) -> Client:
    client = client_as("operator")
    session = client.session
    session[_CONFIRMED_AT] = int(timezone.now().timestamp())
    session.save()
    return client


def finished(store: MemoryRepository) -> Job:
    """The one job, done."""
    Job.objects.filter(state=State.QUEUED).update(state=State.STARTING)
    job = run(Job.objects.latest("queued_at").pk, store, KINDS)
    assert job is not None
    return job


def test_an_empty_store_says_so(client_as: ClientAs) -> None:
    assert "No database yet" in client_as("viewer").get("/maintenance/").content.decode()


def test_tables_and_health_are_shown_to_all_and_buttons_to_operators(
    client_as: ClientAs, operator: Client, repository: MemoryRepository
) -> None:
    repository.add(payload(), AUTHOR)

    viewer, allowed = (
        client.get("/maintenance/").content.decode() for client in (client_as("viewer"), operator)
    )

    assert "<code>memories</code>" in viewer
    assert "healthy" in viewer
    assert "Back up now" not in viewer
    assert "Back up now" in allowed


def test_a_backup_is_made_shown_and_restored(operator: Client, repository: MemoryRepository) -> None:
    kept = repository.add(payload(), AUTHOR).memory_id
    operator.post("/maintenance/start/", {"what": "backup"})
    made = finished(repository)
    later = repository.add(payload("Later", facts=["Came afterwards"]), AUTHOR).memory_id
    name = repository.maintenance().backups.list()[0].name

    asked = operator.get(f"/maintenance/restore/{name}/").content.decode()
    operator.post(f"/maintenance/restore/{name}/")
    restored = finished(repository)

    ids = repository.catalogue().table["id"].to_pylist()
    assert (made.state, restored.state) == (State.DONE, State.DONE)
    assert name in asked
    assert kept in ids
    assert later not in ids


def test_compaction_of_a_fresh_store_has_nothing_to_do(
    operator: Client, repository: MemoryRepository
) -> None:
    repository.add(payload(), AUTHOR)
    operator.post("/maintenance/start/", {"what": "compact"})

    assert finished(repository).result["says"] == "Nothing to do"


def test_reclaim_asks_first(operator: Client, repository: MemoryRepository) -> None:
    for tier in (1, 2, 3):
        memory = repository.add(payload(), AUTHOR).memory_id
        repository.update(memory, {"tier": tier}, AUTHOR, patch=True)

    asked = operator.get("/maintenance/reclaim/").content.decode()
    operator.post("/maintenance/reclaim/")
    job = finished(repository)

    assert "Every earlier version of the files goes" in asked
    assert (job.state, repository.count()) == (State.DONE, 1)


def test_one_upkeep_at_a_time(operator: Client, repository: MemoryRepository) -> None:
    repository.add(payload(), AUTHOR)
    for what in ("backup", "compact"):
        operator.post("/maintenance/start/", {"what": what})

    assert [job.kind for job in Job.objects.all()] == [upkeep_jobs.BACKUP]


def test_a_backup_that_is_not_there_cannot_be_restored(operator: Client) -> None:
    assert operator.get("/maintenance/restore/lancedb-manual-20260101-000000/").status_code == 404


@pytest.mark.parametrize(
    ("count", "says"), [(0, "0 bytes"), (1023, "1,023 bytes"), (1536, "1.5 KiB"), (-(2**20), "-1.0 MiB")]
)
def test_sizes_are_said_as_a_person_reads_them(count: int, says: str) -> None:
    assert size(count) == says
