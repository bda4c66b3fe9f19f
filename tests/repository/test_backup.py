"""Backups that prove what they hold, and bringing one back exactly."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, backup_check
from memories.repository.backup import KEPT, MANUAL, Backup, Backups
from memories.repository.contents import contents_of, plain
from memories.repository.exchange import exchange
from memories.repository.files import DatabaseFiles
from memories.repository.integrity import verify
from memories.repository.locks import WriteLock
from memories.repository.purging import unfinished_purge
from memories.repository.restoring import BackupRestorer
from memories.repository.upkeep import Maintenance
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.repository.damage import data_files, flip, listing, manifest_file

Reopened = Callable[[], MemoryRepository]


@pytest.fixture
def checked_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("backup", "restoring"):
        monkeypatch.setattr(f"memories.repository.{module}.check", backup_check.look)


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    results = repository.add_many([payload(f"Subject_{number}") for number in range(5)], agent)
    found = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    repository.delete(found[4], agent)
    repository.usage.record_confirmation(found[0])
    return found


def _back_up(settings: Settings) -> Backup:
    return Maintenance(settings).back_up()


def test_a_backup_is_checked_by_a_process_of_its_own_and_restores_the_exact_state(
    repository: MemoryRepository,
    ids: list[str],
    settings: Settings,
    agent: Author,
    reopened: Reopened,
) -> None:
    before = contents_of(repository.snapshot())
    backup = _back_up(settings)
    assert (backup.verified, backup.memories, backup.kind) == (True, 4, MANUAL)
    repository.update(ids[0], {"facts": ["changed since"]}, agent, patch=True)
    repository.delete(ids[1], agent)
    changed = contents_of(repository.snapshot())

    result = BackupRestorer(settings).restore(backup.name)

    for handle in (repository, reopened()):
        assert contents_of(handle.snapshot()) == before
        assert handle.get(ids[0]).memory.facts == ("Subject_0 runs behind the blue proxy",)
        assert handle.usage.of(ids[:1])[ids[0]].confirmations == 1
    assert verify(repository.path, lambda done, total: None).sound
    assert result.aside is not None
    aside = backup_check.look(result.aside)
    assert aside.contents == plain(changed)


@pytest.mark.usefixtures("checked_in_this_process")
class TestRestoring:
    def test_a_handle_open_before_goes_on_writing_to_the_restored_state(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
    ) -> None:
        backup = _back_up(settings)
        for number in range(3):
            repository.update(ids[0], {"facts": [f"changed {number}"]}, agent, patch=True)
        BackupRestorer(settings).restore(backup.name)
        repository.update(ids[1], {"facts": ["after the restore"]}, agent, patch=True)
        repository.restore(ids[4], agent)
        assert repository.count() == 5
        assert repository.snapshot().lexical("changed", limit=5) == []
        assert repository.snapshot().lexical("restore", limit=5)[0][0] == ids[1]
        assert verify(repository.path, lambda done, total: None).sound

    def test_a_damaged_database_is_replaced_and_kept_as_it_was(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, reopened: Reopened
    ) -> None:
        backup = _back_up(settings)
        before = contents_of(repository.snapshot())
        manifest_file(repository.path).unlink()
        shutil.rmtree(repository.path / "memory_edges.lance")
        damaged = listing(repository.path)
        result = BackupRestorer(settings).restore(backup.name)
        assert contents_of(reopened().snapshot()) == before
        assert result.aside is not None
        assert [backup.memories for backup in Maintenance(settings).backups.list()] == [0, 4]
        aside = listing(result.aside)
        assert all(aside[name] == content for name, content in damaged.items() if not name.endswith(".lock"))

    def test_a_database_that_is_gone_comes_back(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, reopened: Reopened
    ) -> None:
        backup = _back_up(settings)
        shutil.rmtree(repository.path)
        assert BackupRestorer(settings).restore(backup.name).aside is None
        assert reopened().count() == 4

    def test_the_replaced_state_can_be_brought_back_too(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
    ) -> None:
        backup = _back_up(settings)
        repository.delete(ids[0], agent)
        aside = BackupRestorer(settings).restore(backup.name).aside
        assert aside is not None
        assert Maintenance(settings).backups.get(aside.name).memories == 3
        BackupRestorer(settings).restore(aside.name)
        assert repository.count() == 3

    def test_what_is_no_part_of_the_state_stays(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        backup, side = _back_up(settings), repository.path / ".memsuite"
        (side / "spool").mkdir()
        (side / "spool" / "7.jsonl").write_text("a turn that waits\n")
        (side / "purge.json").write_text('["an-id"]')
        BackupRestorer(settings).restore(backup.name)
        assert (side / "spool" / "7.jsonl").read_text() == "a turn that waits\n"
        assert unfinished_purge(DatabaseFiles(settings.db_path)) == ("an-id",)

    def test_a_writer_at_work_refuses_it(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        backup, before = _back_up(settings), listing(repository.path)
        with WriteLock(repository.path / ".write.lock").held(1.0), pytest.raises(MemsuiteError) as refused:
            BackupRestorer(settings).restore(backup.name)
        assert refused.value.code is ErrorCode.STORE_BUSY
        assert listing(repository.path).keys() >= before.keys()

    def test_a_backup_that_was_damaged_since_is_refused(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        backup, line = _back_up(settings), (repository.path / "HEAD").read_text()
        file = max(data_files(backup.path), key=lambda path: path.stat().st_size)
        flip(file, file.stat().st_size // 4, file.stat().st_size // 2)
        with pytest.raises(MemsuiteError) as refused:
            BackupRestorer(settings).restore(backup.name)
        assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
        assert (repository.path / "HEAD").read_text() == line

    def test_what_does_not_prove_whole_in_its_place_is_taken_back(
        self,
        repository: MemoryRepository,
        ids: list[str],
        settings: Settings,
        agent: Author,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        backup = _back_up(settings)
        repository.delete(ids[0], agent)
        before = listing(repository.path)

        def look(directory: Path) -> backup_check.Check:
            found = backup_check.look(directory)
            if directory != settings.db_path:
                return found
            return backup_check.Check(found.generation, found.embedding, {}, ("a row differs",))

        monkeypatch.setattr("memories.repository.restoring.check", look)
        with pytest.raises(MemsuiteError) as refused:
            BackupRestorer(settings).restore(backup.name)
        assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
        assert {**listing(repository.path), **before} == listing(repository.path)
        assert repository.count() == 3

    def test_an_unknown_name_is_refused(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        with pytest.raises(MemsuiteError) as refused:
            BackupRestorer(settings).restore("../lancedb")
        assert refused.value.code is ErrorCode.NOT_FOUND


@pytest.mark.usefixtures("checked_in_this_process")
class TestBackups:
    def test_the_two_newest_of_a_kind_are_kept(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
    ) -> None:
        made = []
        for number in range(KEPT + 1):
            repository.update(ids[0], {"quality": number / 10}, agent, patch=True)
            made.append(_back_up(settings).name)
        kept = [backup.name for backup in Maintenance(settings).backups.list()]
        assert sorted(kept) == sorted(made[-KEPT:])

    def test_only_files_of_the_present_state_are_copied(
        self, repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
    ) -> None:
        for number in range(9):
            repository.update(ids[0], {"quality": number / 10}, agent, patch=True)
        backup = _back_up(settings)
        assert len(list((backup.path / "memories.lance" / "_versions").iterdir())) == 1
        assert len(list((repository.path / "memories.lance" / "_versions").iterdir())) > 9

    def test_what_a_killed_run_left_is_no_backup_and_goes(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        leftover = settings.backups_dir / "lancedb-manual-20260101-000000.unfinished"
        leftover.mkdir(parents=True)
        assert Maintenance(settings).backups.list() == []
        _back_up(settings)
        assert not leftover.exists()

    def test_a_copy_that_does_not_prove_whole_is_not_kept(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        file = max(data_files(repository.path), key=lambda path: path.stat().st_size)
        flip(file, file.stat().st_size // 4, file.stat().st_size // 2)
        with pytest.raises(MemsuiteError) as refused:
            _back_up(settings)
        assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
        assert list(settings.backups_dir.iterdir()) == []

    def test_a_folder_that_cannot_be_written_is_named(
        self, repository: MemoryRepository, ids: list[str], settings: Settings
    ) -> None:
        settings.backups_dir.parent.mkdir(parents=True)
        settings.backups_dir.write_text("in the way")
        with pytest.raises(MemsuiteError) as refused:
            _back_up(settings)
        assert str(settings.backups_dir) in str(refused.value.received)

    def test_folders_of_others_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "lancedb-of-somebody").mkdir()
        assert Backups(DatabaseFiles(tmp_path / "db"), tmp_path).list() == []


def test_two_directories_change_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        (folder / folder.name).touch()
    exchange(one, other)
    assert (_names(one), _names(other)) == (["other"], ["one"])
    # Where the system has no call for it.
    monkeypatch.setattr("memories.repository.exchange.ctypes.CDLL", lambda *_, **__: object())
    exchange(one, other)
    assert (_names(one), _names(other)) == (["one"], ["other"])


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
