"""Checks of Hermes Agent: is it there, is the plugin current and selected, can the agent see its tools.

The installer knows the plugin folders. It belongs to the plugin, which stands above this room and imports it,
so it is looked up by name here; an installation without the plugin just has fewer checks.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from maintenance.doctor.findings import Finding, good, note, problem
from memories.contract import MemsuiteError
from memories.settings import Settings

_PLUGIN = "hermes_plugin.provider"
_INSTALL = "python manage.py install_plugin"
# Composite toolsets of the host, such as hermes-cli, hold the memory toolset.
_WITH_MEMORY = ("memory", "all", "*")
_COMPOSITE = "hermes-"


def examine_host(settings: Settings) -> Iterator[Finding]:
    """Hermes itself, the plugin folder, the selection, and what hides the agent's tools."""
    try:
        installer = importlib.import_module(f"{_PLUGIN}.installer")
        host_tree = importlib.import_module(f"{_PLUGIN}.host_tree")
        install_hint = importlib.import_module(f"{_PLUGIN}.install_hint")
    except ImportError as missing:
        yield note("hermes", f"Hermes was not examined: {missing}.")
        return
    yield from _hermes(host_tree.find_host(settings.hermes_home), install_hint.install_command)
    home = settings.hermes_home
    try:
        installed = installer.check(installer.Options(hermes_home=home, provider=True))
    except MemsuiteError as error:
        yield problem("plugin", f"{error.message}.", "Mend it in an editor; Hermes needs it too.")
        return
    yield from _plugin(installed, installer.State)
    yield from _selection(home, installer.PROVIDER_NAME)


def _hermes(host: Any, install_command: Any) -> Iterator[Finding]:
    if host.python is None and not host.trees:
        yield note("hermes", "Hermes Agent was not found: there is no 'hermes' command on the path.")
    elif host.python_without_package is not None:
        yield problem(
            "hermes",
            f"Hermes runs with {host.python}, where this suite is not installed: its tools cannot work.",
            install_command(str(host.python)),
            python=str(host.python),
        )
    else:
        yield good(
            "hermes", f"Hermes Agent runs with {host.python or host.trees[0]}.", python=str(host.python or "")
        )


def _plugin(report: Any, states: Any) -> Iterator[Finding]:
    for step in report.steps:
        yield good("plugin", f"The plugin in {step.path} is current ({step.detail}).", state=step.action)
    for step in report.refused:
        if step.action == str(states.ABSENT):
            yield note(
                "plugin",
                "The plugin is not installed in this Hermes home.",
                f"{_INSTALL} --provider --select",
            )
        elif step.action == str(states.OUTDATED):
            yield problem(
                "plugin", f"The plugin in {step.path} is outdated: {step.detail}.", f"{_INSTALL} --provider"
            )
        else:
            yield problem(
                "plugin",
                f"{step.path} is not what this suite would install: {step.detail}.",
                f"{_INSTALL} --provider --replace, which moves it aside",
                state=step.action,
            )


def _selection(home: Path, name: str) -> Iterator[Finding]:
    content = _config(home)
    memory = content.get("memory")
    selected = str(memory.get("provider") or "") if isinstance(memory, Mapping) else ""
    if selected == name:
        yield good("selected", f"Hermes' config.yaml selects {selected}.", provider=selected)
        yield from _hidden_tools(content)
    elif (home / "plugins" / name).is_dir():
        yield problem(
            "selected",
            f"The plugin is there, but Hermes' config.yaml selects {selected or 'no memory provider'}.",
            f"{_INSTALL} --provider --select, or: hermes memory setup {name}",
            provider=selected,
        )


def _config(home: Path) -> Mapping[str, Any]:
    """Hermes' config.yaml, which the installer has found readable just before."""
    import yaml

    try:
        content = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    return content if isinstance(content, Mapping) else {}


def _hidden_tools(content: Mapping[str, Any]) -> Iterator[Finding]:
    """Hermes drops every tool of a provider where the memory toolset is off, and says nothing."""
    hiding = list(_hiding_places(content))
    for place, mend in hiding:
        yield problem(
            "toolset",
            f"Hermes' config.yaml, {place}, turns the memory toolset off: the agent does not see its tools.",
            f"{mend}.",
            place=place,
        )
    if not hiding:
        yield good("toolset", "The memory toolset is on: the agent sees the tools.")


def _hiding_places(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where the toolset is turned off, and what to do about it there."""
    agent = content.get("agent")
    disabled = agent.get("disabled_toolsets") if isinstance(agent, Mapping) else None
    if isinstance(disabled, list) and "memory" in disabled:
        yield "agent.disabled_toolsets", "Take memory out of that list"
    platforms = content.get("platform_toolsets")
    for platform, toolsets in platforms.items() if isinstance(platforms, Mapping) else ():
        if isinstance(toolsets, list) and not any(_holds_memory(str(name)) for name in toolsets):
            yield f"platform_toolsets.{platform}", "Put memory into that list"


def _holds_memory(toolset: str) -> bool:
    return toolset in _WITH_MEMORY or toolset.startswith(_COMPOSITE)
