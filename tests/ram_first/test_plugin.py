"""The plugin as a host sees it: a folder copied elsewhere, its manifest, what it registers."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from hermes_plugin import ram_first_context

from .conftest import Notes

FOLDER = Path(ram_first_context.__file__).parent
MANIFEST = yaml.safe_load((FOLDER / "plugin.yaml").read_text(encoding="utf-8"))


class Host:
    """What `register` is given: the one method an ordinary plugin needs."""

    def __init__(self) -> None:
        self.tools: list[dict[str, Any]] = []

    def register_tool(self, **tool: Any) -> None:
        self.tools.append(tool)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The folder under another place and module name, as the host loads it."""
    folder = tmp_path / "plugins" / "ram-first-context"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    name = "made_up_by_the_host.ram_first_context"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tool(copied: ModuleType) -> dict[str, Any]:
    host = Host()
    copied.register(host)
    (only,) = host.tools
    return only


def test_the_copied_folder_registers_one_tool(tool: dict[str, Any]):
    assert (tool["name"], tool["toolset"]) == ("mnemosyne_fts_recall", "ram_first")
    assert tool["schema"]["name"] == tool["name"]


def test_the_registered_handler_answers(tool: dict[str, Any], notes: Notes):
    assert notes.named(json.loads(tool["handler"]({"query": "terminal"}))) == ["terminal"]


def test_the_check_hides_the_tool_until_there_is_a_database(
    tool: dict[str, Any], made: Notes, hermes_home: Path
):
    assert tool["check_fn"]() is False
    folder = hermes_home / "mnemosyne" / "data"
    folder.mkdir(parents=True)
    shutil.copy(made.database, folder)
    assert tool["check_fn"]() is True


def test_the_schema_is_closed_and_wants_a_query(tool: dict[str, Any]):
    parameters = tool["schema"]["parameters"]
    assert parameters["additionalProperties"] is False
    assert parameters["required"] == ["query"]
    assert set(parameters["properties"]) == {"query", "limit"}
    limit = parameters["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 50, 5)


def test_the_manifest_says_what_hosts_of_both_generations_need():
    assert MANIFEST["name"] == "ram-first-context"
    assert MANIFEST["requires_hermes"] == ">=0.19"
    assert MANIFEST["provides_tools"] == ["mnemosyne_fts_recall"]
    assert not {"kind", "manifest_version", "pip_dependencies", "python_dependencies"} & set(MANIFEST)


def test_it_loads_with_the_standard_library_alone():
    # -I -S: no site-packages, no current directory.
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import ram_first_context; print(ram_first_context.recall({'query': ''}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(FOLDER.parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
