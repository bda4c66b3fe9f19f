"""What the audit page is narrowed to, read from its query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta

from memories.contract import ErrorCode, MemsuiteError

OPEN = "open"
RESULTS = {
    "done": "done",
    "nothing": "nothing to do",
    "failed": "failed",
    "not_done": "not done",
    OPEN: "under way",
}
"""What an operation can have come to, in the words of the page."""

LONGEST = 200
"""Characters of one value: no id, actor or action is longer."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """All that is given must hold. Days are UTC and both ends count."""

    who: str = ""
    action: str = ""
    result: str = ""
    memory: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> AuditFilter:
        """The filter of a query; other names in it are passed over. Raises ``invalid_parameter``."""
        given = {field.name: query.get(field.name, "").strip() for field in fields(cls)}
        for name, value in given.items():
            if len(value) > LONGEST or "\0" in value:
                raise _refused(name, value, f"at most {LONGEST} characters")
        if given["result"] not in ("", *RESULTS):
            raise _refused("result", given["result"], list(RESULTS))
        since, until = (_day(name, given.pop(name)) for name in ("since", "until"))
        return cls(since=since, until=until, **given)

    @property
    def from_moment(self) -> datetime | None:
        return None if self.since is None else datetime.combine(self.since, time(), UTC)

    @property
    def before_moment(self) -> datetime | None:
        """The first moment after the last day; None too for the last day there is."""
        if self.until is None or self.until == date.max:
            return None
        return datetime.combine(self.until + timedelta(days=1), time(), UTC)

    def pairs(self) -> list[tuple[str, str]]:
        """What is given, as it stands in a query."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [(name, str(value)) for name, value in values if value]


def _day(name: str, text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _refused(name, text, "a day such as 2026-03-14") from None


def _refused(name: str, text: str, expected: object) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        name,
        f"The filter “{name}” cannot be read.",
        received=text,
        expected=expected,
    )
