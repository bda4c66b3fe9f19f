"""A stored memory as a value, and its way to and from a table row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from memories.contract import Category, Claim, ClaimKind, MemoryForm, Relation, Tier
from memories.text.entities import entities, tags
from memories.text.normalise import index_text

Row = dict[str, Any]
"""One table row by column name, as Arrow's ``to_pylist`` gives it."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something, and from where.

    ``actor`` is who acted (``agent``, ``command``, ``console:<name>``, ``import:<system>``);
    ``source`` is kept on the memory as where it came from. ``operation_id`` names the operation
    beforehand, for a door that writes down what it intends before it acts; one author, one change.
    """

    actor: str
    session_id: str = ""
    user_id: str = ""
    platform: str = ""
    source: str = "agent"
    operation_id: str = ""


@dataclass(frozen=True)
class StoredMemory:
    """One row of ``memories`` without its vector. Lengths of ``facts``, ``tags`` and ``entities``
    are those of the contract; times are aware and in UTC."""

    id: str
    content: str
    search_text: str
    domain: str
    subject: str
    facts: tuple[str, ...]
    tier: int
    category: str
    type: str
    tags: tuple[str, ...]
    tags_manual: bool
    entities: tuple[str, ...]
    claims: tuple[Claim, ...]
    subject_key: str
    fingerprint: str
    quality: float
    source: str
    session_id: str
    user_id: str
    platform: str
    created_at: datetime
    updated_at: datetime
    reviewed_at: datetime | None
    approved_by: str
    revision: int
    operation_id: str
    generation: int
    embedding_id: str

    def form(self, relations: Sequence[Relation] = ()) -> MemoryForm:
        """The memory in contract form; its relations live in the edges table."""
        return MemoryForm(
            domain=self.domain,
            subject=self.subject,
            facts=self.facts,
            tier=Tier(self.tier),
            category=Category(self.category),
            relations=tuple(relations),
            tags=self.tags,
            quality=self.quality,
            type=self.type,
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct indexed words."""
        return frozenset(self.search_text.split())


LIGHT = tuple(field.name for field in fields(StoredMemory))
"""The columns of a memory that are not its vector or its hash."""


def memory_of(row: Mapping[str, Any]) -> StoredMemory:
    """The value of a row read with the ``LIGHT`` columns."""
    values = {name: row[name] for name in LIGHT}
    for name in ("facts", "tags", "entities"):
        values[name] = tuple(values[name] or ())
    values["claims"] = tuple(
        Claim(claim["key"], claim["value"], ClaimKind(claim["kind"]), claim["normal"])
        for claim in values["claims"] or ()
    )
    return StoredMemory(**values)


def derived_columns(form: MemoryForm, *, tags_manual: bool) -> Row:
    """The columns that follow from a memory's form."""
    stored_tags = form.tags if tags_manual else tags(form)
    return {
        "content": form.content,
        "search_text": index_text(
            domain=form.domain, subject=form.subject, facts=form.facts, tags=stored_tags
        ),
        "domain": form.domain,
        "subject": form.subject,
        "facts": list(form.facts),
        "tier": int(form.tier),
        "category": str(form.category),
        "type": form.type,
        "tags": list(stored_tags),
        "tags_manual": tags_manual,
        "entities": list(entities(form)),
        "claims": [
            {"key": claim.key, "value": claim.value, "kind": str(claim.kind), "normal": claim.normal}
            for claim in form.claims
        ],
        "subject_key": form.subject_key,
        "fingerprint": form.fingerprint,
        "quality": form.quality,
    }


def embedding_text(form: MemoryForm) -> str:
    """What is embedded: the subject in words, then the facts, without the tier marker.

    A change of this text is a change of the pipeline named in the embedding identity.
    """
    return embedding_text_of(form.domain, form.subject, form.facts)


def embedding_text_of(domain: str, subject: str, facts: Sequence[str]) -> str:
    return f"{domain} {subject}".replace("_", " ") + ": " + " ".join(facts)


def content_hash(row: Mapping[str, Any]) -> str:
    """sha256 of a memory's values, its vector's bytes included: the engine does not notice
    flipped bytes, so ``health`` compares this."""
    return hash_of({name: row[name] for name in LIGHT}, row["vector"])


def hash_of(values: Mapping[str, Any], vector: Any) -> str:
    """The content hash of a row with these values: all its columns but the vector and the hash itself,
    those of an older layout too."""
    digest = hashlib.sha256()
    digest.update(_HASHED.encode(dict(values)).encode())
    digest.update(_vector_bytes(vector))
    return digest.hexdigest()


def as_json(value: object) -> str:
    """Any value of rows as JSON text; times as ISO text."""
    return _KEPT.encode(value)


def to_json(row: Mapping[str, Any]) -> Row:
    """A row's values as JSON can hold them; times as ISO text."""
    return {name: _plain(value) for name, value in row.items()}


def from_json(row: Mapping[str, Any], times: Sequence[str]) -> Row:
    """The row back from JSON; ``times`` names its time columns."""
    back = dict(row)
    for name in times:
        if back.get(name):
            back[name] = datetime.fromisoformat(back[name])
    return back


def now() -> datetime:
    return datetime.now(UTC)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return list(value) if isinstance(value, tuple) else value


# Made once: an encoder made for each row takes longer than it encodes. Only times need our help.
_KEPT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
_HASHED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _vector_bytes(vector: Any) -> bytes:
    import numpy as np

    return bytes(np.asarray(vector, dtype="<f4").tobytes())
