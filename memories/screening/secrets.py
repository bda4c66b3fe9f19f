"""Secrets that a memory must not hold: found by their form, refused by place and kind, never repeated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate

from memories.contract import ErrorCode, MemoryForm, MemsuiteError
from memories.screening.secret_kinds import SECRET_KINDS


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Where a secret stands in the searched text. It holds no part of the secret, so it may be logged."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[SecretFinding, ...]:
    """Every secret of a known kind, in order of appearance; one that two kinds recognise is named once."""
    found = sorted(_candidates(text), key=lambda finding: (finding.start, -finding.end))
    kept: list[SecretFinding] = []
    for finding in found:
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return tuple(kept)


def refuse_secrets(form: MemoryForm, *, allowed: Collection[str] = ()) -> None:
    """Raises secret_detected for the first place that holds a secret of a kind not in `allowed`."""
    for place, finding in _found_in(form):
        if finding.kind not in allowed:
            raise MemsuiteError(
                ErrorCode.SECRET_DETECTED,
                place,
                f"This holds what looks like a secret ({finding.kind}). Write where it is kept instead.",
                expected="the name of the variable or vault entry that holds it",
            )


def _found_in(form: MemoryForm) -> Iterator[tuple[str, SecretFinding]]:
    for place, text in (("domain", form.domain), ("subject", form.subject)):
        yield from ((place, finding) for finding in find_secrets(text))
    # Facts are searched as one text: a key pasted line by line spreads over several of them.
    starts = list(accumulate((len(fact) + 1 for fact in form.facts), initial=0))
    for finding in find_secrets(" ".join(form.facts)):
        yield f"facts[{bisect_right(starts, finding.start) - 1}]", finding
    for place, text in _small_places(form):
        yield from ((place, finding) for finding in find_secrets(text))


def _small_places(form: MemoryForm) -> Iterator[tuple[str, str]]:
    for index, relation in enumerate(form.relations):
        yield f"relations[{index}].target_id", relation.target_id
        yield f"relations[{index}].target", relation.target
    for index, tag in enumerate(form.tags):
        yield f"tags[{index}]", tag
    yield "type", form.type


def _candidates(text: str) -> Iterator[SecretFinding]:
    for kind in SECRET_KINDS:
        for match in kind.pattern.finditer(text):
            if kind.is_real(match["value"]):
                yield SecretFinding(kind.name, match.start(), match.end())
