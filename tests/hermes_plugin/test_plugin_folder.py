"""The thin folder as the host meets it: found, loaded, registered, and with its package missing."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hermes_plugin.provider import configuration
from hermes_plugin.provider.identity import TOOL_NAMES
from tests.support.hermes_host import Context, host_modules, load_module, load_provider

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "hermes_plugin" / "lancedb_suite"


@pytest.fixture
def package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a rebuild of the host's environment: importing the implementation fails."""
    for name in list(sys.modules):
        if name == "hermes_plugin.provider" or name.startswith("hermes_plugin.provider."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hermes_plugin.provider", None)  # type: ignore[arg-type]


@pytest.fixture
def host() -> Iterator[None]:
    with host_modules():
        yield


@pytest.fixture
def manifest() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "plugin.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_host_recognises_the_folder_by_its_first_characters() -> None:
    assert "MemoryProvider" in (FOLDER / "__init__.py").read_text(encoding="utf-8")[:8192]


def test_the_folder_gives_the_packages_provider_under_its_own_name(host: None) -> None:
    provider = load_provider(FOLDER)
    assert provider.name == "lancedb-suite"
    assert type(provider).__mro__[1].__name__ == "SuiteProvider"
    assert provider.is_available()


def test_a_context_that_takes_no_memory_providers_is_left_alone(host: None) -> None:
    assert load_module(FOLDER).register(object()) is None


def test_folder_and_entry_point_together_register_once(host: None) -> None:
    context = Context()
    module = load_module(FOLDER)
    module.register(context)
    module.register(context)
    assert context.registered == 1


def test_without_the_package_every_tool_answers_with_the_command(
    host: None, package_is_missing: None
) -> None:
    provider = load_provider(FOLDER)
    provider.initialize("s1", hermes_home="/nowhere")
    assert tuple(schema["name"] for schema in provider.get_tool_schemas()) == TOOL_NAMES
    for name in TOOL_NAMES:
        answer = json.loads(provider.handle_tool_call(name, {}))
        assert answer["success"] is False
        assert "pip install hermes-memory-suite" in answer["error"]["message"]
        assert "pip install hermes-memory-suite" in answer["error"]["expected"]
    assert "pip install hermes-memory-suite" in provider.system_prompt_block()


def test_without_the_package_an_older_host_still_keeps_it_so_that_it_can_say_so(
    host: None, package_is_missing: None
) -> None:
    assert load_provider(FOLDER).is_available() is True


def test_without_the_package_a_newer_host_is_told_the_reason(package_is_missing: None) -> None:
    with host_modules(newer=True):
        provider = load_provider(FOLDER)
        assert provider.is_available() is False
        assert "pip install" in provider.unavailable_reason()


def test_the_command_names_what_install_plugin_noted(
    host: None, package_is_missing: None, tmp_path: Path
) -> None:
    folder = tmp_path / "lancedb-suite"
    shutil.copytree(FOLDER, folder)
    (folder / "installed.json").write_text(json.dumps({"requirement": "/opt/the suite"}))
    assert load_provider(folder).unavailable_reason().endswith("-m pip install '/opt/the suite'")


def test_the_manifest_names_the_folder_the_version_and_the_tools(
    manifest: dict[str, Any], project: dict[str, Any]
) -> None:
    assert manifest["name"] == "lancedb-suite"
    assert manifest["version"] == project["version"]
    assert tuple(manifest["provides_tools"]) == TOOL_NAMES


def test_the_manifest_has_no_key_an_older_host_misreads(manifest: dict[str, Any]) -> None:
    assert not {"kind", "manifest_version"} & set(manifest)


def test_the_manifest_asks_for_the_packages_own_dependencies(
    manifest: dict[str, Any], project: dict[str, Any]
) -> None:
    assert manifest["python_dependencies"] == project["dependencies"]


def test_the_older_hosts_list_holds_names_it_can_check_by_importing(manifest: dict[str, Any]) -> None:
    from importlib.util import find_spec

    for name in manifest["pip_dependencies"]:
        assert find_spec(name.replace("-", "_")) is not None


def test_the_settings_panel_offers_the_same_settings_and_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = _panel(monkeypatch)
    shown = {field["key"]: field.get("default", "") for field in schema["fields"]}
    expected = {
        setting.key: str(setting.default).lower() if setting.choices else str(setting.default)
        for setting in configuration.SETTINGS
    }
    assert shown == expected
    assert schema["name"] == "lancedb-suite"


def _panel(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    import runpy
    import types

    declared = types.ModuleType("plugins.memory.config_schema")
    for kind in ("KIND_BOOL", "KIND_NUMBER", "KIND_TEXT"):
        setattr(declared, kind, kind)
    declared.ProviderField = dict  # type: ignore[attr-defined]
    declared.ProviderConfigSchema = dict  # type: ignore[attr-defined]
    for name in ("plugins", "plugins.memory"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "plugins.memory.config_schema", declared)
    return runpy.run_path(str(FOLDER / "config_schema.py"))["CONFIG_SCHEMA"]
