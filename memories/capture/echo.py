"""The echo guard: what recall gave an agent must not come back as something that was said.

Without it a memory would be captured again each time it is quoted, and its turns would trust one another.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping

LEAST_ECHO = 20
"""Characters of a sentence below which it is nobody's in particular: "You are welcome." is no echo."""

MOST_HEARD = 32_000
"""Characters of recalled text remembered, the newest: about what two long tool answers hold."""

# What the host and this suite put around recalled text.
_FENCED = re.compile(
    r"<(memory-context|recalled-memories)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_PIECE = re.compile(r"[^\n.!?…]+(?:[.!?…]+(?=\s|$)|[.!?…](?=\S)[^\n.!?…]*)*[.!?…]*\n?|[.!?…\n]+")
_LEADING = re.compile(r"^(?:[\s>*#•\-–—\d.)]+|\[[^\]\s]{8,80}\])+\s*")
_NOT_WORDS = re.compile(r"[\W_]+")


class EchoGuard:
    """What one session was given by recall. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: deque[str] = deque()
        self._size = 0

    def heard(self, text: str) -> None:
        """Recall has put ``text`` before the model."""
        plain = _plain(text)
        if len(plain) < LEAST_ECHO:
            return
        with self._lock:
            self._heard.append(plain[-MOST_HEARD:])
            self._size += len(self._heard[-1])
            while self._size > MOST_HEARD and len(self._heard) > 1:
                self._size -= len(self._heard.popleft())

    def heard_recall(self, text: str) -> None:
        """The same for a text of several lines, each a memory of its own."""
        for line in text.splitlines():
            self.heard(_LEADING.sub("", line))

    def heard_answer(self, answer: object) -> None:
        """A tool has returned ``answer``: every text in it counts."""
        for text in _texts(answer):
            self.heard(text)

    def forget(self) -> None:
        with self._lock:
            self._heard.clear()
            self._size = 0

    def without_echo(self, text: str) -> str:
        """``text`` without fenced recall and without the sentences that recall had given."""
        text = _FENCED.sub("", text)
        with self._lock:
            known = "\n".join(f" {text} " for text in self._heard)
        if not known:
            return text.strip()
        return "".join(piece for piece in _pieces(text) if not _is_echo(piece, known)).strip()


def _is_echo(piece: str, known: str) -> bool:
    plain = _plain(_LEADING.sub("", piece))
    return len(plain) >= LEAST_ECHO and f" {plain} " in known


def _pieces(text: str) -> Iterator[str]:
    """The sentences and lines of a text; put together they are the text again."""
    at = 0
    for match in _PIECE.finditer(text):
        if match.start() > at:
            yield text[at : match.start()]
        yield match.group()
        at = match.end()
    if at < len(text):
        yield text[at:]


def _plain(text: str) -> str:
    """Words alone, so that a quotation is known whatever it is dressed in."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry)
