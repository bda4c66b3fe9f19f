"""Identity: memories with equal fingerprints say the same, with equal subject keys they speak of the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Protocol


class _Relation(Protocol):
    def as_dict(self) -> dict[str, str]: ...


def fingerprint(category: str, content: str, relations: Iterable[_Relation]) -> str:
    """sha256 (64 hex digits) of the compact JSON of category, canonical text and sorted relations."""
    body = {"category": str(category), "content": content, "relations": sorted_relations(relations)}
    # Rows of older stores may hold a lone surrogate; they still need a fingerprint.
    return hashlib.sha256(_compact(body).encode("utf-8", "surrogatepass")).hexdigest()


def sorted_relations(relations: Iterable[_Relation]) -> list[dict[str, str]]:
    """As dictionaries in one fixed order: the order in which relations were declared means nothing."""
    return sorted((relation.as_dict() for relation in relations), key=_compact)


def subject_key(domain: str, subject: str) -> str:
    """The case-folded `domain:subject` under which memories of one subject are looked up."""
    return f"{domain}:{subject}".casefold()


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
