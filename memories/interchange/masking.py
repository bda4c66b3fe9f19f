"""Secrets in what is imported: masked in what was said, and in rows that are set aside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.contract import ErrorCode, MemsuiteError
from memories.screening import find_secrets

ROW_TEXT_MAX = 20_000
"""Characters kept of one value of a row that is set aside: enough to put any memory right by hand."""


def masked(text: str) -> str:
    """The text with each secret replaced by the name of its kind."""
    for finding in reversed(find_secrets(text)):
        text = f"{text[: finding.start]}[{finding.kind}]{text[finding.end :]}"
    return text


def kept_row(value: Any) -> Any:
    """A row as it may be kept: secrets masked in every text, and texts of a length."""
    if isinstance(value, str):
        return masked(value[:ROW_TEXT_MAX])
    if isinstance(value, Mapping):
        return {str(name): kept_row(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [kept_row(inner) for inner in value]
    return value


def refuse_secrets_in(row: Mapping[str, Any]) -> None:
    """Raises ``secret_detected`` for a row that is taken as it is."""
    for name, value in row.items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and find_secrets(text) for text in texts):
            raise MemsuiteError(
                ErrorCode.SECRET_DETECTED,
                name,
                "This holds what looks like a secret.",
                expected="the name of the variable or vault entry that holds it",
            )
