"""What every embedder offers, and how it says how it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memories.embedding.identity import EmbeddingIdentity

    Vectors: TypeAlias = NDArray[np.float32]

Progress: TypeAlias = Callable[[int], None]
"""Told after each batch how many texts are done so far, counted from the start of the call."""


class Readiness(StrEnum):
    """`cold`: not asked yet. `failing`: the last call failed. `open_circuit`: not asking for a while."""

    READY = "ready"
    COLD = "cold"
    FAILING = "failing"
    OPEN_CIRCUIT = "open_circuit"


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """A snapshot that costs nothing to take: no request, no model load."""

    readiness: Readiness
    message: str = ""


class Embedder(Protocol):
    """Safe to share between threads. Every failure is a MemsuiteError with the code `embedding_failed`.

    Vectors are float32 and of length one; each was checked for its dimension and for finite numbers first.
    """

    @property
    def identity(self) -> EmbeddingIdentity:
        """Which model and pipeline the vectors come from. Asks an Ollama host once, then remembers."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        ...

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Shape (len(texts), dimension), in the order of the texts."""
        ...

    def warm_up(self) -> None:
        """Do now what the first call would otherwise wait for."""
        ...

    def close(self) -> None:
        """Give back memory, threads and connections. A later call opens them again."""
        ...

    def state(self) -> EmbedderState: ...
