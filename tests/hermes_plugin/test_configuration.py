from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from hermes_plugin.provider import configuration
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import load_settings


def saved(home: Path) -> dict[str, object]:
    return json.loads((home / "lancedb-suite" / "config.json").read_text())


def test_saved_settings_are_what_the_suite_then_loads(hermes_home: Path) -> None:
    configuration.save_config({"auto_prefetch": "true", "prefetch_budget_chars": "900"}, str(hermes_home))
    settings = load_settings(hermes_home=hermes_home)
    assert (settings.auto_prefetch, settings.prefetch_budget_chars) == (True, 900)


def test_saving_merges_and_keeps_what_others_wrote(hermes_home: Path) -> None:
    configuration.save_config({"auto_prefetch": True}, hermes_home)
    file = hermes_home / "lancedb-suite" / "config.json"
    file.write_text(json.dumps({**saved(hermes_home), "from_a_later_version": [1]}))
    configuration.save_config({"embed_model": "nomic-embed-text"}, hermes_home)
    assert saved(hermes_home) == {
        "auto_prefetch": True,
        "from_a_later_version": [1],
        "embed_model": "nomic-embed-text",
    }


def test_a_blank_value_returns_to_the_default(hermes_home: Path) -> None:
    configuration.save_config({"db_path": "/somewhere"}, hermes_home)
    configuration.save_config({"db_path": " "}, hermes_home)
    assert saved(hermes_home) == {}


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"auto_prefetch": "perhaps"}, ErrorCode.INVALID_PARAMETER, "auto_prefetch"),
        ({"capture_dedup_threshold": "1.5"}, ErrorCode.INVALID_PARAMETER, "capture_dedup_threshold"),
        ({"capture_dedup_threshold": "nan"}, ErrorCode.INVALID_PARAMETER, "capture_dedup_threshold"),
        ({"prefetch_budget_chars": "-1"}, ErrorCode.INVALID_PARAMETER, "prefetch_budget_chars"),
        ({"prefetch_budget_chars": True}, ErrorCode.INVALID_PARAMETER, "prefetch_budget_chars"),
        ({"colour": "blue"}, ErrorCode.UNKNOWN_FIELD, "colour"),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_is_written(
    hermes_home: Path, values: dict[str, object], code: ErrorCode, field: str
) -> None:
    with pytest.raises(MemsuiteError) as caught:
        configuration.save_config({"embed_model": "x", **values}, hermes_home)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert not (hermes_home / "lancedb-suite" / "config.json").exists()


def test_an_unreadable_file_is_kept_beside_the_new_one(hermes_home: Path) -> None:
    folder = hermes_home / "lancedb-suite"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{broken")
    configuration.save_config({"auto_prefetch": True}, hermes_home)
    assert (folder / "config.json.unreadable").read_text() == "{broken"
    assert saved(hermes_home) == {"auto_prefetch": True}


def test_the_file_is_the_users_alone(hermes_home: Path) -> None:
    file = configuration.save_config({"auto_prefetch": True}, hermes_home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_status_names_each_value_its_source_and_the_problem(hermes_home: Path) -> None:
    configuration.save_config({"auto_prefetch": True}, hermes_home)
    shown = configuration.status(load_settings(hermes_home=hermes_home), "no model")
    assert shown["auto_prefetch"] == "True (config.json)"
    assert shown["embed_model"] == "in-process default (default)"
    assert shown["problem"] == "no model"


def test_only_a_database_outside_the_home_is_added_to_a_backup(hermes_home: Path, tmp_path: Path) -> None:
    inside = load_settings(hermes_home=hermes_home)
    outside = load_settings(hermes_home=hermes_home, db_path=tmp_path / "elsewhere")
    assert configuration.paths_outside_home(inside) == []
    assert configuration.paths_outside_home(outside) == [str(tmp_path / "elsewhere")]


def test_the_setup_dialogue_asks_for_each_setting_and_for_no_secret() -> None:
    fields = configuration.config_schema()
    assert [field["key"] for field in fields] == [setting.key for setting in configuration.SETTINGS]
    assert not any(field["secret"] or field["required"] for field in fields)


def test_selecting_writes_the_file_and_the_hosts_own_copy(hermes_home: Path) -> None:
    hermes_home.mkdir()
    config: dict[str, object] = {"memory": {"memory_enabled": True}}
    configuration.select_in_host(hermes_home, config)
    assert config == {"memory": {"memory_enabled": True, "provider": "lancedb-suite"}}
    assert "provider: lancedb-suite" in (hermes_home / "config.yaml").read_text()
