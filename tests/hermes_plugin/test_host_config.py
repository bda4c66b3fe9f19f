from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_plugin.provider.host_config import select_provider, selected_provider
from memories.contract import ErrorCode, MemsuiteError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def write(home: Path, text: str) -> Path:
    file = home / "config.yaml"
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "memory:\n  provider: lancedb-suite\n"),
        ("model:\n  default: x", "model:\n  default: x\nmemory:\n  provider: lancedb-suite\n"),
        (
            "# mine\nmemory:  # about it\n  provider: lancedb  # old\n  lancedb:\n    provider: odd\n",
            "# mine\nmemory:  # about it\n  provider: lancedb-suite  # old\n  lancedb:\n    provider: odd\n",
        ),
        ("memory:\n    nudge: 3\n", "memory:\n    provider: lancedb-suite\n    nudge: 3\n"),
        ("memory:\n", "memory:\n  provider: lancedb-suite\n"),
        ("memory:", "memory:\n  provider: lancedb-suite\n"),
        ('memory:\n  provider: ""\nz: 1\n', "memory:\n  provider: lancedb-suite\nz: 1\n"),
        ("memory:\n  provider:\nz: 1\n", "memory:\n  provider: lancedb-suite\nz: 1\n"),
        ("a: 1\r\nmemory:\r\n  x: 1\r\n", "a: 1\r\nmemory:\r\n  provider: lancedb-suite\r\n  x: 1\r\n"),
    ],
)
def test_only_the_one_line_changes(home: Path, before: str, after: str) -> None:
    file = write(home, before)
    selection = select_provider(home)
    assert file.read_bytes().decode() == after
    assert selection.changed
    assert selection.backup is None


def test_a_layout_that_cannot_be_edited_is_written_anew_beside_a_copy(home: Path) -> None:
    old = json.dumps({"memory": {"provider": "honcho"}, "model": {"api_key": "k"}})
    file = write(home, old)
    selection = select_provider(home)
    assert selection.backup is not None
    assert selection.backup.read_text() == old
    assert stat.S_IMODE(selection.backup.stat().st_mode) == 0o600
    assert yaml.safe_load(file.read_text()) == {
        "memory": {"provider": "lancedb-suite"},
        "model": {"api_key": "k"},
    }


def test_selecting_again_changes_nothing(home: Path) -> None:
    select_provider(home)
    before = (home / "config.yaml").stat().st_mtime_ns
    assert select_provider(home).changed is False
    assert (home / "config.yaml").stat().st_mtime_ns == before


def test_a_dry_run_writes_nothing(home: Path) -> None:
    assert select_provider(home, dry_run=True).changed
    assert not (home / "config.yaml").exists()


def test_a_file_that_is_no_yaml_is_left_alone(home: Path) -> None:
    file = write(home, "memory: [unclosed")
    with pytest.raises(MemsuiteError) as caught:
        select_provider(home)
    assert caught.value.code is ErrorCode.STORE_UNAVAILABLE
    assert file.read_text() == "memory: [unclosed"


def test_the_mode_and_a_link_are_kept(home: Path) -> None:
    real = home / "dotfiles.yaml"
    real.write_text("memory:\n  provider: x\n")
    real.chmod(0o640)
    (home / "config.yaml").symlink_to(real)
    select_provider(home)
    assert (home / "config.yaml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert selected_provider(home) == "lancedb-suite"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc: #'\"-\n", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcmory: ", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    content=st.dictionaries(st.sampled_from(["memory", "model", "a b", "provider"]), _values, max_size=4),
    flow=st.booleans(),
)
def test_nothing_but_the_selection_changes_whatever_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, object], flow: bool
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "config.yaml").write_text(yaml.safe_dump(content, default_flow_style=flow), encoding="utf-8")
    select_provider(home)
    memory = content.get("memory")
    kept = memory if isinstance(memory, dict) else {}
    expected = {**content, "memory": {**kept, "provider": "lancedb-suite"}}
    assert yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8")) == expected
