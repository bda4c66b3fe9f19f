"""Check of the embedding model: does it answer, and is it the one the database was written with."""

from __future__ import annotations

from collections.abc import Iterator

from maintenance.doctor.findings import Finding, good, problem
from memories.contract import MemsuiteError
from memories.embedding import Embedder
from memories.settings import Settings


def examine_model(settings: Settings, embedder: Embedder) -> Iterator[Finding]:
    """Load or ask the model once; the check costs a second for the in-process one."""
    try:
        embedder.warm_up()
        identity = str(embedder.identity)
    except MemsuiteError as error:
        yield problem("embedder", f"The embedding model does not answer: {error.message}.", _remedy(settings))
        return
    yield good("embedder", f"The embedding model {identity} answers.", identity=identity)


def identity_match(embedder: Embedder, stored: str) -> Iterator[Finding]:
    """Whether the configured model made the vectors the database holds; `stored` is HEAD's identity."""
    try:
        configured = str(embedder.identity)
    except MemsuiteError:
        return  # said already by the check of the model itself
    if not stored or stored == configured:
        yield good("embedding_identity", "The database was written with this model.", identity=configured)
        return
    yield problem(
        "embedding_identity",
        f"The database holds vectors of {stored}, but {configured} is configured: writes and searches by "
        "meaning answer embedding_model_mismatch.",
        "Set embed_model back to the model the database was written with, or run: python manage.py reembed",
        stored=stored,
        configured=configured,
    )


def _remedy(settings: Settings) -> str:
    if not settings.embed_model or settings.embed_model.startswith("builtin:"):
        return "Reinstall the suite (make install), or set embed_model to one that is there."
    return (
        f"Start Ollama at {settings.ollama_host} and run 'ollama pull {settings.embed_model}', or leave "
        "embed_model empty for the model in the process."
    )
