"""Corrections that a person makes: found by rules alone, language by language, never by a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memories.capture.phrases import Heard, PhraseBook, PhraseKind, phrase_books
from memories.capture.sentences import Sentence, sentences

# Longer messages are mostly pasted text; a correction stands where a person writes, at the beginning or end.
_READ_AT_EACH_END = 4_000


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence by which a person corrects or instructs: the phrase that fired, where the sentence stands
    among all of the message, and the language's own phrases."""

    kind: PhraseKind
    heard: Heard
    sentence: Sentence
    position: int
    said: tuple[Sentence, ...]
    book: PhraseBook

    @property
    def next_sentence(self) -> Sentence | None:
        following = self.said[self.position + 1 :]
        return following[0] if following else None

    @property
    def forbids(self) -> bool:
        """Whether it says what must never be done."""
        return bool(self.book.forbids.search(self.sentence.words))


def corrections_in(message: str, *, after: str = "") -> tuple[Correction, ...]:
    """The sentences of a message that correct or instruct, in order, each once.

    `after` is what the assistant had said; where that ends in a question, words that may just as well
    answer it ("no", "nei") are no correction by themselves.
    """
    said = sentences(_readable(message))
    asked = after.rstrip().endswith("?")
    found = (_correction(said, position, asked) for position in range(len(said)))
    return tuple(correction for correction in found if correction is not None)


def is_correction(message: str, *, after: str = "") -> bool:
    """Whether any sentence of the message corrects or instructs."""
    return bool(corrections_in(message, after=after))


def _readable(message: str) -> str:
    if len(message) <= 2 * _READ_AT_EACH_END:
        return message
    return message[:_READ_AT_EACH_END] + "\n" + message[-_READ_AT_EACH_END:]


def _correction(said: tuple[Sentence, ...], position: int, asked: bool) -> Correction | None:
    sentence = said[position]
    for book, heard in _heard_in(sentence):
        if heard.may_answer and (asked or _only_answers(said, position, heard)):
            continue
        return Correction(heard.kind, heard, sentence, position, said, book)
    return None


def _heard_in(sentence: Sentence) -> Iterator[tuple[PhraseBook, Heard]]:
    for book in phrase_books():
        for heard in book.heard_in(sentence):
            if heard.kind.corrects:
                yield book, heard


def _only_answers(said: tuple[Sentence, ...], position: int, heard: Heard) -> bool:
    """`Nope. Anything else?`: the word is the whole sentence, and what follows is a question."""
    alone = not said[position].words[heard.end :].strip(" .,!")
    return alone and position + 1 < len(said) and said[position + 1].is_question
