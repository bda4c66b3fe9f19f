"""Secrets that a memory must not hold: found by their form, refused by place and kind, never repeated."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from memories.contract import ErrorCode, MemoryForm, MemsuiteError
from memories.screening.doubtful import doubtful_spans
from memories.screening.secret_kinds import SECRET_KINDS


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Where a secret stands in the searched text. It holds no part of the secret, so it may be logged.

    `certain` findings are refused; the others are shown to a person.
    """

    kind: str
    start: int
    end: int
    certain: bool = True


def find_secrets(text: str, *, allowed: Collection[str] = ()) -> tuple[SecretFinding, ...]:
    """Every secret of a certain kind, in order of appearance; one that two kinds recognise is named once.

    `allowed` are the operator's regular expressions; what one of them matches as a whole is no finding.
    """
    return _apart(finding for finding in _certain(text) if not _is_allowed(text, finding, allowed))


def suspect_secrets(text: str, *, allowed: Collection[str] = ()) -> tuple[SecretFinding, ...]:
    """The certain secrets and the doubtful ones: values that the name beside them makes suspicious."""
    found = (*_certain(text), *_doubtful(text))
    return _apart(finding for finding in found if not _is_allowed(text, finding, allowed))


def mask_secrets(text: str, *, allowed: Collection[str] = ()) -> tuple[str, int]:
    """`text` with every secret, certain or doubtful, replaced by its kind; and how many there were."""
    found = suspect_secrets(text, allowed=allowed)
    for finding in reversed(found):
        text = f"{text[: finding.start]}[{finding.kind} removed]{text[finding.end :]}"
    return text, len(found)


def refuse_secrets(form: MemoryForm, *, allowed: Collection[str] = ()) -> None:
    """Raises secret_detected for the first place that holds a certain secret that is not `allowed`."""
    for place, finding in _found_in(form, allowed):
        raise MemsuiteError(
            ErrorCode.SECRET_DETECTED,
            place,
            f"This holds what looks like a secret ({finding.kind}). Write where it is kept instead.",
            expected="the name of the variable or vault entry that holds it",
        )


def _found_in(form: MemoryForm, allowed: Collection[str]) -> Iterator[tuple[str, SecretFinding]]:
    for place, text in (("domain", form.domain), ("subject", form.subject)):
        yield from ((place, finding) for finding in find_secrets(text, allowed=allowed))
    # Facts are searched as one text: a key pasted line by line spreads over several of them.
    starts = list(accumulate((len(fact) + 1 for fact in form.facts), initial=0))
    for finding in find_secrets(" ".join(form.facts), allowed=allowed):
        yield f"facts[{bisect_right(starts, finding.start) - 1}]", finding
    for place, text in _small_places(form):
        yield from ((place, finding) for finding in find_secrets(text, allowed=allowed))


def _small_places(form: MemoryForm) -> Iterator[tuple[str, str]]:
    for index, relation in enumerate(form.relations):
        yield f"relations[{index}].target_id", relation.target_id
        yield f"relations[{index}].target", relation.target
    for index, tag in enumerate(form.tags):
        yield f"tags[{index}]", tag
    yield "type", form.type


def _certain(text: str) -> Iterator[SecretFinding]:
    for kind in SECRET_KINDS:
        for match in kind.pattern.finditer(text):
            if kind.is_real(match["value"]):
                yield SecretFinding(kind.name, match.start(), match.end())


def _doubtful(text: str) -> Iterator[SecretFinding]:
    return (SecretFinding(kind, start, end, certain=False) for kind, start, end in doubtful_spans(text))


def _apart(findings: Iterable[SecretFinding]) -> tuple[SecretFinding, ...]:
    """Findings in order, of those that overlap the certain one, else the first and longest."""
    ordered = sorted(findings, key=lambda finding: (not finding.certain, finding.start, -finding.end))
    kept: list[SecretFinding] = []
    for finding in ordered:
        if all(finding.end <= other.start or finding.start >= other.end for other in kept):
            kept.append(finding)
    return tuple(sorted(kept, key=lambda finding: finding.start))


def _is_allowed(text: str, finding: SecretFinding, allowed: Collection[str]) -> bool:
    value = text[finding.start : finding.end]
    return any(_compiled(pattern).fullmatch(value) for pattern in allowed)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
