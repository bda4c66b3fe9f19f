"""The one settings object: where everything lies, which model embeds, what is switched on.

A setting is looked for in this order, and the first source that states a usable value wins:

1. an explicit argument (Hermes' own ``hermes_home`` counts as one),
2. the environment: ``MEMSUITE_<NAME>``, for the Ollama host also Ollama's own ``OLLAMA_HOST``,
3. ``$HERMES_HOME/lancedb-suite/config.json``, which Hermes' settings panel edits,
4. ``memory.lancedb-suite``, then ``memory.lancedb``, in Hermes' ``config.yaml``,
5. the default.

Loading never raises over what a file or a variable says, and it never writes: whatever cannot be used is
named in ``Settings.warnings`` and the next source is asked.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

SUITE_FOLDER = "lancedb-suite"
DEFAULT_OLLAMA_HOST = "http://127.0.0.1:11434"

# Hermes takes recalled text of more characters than this out of the prompt and into a file.
LONGEST_PREFETCH = 10_000

EVIDENCE, COMPOSITE = "evidence", "composite"
"""How found turns are ordered: by what speaks for them, or by the older suite's formula."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What one process works with. Paths are absolute; nothing need exist there yet.

    ``embed_model`` is ``""`` for the in-process default, ``builtin:<name>`` for another in-process
    model, and otherwise the name of an Ollama model. ``wings`` maps a wing to the keywords that put a
    captured turn into it. ``sources`` tells for each setting where its value came from.
    """

    hermes_home: Path
    db_path: Path
    embed_model: str = ""
    ollama_host: str = DEFAULT_OLLAMA_HOST
    auto_prefetch: bool = False
    auto_capture: bool = False
    capture_dedup_threshold: float = 0.88
    prefetch_budget_chars: int = 1500
    turn_ranking: str = EVIDENCE
    wings: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    fsync: bool = True
    conflict_resolved_limit: int = 1000
    write_limit: int = 200
    cleanup_interval_seconds: int = 86_400
    retention_seconds: int = 86_400
    compact_cooldown_seconds: int = 3_600
    allowed_secret_patterns: tuple[str, ...] = ()
    console_https: bool = False
    console_hosts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def suite_dir(self) -> Path:
        """Everything of ours except the database and the backups."""
        return self.hermes_home / SUITE_FOLDER

    @property
    def cache_dir(self) -> Path:
        return self.suite_dir / "cache"

    @property
    def console_db(self) -> Path:
        return self.suite_dir / "console.db"

    @property
    def secret_file(self) -> Path:
        return self.suite_dir / "secret"

    @property
    def config_file(self) -> Path:
        return self.suite_dir / "config.json"

    @property
    def backups_dir(self) -> Path:
        return self.hermes_home / "backups" / SUITE_FOLDER


def load_settings(
    *,
    hermes_home: str | Path | None = None,
    db_path: str | Path | None = None,
    embed_model: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings as they stand now; ``environ`` stands in for the process environment.

    Empty arguments and variables count as unset. ``~`` and variables in paths are expanded, a variable
    that is not set stays as written; a relative path in a file is meant from the Hermes home, any other
    from the working directory.
    """
    environ = os.environ if environ is None else environ
    warnings: list[str] = []
    home, home_source = _hermes_home(hermes_home, environ)
    sources = (
        _Source("argument", {"db_path": db_path, "embed_model": embed_model}),
        _from_environment(environ, warnings),
        _from_config_json(home, warnings),
        *_from_config_yaml(home, warnings),
    )
    chosen: dict[str, Any] = {"db_path": home / "lancedb"}
    origin = {"hermes_home": home_source} | dict.fromkeys(_READERS, "default")
    for name, read in _READERS.items():
        for source in sources:
            raw = source.values.get(name)
            if _unset(raw):
                continue
            try:
                chosen[name] = read(raw, _Surroundings(source.folder, environ))
            except ValueError as wanted:
                warnings.append(f"{name} from {source.label_of(name)} is not usable, {wanted} is expected")
            else:
                origin[name] = source.label_of(name)
                break
    return Settings(hermes_home=home, warnings=tuple(warnings), sources=MappingProxyType(origin), **chosen)


def private_directory(path: Path) -> Path:
    """Create ``path`` and its missing parents, closed to everyone but the owner (0700), and return it.

    A directory that is there already keeps its mode: it may have been opened on purpose.
    """
    if not path.is_dir():
        private_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


