"""What is to be known about a model behind Ollama before it is sent a text."""

from __future__ import annotations

from dataclasses import dataclass

_CHARS_PER_TOKEN = 3
"""On the safe side for prose (about 4 in English). Denser text is cut further when the server refuses it."""


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model's task prefixes, its context in tokens, and the pipeline name that stands for both."""

    name: str
    pipeline: str = "plain-v1"
    query_prefix: str = ""
    document_prefix: str = ""
    context_tokens: int = 2048

    @property
    def max_chars(self) -> int:
        """The bound on a text, prefix not counted."""
        return self.context_tokens * _CHARS_PER_TOKEN


_KNOWN = (
    OllamaModel("nomic-embed-text", "nomic-prefix-v1", "search_query: ", "search_document: "),
    OllamaModel("mxbai-embed-large", context_tokens=512),
    OllamaModel("all-minilm", context_tokens=256),
)


def ollama_model(name: str) -> OllamaModel:
    """The model called `name`; one we know nothing about gets no prefix and 2,048 tokens.

    `name` and `name:latest` are the same model; another tag of a known model shares its prefixes.
    """
    bare = name.strip().removesuffix(":latest")
    family = bare.rpartition("/")[2].partition(":")[0]
    for known in _KNOWN:
        if known.name == family:
            return OllamaModel(
                bare, known.pipeline, known.query_prefix, known.document_prefix, known.context_tokens
            )
    return OllamaModel(bare)
