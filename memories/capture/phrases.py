"""The phrases by which people correct, approve and instruct, and assistants take back: one file a language.

A language is `data/phrases.<language>.toml`; adding a file adds a language. Each group of phrases holds:

- `kind`: what it means (`direct`, `blame`, `phrase` and `instruction` correct; `approval`, `retraction`),
- `at`: `start` (of a sentence, after the file's `openers`) or `anywhere` in it,
- `say`: regular expressions over folded text, each whole words; a blank is any white space (in brackets
  write `\\s`), ` ?` perhaps none, `'` may be missing, and `{name}` is any word of that list under `lists`,
- `unless`: expressions that, right after the phrase, make it mean something else,
- `may_answer`: true where the words may answer a question just as well, so that they say nothing after one,
- `also_asked`: true where a question with these words means it too.

Of a whole file, `never` lists expressions that make a sentence no correction, wherever they stand in it;
`forbid` under `lists` the words by which an instruction forbids; and `rewrites` turn a reproach into a rule:
what a sentence is as a whole, and what is written instead.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from memories.capture.sentences import Sentence


class PhraseKind(StrEnum):
    """What a phrase does in a conversation."""

    DIRECT = "direct"
    BLAME = "blame"
    PHRASE = "phrase"
    INSTRUCTION = "instruction"
    APPROVAL = "approval"
    RETRACTION = "retraction"

    @property
    def corrects(self) -> bool:
        return self in _CORRECTIONS


_CORRECTIONS = frozenset({PhraseKind.DIRECT, PhraseKind.BLAME, PhraseKind.PHRASE, PhraseKind.INSTRUCTION})


@dataclass(frozen=True, slots=True)
class Phrase:
    """One group of a language file, compiled."""

    kind: PhraseKind
    pattern: re.Pattern[str]
    at_start: bool
    may_answer: bool
    also_asked: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """A phrase in a sentence: `end` is where its words end in the sentence's text."""

    kind: PhraseKind
    language: str
    start: int
    end: int
    may_answer: bool


@dataclass(frozen=True, slots=True)
class PhraseBook:
    """The phrases of one language."""

    language: str
    openers: re.Pattern[str]
    never: re.Pattern[str]
    forbids: re.Pattern[str]
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    phrases: tuple[Phrase, ...]

    def heard_in(self, sentence: Sentence) -> Iterable[Heard]:
        """The phrases that fire in a sentence, in the order of the file."""
        begin = self.begin_of(sentence.words)
        harmless = self.never.search(sentence.words) is not None
        for phrase in self.phrases:
            if (harmless and phrase.kind.corrects) or (sentence.is_question and not phrase.also_asked):
                continue
            words = sentence.words
            match = phrase.pattern.match(words, begin) if phrase.at_start else phrase.pattern.search(words)
            if match:
                yield Heard(phrase.kind, self.language, match.start(), match.end(), phrase.may_answer)

    def begin_of(self, words: str) -> int:
        """Where a sentence begins once the words by which people only lead in are passed over."""
        match = self.openers.match(words)
        return match.end() if match else 0


@cache
def phrase_books() -> tuple[PhraseBook, ...]:
    """The phrases of every language there is a file for, by language code."""
    folder = resources.files("memories.capture").joinpath("data")
    files = sorted(
        (file for file in folder.iterdir() if re.fullmatch(r"phrases\.\w+\.toml", file.name)),
        key=lambda file: file.name,
    )
    return tuple(_book(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)


# What may stand between words that lead in, and between a phrase and what `unless` names.
_BETWEEN = r"[\s,.:;!–—-]*"


def _book(content: Mapping[str, Any]) -> PhraseBook:
    lists = {name: "(?:" + "|".join(words) + ")" for name, words in content["lists"].items()}
    return PhraseBook(
        language=content["language"],
        openers=re.compile(rf"(?:{_BETWEEN}(?:{_any(content['openers'], lists)})(?!\w){_BETWEEN})+"),
        never=_compiled(_any(content["never"], lists)),
        forbids=_compiled(lists["forbid"].replace(" ", r"\s+")),
        rewrites=tuple(
            (re.compile(_expanded(one, lists), re.IGNORECASE), to) for one, to in content["rewrites"]
        ),
        phrases=tuple(_phrase(group, lists) for group in content["group"]),
    )


def _phrase(group: Mapping[str, Any], lists: Mapping[str, str]) -> Phrase:
    unless = rf"(?!{_BETWEEN}(?:{_any(group['unless'], lists)})(?!\w))" if "unless" in group else ""
    return Phrase(
        kind=PhraseKind(group["kind"]),
        pattern=_compiled(_any(group["say"], lists), unless),
        at_start=group["at"] == "start",
        may_answer=group.get("may_answer", False),
        also_asked=group.get("also_asked", False),
    )


def _compiled(expression: str, unless: str = "") -> re.Pattern[str]:
    """Whole words: the phrase neither begins nor ends within one."""
    return re.compile(rf"(?<!\w)(?:{expression})(?:(?<!\w)|(?!\w|-\w)){unless}")


def _any(expressions: Iterable[str], lists: Mapping[str, str]) -> str:
    return "|".join(_expanded(one, lists) for one in expressions)


def _expanded(expression: str, lists: Mapping[str, str]) -> str:
    named = re.sub(r"\{([a-z_]+)\}", lambda found: lists[found[1]], expression)
    return named.replace("'", "'?").replace(" ?", r"\s*").replace(" ", r"\s+")
