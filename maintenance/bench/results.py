"""The one shape of every benchmark's result, as JSON and as lines for a terminal."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memories.repository import Snapshot

RESULT_VERSION = 1
"""Raised when a field of the document changes its meaning."""

ENGINES = ("hermes-memory-suite", "lancedb", "pyarrow", "numpy", "onnxruntime")
"""Packages whose versions decide what was measured."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """What a measured database was like at the end: version and rows of each table."""

    name: str
    embedding: str
    generation: int
    tables: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, name: str, snapshot: Snapshot) -> DatabaseState:
        versions = snapshot.head.tables
        tables = {
            table: {"version": version, "rows": snapshot.row_count(table)}
            for table, version in sorted(versions.items())
        }
        return cls(name, snapshot.embedding_id, snapshot.generation, tables)


@dataclass(frozen=True, slots=True)
class Result:
    """What a benchmark found.

    ``figures`` are single values by name, ``rows`` the lines of its table, ``metrics`` says what
    each figure and column means, and ``failures`` what fell short: none means that it passed.
    """

    command: str
    metrics: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    failures: Sequence[str] = ()
    databases: Sequence[DatabaseState] = ()
    corpus_hash: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures

    def as_document(self, at: datetime | None = None) -> dict[str, Any]:
        """The JSON document; ``at`` dates it, the present moment by default."""
        return {
            "result_version": RESULT_VERSION,
            "command": self.command,
            "date": (at or datetime.now(UTC)).isoformat(timespec="seconds"),
            "passed": self.passed,
            "failures": list(self.failures),
            "machine": machine(),
            "versions": versions(),
            "databases": [
                {
                    "name": state.name,
                    "embedding": state.embedding,
                    "generation": state.generation,
                    "tables": {name: dict(table) for name, table in state.tables.items()},
                }
                for state in self.databases
            ],
            "corpus_hash": self.corpus_hash,
            "metrics": dict(self.metrics),
            "figures": dict(self.figures),
            "rows": [dict(row) for row in self.rows],
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_document(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What the run had to work with. ``cpus`` are those this process may use, ``load`` the average
    number of processes that wanted one during the last minute: above ``cpus``, times mean little."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cpus": cpus,
        "load": None if load is None else round(load, 2),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of the packages that are installed among ``ENGINES``."""
    found = {}
    for name in ENGINES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
