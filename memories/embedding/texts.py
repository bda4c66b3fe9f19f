"""Texts made fit for a model: bounded, encodable, in batches of like length."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memories.embedding.base import Progress
from memories.embedding.failures import embedding_failed

if TYPE_CHECKING:
    from memories.embedding.base import Vectors

_UP_TO_LAST_BLANK = re.compile(r".*\S(?=\s)", re.DOTALL)


def embeddable(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, trimmed, without NUL and lone surrogates (no model takes those).

    What is beyond the limit has no part in the vector; keyword search still sees the whole text.
    """
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").strip()
    if not whole:
        raise embedding_failed("there is no text to embed")
    return cut_at_word(whole, limit)


def cut_at_word(text: str, limit: int) -> str:
    """`text` up to its last blank within `limit` characters; mid-word where that would lose half of it."""
    if len(text) <= limit:
        return text
    words = _UP_TO_LAST_BLANK.match(text[: limit + 1])
    return words[0] if words is not None and len(words[0]) >= limit // 2 else text[:limit]


def embed_in_batches(
    texts: Sequence[str],
    size: int,
    embed: Callable[[list[str]], Vectors],
    dimension: Callable[[], int],
    progress: Progress | None,
) -> Vectors:
    """`embed` over batches of `size` texts, shortest first so that little is padded; rows as `texts` are."""
    import numpy as np

    by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    batches = [by_length[start : start + size] for start in range(0, len(by_length), size)]
    parts = []
    done = 0
    for batch in batches:
        parts.append(embed([texts[index] for index in batch]))
        done += len(batch)
        if progress is not None:
            progress(done)
    if not parts:
        return np.empty((0, dimension()), dtype=np.float32)
    vectors = np.empty((len(texts), parts[0].shape[1]), dtype=np.float32)
    vectors[by_length] = np.concatenate(parts)
    return vectors
