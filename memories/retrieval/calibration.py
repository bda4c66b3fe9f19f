"""What was fitted, and where it came from: one data file for each embedding identity.

Fitted and written by ``maintenance.bench.calibrate`` on calibration questions only. ``words.json`` is the
gate without vectors: for mode lexical, and for an embedding model that nobody has calibrated, whose cosines
may mean anything. A person may fit one to their own questions (``bench calibrate --questions``): such a file
in their folder goes before the one that is shipped.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from memories.repository.vectors import Vector
from memories.retrieval.evidence import Gate

WORDS_ONLY = "words"
"""The name of the calibration that needs no embedding model."""

OWN_FOLDER = "calibration"
"""In the suite's directory: a person's own data files."""

SHIPPED, OWN = "shipped", "own"
"""Where a calibration's file lies."""


@dataclass(frozen=True, slots=True)
class OrderWeights:
    """How a score is made: weights of the BM25 share, the cosine, and each kind of evidence."""

    lexical: float
    vector: float
    topic: float
    exact: float
    subject: float
    named: float
    about: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """``identity`` is that of the embedding model, or WORDS_ONLY. ``average_length`` is in indexed words.
    ``centre`` is the mean vector of general text, shape (dimension,), None where no vector counts."""

    identity: str
    date: str
    command: str
    corpus: str
    engine: str
    average_length: float
    order: OrderWeights
    gate: Gate
    centre: Vector | None = None
    calibrated: bool = True
    origin: str = SHIPPED

    def centred(self, query: Vector, rows: Vector) -> Vector:
        """Centred cosines of a query, shape (dimension,), and rows, shape (n, dimension)."""
        if self.centre is None:
            return np.zeros(len(rows), dtype=np.float32)
        return centred_cosines(query, rows, self.centre)

    def as_answer(self) -> dict[str, Any]:
        """Where the numbers come from, for diagnostics."""
        return {
            "embedding": self.identity,
            "date": self.date,
            "command": self.command,
            "corpus": self.corpus,
            "engine": self.engine,
            "origin": self.origin,
            "file": file_name(self.identity if self.calibrated else WORDS_ONLY),
        }


def centred_cosines(query: Vector, rows: Vector, centre: Vector) -> Vector:
    """Cosines after subtracting ``centre``, the mean vector of general text."""
    from_centre, rows_from_centre = query - centre, rows - centre
    lengths = np.linalg.norm(rows_from_centre, axis=1) * np.linalg.norm(from_centre)
    cosines: Vector = (rows_from_centre @ from_centre) / np.maximum(lengths, np.float32(1e-12))
    return cosines


def running_engine() -> str:
    """The search engine of this process with its version."""
    return f"lancedb {metadata.version('lancedb')}"


def words_only(own: Path | None = None) -> Calibration:
    """The calibration without vectors. ``own`` as in ``calibration_for``."""
    found = _own(WORDS_ONLY, own) or _shipped(WORDS_ONLY)
    if found is None:
        raise LookupError(f"the data file {file_name(WORDS_ONLY)} is missing from the installation")
    return found


def calibration_for(identity: str, own: Path | None = None) -> Calibration:
    """The calibration of an embedding identity; where there is none, words decide alone and the answer
    says ``uncalibrated``.

    ``own`` is the folder of a person's own files (``<suite_dir>/calibration``). One in there for this
    identity goes before the shipped one; one that cannot be read is as good as none.
    """
    found = _own(identity, own) or _shipped(identity)
    return found or replace(words_only(own), identity=identity, calibrated=False)


def file_name(identity: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", identity) + ".json"


def read(text: str | None) -> Calibration | None:
    """The calibration that a data file's ``text`` holds."""
    if text is None:
        return None
    values = json.loads(text)
    return Calibration(
        identity=values["identity"],
        date=values["date"],
        command=values["command"],
        corpus=values["corpus"],
        engine=values["engine"],
        average_length=values["average_length"],
        order=OrderWeights(**values["order"]),
        gate=Gate(**values["gate"]),
        centre=_vector(values.get("centre")),
    )


def write(calibration: Calibration, notes: Mapping[str, Any]) -> str:
    """The data file's text; ``notes`` say more about the fit and are for people."""
    order, gate = calibration.order, calibration.gate
    values = {
        "identity": calibration.identity,
        "date": calibration.date,
        "command": calibration.command,
        "corpus": calibration.corpus,
        "engine": calibration.engine,
        "notes": dict(notes),
        "average_length": calibration.average_length,
        "order": {name: getattr(order, name) for name in OrderWeights.__slots__},
        "gate": {"bias": gate.bias, "weights": dict(gate.weights), "threshold": gate.threshold},
    }
    if calibration.centre is not None:
        values["centre"] = base64.b64encode(calibration.centre.astype("<f4").tobytes()).decode()
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


@cache
def _shipped(identity: str) -> Calibration | None:
    path = resources.files("memories.retrieval").joinpath("data", file_name(identity))
    found = read(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found if found is not None and found.identity == identity else None


def _own(identity: str, folder: Path | None) -> Calibration | None:
    """The person's own file, read anew when it has changed; asking costs one look at the disk."""
    if folder is None:
        return None
    path = folder / file_name(identity)
    try:
        seen = path.stat()
    except OSError:
        return None
    found = _read_own(path, seen.st_mtime_ns, seen.st_size)
    return found if found is not None and found.identity == identity else None


@lru_cache(maxsize=8)
def _read_own(path: Path, changed_ns: int, size: int) -> Calibration | None:
    try:
        found = read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if found is None else replace(found, origin=OWN)


def _vector(encoded: str | None) -> Vector | None:
    return None if encoded is None else np.frombuffer(base64.b64decode(encoded), dtype="<f4")
