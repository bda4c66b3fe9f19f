"""The invented memories as values, read from the data files beside this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib import resources
from typing import Any

import yaml

PROJECTS = ("tidewater", "verger", "hyttebok")


@dataclass(frozen=True, slots=True)
class DemoMemory:
    """One memory as it should stand in the end.

    `payload` is what the contract takes. `age` is how long before loading it was written. `first_filed_under`
    is the subject it was stored under before it was renamed, "" for most: two memories of one subject cannot
    be created, but a rename can bring them together, and that is how a disagreement arises.
    """

    language: str
    payload: Mapping[str, Any]
    age: timedelta
    first_filed_under: str = ""

    @property
    def first_payload(self) -> dict[str, Any]:
        """The payload it is created with."""
        if not self.first_filed_under:
            return dict(self.payload)
        return {**self.payload, "subject": self.first_filed_under}


@cache
def demo_memories() -> tuple[DemoMemory, ...]:
    """All invented memories, project by project, in the order in which they are stored."""
    return tuple(memory for project in PROJECTS for memory in _project(project))


def _project(name: str) -> list[DemoMemory]:
    text = resources.files("memories.demo").joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    return [_memory(document["domain"], document["language"], entry) for entry in document["memories"]]


def _memory(domain: str, language: str, entry: Mapping[str, Any]) -> DemoMemory:
    payload = dict(entry)
    age = timedelta(days=payload.pop("age"))
    filed_under = payload.pop("first_filed_under", "")
    return DemoMemory(language, {"domain": domain, **payload}, age, filed_under)
