"""What was fitted, and where it came from: one data file for each embedding identity.

Fitted and written by ``maintenance.bench.calibrate`` on calibration questions only. ``words.json`` is the
gate without vectors: for mode lexical, and for an embedding model that nobody has calibrated, whose cosines
may mean anything.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata, resources
from typing import Any

import numpy as np

from memories.repository.vectors import Vector
from memories.retrieval.evidence import Gate

WORDS_ONLY = "words"
"""The name of the calibration that needs no embedding model."""


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


@cache
def words_only() -> Calibration:
    """The calibration without vectors."""
    found = read(_stored(WORDS_ONLY))
    if found is None:
        raise LookupError(f"the data file {file_name(WORDS_ONLY)} is missing from the installation")
    return found


@cache
def calibration_for(identity: str) -> Calibration:
    """The calibration of an embedding identity; where there is none, words decide alone and the answer
    says ``uncalibrated``."""
    text = _stored(identity)
    found = None if text is None else read(text)
    if found is not None and found.identity == identity:
        return found
    return replace(words_only(), identity=identity, calibrated=False)


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


def _stored(identity: str) -> str | None:
    path = resources.files("memories.retrieval").joinpath("data", file_name(identity))
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _vector(encoded: str | None) -> Vector | None:
    return None if encoded is None else np.frombuffer(base64.b64decode(encoded), dtype="<f4")
