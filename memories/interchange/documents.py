"""Reading one large JSON object piece by piece: the elements of its arrays, never the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.safe_json import LINE_MAX, require_shallow
from memories.interchange.sources import opened

CHUNK = 256 * 1024
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"


def elements(path: Path) -> Iterator[tuple[str, int, Any]]:
    """The elements of every array of the top-level object, with the array's name and their number from
    1. Other members are passed over. Raises ``invalid_type`` and ``payload_too_large``."""
    with opened(path) as file:
        yield from _Scan(file).elements()


class _Scan:
    """A window over the document; ``_at`` is the place in it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._rest = b""
        self._ended = False

    def elements(self) -> Iterator[tuple[str, int, Any]]:
        self._expect("{")
        while self._peek() != "}":
            name = self._value()
            self._expect(":")
            if self._peek() == "[":
                yield from self._array(str(name))
            else:
                self._value()
            if self._peek() == ",":
                self._at += 1
            elif self._peek() != "}":
                self._refuse()

    def _array(self, name: str) -> Iterator[tuple[str, int, Any]]:
        self._expect("[")
        number = 0
        while self._peek() != "]":
            number += 1
            value = self._value()
            require_shallow(value, f"{name}[{number - 1}]")
            yield name, number, value
            if self._peek() == ",":
                self._at += 1
            elif self._peek() != "]":
                self._refuse()
        self._at += 1

    def _value(self) -> Any:
        """The value here. A number or a word at the very end of the window may go on behind it."""
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                self._refuse()
            except ValueError:
                if not self._more():
                    self._refuse()
                continue
            if end == len(self._text) and not self._ended and self._more():
                continue
            self._at = end
            return value

    def _peek(self) -> str:
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                self._refuse()

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            self._refuse()
        self._at += 1

    def _more(self) -> bool:
        """Widen the window; False at the end of the document."""
        if self._ended:
            return False
        if len(self._text) - self._at > LINE_MAX:
            raise MemsuiteError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                "source",
                "One value is larger than any row can be.",
                expected=LINE_MAX,
            )
        # The window grows with what it cannot take apart yet, or a long value would be read in squares.
        piece = self._file.read(max(CHUNK, len(self._text) - self._at))
        self._ended = not piece
        text = self._decoded(piece)
        self._text, self._at = self._text[self._at :] + text, 0
        return bool(text) or not self._ended

    def _decoded(self, piece: bytes) -> str:
        """Whole characters; the bytes of one cut in two wait for the next piece."""
        data = self._rest + piece
        try:
            text, self._rest = data.decode("utf-8"), b""
        except UnicodeDecodeError as error:
            if self._ended or len(data) - error.start > 3:
                self._refuse()
            text, self._rest = data[: error.start].decode("utf-8"), data[error.start :]
        return text.removeprefix("\ufeff")

    def _refuse(self) -> NoReturn:
        raise MemsuiteError(
            ErrorCode.INVALID_TYPE,
            "source",
            "The file is no JSON object, or it is cut short.",
            expected="a JSON object",
        )
