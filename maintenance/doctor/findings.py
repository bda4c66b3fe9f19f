"""What an examination finds: one finding a check, with the way to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """`NOTE` is worth knowing and breaks nothing; only `PROBLEM` makes the doctor's exit code 1."""

    GOOD = "good"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's outcome. `check` is a stable name, `mend` what to do, empty where nothing is to be done."""

    check: str
    state: State
    message: str
    mend: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "state": str(self.state),
            "message": self.message,
            "mend": self.mend,
            "details": dict(self.details),
        }


def good(check: str, message: str, **details: Any) -> Finding:
    return Finding(check, State.GOOD, message, "", details)


def note(check: str, message: str, mend: str = "", **details: Any) -> Finding:
    return Finding(check, State.NOTE, message, mend, details)


def problem(check: str, message: str, mend: str, **details: Any) -> Finding:
    return Finding(check, State.PROBLEM, message, mend, details)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of one examination, in the order a person would look."""

    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.state is State.PROBLEM)

    def of(self, check: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.check == check)

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": not self.problems,
            "problems": len(self.problems),
            "findings": [finding.as_dict() for finding in self.findings],
        }
