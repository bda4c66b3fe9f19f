"""The verdict of the evidence gate in words: what spoke for a candidate, what was missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memories.retrieval.evidence import AGAINST, FEATURES

LABELS: Mapping[str, str] = {
    "coverage": "words of the query it holds",
    "topic": "the same beside the names",
    "centred": "near in meaning",
    "both": "words and meaning together",
    "topic_both": "the same beside the names",
    "exact": "exact parts it holds",
    "subject": "its subject asked for",
    "named": "its whole subject named",
    "distinctive": "a distinctive word",
    "mass": "how telling the words are",
    "topic_mass": "the same beside the names",
    "whole": "every word found",
    "bare": "nothing asked for but names it holds",
    "hit": "the right thing and the right name",
    "aimed": "what is asked for most",
    "meant": "words with a meaning it holds",
    "about": "names or exact parts it lacks",
    "unnamed": "things asked for that it lacks",
    "lacking": "nothing of the kind asked for",
}
"""Each feature of the gate as a reader of its table needs it."""

_SPEAKS: Mapping[str, Callable[[float], str]] = {
    "coverage": lambda value: f"holds {value:.0%} of the words",
    "topic": lambda value: f"holds {value:.0%} of the words",
    "centred": lambda value: "near in meaning",
    "both": lambda value: "words and meaning agree",
    "topic_both": lambda value: "words and meaning agree",
    "exact": lambda value: "holds the exact part" if value >= 1 else f"holds {value:.0%} of the exact parts",
    "subject": lambda value: "its subject is asked for",
    "named": lambda value: "its whole subject is named",
    "distinctive": lambda value: "holds a distinctive word",
    "mass": lambda value: "the words found are telling",
    "topic_mass": lambda value: "the words found are telling",
    "whole": lambda value: "holds every word",
    "bare": lambda value: "holds every name of the query",
    "hit": lambda value: "the right thing and the right name",
    "aimed": lambda value: "holds what is asked for most",
    "meant": lambda value: f"holds {value:.0%} of what is meant",
}

_LACKS: dict[str, Callable[[float], str]] = {
    "coverage": lambda value: f"holds {value:.0%} of the words",
    "topic": lambda value: f"holds {value:.0%} of the words beside the names",
    "centred": lambda value: "not near enough in meaning",
    "both": lambda value: "words and meaning disagree",
    "topic_both": lambda value: "words and meaning disagree",
    "distinctive": lambda value: "lacks the distinctive word",
}
"""What a memory may be short of. The other features are rewards, which nothing need earn."""

_COSTS: dict[str, Callable[[float], str]] = {
    "about": lambda value: f"lacks {value:.0%} of the names and exact parts",
    "unnamed": lambda value: "lacks what is asked for",
    "lacking": lambda value: "holds nothing of the kind asked for",
}

TOLD = 2
"""Reasons in a sentence: the two that weigh most."""


@dataclass(frozen=True, slots=True)
class Part:
    """One feature of the evidence: its value, its weight, and what the two add to the logit of the gate."""

    name: str
    label: str
    value: float
    weight: float

    @property
    def adds(self) -> float:
        return -self.weight * self.value if self.name in AGAINST else self.weight * self.value


def parts_of(row: Mapping[str, Any], weights: Mapping[str, float]) -> tuple[Part, ...]:
    """The features that a calibration weighs, those that moved the verdict most first."""
    weighed = (name for name in FEATURES if weights.get(name, 0.0))
    parts = (Part(name, LABELS.get(name, name), row[name], weights[name]) for name in weighed)
    return tuple(sorted(parts, key=lambda part: -abs(part.adds)))


def why_passed(row: Mapping[str, Any], weights: Mapping[str, float]) -> str:
    """What spoke for it most."""
    gains = {name: weights.get(name, 0.0) * row[name] for name in _SPEAKS}
    return _told(_SPEAKS, row, gains) or "enough evidence"


def why_dropped(row: Mapping[str, Any], weights: Mapping[str, float]) -> str:
    """What it lost most by, against a memory that has everything."""
    losses = {name: weights.get(name, 0.0) * row[name] for name in _COSTS}
    losses |= {name: weights.get(name, 0.0) * (1 - max(row[name], 0.0)) for name in _LACKS}
    return _told(_COSTS | _LACKS, row, losses) or "not enough evidence"


_Words = Mapping[str, Callable[[float], str]]


def _told(words: _Words, row: Mapping[str, Any], weighed: Mapping[str, float]) -> str:
    """The heaviest reasons in words, each said once."""
    heaviest = sorted((name for name, much in weighed.items() if much > 0), key=lambda name: -weighed[name])
    said = dict.fromkeys(words[name](row[name]) for name in heaviest)
    return ", ".join(list(said)[:TOLD])
