"""Jobs: real child processes over a database on disk, and what is left when one dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.samples import AUTHOR, payload
from django.core.management import call_command
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memories.console import jobs
from memories.console.audit_models import AuditEvent, Result
from memories.console.audit_process import this_process
from memories.console.bulk_flow import KINDS
from memories.console.job_models import Job, State
from memories.console.job_work import Ended, Stopped, Watch, run
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs
    from django.contrib.auth.models import User
    from pytest_django import DjangoDbBlocker

MANY = 203
PATIENCE = 60.0


@pytest.fixture
def db(
    repository: MemoryRepository, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """The console's database as a file in this test's home, so that a child process sees it too. Stands
    in for the database that other tests roll back."""
    settings = connections.settings["default"]
    name, memory = settings["NAME"], connections["default"]
    with django_db_blocker.unblock():
        settings["NAME"] = repository.settings.console_db
        connections["default"] = connections.create_connection("default")
        call_command("migrate", verbosity=0)
        yield
        for thread in threading.enumerate():
            if thread.name.startswith("job-"):
                thread.join(PATIENCE)
        connections["default"].close()
        settings["NAME"], connections["default"] = name, memory


@pytest.fixture
def many(repository: MemoryRepository) -> list[str]:
    given = [payload(f"Subject_{at}", facts=[f"Fact number {at}"], tags=["api"]) for at in range(MANY)]
    added = repository.add_many(given, AUTHOR)
    return [one.memory_id for one in added]  # type: ignore[union-attr]


@pytest.fixture
def curator(client_as: ClientAs) -> Client:
    return client_as("curator")


@pytest.fixture
def owner(person: Callable[[str], User]) -> User:
    return person("curator")


def row(owner: User, total: int = 1, **values: object) -> Job:
    """A job's row, made without starting anything."""
    given = {"kind": "test", "label": "A job", "actor": "console:curator", "back": "/tags/"}
    given |= {"operation_id": f"operation-{time.monotonic_ns()}", "queued_at": timezone.now()}
    return Job.objects.create(owner=owner, total=total, **(given | values))


def asked_for(client: Client, action: str, button: str, **fields: str) -> HttpResponse:
    """Everything selected, previewed and confirmed; the answer is the job's page."""
    form = {"everything": "1", "filter": "tag=api", "action": action, "next": "/tags/", **fields}
    preview = Page(client.post(reverse("console:bulk"), form, follow=True))
    return press(client, preview, button, note="all at once")


def ended(client: Client, page: HttpResponse) -> Page:
    """The job's page once it has ended."""
    path = page.request["PATH_INFO"]
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        shown = client.get(path)
        if b"hx-trigger" not in shown.content:
            return Page(shown)
        time.sleep(0.2)
    raise AssertionError(f"the job did not end: {Page(shown).text}")


def test_a_change_of_many_runs_in_a_child_process_and_is_undone_by_another(
    repository: MemoryRepository, many: list[str], curator: Client
) -> None:
    started = asked_for(curator, "add_tags", f"Tag {MANY} memories", value="production")
    assert f"Add the tag “production” to {MANY} memories" in Page(started).text

    done = ended(curator, started)

    assert f"{MANY} of {MANY} changed" in done.text
    assert repository.catalogue().counts("tags") == {"api": MANY, "production": MANY}
    job = Job.objects.get()
    assert job.process and job.process != this_process()
    event = AuditEvent.objects.get()
    assert (event.operation_id, event.completion.changed) == (job.operation_id, MANY)
    assert "all at once" in event.payloads.get(part="text").body
    assert "note" not in job.parameters

    undone = ended(curator, press(curator, done, "Undo"))

    assert f"Undone, {MANY} memories as before" in undone.text
    assert repository.catalogue().counts("tags") == {"api": MANY}


def test_a_job_that_finds_another_set_changes_nothing(
    repository: MemoryRepository, many: list[str], curator: Client, owner: User
) -> None:
    # Both places are taken, so the job waits while the set changes.
    busy = [
        row(owner, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now()) for _ in range(2)
    ]
    started = asked_for(curator, "set_tier", f"Change {MANY} memories", value="1")
    assert "Waits for other jobs" in Page(started).text
    repository.delete(many[0], AUTHOR)
    Job.objects.filter(pk__in=[one.pk for one in busy]).update(state=State.DONE, result={"changed": 0})
    jobs.start_waiting()

    failed = ended(curator, started)

    assert "0 joined and 1 left since the preview" in failed.text
    assert "selection_changed" in failed.text
    assert {*repository.catalogue().counts("tier")} == {2}