# --- sources -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Source:
    label: str
    values: Mapping[str, object]
    folder: Path = Path()  # what its relative paths start from: the working directory
    labels: Mapping[str, str] = field(default_factory=dict)

    def label_of(self, name: str) -> str:
        return self.labels.get(name, self.label)


def _hermes_home(given: str | Path | None, environ: Mapping[str, str]) -> tuple[Path, str]:
    around = _Surroundings(Path(), environ)
    for raw, label in ((given, "argument"), (environ.get("HERMES_HOME"), "HERMES_HOME")):
        if not _unset(raw):
            return _path(raw, around), label
    return _path("~/.hermes", around), "default"


def _from_environment(environ: Mapping[str, str], warnings: list[str]) -> _Source:
    values: dict[str, object] = {}
    labels: dict[str, str] = {}
    for name, variables in _VARIABLES.items():
        for variable in variables:
            if not _unset(environ.get(variable)):
                values[name], labels[name] = environ[variable], variable
                break
    known = {variable for variables in _VARIABLES.values() for variable in variables} | READ_ELSEWHERE
    for variable in sorted(environ):
        if variable.startswith("MEMSUITE_") and variable not in known:
            warnings.append(f"the variable {variable} is not known and has no effect")
    return _Source("environment", values, labels=labels)


def _from_config_json(home: Path, warnings: list[str]) -> _Source:
    file = home / SUITE_FOLDER / "config.json"
    values = _section(_read(file, json.loads, warnings), "config.json", warnings)
    return _Source("config.json", values, home)


def _from_config_yaml(home: Path, warnings: list[str]) -> tuple[_Source, ...]:
    content = _read(home / "config.yaml", _parse_yaml, warnings)
    memory = content.get("memory") if isinstance(content, Mapping) else None
    if not isinstance(memory, Mapping):
        return ()
    labelled = ((f"config.yaml memory.{key}", memory.get(key)) for key in (SUITE_FOLDER, "lancedb"))
    return tuple(_Source(label, _section(found, label, warnings), home) for label, found in labelled)


def _read(file: Path, parse: Callable[[str], object], warnings: list[str]) -> object:
    try:
        return parse(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    except OSError as problem:
        warnings.append(f"{file.name} cannot be read ({problem.strerror}); what it says is left out")
    except (ValueError, RecursionError) as problem:
        warnings.append(f"{file.name} is broken ({problem}); what it says is left out")
    return None


def _parse_yaml(text: str) -> object:
    # Hermes calls load_settings while it starts: without a config.yaml PyYAML is never imported.
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as problem:
        # The error's own text quotes the line, and that file may hold secrets.
        mark = getattr(problem, "problem_mark", None)
        raise ValueError(f"line {mark.line + 1} is not YAML" if mark else "not YAML") from None


def _section(found: object, label: str, warnings: list[str]) -> Mapping[str, object]:
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        warnings.append(f"{label} is not a mapping of settings; what it says is left out")
        return {}
    for key in found:
        if key not in _READERS:
            warnings.append(f"{label} names the setting {key!r}, which is not known and has no effect")
    return found


# --- values --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a path is read against."""

    folder: Path
    environ: Mapping[str, str]


_Reader = Callable[[object, _Surroundings], object]
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>[A-Za-z_]\w*))", re.ASCII)
_FLAGS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def _unset(raw: object) -> bool:
    return raw is None or (isinstance(raw, str) and not raw.strip())


def _path(raw: object, around: _Surroundings) -> Path:
    if not isinstance(raw, str | Path) or "\0" in str(raw):
        raise ValueError("a path")
    # Variables are meant in text only: a Path was put together by a program that had its values.
    text = str(raw) if isinstance(raw, Path) else _with_variables(raw.strip(), around.environ)
    return (around.folder / _with_user_home(text, around.environ)).absolute()


def _with_variables(text: str, environ: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: environ.get(found["braced"] or found["bare"], found[0]), text)


def _with_user_home(text: str, environ: Mapping[str, str]) -> Path:
    user_home = environ.get("HOME")
    if user_home and (text == "~" or text.startswith("~/")):
        return Path(user_home + text[1:])
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~name" without such a user is an ordinary name
        return Path(text)


def _text(raw: object, _: _Surroundings) -> str:
    if not isinstance(raw, str):
        raise ValueError("text")
    return raw.strip()


def _ranking(raw: object, around: _Surroundings) -> str:
    if _text(raw, around) not in (EVIDENCE, COMPOSITE):
        raise ValueError(f"{EVIDENCE} or {COMPOSITE}")
    return str(raw).strip()


