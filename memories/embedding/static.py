"""A table of word-piece vectors, averaged: for tests that need many vectors fast and little meaning.

The table is wordllama's. Its own loader looks for the tokenizer in a folder the package does not have and
then asks the network, so the two files are read here directly.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memories.embedding.failures import embedding_failed
from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.local import LocalEmbedder, LocalModel

if TYPE_CHECKING:
    from memories.embedding.base import Vectors


def static_embedder() -> LocalEmbedder:
    """`builtin:static`; needs the development dependency wordllama."""
    return LocalEmbedder(
        LocalModel(
            identity=EmbeddingIdentity("static", "wordllama-l2-supercat", 256, "mean-l2-v1"),
            load=StaticEncoder,
            max_chars=16_384,
            batch_size=256,
        )
    )


class StaticEncoder:
    """The mean of the rows that the tokens of a text select."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise embedding_failed("builtin:static needs the development package wordllama")
        import numpy as np
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(package.submodule_search_locations[0])
        tables = load_file(folder / "weights" / "l2_supercat_256.safetensors")
        self._table = tables["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        import numpy as np

        tokens = [self._tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        rows: Vectors = np.stack([self._table[of_text].mean(axis=0) for of_text in tokens])
        return rows
