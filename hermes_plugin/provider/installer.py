"""Putting the plugin folders where Hermes looks, and saying what is there already.

A folder this wrote carries a note of its version and of each file's digest. A folder without the
note is somebody else's unless its files are exactly ours (as after `hermes plugins install`): it is
named, and moved aside only when asked to. What is moved goes below `lancedb-suite/replaced`, outside
`plugins`, where Hermes would still find it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.settings import load_settings, private_directory

from . import host_config
from .host_tree import find_host
from .identity import PROVIDER_NAME, RECALL_NAME, manifest_version, package_version
from .install_hint import install_command, requirement

NOTE = "installed.json"
_OLDER_NAMES = ("lancedb", PROVIDER_NAME)
_SKIPPED = frozenset({"__pycache__", NOTE})
_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = {PROVIDER_NAME: _PACKAGE / "lancedb_suite", RECALL_NAME: _PACKAGE / "ram_first_context"}


class State(StrEnum):
    """How an installed folder compares with the one this package carries."""

    ABSENT = "absent"
    CURRENT = "current"
    OUTDATED = "outdated"
    CHANGED = "changed"
    FOREIGN = "foreign"

    @property
    def is_ours(self) -> bool:
        """Whether it may be replaced without asking: nothing in it was written by anyone else."""
        return self in (State.CURRENT, State.OUTDATED)


@dataclass(frozen=True, slots=True)
class Options:
    """What to do. Neither `provider` nor `recall` means both."""

    hermes_home: Path | None = None
    provider: bool = False
    recall: bool = False
    select: bool = False
    replace: bool = False
    dry_run: bool = False

    @property
    def plugins(self) -> tuple[str, ...]:
        both = self.provider == self.recall
        chosen = {PROVIDER_NAME: self.provider or both, RECALL_NAME: self.recall or both}
        return tuple(name for name, wanted in chosen.items() if wanted)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done, or to be done in a dry run: what was done to which path."""

    action: str
    path: str
    detail: str = ""


@dataclass(slots=True)
class Report:
    """Steps in order, what stood in the way, and what the user should do next."""

    home: Path
    dry_run: bool = False
    steps: list[Step] = field(default_factory=list)
    refused: list[Step] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)

    @property
    def success(self) -> bool:
        return not self.refused

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": self.success,
            "hermes_home": str(self.home),
            "dry_run": self.dry_run,
            "steps": [_step_dict(step) for step in self.steps],
            "refused": [_step_dict(step) for step in self.refused],
            "next_steps": list(self.next_steps),
        }


def _step_dict(step: Step) -> dict[str, str]:
    return {"action": step.action, "path": step.path, "detail": step.detail}


def install(options: Options) -> Report:
    """Put the chosen folders in place and select the provider if asked; a second run changes nothing.

    Nothing of anyone else is touched without `replace`: such a folder lands in `refused`, and the
    provider is then not selected either. Raises store_unavailable for a config.yaml that cannot be read.
    """
    home = load_settings(hermes_home=options.hermes_home).hermes_home
    report = Report(home, options.dry_run)
    for name in options.plugins:
        _place(name, options, report)
    if PROVIDER_NAME in options.plugins:
        _clear_older_copies(options, report)
    if options.select and report.success:
        _select(options, report)
    _advise(options, report)
    return report


def check(options: Options) -> Report:
    """Compare what is installed with this package; `refused` names everything that is not current."""
    home = load_settings(hermes_home=options.hermes_home).hermes_home
    report = Report(home, dry_run=True)
    for name in options.plugins:
        folder = home / "plugins" / name
        state = state_of(folder, _SOURCES[name])
        step = Step(str(state), str(folder), _versions(folder))
        (report.steps if state is State.CURRENT else report.refused).append(step)
        if state is not State.CURRENT:
            report.next_steps.append(
                f"run install_plugin {'' if state.is_ours else '--replace '}to mend {name}"
                if state is not State.ABSENT
                else f"run install_plugin to install {name}"
            )
    for folder in _older_copies(home):
        report.refused.append(Step("in_the_way", str(folder), "Hermes finds this older copy first"))
    _advise_selection(home, report)
    return report


def state_of(folder: Path, source: Path) -> State:
    """What `folder` is to us."""
    if not folder.exists() and not folder.is_symlink():
        return State.ABSENT
    if folder.is_symlink() or not folder.is_dir():
        return State.FOREIGN
    present = _digests(folder)
    if present == _digests(source):
        return State.CURRENT
    noted = _note(folder).get("files")
    if noted is None:
        return State.FOREIGN
    return State.OUTDATED if present == noted else State.CHANGED


