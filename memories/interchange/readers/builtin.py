"""Hermes' built-in memory, MEMORY.md and USER.md, as lessons that wait for a person."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.contract.limits import FACT_MAX, SUBJECT_MAX
from memories.interchange.items import Item, LessonItem, MisfitItem
from memories.interchange.old_facts import facts_of, old_text
from memories.interchange.readers.base import ForeignReader
from memories.interchange.sources import opened

BETWEEN_ENTRIES = "\n§\n"
"""As Hermes Agent writes it; measured in its tools/memory_tool.py (0.19)."""

FILE_MAX = 4 * 2**20
"""Bytes. Hermes itself keeps each of the files to some thousand characters."""

_WORDS_OF_A_SUBJECT = 5
_KINDS = {"MEMORY.md": ("Notes", "fact"), "USER.md": ("User", "user_pref")}
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


class BuiltinReader(ForeignReader):
    """``path`` is one of the files, a directory with them, or a Hermes home."""

    def __init__(self, path: Path) -> None:
        self._files = _files(path)

    def items(self) -> Iterator[Item]:
        for path in self._files:
            domain, category = _KINDS[path.name]
            written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            for number, entry in enumerate(_entries(path), start=1):
                yield _lesson(f"{path.name} entry {number}", entry, domain, category, written_at)


def _lesson(place: str, entry: str, domain: str, category: str, written_at: datetime) -> Item:
    name = hashlib.sha256(f"hermes-builtin\0{domain}\0{entry}".encode("utf-8", "surrogatepass")).hexdigest()[
        :32
    ]
    try:
        proposed = _proposed(entry, domain, category)
        return LessonItem(
            place, name, " ".join(entry.split())[:FACT_MAX], proposed, written_at, f"from {place}"
        )
    except MemsuiteError as error:
        return MisfitItem(place, "lesson", name, error, {"entry": entry})


def _proposed(entry: str, domain: str, category: str) -> dict[str, Any]:
    """The memory a person may make of an entry: as it says itself, or one fact a line."""
    lines = [_LIST_MARK.sub("", line).strip() for line in entry.splitlines() if line.strip()]
    try:
        parsed = old_text(" ".join(lines))
        return {
            "domain": parsed.domain,
            "subject": parsed.subject,
            "facts": list(parsed.facts),
            "tier": int(parsed.tier),
            "category": category,
        }
    except MemsuiteError:
        facts = lines if len(lines) > 1 else list(facts_of(lines[0]))
    subject = "_".join(re.findall(r"[\w-]+", lines[0])[:_WORDS_OF_A_SUBJECT])[:SUBJECT_MAX]
    return {"domain": domain, "subject": subject or "note", "facts": facts, "tier": 2, "category": category}


def _entries(path: Path) -> list[str]:
    with opened(path) as file:
        data = file.read(FILE_MAX + 1)
    if len(data) > FILE_MAX:
        raise MemsuiteError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            "source",
            "This is larger than the built-in memory can be.",
            received=path.name,
            expected=FILE_MAX,
        )
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return [entry.strip() for entry in f"\n{text}\n".split(BETWEEN_ENTRIES) if entry.strip()]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        if path.name not in _KINDS:
            raise _nothing(path)
        return [path]
    for folder in (path / "memories", path):
        found = [folder / name for name in _KINDS if (folder / name).is_file()]
        if found:
            for file in found:
                if file.is_symlink():
                    raise _nothing(file)
            return found
    raise _nothing(path)


def _nothing(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER, "source", "There is no MEMORY.md or USER.md here.", received=str(path)
    )
