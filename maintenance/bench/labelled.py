"""Sentences of which a person has said whether they correct an assistant, and how well the rules agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

NONE = "none"
HELD_OUT = "held_out"
LANGUAGES = ("en", "nb")


@dataclass(frozen=True, slots=True)
class Labelled:
    """``kind`` is what sort of correction the sentence is, ``none`` for a look-alike; ``part`` says
    whether the rules were made with it before the eyes (``tuning``) or not (``held_out``)."""

    part: str
    kind: str
    sentence: str

    @property
    def corrects(self) -> bool:
        return self.kind != NONE


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many corrections were found, missed, and seen where there was none."""

    found: int
    missed: int
    false: int

    @property
    def precision(self) -> float:
        """Share of what was found that is a correction; 1 where nothing was found."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0

    @property
    def recall(self) -> float:
        """Share of the corrections that were found; 1 where there is none."""
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0


@cache
def labelled(language: str) -> tuple[Labelled, ...]:
    """The sentences of one language, in the order of the file."""
    file = resources.files("maintenance.bench").joinpath("data", "corrections", f"{language}.tsv")
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(Labelled(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def agreement(sentences: Sequence[Labelled]) -> Agreement:
    """How the rules and the labels agree."""
    from memories.capture.corrections import is_correction

    heard = [(one.corrects, is_correction(one.sentence)) for one in sentences]
    return Agreement(
        found=heard.count((True, True)), missed=heard.count((True, False)), false=heard.count((False, True))
    )
