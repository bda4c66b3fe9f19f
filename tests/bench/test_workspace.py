from __future__ import annotations

from pathlib import Path

import pytest

from maintenance.bench.workspace import Footprint, footprint, settings_in, workspace


def test_the_directory_is_made_inside_the_one_named_and_removed_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(KeyError), workspace(tmp_path / "here") as made:
        (made / "db").mkdir()
        assert made.parent == tmp_path / "here"
        raise KeyError
    assert list((tmp_path / "here").iterdir()) == []


def test_no_setting_of_the_user_leads_to_the_user_s_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSUITE_DB_PATH", str(tmp_path / "mine"))
    settings = settings_in(tmp_path / "bench")
    for path in (settings.db_path, settings.hermes_home, settings.suite_dir, settings.backups_dir):
        assert path.is_relative_to(tmp_path / "bench")


def test_a_footprint_counts_bytes_files_and_table_versions(tmp_path: Path) -> None:
    for name, size in (("t.lance/_versions/1.manifest", 10), ("t.lance/data/a.lance", 90)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * size)
    assert footprint(tmp_path) == Footprint(bytes=100, files=2, versions=1)
    assert footprint(tmp_path).since(Footprint(40, 1, 1)) == Footprint(60, 1, 0)
