"""Text → words, each with the tokens it is indexed under.

A word is what stands between blanks and plain punctuation: `port=7777`, `~/notes/todo.md`, `ApiGateway` and
`v1.2.3` are one word each. It is indexed whole and in its parts, so that either spelling finds the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from memories.text.folding import fold, plain_text
from memories.text.languages import technology_words
from memories.text.scripts import PICTOGRAPHS, WORD_CHARACTER, bigrams, has_unspaced, script_runs

# A token longer than this without parts (a hash, a key) is also indexed by its beginnings and endings of
# these lengths.
LONG_TOKEN = 64
_END_LENGTHS = (8, 12, 16, 32, LONG_TOKEN)
# Beyond this many pieces letters and digits alternate by chance (a hash), not by meaning.
_MOST_DIGIT_PIECES = 5
# Numbers with dots are found by their beginnings of two to this many parts: 1.2 finds v1.2.3.
_MOST_VERSION_PARTS = 4
# Longer chunks are hardly ever seen again and would only fill the cache.
_LONGEST_CACHED = 96


class WordKind(StrEnum):
    PLAIN = "plain"  # letters and digits, or an everyday compound (well-known, client/server)
    IDENTIFIER = "identifier"  # snake_case, dotted.name, Camel2Digits, kebab-4, v1.2.3
    PATH = "path"
    URL = "url"
    ASSIGNMENT = "assignment"  # key=value
    PICTOGRAPH = "pictograph"


@dataclass(frozen=True, slots=True)
class Word:
    """`text` as typed (NFKC); `tokens` distinct, the whole first; `leaves` the smallest parts that carry
    meaning, all of them tokens; `inner` key and value of an assignment."""

    text: str
    kind: WordKind
    tokens: tuple[str, ...]
    leaves: tuple[str, ...]
    inner: tuple[Word, ...] = ()

    @property
    def whole(self) -> str:
        return self.tokens[0]


_JOINERS = r"_\-./\\:=@~"
_OUTER = "_-/\\:=@~"
_TRAILING = _OUTER + "."
_BOUNDARY = r"(?<![^\s(\[{<>\"'«»“”„,;|=])"
_PATH_START = r"(?:~[/\\]|\.{1,2}[/\\]|[/\\]{1,2})"
_SCANNER = re.compile(
    r"(?P<url>[A-Za-z][A-Za-z0-9+.\-]*://[^\s<>\"'«»“”„^]+)"
    rf"|(?P<compound>(?:{_BOUNDARY}{_PATH_START}?\.?)?{WORD_CHARACTER}++"
    rf"(?:[{_JOINERS}]++{WORD_CHARACTER}++)*+(?:\+\+|\#)?)"
    rf"|(?P<pictograph>[{PICTOGRAPHS}])"
)
_QUOTED_VALUE = re.compile(r"(?<=\w=)([\"'])([^\s\"']+)\1")
_PATH = re.compile(rf"{_PATH_START}|[A-Za-z]:[\\/]")
_PATH_LEAD = re.compile(rf"^{_PATH_START}")
# French articles before a vowel and English endings are no part of the word; any other apostrophe inside a
# word is dropped (don't, O'Brien), outside it separates.
_SMALL_WORDS = re.compile(
    r"(?<![\w'])(?:[ldjmtsnc]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=\w)|(?<=\w)'(?:s|ll|re|ve|d|m)(?![\w'])"
    r"|(?<=\w)'(?=\w)",
    re.IGNORECASE,
)
_SPLITTERS = tuple(map(re.compile, (r"[/\\]+", r"[:@~=]+", r"\.+", r"[\-_]+")))
_DOT, _DASH = 2, 3
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_FIRM_VERSION = re.compile(r"[vV]\d+(?:\.\d+)+|\d+(?:\.\d+){2,}")
_DIGIT_PIECES = re.compile(r"\d+|\D+")
_SNAKE = re.compile(r"[^\W_]_+[^\W_]")


def words(text: str) -> Iterator[Word]:
    """The words of `text` in order; control characters, lone surrogates and punctuation separate them."""
    for chunk in plain_text(text).split():
        yield from _chunk_words(chunk) if len(chunk) <= _LONGEST_CACHED else _scan(chunk)


@lru_cache(maxsize=32768)
def _chunk_words(chunk: str) -> tuple[Word, ...]:
    return tuple(_scan(chunk))


def _scan(chunk: str) -> Iterator[Word]:
    for found in _SCANNER.finditer(_SMALL_WORDS.sub("", _QUOTED_VALUE.sub(r"\2", chunk))):
        match found.lastgroup:
            case "url":
                word = _url(found.group())
            case "pictograph":
                word = Word(found.group(), WordKind.PICTOGRAPH, (found.group(),), (found.group(),))
            case _:
                word = _compound(found.group())
        if word.tokens:
            yield word


def _url(text: str) -> Word:
    text = text.lstrip(_OUTER).rstrip(".,;:!?)]}/")
    parts = _Parts()
    parts.add(fold(text))
    # A URL inside a URL is read as its parts: no text makes this recurse.
    for inner in _scan(text.partition("://")[2].replace("://", " ")):
        parts.tokens.update(dict.fromkeys(inner.tokens))
        parts.leaves.update(dict.fromkeys(inner.leaves))
    return parts.word(text, WordKind.URL)


def _compound(text: str) -> Word:
    text = text.rstrip(_TRAILING)
    sides = text.split("=")
    return _assignment(sides) if len(sides) > 1 and all(sides) else _single(text)


def _single(text: str) -> Word:
    """A word that is no assignment, or one side of one."""
    text = text.rstrip(_TRAILING)
    if "://" in text:
        return _url(text)
    if _PATH.match(text) and any(map(str.isalpha, text[2:] or text)):
        return _path(text)
    parts = _Parts()
    parts.split(_PATH_LEAD.sub("", text))
    return parts.word(text, WordKind.IDENTIFIER if _is_identifier(text) else WordKind.PLAIN)


def _assignment(sides: list[str]) -> Word:
    text, inner = "=".join(sides), tuple(map(_single, sides))
    tokens = dict.fromkeys((fold(text), *(token for word in inner for token in word.tokens)))
    leaves = dict.fromkeys(leaf for word in inner for leaf in word.leaves)
    return Word(text, WordKind.ASSIGNMENT, tuple(tokens), tuple(leaves), inner)


def _path(text: str) -> Word:
    parts = _Parts()
    parts.add(fold(text))
    parts.split(_PATH_LEAD.sub("", text))
    return parts.word(text, WordKind.PATH)


class _Parts:
    """Collects the tokens and leaves of one word."""

    def __init__(self) -> None:
        self.tokens: dict[str, None] = {}
        self.leaves: dict[str, None] = {}

    def word(self, text: str, kind: WordKind) -> Word:
        return Word(text, kind, tuple(self.tokens), tuple(self.leaves))

    def add(self, token: str, *, leaf: bool = False) -> None:
        if not any(map(str.isalnum, token)):
            return  # marks without a letter
        self.tokens[token] = None
        if leaf:
            self.leaves[token] = None
        if len(token) > LONG_TOKEN and token.isalnum():
            self._add_ends(token)

    def _add_ends(self, token: str) -> None:
        for length in _END_LENGTHS:
            for end in (token[:length], token[-length:]):
                parts = _Parts()
                parts.split(end)
                self.tokens.update(dict.fromkeys(parts.tokens))

    def split(self, text: str, level: int = 0) -> None:
        """Adds `text` whole, then what the joiners from `level` on leave of it."""
        text = self._dot_name(text.strip(_OUTER).rstrip(_TRAILING))
        for at in range(level, len(_SPLITTERS)):
            pieces = [piece for piece in _SPLITTERS[at].split(text) if piece]
            if len(pieces) > 1:
                self._add_wholes(text, pieces, at)
                return
        self._atom(text)

    def _dot_name(self, text: str) -> str:
        bare = text.lstrip(".")
        if bare != text and bare[:1].isalpha():
            self.add(fold("." + bare))
        return bare

    def _add_wholes(self, text: str, pieces: list[str], at: int) -> None:
        whole, has_letters = fold(text), any(map(str.isalpha, text))
        self.add(whole, leaf=not has_letters)
        if at == _DOT and (version := _VERSION.fullmatch(text)):
            self._version(version.group(1), whole)
            return
        leaves = len(self.leaves)
        for piece in pieces:
            self.split(piece, at + 1)
        if not has_letters:  # of 2024-01-05 only the whole carries the meaning
            self.leaves = dict.fromkeys(islice(self.leaves, leaves))
        joined = fold("".join(pieces))
        can_join = (at == _DASH and has_letters) or (at == _DOT and whole in technology_words())
        if can_join and self._reads_alike(joined):
            self.add(joined)

    def _reads_alike(self, joined: str) -> bool:
        """Whether the spelling without joiners (utf8, apigateway) has no parts but those already found."""
        pieces = _meaningful_pieces(joined)
        is_one_piece = joined.isalnum() and not has_unspaced(joined)
        return is_one_piece and (len(pieces) == 1 or self.tokens.keys() >= set(pieces))

    def _version(self, number: str, whole: str) -> None:
        digits = number.split(".")
        self.add(whole, leaf=True)
        self.add(number)
        for count in range(2, min(len(digits), _MOST_VERSION_PARTS) + 1):
            self.add(".".join(digits[:count]))
        for part in digits:
            self.add(part)

    def _atom(self, text: str) -> None:
        base = text.rstrip("+#")
        if base != text and re.fullmatch("[a-z]", fold(base)):
            self.add(fold(text), leaf=True)  # C++, C#
        elif has_unspaced(base):
            for run in script_runs(base):
                self._unspaced(fold(run)) if has_unspaced(run) else self._spaced(run)
        else:
            self._spaced(base)

    def _unspaced(self, run: str) -> None:
        for token in bigrams(run):
            self.add(token, leaf=True)

    def _spaced(self, text: str) -> None:
        whole = fold(text)
        pieces = [] if whole in technology_words() else _meaningful_pieces(text)
        self.add(whole, leaf=len(pieces) < 2)
        for piece in pieces if len(pieces) > 1 else ():
            humps = _humps(piece)
            self.add(fold(piece), leaf=len(humps) < 2)
            for hump in humps if len(humps) > 1 else ():
                self.add(fold(hump), leaf=True)


def _meaningful_pieces(text: str) -> list[str]:
    """Letters and digits apart (python3 → python, 3), or the humps of a name without digits."""
    if text.isalpha():
        return _humps(text)
    pieces = _DIGIT_PIECES.findall(text)
    by_meaning = all(piece.isdecimal() or len(fold(piece)) > 1 for piece in pieces)
    return pieces if len(pieces) <= _MOST_DIGIT_PIECES and by_meaning else [text]


def _humps(text: str) -> list[str]:
    """The words of a camel-case name: ApiGateway → Api, Gateway; `[text]` for anything else.

    One-letter humps belong to names like iPhone and to plurals like APIs: these stay whole.
    """
    folded = fold(text)
    if text.isupper() or text[1:].islower() or folded == text or folded in technology_words():
        return [text]
    cuts = [at for at in range(1, len(text)) if _starts_hump(text, at)]
    humps = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return humps if all(len(hump) > 1 and hump.isalnum() for hump in humps) and humps[-1] != "s" else [text]


def _starts_hump(text: str, at: int) -> bool:
    if not text[at].isupper():
        return False
    after_lower = text[at - 1].islower()
    ends_capitals = text[at - 1].isupper() and text[at + 1 : at + 2].islower() and text[at + 1 :] != "s"
    return after_lower or ends_capitals


def _is_identifier(text: str) -> bool:
    """Whether a piece of `text` has the shape of a name in code: such names ask for an exact match."""
    return any(_is_code_name(piece) for piece in re.split(r"[/\\:@~=]+", text))


def _is_code_name(piece: str) -> bool:
    if not piece:
        return False
    if _SNAKE.search(piece) or _FIRM_VERSION.fullmatch(piece):
        return True
    has_digit, starts_alpha = any(map(str.isdecimal, piece)), piece[0].isalpha()
    dotted = [part for part in piece.split(".") if part]
    if len(dotted) > 1:
        named = all(part[0].isalpha() for part in dotted) and any(len(part) > 1 for part in dotted)
        return named and fold(piece) not in technology_words()  # node.js is a product
    if "-" in piece.strip("-"):
        return has_digit and starts_alpha
    return has_digit and len(_humps(re.sub(r"\d+", "", piece))) > 1
