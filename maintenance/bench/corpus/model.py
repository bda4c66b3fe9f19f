"""What the corpus is made of: memories, questions, and the hash by which a result names its corpus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Half = Literal["calibration", "development", "final"]
Language = Literal["en", "fr", "nb"]
HALVES: tuple[Half, ...] = ("calibration", "development", "final")
OPEN_HALVES: tuple[Half, ...] = ("calibration", "development")
"""What may be looked at and fitted to; the development half was the final one before."""
LANGUAGES: tuple[Language, ...] = ("en", "fr", "nb")

KINDS = (
    "project_name",
    "id",
    "exact_path",
    "config",
    "paraphrase",
    "dependency",
    "old_critical_correction",
    "contradiction",
    "multi_fact",
    "cross_language",
    "no_answer",
)


@dataclass(frozen=True, slots=True)
class CorpusMemory:
    """One memory to store.

    `payload` passes `memories.contract.validate_add`; where it relates to another memory of the corpus, the
    relation's `target_id` is that memory's `key` (see `payload_with_ids`). `entity` and `topic` say what it
    is about, `half` where its questions go, `created_day` is in days before the corpus was "today"
    (negative), `project` is the project's name or empty for a person. `superseded`: a newer memory of the
    corpus replaces this one.
    """

    key: str
    payload: dict[str, Any]
    created_day: int
    language: Language
    project: str
    entity: str
    topic: str
    half: Half
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    `expected`: keys of all memories that answer it, and of no other. `avoid`: keys that would mislead
    (superseded versions). `near_miss` is None where there is an answer. `note` says what was done or what is
    missing: `plain`, `typo`, `no_accents`, `unrecorded_fact`, `other_entity`, `unknown_person`,
    `unknown_project`, `unknown_id`, `everyday` (several joined by a blank). `entity`: the one subject it
    belongs to; all questions about it are in one half.
    """

    id: str
    kind: str
    language: Language
    text: str
    expected: tuple[str, ...]
    avoid: tuple[str, ...]
    half: Half
    near_miss: bool | None
    note: str
    entity: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """`memories` are in an order in which every relation's target comes before the memory that names it."""

    seed: int
    memories: tuple[CorpusMemory, ...]
    questions: tuple[Question, ...]

    def half(self, half: Half) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.half == half)


def corpus_hash(corpus: Corpus) -> str:
    """sha256 (hexadecimal) over the whole corpus: results with one hash asked the same questions."""
    whole = json.dumps(asdict(corpus), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()


def payload_with_ids(memory: CorpusMemory, ids: Mapping[str, str]) -> dict[str, Any]:
    """The payload, its relations naming `ids[key]` for each key. KeyError: a target not stored yet."""
    relations = [
        {**relation, "target_id": ids[relation["target_id"]]} if "target_id" in relation else relation
        for relation in memory.payload.get("relations", [])
    ]
    return {**memory.payload, "relations": relations}
