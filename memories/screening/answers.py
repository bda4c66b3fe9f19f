"""An error on its way out: what it repeats of the caller's values is screened first.

Validation comes before screening, so the value that a refusal repeats may be a secret pasted into the wrong
field. Every door answers errors through `safe_answer`, never with `as_answer` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from memories.contract import MemsuiteError
from memories.screening.secrets import SecretFinding, mask_secrets, suspect_secrets

# Answers repeat 200 characters; a secret that begins within them is recognised by what follows.
_READ = 4_096
_ITEMS = 1_000
_DEPTH = 4
_REMOVED = "[removed: it holds a secret]"


def safe_answer(error: MemsuiteError) -> dict[str, object]:
    """The one error shape of every door, without secrets in `received`, `expected`, or
    the names of fields that `field` and `message` may repeat."""
    screened = MemsuiteError(
        error.code,
        _masked(error.field),
        mask_secrets(error.message)[0],
        received=_screened(error.received, _DEPTH),
        expected=_screened(error.expected, _DEPTH),
    )
    return screened.as_answer()


def _screened(value: object, depth: int) -> object:
    """The same value with the texts in it masked; a list that is a secret only as a whole goes whole."""
    if isinstance(value, str):
        return _masked(value)
    if not depth or not isinstance(value, (Mapping, list, tuple)):
        return value
    if isinstance(value, Mapping):
        entries = islice(value.items(), _ITEMS)
        return {_screened(key, 0): _screened_entry(key, item, depth) for key, item in entries}
    if _spread(value):
        return _REMOVED
    return [_screened(item, depth - 1) for item in value[:_ITEMS]]


def _screened_entry(key: object, item: object, depth: int) -> object:
    """`{"password": "…"}` is suspicious for its name, as `password=…` is."""
    if isinstance(key, str) and isinstance(item, str) and suspect_secrets(f"{key[:80]}={item[:_READ]}"):
        return _REMOVED
    return _screened(item, depth - 1)


def _spread(values: Sequence[object]) -> bool:
    """Whether a secret reaches over several texts: a key pasted line by line is none in any one line."""
    texts = [value[:_READ] for value in islice(values, _ITEMS) if isinstance(value, str)]
    joined = " ".join(texts)
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    return any(_crosses(finding, starts) for finding in suspect_secrets(joined[: 8 * _READ]))


def _crosses(finding: SecretFinding, starts: Sequence[int]) -> bool:
    return any(finding.start < start < finding.end for start in starts)


def _masked(text: str) -> str:
    return mask_secrets(text[:_READ])[0]
