"""Importing and exporting on pages: looked through first, then done, undone, and sent back out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from console.pages_read import Page
from console.samples import AUTHOR, payload
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memories.console import jobs
from memories.console.audit_models import AuditEvent
from memories.console.job_kinds import KINDS
from memories.console.job_models import Job, State
from memories.console.job_work import run
from memories.console.repository_access import suite_settings
from memories.console.uploads import UPLOAD_MAX, path_of
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

URL = reverse("console:imports")
LINES = [payload("Tide_API"), payload("Harbour_map"), payload("Broken", tier=9)]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait until a test does them, rather than start a process each."""
    monkeypatch.setattr(jobs, "start_waiting", lambda: None)


@pytest.fixture
def operator(client_as: ClientAs) -> Client:
    return client_as("operator")


def work(repository: MemoryRepository) -> Job:
    """Do the job that waits."""
    key = jobs.claim()
    assert key is not None
    done = run(key, repository, KINDS)
    assert done is not None
    return done


def send(client: Client, text: str = "", name: str = "../../evil.jsonl", **more: Any) -> Any:
    text = text or "\n".join(map(json.dumps, LINES))
    file = SimpleUploadedFile(name, text.encode())
    return client.post(URL, {"file": file, "system": "auto"} | more)


def report_of(job: Job) -> str:
    return reverse("console:import_report", args=[job.pk])


def test_a_file_is_looked_through_first(operator: Client, repository: MemoryRepository) -> None:
    response = send(operator)
    job = work(repository)
    assert response["Location"] == reverse("console:job", args=[job.pk])
    text = Page(operator.get(report_of(job))).text
    assert (job.state, repository.count()) == (State.DONE, 0)
    assert "2 rows would be added, 1 set aside" in text
    assert "line 3" in text


def test_what_was_looked_through_is_imported_recorded_and_undone(
    operator: Client, repository: MemoryRepository
) -> None:
    send(operator)
    checked = work(repository)
    operator.post(report_of(checked), {"note": "from the old laptop"})
    done = work(repository)
    assert (done.stored, repository.count(), repository.quarantine.page()[0]) == (True, 2, 1)
    event = AuditEvent.objects.get(action="import")
    assert event.operation_id == done.operation_id
    operator.post(reverse("console:undo", args=[done.operation_id]))
    assert (repository.count(), repository.quarantine.page()[0]) == (0, 0)


def test_an_import_of_lessons_alone_can_be_undone(operator: Client, repository: MemoryRepository) -> None:
    send(operator, "The backup runs at night\n§\nAsk before restarting", name="MEMORY.md")
    operator.post(report_of(work(repository)))
    done = work(repository)
    assert len(repository.lessons.all()) == 2
    operator.post(reverse("console:undo", args=[done.operation_id]))
    assert repository.lessons.all() == ()


def test_a_whole_export_imported_into_an_empty_database_can_be_undone(
    operator: Client, repository: MemoryRepository
) -> None:
    repository.add(payload("Tide_API"), AUTHOR)
    sent = b"".join(operator.post(reverse("console:export"), {"format": "jsonl"})).decode()
    repository.undo(repository.list_memories().rows[0].operation_id, AUTHOR)
    send(operator, sent)
    operator.post(report_of(work(repository)))
    done = work(repository)
    assert repository.count() == 1
    operator.post(reverse("console:undo", args=[done.operation_id]))
    assert repository.count() == 0


def test_a_file_of_unknown_kind_is_refused_in_words(operator: Client, repository: MemoryRepository) -> None:
    send(operator, "just some words")
    job = work(repository)
    assert (job.state, job.error_code) == (State.FAILED, "invalid_parameter")
    assert "cannot be told" in Page(operator.get(report_of(job))).text


@pytest.mark.parametrize(
    "given", [{"file": ""}, {"system": "floppy"}, {"file": SimpleUploadedFile("a", b"")}]
)
def test_a_form_without_a_file_or_of_no_system_says_so(operator: Client, given: dict[str, Any]) -> None:
    response = send(operator, **given)
    assert response.status_code == 422
    assert not Job.objects.exists()


def test_what_was_not_looked_through_is_not_imported(operator: Client, repository: MemoryRepository) -> None:
    send(operator)
    waiting = Job.objects.get()
    operator.post(report_of(waiting))
    assert Job.objects.count() == 1
    assert repository.count() == 0


def test_the_names_people_give_are_no_paths(operator: Client, repository: MemoryRepository) -> None:
    send(operator)
    kept = path_of(Job.objects.get().parameters["upload"])
    assert (kept.name, kept.parents[1]) == ("upload", suite_settings().suite_dir / "uploads")


@pytest.mark.parametrize(("role", "size"), [("operator", UPLOAD_MAX + 2), ("anonymous", 3_000_000)])
def test_a_body_that_is_too_large_is_refused_unread(client_as: ClientAs, role: str, size: int) -> None:
    kind = "multipart/form-data; boundary=x"
    response = client_as(role).post(URL, b"", content_type=kind, CONTENT_LENGTH=str(size))
    assert response.status_code == 413


def test_who_has_signed_in_may_send_more_than_a_form(operator: Client, repository: MemoryRepository) -> None:
    lines = "\n".join(json.dumps(payload(f"s{number}", facts=["x" * 900])) for number in range(3_000))
    assert len(lines) > 2_700_000
    assert send(operator, lines).status_code == 302


def test_an_export_is_sent_and_recorded(operator: Client, repository: MemoryRepository) -> None:
    repository.add(payload("Tide_API"), AUTHOR)
    response = operator.post(reverse("console:export"), {"format": "jsonl", "vectors": "1"})
    header = b"".join(response).decode().splitlines()[0]
    assert json.loads(header)["tables"]["memories"]["rows"] == 1
    assert "attachment" in response["Content-Disposition"]
    assert AuditEvent.objects.filter(action="export").exists()
    left = suite_settings().cache_dir / "exports"
    assert [path for path in left.rglob("*") if path.is_file()] == []


def test_an_export_as_parquet_opens(operator: Client, repository: MemoryRepository) -> None:
    import io

    import pyarrow.parquet as pq

    repository.add(payload("Tide_API"), AUTHOR)
    response = operator.post(reverse("console:export"), {"format": "parquet"})
    assert pq.read_table(io.BytesIO(b"".join(response)))["subject"].to_pylist() == ["Tide_API"]


@pytest.mark.parametrize("role", ["viewer", "curator"])
@pytest.mark.parametrize("address", [URL, reverse("console:export")])
def test_only_operators_move_data(client_as: ClientAs, role: str, address: str) -> None:
    assert client_as(role).get(address).status_code == 403
