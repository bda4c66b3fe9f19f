"""The doctor looks at real directories and real databases, and says what a user has to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from maintenance.doctor import Finding, Report, State, examine
from memories.embedding import Embedder
from memories.repository import Author, MemoryRepository
from memories.settings import Settings, load_settings

GATEWAY = {
    "domain": "Tidewater",
    "subject": "gateway",
    "facts": ["port=8443"],
    "tier": 2,
    "category": "tech",
}


def settings_of(home: Path, **environ: str) -> Settings:
    return load_settings(hermes_home=home, environ={"MEMSUITE_EMBED_MODEL": "builtin:static", **environ})


def one(report: Report, check: str) -> Finding:
    (finding,) = report.of(check)
    return finding


@pytest.fixture
def home(hermes_home: Path) -> Path:
    hermes_home.mkdir(mode=0o700)
    return hermes_home


@pytest.fixture
def database(home: Path, fast_embedder: Embedder) -> Path:
    settings = settings_of(home)
    with MemoryRepository.open(settings, fast_embedder) as repository:
        repository.add(GATEWAY, Author(actor="agent"))
        repository.add(
            {**GATEWAY, "subject": "api", "relations": [{"type": "uses", "target": "Tidewater:gateway"}]},
            Author(actor="agent"),
        )
    return settings.db_path


def test_an_empty_home_has_no_problem_and_stays_empty(home: Path) -> None:
    report = examine(settings_of(home))
    assert report.problems == ()
    assert one(report, "database").state is State.NOTE
    assert list(home.iterdir()) == []


def test_a_home_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    finding = one(examine(settings_of(tmp_path / "nowhere")), "hermes_home")
    assert finding.state is State.PROBLEM
    assert "--hermes-home" in finding.mend


def test_a_good_database_is_counted_table_by_table(home: Path, database: Path) -> None:
    report = examine(settings_of(home))
    assert report.problems == ()
    rows = one(report, "tables").details["rows"]
    assert (rows["memories"], rows["memory_edges"]) == (2, 1)
    assert one(report, "edges").details["count"] == 1
    assert one(report, "unique_ids").state is State.GOOD


def test_examining_a_database_writes_no_version_of_it(home: Path, database: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in database.rglob("*.manifest")}
    head = (database / "HEAD").read_text(encoding="utf-8")
    examine(settings_of(home))
    assert {path: path.stat().st_mtime_ns for path in database.rglob("*.manifest")} == before
    assert (database / "HEAD").read_text(encoding="utf-8") == head


def test_a_label_that_matches_nothing_yet_is_a_note(home: Path, fast_embedder: Embedder) -> None:
    with MemoryRepository.open(settings_of(home), fast_embedder) as repository:
        relations = [{"type": "uses", "target": "Tidewater:not_there"}]
        repository.add({**GATEWAY, "relations": relations}, Author(actor="agent"))
    finding = one(examine(settings_of(home)), "unresolved_labels")
    assert (finding.state, finding.details["labels"]) == (State.NOTE, ["Tidewater:not_there"])


def test_another_model_than_the_databases_is_named_with_its_remedy(home: Path, database: Path) -> None:
    report = examine(settings_of(home, MEMSUITE_EMBED_MODEL=""))
    finding = one(report, "embedding_identity")
    assert finding.state is State.PROBLEM
    assert finding.details["stored"] != finding.details["configured"]
    assert "embed_model" in finding.mend


def test_a_model_that_does_not_answer_is_a_problem_and_the_database_is_examined_all_the_same(
    home: Path, database: Path
) -> None:
    report = examine(settings_of(home, MEMSUITE_EMBED_MODEL="builtin:no-such-model"))
    assert one(report, "embedder").state is State.PROBLEM
    assert one(report, "tables").details["rows"]["memories"] == 2


def test_a_damaged_head_is_a_problem_that_names_the_file(home: Path, database: Path) -> None:
    (database / "HEAD").write_text("{", encoding="utf-8")
    finding = one(examine(settings_of(home)), "database")
    assert finding.state is State.PROBLEM
    assert str(database / "HEAD") in finding.message


def test_a_missing_table_is_a_problem_that_names_it(home: Path, database: Path) -> None:
    (database / "memory_edges.lance").rename(database.parent / "aside")
    finding = one(examine(settings_of(home)), "database")
    assert finding.state is State.PROBLEM
    assert "memory_edges.lance" in finding.message


def test_the_older_suites_database_is_recognised_and_left_alone(home: Path) -> None:
    import lancedb

    path = settings_of(home).db_path
    row = {"id": "1a2b3c4d-5e6", "content": "Old:text port=1 [Tier=2]", "links": "[]", "access_count": 0}
    lancedb.connect(str(path)).create_table("memories", [row | {"vector": [1.0, 0.0]}])
    before = sorted(path.rglob("*"))
    finding = one(examine(settings_of(home)), "database")
    assert finding.state is State.PROBLEM
    assert "older suite" in finding.message
    assert sorted(path.rglob("*")) == before


def test_directories_open_to_others_are_named_with_the_command_that_closes_them(
    home: Path, database: Path
) -> None:
    database.chmod(0o755)
    finding = one(examine(settings_of(home)), "permissions")
    assert (finding.state, finding.mend) == (State.NOTE, f"chmod 700 '{database}'")


def test_a_secret_open_to_others_is_a_problem(home: Path) -> None:
    settings = settings_of(home)
    settings.suite_dir.mkdir(mode=0o700)
    settings.secret_file.write_text("not a real secret", encoding="utf-8")
    settings.secret_file.chmod(0o644)
    finding = one(examine(settings), "permissions")
    assert (finding.state, finding.mend) == (State.PROBLEM, f"chmod 600 '{settings.secret_file}'")


def test_a_database_path_that_is_a_file_is_a_problem(home: Path) -> None:
    (home / "lancedb").write_text("", encoding="utf-8")
    assert one(examine(settings_of(home)), "db_path").state is State.PROBLEM


def test_a_database_outside_the_home_is_a_note(home: Path, tmp_path: Path) -> None:
    report = examine(settings_of(home, MEMSUITE_DB_PATH=str(tmp_path / "elsewhere")))
    assert one(report, "outside_home").state is State.NOTE


def test_a_synced_folder_is_a_problem(tmp_path: Path) -> None:
    home = tmp_path / "Dropbox" / "hermes"
    home.mkdir(parents=True)
    finding = one(examine(settings_of(home)), "file_system")
    assert (finding.state, finding.details["synced_by"]) == (State.PROBLEM, "Dropbox")


def test_a_setting_that_is_not_known_is_a_problem_that_names_its_source(home: Path) -> None:
    settings_of(home).suite_dir.mkdir()
    settings_of(home).config_file.write_text(json.dumps({"auto_prefetsh": True}), encoding="utf-8")
    finding = one(examine(settings_of(home)), "settings_warning")
    assert finding.state is State.PROBLEM
    assert "config.json" in finding.message
    assert "auto_prefetsh" in finding.message


def test_a_variable_that_decides_for_every_profile_is_a_note(home: Path) -> None:
    finding = one(examine(settings_of(home)), "environment")
    assert (finding.state, finding.details["variable"]) == (State.NOTE, "MEMSUITE_EMBED_MODEL")


def test_a_plugin_that_is_not_installed_is_a_note_with_the_command_that_installs_it(home: Path) -> None:
    finding = one(examine(settings_of(home)), "plugin")
    assert finding.state is State.NOTE
    assert "install_plugin" in finding.mend


def install_plugin(home: Path, *, select: bool) -> None:
    from hermes_plugin.provider.installer import Options, install

    install(Options(hermes_home=home, provider=True, select=select))


def test_an_installed_and_selected_plugin_is_good(home: Path) -> None:
    install_plugin(home, select=True)
    report = examine(settings_of(home))
    assert [one(report, check).state for check in ("plugin", "selected", "toolset")] == [State.GOOD] * 3


def test_an_installed_plugin_that_is_not_selected_is_a_problem(home: Path) -> None:
    install_plugin(home, select=False)
    finding = one(examine(settings_of(home)), "selected")
    assert finding.state is State.PROBLEM
    assert "--select" in finding.mend


def test_an_edited_plugin_folder_is_a_problem(home: Path) -> None:
    install_plugin(home, select=True)
    manifest = home / "plugins" / "lancedb-suite" / "plugin.yaml"
    manifest.write_text("name: lancedb-suite\n", encoding="utf-8")
    assert one(examine(settings_of(home)), "plugin").state is State.PROBLEM


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("agent:\n  disabled_toolsets: [memory, web]\n", "agent.disabled_toolsets"),
        ("platform_toolsets:\n  cli: [web, todo]\n", "platform_toolsets.cli"),
    ],
)
def test_a_memory_toolset_that_is_off_is_a_problem_that_names_the_place(
    home: Path, text: str, place: str
) -> None:
    (home / "config.yaml").write_text(f"memory:\n  provider: lancedb-suite\n{text}", encoding="utf-8")
    finding = one(examine(settings_of(home)), "toolset")
    assert (finding.state, finding.details["place"]) == (State.PROBLEM, place)


@pytest.mark.parametrize("toolsets", ["[web, memory]", "[hermes-cli]", "[all]"])
def test_a_platform_whose_toolsets_hold_memory_is_good(home: Path, toolsets: str) -> None:
    text = f"memory:\n  provider: lancedb-suite\nplatform_toolsets:\n  cli: {toolsets}\n"
    (home / "config.yaml").write_text(text, encoding="utf-8")
    assert one(examine(settings_of(home)), "toolset").state is State.GOOD


def test_a_broken_config_of_hermes_is_a_problem_and_its_text_is_not_shown(home: Path) -> None:
    (home / "config.yaml").write_text("api_key: [hunter2\n", encoding="utf-8")
    report = examine(settings_of(home))
    assert one(report, "plugin").state is State.PROBLEM
    assert "hunter2" not in json.dumps(report.as_answer())


def test_the_report_is_json_and_counts_its_problems(tmp_path: Path) -> None:
    answer = examine(settings_of(tmp_path / "nowhere")).as_answer()
    assert json.loads(json.dumps(answer)) == answer
    assert (answer["success"], answer["problems"]) == (False, 1)


def test_a_damaged_file_is_named_with_what_brings_it_back(home: Path, database: Path) -> None:
    path = next((database / "memories.lance" / "data").iterdir())
    path.unlink()
    finding = one(examine(settings_of(home)), "files")
    assert finding.state is State.PROBLEM
    assert str(path) in finding.message
    assert "backup" in finding.mend


def test_a_damaged_index_is_named_and_mended_by_the_next_write(
    home: Path, database: Path, fast_embedder: Embedder
) -> None:
    shutil.rmtree(database / "memories.lance" / "_indices")
    findings = examine(settings_of(home)).of("files")
    assert findings and all("next write" in finding.mend for finding in findings)
    with MemoryRepository.open(settings_of(home), fast_embedder) as repository:
        repository.add({**GATEWAY, "subject": "crane"}, Author(actor="agent"))
    assert one(examine(settings_of(home)), "files").state is State.GOOD


def test_a_broken_usage_file_is_named(home: Path, database: Path) -> None:
    (database / ".memsuite" / "usage.db").write_bytes(b"no database" * 500)
    assert one(examine(settings_of(home)), "usage").state is State.PROBLEM
