"""The provider's settings as the host reads, shows and saves them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings, load_settings, private_directory

from .atomic_file import replace_text
from .identity import PROVIDER_NAME

_FLAGS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return _FLAGS[str(value).strip().lower()]


def _share(value: object) -> float:
    number = float(str(value))
    if not 0.0 <= number <= 1.0:
        raise ValueError
    return number


def _budget(value: object) -> int:
    number = int(str(value))
    if not 0 <= number <= 10_000:  # above that the host spills the text into a file (host facts, 1)
        raise ValueError
    return number


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting a user may change, as both of the host's setup ways describe it."""

    key: str
    description: str
    default: Any
    read: Callable[[object], Any]
    expected: str
    choices: tuple[str, ...] = ()


SETTINGS = (
    Setting("db_path", "Database directory (empty: <Hermes home>/lancedb)", "", str, "a directory path"),
    Setting(
        "embed_model",
        "Embedding model (empty: the one in the process; a plain name: that Ollama model)",
        "",
        str,
        "a model name",
    ),
    Setting(
        "auto_prefetch",
        "Put matching memories in front of each turn",
        False,
        _flag,
        "true or false",
        ("false", "true"),
    ),
    Setting(
        "auto_capture",
        "Record conversation turns, each person's for themselves",
        False,
        _flag,
        "true or false",
        ("false", "true"),
    ),
    Setting(
        "capture_dedup_threshold",
        "Similarity from which two turns are one (with auto_capture)",
        0.88,
        _share,
        "0 to 1",
    ),
    Setting("prefetch_budget_chars", "Characters recall may add to a turn", 1500, _budget, "0 to 10000"),
)
_BY_KEY = {setting.key: setting for setting in SETTINGS}


def config_schema() -> list[dict[str, Any]]:
    """The fields for the host's setup dialogue; none is required and none is secret."""
    fields = []
    for setting in SETTINGS:
        default = str(setting.default).lower() if setting.choices else setting.default
        field: dict[str, Any] = {
            "key": setting.key,
            "description": setting.description,
            "secret": False,
            "required": False,
            "default": default,
        }
        if setting.choices:
            field["choices"] = list(setting.choices)
        fields.append(field)
    return fields


def save_config(values: Mapping[str, Any], hermes_home: str | Path) -> Path:
    """Merge `values` into `<home>/lancedb-suite/config.json` in one step; returns the file.

    Keys not named stay as they are, a blank value takes the setting back to its default, and a value
    of the wrong kind raises `invalid_parameter` before anything is written. A key that is not a
    setting raises `unknown_field`.
    """
    changes = {key: _read(key, value) for key, value in values.items()}
    file = load_settings(hermes_home=hermes_home).config_file
    private_directory(file.parent)
    content = _existing(file)
    for key, value in changes.items():
        if value is None:
            content.pop(key, None)
        else:
            content[key] = value
    replace_text(file, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    return file


def status(settings: Settings, problem: str) -> dict[str, Any]:
    """What `hermes memory status` shows: each setting with its source, warnings, what is wrong."""
    shown: dict[str, Any] = {}
    for setting in SETTINGS:
        value = getattr(settings, setting.key)
        if setting.key == "embed_model" and not value:
            value = "in-process default"
        shown[setting.key] = f"{value} ({settings.sources.get(setting.key, 'default')})"
    if settings.warnings:
        shown["warnings"] = "; ".join(settings.warnings)
    if problem:
        shown["problem"] = problem
    return shown


def capture_status(settings: Settings, counts: Mapping[str, Any]) -> dict[str, Any]:
    """What recording did, for the same place; nothing where no turn was ever recorded."""
    told = {name: number for name, number in counts.items() if number}
    if not told and not settings.auto_capture:
        return {}
    return {"captured": ", ".join(f"{name} {number}" for name, number in told.items()) or "nothing yet"}


def paths_outside_home(settings: Settings) -> list[str]:
    """The database directory when `hermes backup`, which walks the home only, would miss it."""
    database, home = settings.db_path.resolve(), settings.hermes_home.resolve()
    return [] if database.is_relative_to(home) else [str(database)]


def active_home() -> str | None:
    """The home in force in the host, asked anew each time since a gateway serves several profiles."""
    try:
        from hermes_constants import get_hermes_home
    except ImportError:
        return None
    return str(get_hermes_home())


def select_in_host(hermes_home: str | Path, config: dict[str, Any]) -> None:
    """Make this provider the selected one, in the host's `config` object and in its file."""
    from .host_config import select_provider

    memory = config.get("memory")
    config["memory"] = (
        {**memory, "provider": PROVIDER_NAME} if isinstance(memory, dict) else {"provider": PROVIDER_NAME}
    )
    select_provider(Path(hermes_home))


def _read(key: str, value: object) -> Any:
    setting = _BY_KEY.get(key)
    if setting is None:
        raise MemsuiteError(
            ErrorCode.UNKNOWN_FIELD, key, f"{PROVIDER_NAME} has no setting {key!r}", expected=sorted(_BY_KEY)
        )
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return setting.read(value)
    except (ValueError, KeyError) as error:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER,
            key,
            f"{key} takes {setting.expected}",
            received=value,
            expected=setting.expected,
        ) from error


def _existing(file: Path) -> dict[str, Any]:
    """The file's content; one that cannot be read is kept beside under another name, never lost."""
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except ValueError:
        content = None
    if isinstance(content, dict):
        return content
    file.replace(file.with_name(file.name + ".unreadable"))
    return {}