def test_a_waiting_job_can_be_cancelled(
    repository: MemoryRepository, many: list[str], curator: Client, owner: User
) -> None:
    for _ in range(2):
        row(owner, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now())
    waiting = Page(asked_for(curator, "set_tier", f"Change {MANY} memories", value="1"))

    cancelled = Page(press(curator, waiting, "Cancel"))

    assert "Cancelled. Nothing was changed." in cancelled.text
    assert jobs.claim() is None


def test_a_job_cancelled_at_work_stores_nothing(
    repository: MemoryRepository, many: list[str], curator: Client, owner: User
) -> None:
    for _ in range(2):
        row(owner, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now())
    asked_for(curator, "set_tier", f"Change {MANY} memories", value="1")
    Job.objects.filter(kind="test").delete()
    key = jobs.claim()
    assert key is not None
    generation = repository.snapshot().generation

    def cancelled_half_way(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
        assert jobs.cancel(job)
        return KINDS["bulk"](job, store, watch)

    job = run(key, repository, {"bulk": cancelled_half_way})

    assert job is not None and job.state == State.CANCELLED
    assert repository.snapshot().generation == generation
    completion = AuditEvent.objects.get().completion
    assert (completion.result, completion.code) == (Result.NOTHING, "cancelled")


def test_a_killed_child_is_marked_and_the_store_is_untouched_or_whole(
    repository: MemoryRepository, many: list[str], curator: Client
) -> None:
    started = asked_for(curator, "set_tier", f"Change {MANY} memories", value="1")
    key = started.request["PATH_INFO"].split("/")[-2]
    until = time.monotonic() + PATIENCE
    while not (process := Job.objects.get(pk=key).process) and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(int(process.split(":")[0]), signal.SIGKILL)

    shown = ended(curator, started)

    # The page says it from the process that is gone; who waits for the process writes it down.
    for thread in threading.enumerate():
        if thread.name == f"job-{key}":
            thread.join(PATIENCE)
    job = Job.objects.get(pk=key)
    tiers = repository.catalogue().counts("tier")
    assert tiers in ({1: MANY}, {2: MANY})
    if job.state == State.INTERRUPTED:
        assert "Its process ended before it could report" in shown.text
        assert job.stored == (tiers == {1: MANY})
    else:
        assert job.state == State.DONE


def test_a_job_whose_process_is_gone_is_marked_after_a_restart(
    owner: User, repository: MemoryRepository, many: list[str]
) -> None:
    gone = row(owner, state=State.RUNNING, process="999999999:1:none", heartbeat_at=timezone.now())
    here = row(owner, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now())

    jobs.start_waiting()

    gone.refresh_from_db()
    here.refresh_from_db()
    assert (gone.state, gone.stored) == (State.INTERRUPTED, False)
    assert here.state == State.RUNNING


def test_an_interrupted_job_that_had_stored_its_change_offers_undo(
    owner: User, repository: MemoryRepository, many: list[str], curator: Client
) -> None:
    deleted = repository.delete(many[0], AUTHOR)
    gone = row(
        owner,
        state=State.COMMITTING,
        process="999999999:1:none",
        heartbeat_at=timezone.now(),
        operation_id=deleted.operation_id,
    )

    jobs.sweep()

    page = Page(curator.get(reverse("console:job", args=[gone.pk])))
    assert "stored whole" in page.text
    press(curator, page, "Undo")
    assert many[0] in repository.snapshot().memories([many[0]])


def test_a_dead_job_shows_what_became_of_it_before_anyone_has_marked_it(
    owner: User, repository: MemoryRepository, many: list[str], curator: Client
) -> None:
    deleted = repository.delete(many[0], AUTHOR)
    given = {"state": State.COMMITTING, "process": "999999999:1:none", "heartbeat_at": timezone.now()}
    stored = row(owner, operation_id=deleted.operation_id, **given)
    lost = row(owner, **given)

    assert "stored whole" in Page(curator.get(reverse("console:job", args=[stored.pk]))).text
    assert "Nothing was stored" in Page(curator.get(reverse("console:job", args=[lost.pk]))).text
    assert Job.objects.filter(state=State.COMMITTING).count() == 2


def test_a_job_that_says_nothing_for_a_minute_counts_as_gone(
    owner: User, repository: MemoryRepository
) -> None:
    silent = row(owner, state=State.STARTING, heartbeat_at=timezone.now() - timedelta(seconds=61))

    jobs.sweep()

    silent.refresh_from_db()
    assert silent.state == State.INTERRUPTED


def test_a_job_taken_for_gone_may_no_longer_commit(owner: User, repository: MemoryRepository) -> None:
    key = row(owner, total=2, state=State.STARTING, heartbeat_at=timezone.now()).pk
    seen = []

    def taken_for_gone(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
        Job.objects.filter(pk=key).update(state=State.INTERRUPTED)
        try:
            watch.progress(2, 2)
        except Stopped:
            seen.append("stopped")
            raise
        return Ended(True, {})

    run(key, repository, {"test": taken_for_gone})

    assert seen == ["stopped"]
    assert Job.objects.get(pk=key).state == State.INTERRUPTED


def test_what_breaks_in_a_job_is_told_without_its_text(owner: User, repository: MemoryRepository) -> None:
    def breaks(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
        raise ValueError("a fact")

    key = row(owner, state=State.STARTING, heartbeat_at=timezone.now()).pk
    job = run(key, repository, {"test": breaks})

    assert job is not None and job.state == State.FAILED
    assert "a fact" not in job.error_message


def test_what_breaks_after_the_commit_says_that_the_change_stands(
    owner: User, repository: MemoryRepository, many: list[str], curator: Client
) -> None:
    deleted = repository.delete(many[0], AUTHOR)
    key = row(owner, state=State.STARTING, heartbeat_at=timezone.now(), operation_id=deleted.operation_id).pk

    def breaks(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
        raise ValueError("after the commit")

    run(key, repository, {"test": breaks})

    page = Page(curator.get(reverse("console:job", args=[key])))
    assert "stored whole" in page.text
    assert page.has_button("Undo")


def test_two_jobs_work_at_once_and_the_others_wait_in_turn(owner: User, repository: MemoryRepository) -> None:
    first, second, third = (row(owner).pk for _ in range(3))

    assert [jobs.claim(), jobs.claim(), jobs.claim()] == [first, second, None]
    Job.objects.filter(pk=first).update(state=State.DONE)
    assert jobs.claim() == third


def test_a_job_is_done_by_one_process(owner: User, repository: MemoryRepository) -> None:
    key = row(owner, state=State.STARTING, heartbeat_at=timezone.now()).pk
    works = {"test": lambda job, store, watch: Ended(False, {"changed": 0, "unchanged": 0, "refused": {}})}

    assert run(key, repository, works) is not None
    assert run(key, repository, works) is None


def test_a_writing_job_cannot_be_cancelled(owner: User, curator: Client) -> None:
    job = row(owner, state=State.COMMITTING, process=this_process(), heartbeat_at=timezone.now())

    assert not Page(curator.get(reverse("console:job", args=[job.pk]))).has_button("Cancel")
    answer = Page(curator.post(reverse("console:cancel_job", args=[job.pk]), follow=True))

    assert "Too late to cancel" in answer.text


def test_another_persons_job_is_read_but_not_cancelled(owner: User, client_as: ClientAs) -> None:
    job = row(owner, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now())
    other = client_as("operator")

    assert not Page(other.get(reverse("console:job", args=[job.pk]))).has_button("Cancel")
    assert other.post(reverse("console:cancel_job", args=[job.pk])).status_code == 403
    assert client_as("administrator").post(reverse("console:cancel_job", args=[job.pk])).status_code == 302


def test_the_progress_line_counts_and_tells_the_time_left(owner: User, curator: Client) -> None:
    now = timezone.now()
    job = row(owner, total=1_000, done=400, state=State.RUNNING, started_at=now - timedelta(seconds=4))

    line = job.progress(now)

    assert (round(line.rate), round(line.left_seconds or 0)) == (100, 6)


def test_the_progress_page_refreshes_itself_without_a_script(owner: User, curator: Client) -> None:
    job = row(owner, total=9, state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now())

    shown = curator.get(reverse("console:job", args=[job.pk])).content

    assert b'<noscript><meta http-equiv="refresh"' in shown


def test_the_list_shows_jobs_at_work_first(owner: User, curator: Client) -> None:
    row(
        owner, label="Older at work", state=State.RUNNING, process=this_process(), heartbeat_at=timezone.now()
    )
    row(
        owner,
        label="Newer and done",
        state=State.DONE,
        result={"changed": 1, "unchanged": 2, "refused": {"x": ["a", "b"]}},
    )

    text = Page(curator.get(reverse("console:jobs"))).text

    assert text.index("Older at work") < text.index("Newer and done")
    assert "1 of 1 changed, 2 were so already, 1 left alone" in text


def test_an_unknown_job_is_not_found(curator: Client) -> None:
    assert curator.get(reverse("console:job", args=["none"])).status_code == 404


def test_the_console_database_is_this_tests_own(repository: MemoryRepository, owner: User) -> None:
    assert Path(str(connections["default"].settings_dict["NAME"])) == repository.settings.console_db