def _place(name: str, options: Options, report: Report) -> None:
    source, folder = _SOURCES[name], report.home / "plugins" / name
    state = state_of(folder, source)
    if state is State.CURRENT and _note(folder).get("version") == package_version():
        report.steps.append(Step("kept", str(folder), "already current"))
        return
    if state in (State.FOREIGN, State.CHANGED):
        why = (
            "was not written by this command"
            if state is State.FOREIGN
            else "was changed since it was written"
        )
        if not _move_aside(folder, why, options, report):
            return
    if not options.dry_run:
        _copy(source, folder)
    report.steps.append(Step("replaced" if state.is_ours else "installed", str(folder), package_version()))


def _copy(source: Path, folder: Path) -> None:
    """Write the folder beside its place and swap it in, so that Hermes never loads half of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A leading dot hides it from Hermes' scan.
    staged = folder.parent / f".{folder.name}.new"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(source, staged, ignore=shutil.ignore_patterns("__pycache__", NOTE))
    note = {"version": package_version(), "files": _digests(staged), "requirement": requirement()}
    (staged / NOTE).write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    if folder.exists():
        shutil.rmtree(folder)
    staged.replace(folder)


def _clear_older_copies(options: Options, report: Report) -> None:
    for folder in _older_copies(report.home):
        _move_aside(folder, "would be found by Hermes before this plugin", options, report)


def _older_copies(home: Path) -> Iterator[Path]:
    """The older suite's provider: inside the host's own tree, or under its own name among the plugins."""
    trees = [tree / "plugins" / "memory" for tree in find_host(home).trees]
    for folder in [tree / name for tree in trees for name in _OLDER_NAMES] + [home / "plugins" / "lancedb"]:
        if (folder / "__init__.py").is_file():
            yield folder


def _move_aside(folder: Path, why: str, options: Options, report: Report) -> bool:
    """Move a folder out of Hermes' sight if `replace` allows it; False when it stays."""
    if not options.replace:
        report.refused.append(Step("refused", str(folder), f"{why}; --replace moves it aside"))
        return False
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = report.home / PROVIDER_NAME / "replaced" / f"{folder.name}-{stamp}"
    if not options.dry_run:
        private_directory(target.parent)
        try:
            shutil.move(folder, target)
        except OSError as error:
            raise MemsuiteError(
                ErrorCode.STORE_READ_ONLY, str(folder), f"{folder} could not be moved aside: {error.strerror}"
            ) from error
    report.steps.append(Step("moved_aside", str(folder), f"to {target}"))
    return True


def _select(options: Options, report: Report) -> None:
    selection = host_config.select_provider(report.home, dry_run=options.dry_run)
    if not selection.changed:
        report.steps.append(Step("kept", str(selection.file), f"memory.provider is {PROVIDER_NAME}"))
        return
    detail = f"memory.provider: {selection.previous or 'none'} -> {PROVIDER_NAME}"
    if selection.backup is not None:
        detail += f" (written anew; the old file is {selection.backup.name})"
    report.steps.append(Step("selected", str(selection.file), detail))


def _advise(options: Options, report: Report) -> None:
    if not report.success:
        report.next_steps.append("run again with --replace to move what was refused aside")
    if PROVIDER_NAME in options.plugins:
        _advise_selection(report.home, report)
        if python := find_host(report.home).python_without_package:
            report.next_steps.append(f"install the package for Hermes: {install_command(str(python))}")
    if RECALL_NAME in options.plugins:
        report.next_steps.append(f"enable the recall tool: hermes plugins enable {RECALL_NAME}")


def _advise_selection(home: Path, report: Report) -> None:
    selected = host_config.selected_provider(home)
    if selected != PROVIDER_NAME:
        report.next_steps.append(
            f"select it (config.yaml selects {selected or 'none'}): install_plugin --provider --select, "
            f"or hermes memory setup {PROVIDER_NAME}"
        )


def _versions(folder: Path) -> str:
    installed = manifest_version(folder)
    return f"plugin {installed or 'unknown'}, package {package_version()}"


def _note(folder: Path) -> dict[str, Any]:
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def _digests(folder: Path) -> dict[str, str]:
    """sha256 of each file of a folder by its relative path, caches and our own note left out."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and _SKIPPED.isdisjoint(file.relative_to(folder).parts)
    }
