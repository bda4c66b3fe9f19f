"""The one error this room lets out."""

from __future__ import annotations

from memories.contract.errors import ErrorCode, MemsuiteError


def embedding_failed(message: str, *, received: object = None, expected: object = None) -> MemsuiteError:
    """The retryable `embedding_failed`. The message must never quote the text that was to be embedded."""
    return MemsuiteError(
        ErrorCode.EMBEDDING_FAILED, "embedding", message, received=received, expected=expected
    )
