"""Text on a terminal: width, wrapping, a little colour, and a progress line that rewrites itself."""

from __future__ import annotations

import os
import shutil
import textwrap
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

# Long lines are hard to read, whatever the window: 100 columns is where reading slows down noticeably.
WIDEST = 100
NARROWEST = 40

_STYLES = {"strong": "1", "faint": "2", "good": "32", "warn": "33", "bad": "31", "accent": "36"}


class Stream(Protocol):
    """The part of a text stream that is written to here."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...
    def isatty(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Screen:
    """How wide a line may be, in columns, and whether colour may be used."""

    width: int = 80
    colour: bool = False

    @classmethod
    def of(cls, stream: Stream, environ: Mapping[str, str] | None = None) -> Screen:
        """The screen behind a stream; anything that is not a terminal is 80 columns without colour."""
        environ = os.environ if environ is None else environ
        if not stream.isatty():
            return cls()
        columns = shutil.get_terminal_size((80, 24)).columns
        # NO_COLOR is a convention many programs follow: set and not empty turns colour off.
        colour = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
        return cls(width=max(NARROWEST, min(columns, WIDEST)), colour=colour)

    def style(self, text: str, name: str) -> str:
        """The text in one of the six styles, or bare where colour is off."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.colour and text else text

    def wrap(self, text: str, indent: str = "", hanging: str | None = None) -> list[str]:
        """The text as lines no wider than the screen; a path or URL is never cut in two."""
        return textwrap.wrap(
            text,
            width=self.width,
            initial_indent=indent,
            subsequent_indent=indent if hanging is None else hanging,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent.rstrip()]

    def across(self, left: str, right: str, style: str = "strong") -> str:
        """`left` at the start of a line and `right`, faint, at its end; two lines where both do not fit."""
        gap = self.width - columns_of(left) - columns_of(right)
        styled_left, styled_right = self.style(left, style), self.style(right, "faint")
        if gap >= 2:
            return f"{styled_left}{' ' * gap}{styled_right}"
        return f"{styled_left}\n{' ' * max(0, self.width - columns_of(right))}{styled_right}"


def columns_of(text: str) -> int:
    """Columns a text takes: wide East Asian characters count two, combining marks none."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class ProgressLine:
    """One line, rewritten in place: what, how many of how many, rate and time left.

    Silent where the stream is no terminal, so that logs and pipes stay clean.
    """

    def __init__(self, stream: Stream, what: str, total: int) -> None:
        self._stream = stream
        self._what = what
        self._total = total
        self._live = stream.isatty() and total > 0
        self._started = time.monotonic()
        self._shown_at = 0.0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def show(self, done: int) -> None:
        """Show `done` of the total; more than ten times a second changes nothing anyone could read."""
        now = time.monotonic()
        if not self._live or (now - self._shown_at < 0.1 and done < self._total):
            return
        self._shown_at = now
        self._stream.write(f"\r\x1b[K{self._text(done, now - self._started)}")
        self._stream.flush()

    def of(self, what: str, done: int, total: int) -> None:
        """Show `done` of a total that is known only now, of what is going on now."""
        if (what, total) != (self._what, self._total):
            self._what, self._total = what, total
            self._live = self._stream.isatty() and total > 0
        self.show(done)

    def _text(self, done: int, elapsed: float) -> str:
        rate = done / elapsed if elapsed > 0 else 0.0
        text = f"{self._what}  {done:,} of {self._total:,}"
        if rate <= 0:
            return text
        return f"{text} · {rate:,.0f}/s · {(self._total - done) / rate:,.0f} s left"
