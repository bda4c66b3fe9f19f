"""Which model made a vector: vectors of different identities must never be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memories.contract.errors import ErrorCode, MemsuiteError

_SHAPE = re.compile(r"(?P<provider>[^/\s]+)/(?P<model>\S+)@(?P<dimension>[1-9][0-9]*)#(?P<pipeline>[^#@\s]+)")


@dataclass(frozen=True, slots=True)
class EmbeddingIdentity:
    """Written `<provider>/<model>@<dimension>#<pipeline>`, as HEAD and every row hold it.

    The pipeline names everything but the weights that changes a vector: task prefix, pooling, truncation.
    A model's name may itself hold `/`, `@`, `#` or `:`; blanks are not allowed in any part.
    """

    provider: str
    model: str
    dimension: int
    pipeline: str

    def __post_init__(self) -> None:
        found = _SHAPE.fullmatch(str(self))
        if found is None or _parts(found) != (self.provider, self.model, self.dimension, self.pipeline):
            raise _not_an_identity(str(self))

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}@{self.dimension}#{self.pipeline}"

    @classmethod
    def parse(cls, text: str) -> EmbeddingIdentity:
        """The identity written as `text`; `invalid_parameter` when it is none."""
        found = _SHAPE.fullmatch(text)
        if found is None:
            raise _not_an_identity(text)
        return cls(*_parts(found))


def _parts(found: re.Match[str]) -> tuple[str, str, int, str]:
    return found["provider"], found["model"], int(found["dimension"]), found["pipeline"]


def _not_an_identity(received: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        "embedding_id",
        "this does not name an embedding model",
        received=received,
        expected="<provider>/<model>@<dimension>#<pipeline>",
    )
