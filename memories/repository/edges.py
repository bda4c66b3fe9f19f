"""Edges: the stored form of the relations a person or an agent declares.

A relation given by label stays with its label, and is resolved by itself as long as exactly
one memory matches (``Domain:Subject``, or a bare subject).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from memories.contract import MemoryForm, Relation, RelationType
from memories.repository.records import Row

_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Edge:
    """One declared relation; ``target_id`` is "" while its label matches no single memory."""

    edge_key: str
    source_id: str
    relation_type: str
    target_id: str
    target_label: str
    created_at: datetime

    @property
    def relation(self) -> Relation:
        """The relation as it was declared: by label where one was given, else by id."""
        kind = RelationType(self.relation_type)
        if self.target_label:
            return Relation(type=kind, target=self.target_label)
        return Relation(type=kind, target_id=self.target_id)

    def pointed_at(self, target_id: str) -> Edge:
        """The same relation with its label resolved to ``target_id`` ("" takes that back)."""
        return make_edge(self.source_id, self.relation_type, target_id, self.target_label, self.created_at)

    def as_row(self) -> Row:
        return {
            "edge_key": self.edge_key,
            "source_id": self.source_id,
            "relation_type": self.relation_type,
            "target_id": self.target_id,
            "target_label": self.target_label,
            "created_at": self.created_at,
        }


def make_edge(source_id: str, relation_type: str, target_id: str, label: str, at: datetime) -> Edge:
    parts = _SEPARATOR.join((source_id, relation_type, target_id, label))
    key = hashlib.sha256(parts.encode()).hexdigest()
    return Edge(key, source_id, relation_type, target_id, label, at)


def edge_of(row: Row) -> Edge:
    return Edge(
        row["edge_key"],
        row["source_id"],
        row["relation_type"],
        row["target_id"] or "",
        row["target_label"] or "",
        row["created_at"],
    )


def edges_of_form(memory_id: str, form: MemoryForm, at: datetime) -> list[Edge]:
    """The edges a memory's relations stand for, labels not resolved yet."""
    return [
        make_edge(memory_id, str(relation.type), relation.target_id, relation.target, at)
        for relation in form.relations
    ]


def label_keys(subject_key: str) -> frozenset[str]:
    """The folded labels that name a memory of this subject: in full, and by subject alone."""
    _, _, subject = subject_key.partition(":")
    return frozenset((subject_key, subject))


def label_key(label: str) -> str:
    """A relation label folded the way subject keys are, so that the two can be compared."""
    parts = unicodedata.normalize("NFKC", label).casefold().split(":", 1)
    return ":".join("_".join(part.split()) for part in parts)


@dataclass(frozen=True, slots=True)
class LabelChanges:
    """What resolving labels anew does to the edges table."""

    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]


def resolve_labels(edges: Iterable[Edge], subjects: Mapping[str, str]) -> LabelChanges:
    """Resolve those of ``edges`` whose label now matches exactly one memory.

    ``subjects`` maps the ids of all memories these labels may name to their subject keys. An edge
    that points somewhere stays: a memory keeps what points at it when its subject is renamed.
    """
    by_label: dict[str, list[str]] = {}
    for memory_id, subject_key in subjects.items():
        for key in label_keys(subject_key):
            by_label.setdefault(key, []).append(memory_id)
    removed, added = [], []
    for edge in edges:
        if edge.target_id or not edge.target_label:
            continue
        matches = [
            match for match in by_label.get(label_key(edge.target_label), ()) if match != edge.source_id
        ]
        if len(matches) == 1:
            removed.append(edge)
            added.append(edge.pointed_at(matches[0]))
    return LabelChanges(tuple(removed), tuple(added))


def by_memory(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Edges under the id of each memory they leave or reach."""
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        for memory_id in {edge.source_id, edge.target_id} - {""}:
            found.setdefault(memory_id, []).append(edge)
    return found
