from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from hermes_plugin.provider.host_config import selected_provider
from hermes_plugin.provider.installer import Options, Report, State, check, install, state_of

SOURCE = Path(__file__).resolve().parents[2] / "hermes_plugin" / "lancedb_suite"


@pytest.fixture
def home(hermes_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Hermes home on a machine without a `hermes` command."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    hermes_home.mkdir()
    return hermes_home


def provider_only(home: Path, **more: bool) -> Options:
    return Options(hermes_home=home, provider=True, **more)


def actions(report: Report) -> list[str]:
    return [step.action for step in report.steps]


def folder_of(home: Path) -> Path:
    return home / "plugins" / "lancedb-suite"


def foreign_folder(folder: Path, text: str = "# MemoryProvider of somebody else") -> Path:
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(text)
    return folder


def test_the_folder_is_put_where_hermes_looks(home: Path) -> None:
    report = install(provider_only(home))
    assert actions(report) == ["installed"]
    assert (folder_of(home) / "plugin.yaml").read_bytes() == (SOURCE / "plugin.yaml").read_bytes()
    assert state_of(folder_of(home), SOURCE) is State.CURRENT


def test_a_second_run_changes_nothing(home: Path) -> None:
    install(provider_only(home, select=True))
    before = {file: file.stat().st_mtime_ns for file in home.rglob("*") if file.is_file()}
    assert actions(install(provider_only(home, select=True))) == ["kept", "kept"]
    assert {file: file.stat().st_mtime_ns for file in home.rglob("*") if file.is_file()} == before


def test_a_dry_run_says_the_same_and_writes_nothing(home: Path) -> None:
    dry = install(provider_only(home, select=True, dry_run=True))
    assert list(home.iterdir()) == []
    assert actions(dry) == actions(install(provider_only(home, select=True)))


def test_only_the_selection_touches_the_configuration(home: Path) -> None:
    install(provider_only(home))
    assert not (home / "config.yaml").exists()
    install(provider_only(home, select=True))
    assert selected_provider(home) == "lancedb-suite"


def test_selecting_rewrites_the_older_suites_name(home: Path) -> None:
    (home / "config.yaml").write_text("memory:\n  provider: lancedb # mine\n")
    report = install(provider_only(home, select=True))
    assert (home / "config.yaml").read_text() == "memory:\n  provider: lancedb-suite # mine\n"
    assert report.steps[-1].detail == "memory.provider: lancedb -> lancedb-suite"


def test_an_older_version_of_ours_is_replaced(home: Path) -> None:
    install(provider_only(home))
    older = folder_of(home)
    (older / "cli.py").write_text("# as version 0 wrote it\n")
    note = json.loads((older / "installed.json").read_text())
    note["files"]["cli.py"] = hashlib.sha256((older / "cli.py").read_bytes()).hexdigest()
    note["version"] = "0"
    (older / "installed.json").write_text(json.dumps(note))
    assert state_of(older, SOURCE) is State.OUTDATED
    assert actions(install(provider_only(home))) == ["replaced"]
    assert state_of(older, SOURCE) is State.CURRENT


def test_a_copy_that_hermes_itself_installed_is_taken_for_ours(home: Path) -> None:
    shutil.copytree(SOURCE, folder_of(home))
    assert install(provider_only(home)).success
    assert (folder_of(home) / "installed.json").is_file()


def test_a_folder_of_somebody_else_is_named_and_left_alone(home: Path) -> None:
    folder = foreign_folder(folder_of(home))
    report = install(provider_only(home, select=True))
    assert not report.success
    assert report.refused[0].path == str(folder)
    assert (folder / "__init__.py").read_text() == "# MemoryProvider of somebody else"
    assert selected_provider(home) == ""


def test_a_changed_folder_of_ours_is_somebodys_work(home: Path) -> None:
    install(provider_only(home))
    (folder_of(home) / "cli.py").write_text("# my own change")
    assert not install(provider_only(home)).success
    assert (folder_of(home) / "cli.py").read_text() == "# my own change"


def test_replacing_moves_aside_out_of_hermes_sight_and_keeps_everything(home: Path) -> None:
    foreign_folder(folder_of(home))
    report = install(provider_only(home, replace=True))
    assert actions(report) == ["moved_aside", "installed"]
    kept = list((home / "lancedb-suite" / "replaced").iterdir())
    assert [(folder / "__init__.py").read_text() for folder in kept] == ["# MemoryProvider of somebody else"]


def test_a_link_is_not_followed_but_moved(home: Path, tmp_path: Path) -> None:
    work = foreign_folder(tmp_path / "work")
    folder_of(home).parent.mkdir()
    folder_of(home).symlink_to(work)
    assert not install(provider_only(home)).success
    assert install(provider_only(home, replace=True)).success
    assert (work / "__init__.py").is_file()
    assert not folder_of(home).is_symlink()


def test_the_older_suites_copy_in_the_hosts_tree_is_named_then_moved(home: Path) -> None:
    older = foreign_folder(home / "hermes-agent" / "plugins" / "memory" / "lancedb")
    assert install(provider_only(home)).refused[0].path == str(older)
    assert older.is_dir()
    assert install(provider_only(home, replace=True)).success
    assert not older.exists()


def test_the_hosts_tree_is_found_through_its_command(home: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    older = foreign_folder(
        environment / "lib" / "python3.11" / "site-packages" / "plugins" / "memory" / "lancedb-suite"
    )
    command = tmp_path / "bin" / "hermes"
    command.parent.mkdir()
    command.write_text(f"#!{environment}/bin/python\nimport hermes\n")
    command.chmod(0o755)
    report = install(provider_only(home))
    assert [step.path for step in report.refused] == [str(older)]
    assert any(f"{environment}/bin/python -m pip install" in step for step in report.next_steps)


def test_the_recall_tool_is_a_folder_of_its_own(home: Path) -> None:
    install(Options(hermes_home=home, recall=True))
    assert (home / "plugins" / "ram-first-context" / "plugin.yaml").is_file()
    assert not folder_of(home).exists()


def test_without_a_choice_both_are_installed(home: Path) -> None:
    install(Options(hermes_home=home))
    assert sorted(folder.name for folder in (home / "plugins").iterdir()) == [
        "lancedb-suite",
        "ram-first-context",
    ]


def test_a_check_of_nothing_installed_says_how_to_install(home: Path) -> None:
    report = check(provider_only(home))
    assert [step.action for step in report.refused] == ["absent"]
    assert list(home.iterdir()) == []


def test_a_check_compares_the_versions(home: Path) -> None:
    install(provider_only(home))
    manifest = folder_of(home) / "plugin.yaml"
    manifest.write_text(manifest.read_text().replace("version: ", "version: 0.0.9-"))
    report = check(provider_only(home))
    assert report.refused[0].action == "changed"
    assert "plugin 0.0.9-" in report.refused[0].detail


def test_a_check_after_installing_is_content(home: Path) -> None:
    install(provider_only(home, select=True))
    report = check(provider_only(home))
    assert report.success
    assert report.next_steps == []
