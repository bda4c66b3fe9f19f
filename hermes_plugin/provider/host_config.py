"""`memory.provider` in Hermes' config.yaml, changed without losing the user's comments.

The file is edited as text, and the edit is kept only when parsing it again gives exactly the old
content with the one value changed. A layout this cannot edit (a flow mapping, JSON) is written anew
by PyYAML, with the old file kept beside it.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

from .atomic_file import replace_text
from .identity import PROVIDER_NAME

_MEMORY_KEY = re.compile(r"^memory:[ \t]*(#.*)?$")
_PROVIDER_KEY = re.compile(r"""^(?P<head>[ ]+provider:)(?P<value>[ \t]*("[^"]*"|'[^']*'|[^#\s"'][^#\s]*)?)""")


@dataclass(frozen=True, slots=True)
class Selection:
    """What selecting did: the `previous` provider ("" for none), and a `backup` where one was made."""

    file: Path
    previous: str
    changed: bool
    backup: Path | None = None


def selected_provider(home: Path) -> str:
    """The provider config.yaml selects; "" for none. Raises store_unavailable when it cannot be read."""
    memory = _parse(_read(home / "config.yaml")).get("memory")
    return str(memory.get("provider") or "") if isinstance(memory, dict) else ""


def select_provider(home: Path, *, dry_run: bool = False) -> Selection:
    """Set `memory.provider` to this suite's name; idempotent.

    An older `provider: lancedb` (the suite before this one) is rewritten like any other value.
    Raises store_unavailable for a file that cannot be read or parsed, and then writes nothing.
    """
    file = home / "config.yaml"
    text = _read(file)
    content = _parse(text)
    previous = selected_provider(home)
    if previous == PROVIDER_NAME:
        return Selection(file, previous, changed=False)
    wanted = copy.deepcopy(content)
    memory = wanted.get("memory")
    wanted["memory"] = {**(memory if isinstance(memory, dict) else {}), "provider": PROVIDER_NAME}
    edited = _edited(text)
    if _parse_or_none(edited) == wanted:
        if not dry_run:
            replace_text(file, edited)
        return Selection(file, previous, changed=True)
    backup = None if dry_run else _keep_copy(file, text)
    if not dry_run:
        replace_text(file, _dump(wanted))
    return Selection(file, previous, changed=True, backup=backup)


def _edited(text: str) -> str:
    """The text with the provider line set; whether that came out right is for the caller to check."""
    lines = text.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    start = next((i for i, line in enumerate(lines) if _MEMORY_KEY.match(line.rstrip("\r\n"))), None)
    if start is None:
        gap = "" if not text or text.endswith("\n") else ending
        return f"{text}{gap}memory:{ending}  provider: {PROVIDER_NAME}{ending}"
    end = _block_end(lines, start)
    indent = _child_indent(lines[start + 1 : end])
    for index in range(start + 1, end):
        found = _PROVIDER_KEY.match(lines[index])
        if found and found["head"].startswith(indent) and not found["head"][len(indent) :].startswith(" "):
            lines[index] = f"{found['head']} {PROVIDER_NAME}{lines[index][found.end() :]}"
            return "".join(lines)
    if not lines[start].endswith("\n"):
        lines[start] += ending
    lines.insert(start + 1, f"{indent}provider: {PROVIDER_NAME}{ending}")
    return "".join(lines)


def _block_end(lines: list[str], start: int) -> int:
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if line.strip() and not line.startswith((" ", "\t", "#")):
            return index
    return len(lines)


def _child_indent(block: list[str]) -> str:
    for line in block:
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip(" "))] or "  "
    return "  "


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:  # line ends are the user's
            return stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise _unusable("cannot be read") from error


def _parse(text: str) -> dict[Any, Any]:
    content = _parse_or_none(text)
    if content is None:
        raise _unusable("is not a YAML mapping; mend it first")
    return content


def _parse_or_none(text: str) -> dict[Any, Any] | None:
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if content is None:
        return {}
    return content if isinstance(content, dict) else None


def _unusable(why: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "config.yaml", f"Hermes' config.yaml {why}")


def _dump(content: dict[Any, Any]) -> str:
    import yaml

    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _keep_copy(file: Path, text: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    copy_file = file.with_name(f"{file.name}.before-{PROVIDER_NAME}-{stamp}")
    with copy_file.open("x", encoding="utf-8", newline="") as stream:
        copy_file.chmod(0o600)  # the host keeps keys in this file
        stream.write(text)
    return copy_file
