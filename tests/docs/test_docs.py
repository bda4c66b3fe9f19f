"""The documentation names every command, setting, tool and error code there is, and none that is not."""

from __future__ import annotations

import argparse
import dataclasses
import pkgutil
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

import maintenance.management.commands
import memories.management.commands
from hermes_plugin.provider.command_line import add_subcommands
from hermes_plugin.provider.tools import tool_schemas
from memories.contract import ErrorCode
from memories.settings import READ_ELSEWHERE, Settings, load_settings

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
PAGES = [CHECKOUT / "README.md", CHECKOUT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]

ROW = re.compile(r"^\| `(?P<name>[^`|]+)`[^|]*\| (?P<rest>.*) \|$", re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:)(?P<target>[^)#]+)")


def rows(page: str) -> dict[str, str]:
    """The rows of a page's tables that open with a name, by that name; the rest of the row as written."""
    return {row["name"]: row["rest"] for row in ROW.finditer((DOCS / page).read_text(encoding="utf-8"))}


def commands() -> set[str]:
    packages = (memories.management.commands, maintenance.management.commands)
    return {module.name for package in packages for module in pkgutil.iter_modules(package.__path__)}


def settings_names() -> set[str]:
    return {field.name for field in dataclasses.fields(Settings)} - {"warnings", "sources"}


def test_every_command_is_documented_and_no_other() -> None:
    assert rows("commands.md").keys() == commands()


def test_every_documented_command_is_one_that_django_finds() -> None:
    assert rows("commands.md").keys() <= get_commands().keys()


def test_every_command_has_a_section_of_its_own() -> None:
    sections = re.findall(r"^## (\w+)$", (DOCS / "commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(sections) == commands()


def test_every_command_inside_hermes_is_documented_and_no_other() -> None:
    parser = argparse.ArgumentParser()
    add_subcommands(parser)
    (subcommands,) = (action.choices for action in parser._actions if action.dest == "lancedb_suite_command")
    documented = re.findall(
        r"`hermes lancedb-suite (\w+)`", (DOCS / "commands.md").read_text(encoding="utf-8")
    )
    assert set(documented) == set(subcommands or ())


def test_every_setting_is_documented_and_no_other() -> None:
    assert rows("settings.md").keys() == settings_names()


VARIABLES = [
    (setting, variable)
    for setting, rest in rows("settings.md").items()
    for variable in re.findall(r"`([A-Z_]+)`", rest.split("|")[0])
]
USABLE = {
    "wings": '{"wing_home": ["house"]}',
    "ollama_host": "127.0.0.1:1",
    "turn_ranking": "composite",
}


@pytest.mark.parametrize(("setting", "variable"), VARIABLES)
def test_every_documented_variable_decides_its_setting(setting: str, variable: str) -> None:
    settings = load_settings(environ={variable: USABLE.get(setting, "1")})
    assert settings.sources[setting] == variable
    assert settings.warnings == ()


def test_every_setting_has_a_variable() -> None:
    assert {setting for setting, _ in VARIABLES} == settings_names()


@pytest.mark.parametrize("setting", sorted(settings_names() - {"hermes_home", "db_path", "embed_model"}))
def test_the_documented_default_is_the_default(setting: str) -> None:
    documented = rows("settings.md")[setting].split("|")[1].strip().strip("`")
    default = getattr(load_settings(environ={}), setting)
    if isinstance(default, bool):
        assert documented == ("on" if default else "off")
    else:
        assert documented == (str(default) if default else "none")


def test_every_tool_is_documented_and_no_other() -> None:
    assert rows("tools.md").keys() == {tool["name"] for tool in tool_schemas()}


@pytest.mark.parametrize("tool", tool_schemas(), ids=lambda tool: tool["name"])
def test_the_arguments_of_a_tool_are_documented_with_the_required_ones_marked(
    tool: dict[str, object],
) -> None:
    parameters = tool["parameters"]
    assert isinstance(parameters, dict)
    column = rows("tools.md")[str(tool["name"])].split("|")[0]
    documented = {name: bool(star) for name, star in re.findall(r"`(\w+)`(\*?)", column)}
    assert documented == {name: name in parameters["required"] for name in parameters["properties"]}


def test_every_error_code_is_documented_and_no_other() -> None:
    assert rows("errors.md").keys() == set(ErrorCode)


def test_the_codes_documented_as_retryable_are_the_retryable_ones() -> None:
    retryable = {code for code, rest in rows("errors.md").items() if rest.startswith("*failure, retryable*")}
    assert retryable == {code for code in ErrorCode if code.retryable}


def test_the_codes_documented_as_failures_are_those_that_end_a_command_with_one() -> None:
    from memories.commands.exits import Exit, exit_for
    from memories.contract import MemsuiteError

    failures = {code for code, rest in rows("errors.md").items() if rest.startswith("*failure")}
    assert failures == {code for code in ErrorCode if exit_for(MemsuiteError(code, "", "")) is Exit.FAILED}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    targets = [found["target"] for found in LINK.finditer(page.read_text(encoding="utf-8"))]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_a_setting_variable_that_has_no_effect(page: Path) -> None:
    named = set(re.findall(r"\bMEMSUITE_[A-Z_]+\b", page.read_text(encoding="utf-8")))
    assert named <= {variable for _, variable in VARIABLES} | READ_ELSEWHERE