def _flag(raw: object, _: _Surroundings) -> bool:
    if isinstance(raw, bool):
        return raw
    known = _FLAGS.get(raw.strip().lower()) if isinstance(raw, str) else None
    if known is None:
        raise ValueError("on or off")
    return known


def _number(raw: object, wanted: str) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ValueError(wanted)
    try:
        number = float(raw)
    except (ValueError, OverflowError):
        raise ValueError(wanted) from None
    if not math.isfinite(number):
        raise ValueError(wanted)
    return number


def _whole(low: int, high: int) -> _Reader:
    wanted = f"a whole number from {low} to {high}"

    def read(raw: object, _: _Surroundings) -> int:
        number = _number(raw, wanted)
        if number != int(number) or not low <= number <= high:
            raise ValueError(wanted)
        return int(number)

    return read


def _share(raw: object, _: _Surroundings) -> float:
    number = _number(raw, "a number from 0 to 1")
    if not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1")
    return number


def _wings(raw: object, _: _Surroundings) -> Mapping[str, tuple[str, ...]]:
    wanted = "a mapping of wings to their keywords"
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            raise ValueError(wanted) from None
    if not isinstance(raw, Mapping):
        raise ValueError(wanted)
    wings: dict[str, tuple[str, ...]] = {}
    for wing, keywords in raw.items():
        listed = [keywords] if isinstance(keywords, str) else keywords
        if not isinstance(wing, str) or not wing.strip() or not isinstance(listed, list | tuple):
            raise ValueError(wanted)
        wings[wing.strip()] = tuple(word.strip() for word in listed if isinstance(word, str) and word.strip())
    return MappingProxyType(wings)


_HOST = re.compile(r"[a-z0-9]([a-z0-9.\-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


def _hosts(raw: object, _: _Surroundings) -> tuple[str, ...]:
    """Host names beside localhost; a pattern for any name is none, since it would let DNS rebinding in."""
    listed = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple) or not all(isinstance(host, str) for host in listed):
        raise ValueError("a list of host names")
    hosts = tuple(host.strip().lower() for host in listed if host.strip())
    if not all(_HOST.fullmatch(host) for host in hosts):
        raise ValueError("a list of host names")
    return hosts


def _expressions(raw: object, _: _Surroundings) -> tuple[str, ...]:
    """Regular expressions; text holds one of them, or a JSON list."""
    wanted = "a list of regular expressions"
    try:
        listed = json.loads(raw) if isinstance(raw, str) and raw.lstrip().startswith('["') else raw
    except (ValueError, RecursionError):
        raise ValueError(wanted) from None
    listed = [listed] if isinstance(listed, str) else listed
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise ValueError(wanted)
    try:
        return tuple(re.compile(one).pattern for one in listed)
    except re.error:
        raise ValueError(wanted) from None


_YEAR = 366 * 86_400

_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "db_path": _path,
        "embed_model": _text,
        "ollama_host": _text,
        "auto_prefetch": _flag,
        "auto_capture": _flag,
        "capture_dedup_threshold": _share,
        "prefetch_budget_chars": _whole(1, LONGEST_PREFETCH),
        "turn_ranking": _ranking,
        "wings": _wings,
        "fsync": _flag,
        "conflict_resolved_limit": _whole(0, 1_000_000),
        "write_limit": _whole(0, 1_000_000),
        "cleanup_interval_seconds": _whole(0, _YEAR),
        "retention_seconds": _whole(0, _YEAR),
        "compact_cooldown_seconds": _whole(0, _YEAR),
        "allowed_secret_patterns": _expressions,
        "console_https": _flag,
        "console_hosts": _hosts,
    }
)

_ELSEWHERE_CALLED = {
    "ollama_host": ("OLLAMA_HOST",),
    # The older suite's names.
    "conflict_resolved_limit": ("LANCEDB_CONFLICT_RESOLVED_LIMIT",),
    "cleanup_interval_seconds": ("LANCEDB_CLEANUP_INTERVAL_SECONDS",),
    "retention_seconds": ("LANCEDB_RETENTION_SECONDS",),
    "compact_cooldown_seconds": ("LANCEDB_COMPACT_COOLDOWN_SECONDS",),
}

_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: (f"MEMSUITE_{name.upper()}", *_ELSEWHERE_CALLED.get(name, ())) for name in _READERS}
)

# Read where it is used and nowhere kept: the password of the first administrator.
READ_ELSEWHERE = frozenset({"MEMSUITE_ADMIN_PASSWORD"})
