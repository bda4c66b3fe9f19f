"""The examples of the writing guide do what the guide says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memories.contract import ErrorCode, MemsuiteError, canonical_text, validate_add
from memories.embedding import Embedder
from memories.repository import Author, MemoryRepository
from memories.screening import refuse_secrets
from memories.settings import load_settings

# Codes of searches, importers, the console and its API: no add, update or delete of an agent answers them.
NOT_WHILE_WRITING = {
    ErrorCode.INVALID_PARAMETER,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.EMPTY_PATCH,
    ErrorCode.MISSING_TIER_MARKER,
    ErrorCode.MULTIPLE_TIER_MARKERS,
    ErrorCode.TIER_NOT_FINAL,
    ErrorCode.MISSING_SUBJECT_PREFIX,
    ErrorCode.CONFLICT_NOT_FOUND,
    ErrorCode.CONFLICT_NOT_OPEN,
    ErrorCode.RATE_LIMITED,
    ErrorCode.SELECTION_CHANGED,
    ErrorCode.CONFIRMATION_REQUIRED,
    ErrorCode.TOO_MANY_IDS,
    ErrorCode.HEAVY_WORK_BUSY,
    ErrorCode.NOT_AUTHENTICATED,
    ErrorCode.NOT_PERMITTED,
    ErrorCode.NOT_FOUND,
}

GUIDE = (Path(__file__).parents[2] / "docs" / "memory-writing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```json ?(?P<kind>\w*)\n(?P<body>.*?)```", re.DOTALL)
HEADING = re.compile(r"^### `(?P<code>\w+)`$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    code: str
    kind: str
    body: dict[str, Any]

    @property
    def payload(self) -> dict[str, Any]:
        return self.body if self.kind == "whole" else {**GOOD, **self.body}


def _spelled_out(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"repeat", "times"}:
        repeated = value["repeat"]
        return repeated * value["times"] if isinstance(repeated, str) else [repeated] * value["times"]
    if isinstance(value, dict):
        return {key: _spelled_out(inner) for key, inner in value.items()}
    return [_spelled_out(inner) for inner in value] if isinstance(value, list) else value


def _examples() -> list[Example]:
    parts = HEADING.split(GUIDE)
    found = []
    for code, section in zip(parts[1::2], parts[2::2], strict=True):
        for block in BLOCK.finditer(section):
            found.append(Example(code, block["kind"], _spelled_out(json.loads(block["body"]))))
    return found


def _good() -> dict[str, Any]:
    block = next(block for block in BLOCK.finditer(GUIDE) if block["kind"] == "good")
    good: dict[str, Any] = json.loads(block["body"])
    return good


GOOD = _good()
EXAMPLES = _examples()
REFUSED_ALONE = [example for example in EXAMPLES if example.kind != "stored"]
REFUSED_BY_OTHERS = [example for example in EXAMPLES if example.kind == "stored"]


def test_the_good_memory_is_accepted_without_a_warning_and_unchanged() -> None:
    request = validate_add(GOOD)
    refuse_secrets(request.form)
    assert (request.warnings, request.normalized_fields) == ((), ())


def test_the_line_shown_is_the_canonical_text_of_the_good_memory() -> None:
    form = validate_add(GOOD).form
    shown = re.search(r"```text\n(.*?)\n```", GUIDE, re.DOTALL)
    assert shown is not None
    assert shown[1] == canonical_text(form.domain, form.subject, form.facts, form.tier)


@pytest.mark.parametrize("example", REFUSED_ALONE, ids=lambda example: example.code)
def test_each_example_is_refused_with_the_code_of_its_heading(example: Example) -> None:
    with pytest.raises(MemsuiteError) as refusal:
        refuse_secrets(validate_add(example.payload).form)
    assert str(refusal.value.code) == example.code


@pytest.mark.parametrize("example", REFUSED_BY_OTHERS, ids=lambda example: example.code)
def test_each_example_is_refused_beside_the_good_memory(example: Example, fast_embedder: Embedder) -> None:
    with MemoryRepository.open(load_settings(), fast_embedder) as repository:
        repository.add(GOOD, Author(actor="agent"))
        with pytest.raises(MemsuiteError) as refusal:
            repository.add(example.payload, Author(actor="agent"))
    assert str(refusal.value.code) == example.code


def test_every_code_an_agent_can_meet_while_writing_is_in_the_guide() -> None:
    of_the_moment = GUIDE.split("## What the moment refuses")[1]
    named = set(HEADING.findall(GUIDE)) | set(re.findall(r"`(\w+)`", of_the_moment)) - {"doctor"}
    assert named == set(ErrorCode) - NOT_WHILE_WRITING
