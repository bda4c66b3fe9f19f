"""The commands of maintenance, as a person and as a timer runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memories.console.audit import recorded_as
from memories.console.audit_models import AuditPayload
from memories.embedding import Embedder
from memories.repository import Author, MemoryRepository, backup_check
from memories.settings import Settings, load_settings
from tests.support.commands import Run

SECRET = "the vault opens with vermilion walrus"


@pytest.fixture(autouse=True)
def checked_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("backup", "restoring"):
        monkeypatch.setattr(f"memories.repository.{module}.check", backup_check.look)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:static")
    return load_settings()


@pytest.fixture
def repository(settings: Settings, fast_embedder: Embedder) -> MemoryRepository:
    repository = MemoryRepository.open(settings, fast_embedder)
    for subject, fact in (("Vault", SECRET), ("Gateway", "port=8443")):
        payload = {"domain": "Tide", "subject": subject, "facts": [fact], "tier": 2, "category": "tech"}
        repository.add(payload, Author("agent"))
    return repository


def _id(repository: MemoryRepository, subject: str) -> str:
    return next(row.id for row in repository.list_memories().rows if row.subject == subject)


def test_nothing_to_do_ends_with_zero(run: Run, repository: MemoryRepository) -> None:
    for arguments, status in (
        ((), "not_needed"),
        (("--plan",), "not_needed"),
        (("--routine",), "not_needed"),
    ):
        done = run("compact", "--json", *arguments)
        assert (done.exit, done.answers[0]["status"]) == (0, status)
    assert run("compact").out == "Nothing to do.\n"


def test_the_plan_says_why_and_changes_nothing(
    run: Run, repository: MemoryRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.repository.upkeep.planning.MOST_FRAGMENTS", 1)
    line = (repository.path / "HEAD").read_text()
    assert "compact: 2 fragments, more than 1" in run("compact", "--plan").out
    assert (repository.path / "HEAD").read_text() == line


def test_reclaim_needs_to_be_confirmed(run: Run, repository: MemoryRepository) -> None:
    refused = run("compact", "--reclaim", "--json")
    assert (refused.exit, refused.answers[0]["error"]["code"]) == (2, "confirmation_required")
    done = run("compact", "--reclaim", "--yes", "--json")
    assert (done.exit, done.answers[0]["status"]) == (0, "maintained")
    assert done.answers[0]["backup_created"].startswith("lancedb-pre-compact-")


def test_a_failed_step_is_named_and_ends_with_one(
    run: Run, repository: MemoryRepository, settings: Settings
) -> None:
    settings.backups_dir.parent.mkdir(parents=True)
    settings.backups_dir.write_text("in the way")
    done = run("compact", "--reclaim", "--yes", "--json")
    assert (done.exit, done.answers[0]["failed_step"]) == (1, "space")
    assert "Failed at the step space" in run("compact", "--reclaim", "--yes").out


def test_there_and_back_again(run: Run, repository: MemoryRepository) -> None:
    made = run("backup", "--json").answers[0]["backup"]
    repository.delete(_id(repository, "Gateway"), Author("agent"))
    listed = run("backups", "--json").answers[0]["backups"]
    assert [backup["name"] for backup in listed] == [made["name"]]
    restored = run("restore", made["name"], "--json")
    assert (restored.exit, restored.answers[0]["status"]) == (0, "restored")
    assert repository.count() == 2
    assert "put aside by a restore" in run("backups").out
    assert run("restore", "nothing").exit == 2


@pytest.mark.parametrize("command", ["compact", "backup"])
def test_a_mistyped_path_is_refused_and_stays_empty(run: Run, command: str, tmp_path: Path) -> None:
    done = run(command, "--db-path", str(tmp_path / "nowhere"), "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (1, "store_unavailable")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.django_db
def test_a_purge_needs_to_be_confirmed(run: Run, repository: MemoryRepository) -> None:
    refused = run("purge", _id(repository, "Vault"), "--json")
    assert (refused.exit, refused.answers[0]["error"]["code"]) == (2, "confirmation_required")
    assert repository.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_purge_erases_what_the_console_quotes_too(run: Run, repository: MemoryRepository) -> None:
    memory_id = _id(repository, "Vault")
    with recorded_as(Author("console:ada"), "update", ids=[memory_id], texts={"before": SECRET}):
        pass
    done = run("purge", memory_id, "--yes", "--json")
    assert (done.exit, done.answers[0]["status"]) == (0, "purged")
    assert done.answers[0]["console_texts"] == 1
    assert repository.count() == 1
    assert not AuditPayload.objects.filter(part="text", body__contains=SECRET).exists()
    again = run("purge", memory_id, "--yes", "--json")
    assert (again.exit, again.answers[0]["error"]["code"]) == (2, "memory_not_found")


def test_the_doctor_mends_what_is_safe(run: Run, repository: MemoryRepository, settings: Settings) -> None:
    repository.path.chmod(0o755)
    settings.backups_dir.mkdir(parents=True, mode=0o700)
    (settings.backups_dir / "lancedb-manual-20260101-000000.unfinished").mkdir()
    (repository.path / ".memsuite" / "usage.db").write_bytes(b"no database at all" * 100)
    for file in (repository.path / "memories.lance" / "_indices").rglob("*.lance"):
        file.write_bytes(b"")
    done = run("doctor", "--fix", "--json")
    mended = {one["check"] for one in done.answers[0]["mended"] if one["done"]}
    assert mended == {"permissions", "leftovers", "usage", "files"}
    assert done.answers[0]["success"]
    assert repository.path.stat().st_mode & 0o777 == 0o700
    assert list(settings.backups_dir.iterdir()) == []
    assert repository.snapshot().lexical("vermilion", limit=5)


def test_the_doctor_changes_nothing_unasked(run: Run, repository: MemoryRepository) -> None:
    repository.path.chmod(0o755)
    assert run("doctor", "--json").exit == 0
    assert repository.path.stat().st_mode & 0o777 == 0o755


@pytest.mark.django_db
def test_the_doctor_names_a_purge_that_was_cut_off(run: Run, repository: MemoryRepository) -> None:
    (repository.path / ".memsuite" / "purge.json").write_text('["an-id"]')
    done = run("doctor", "--json")
    assert done.exit == 1
    assert any(finding["check"] == "purge" for finding in done.answers[0]["findings"])
    assert run("purge", "--yes").exit == 0
    assert run("doctor", "--json").exit == 0
