"""How a turn turned out: the person said it was right, the assistant took it back, a tool bore it out."""

from __future__ import annotations

import re

from memories.capture.contradictions import values_in
from memories.capture.phrases import PhraseKind, phrase_books
from memories.capture.sentences import sentences
from memories.contract import claims_of
from memories.text.languages import languages_of_stop_word
from memories.text.normalise import tokens

# A tool that failed confirms nothing, whatever its message repeats.
_FAILED = re.compile(
    r"\b(?:error|exception|traceback|failed|not found|denied|no such|unable to)\b", re.IGNORECASE
)

_LONGEST_READ = 20_000


def approves(message: str) -> bool:
    """Whether a person says that what came before was right or worked (`that works`, `takk, perfekt`)."""
    return _hears(message, PhraseKind.APPROVAL)


def takes_back(answer: str) -> bool:
    """Whether an assistant says that it had been wrong (`you're right, I misread the log`)."""
    return _hears(answer, PhraseKind.RETRACTION)


def bears_out(tool_result: str, answer: str) -> bool:
    """Whether a tool's result confirms what an answer claimed.

    It does where it holds a whole `key=value` of the answer, or all values of one of its sentences (numbers,
    paths, host names) and a word of that sentence beside them; a result that reports a failure never does.
    """
    result = tool_result[:_LONGEST_READ]
    if _FAILED.search(result):
        return False
    shown = {(claim.key, claim.normal) for line in result.splitlines() for claim in claims_of([line])}
    if any((claim.key, claim.normal) in shown for claim in claims_of([answer[:_LONGEST_READ]])):
        return True
    found_values, found_words = values_in(result), set(tokens(result))
    return any(
        values <= found_values and (_content(sentence.text) - _content(" ".join(values))) & found_words
        for sentence in sentences(answer[:_LONGEST_READ])
        if not sentence.is_question and (values := values_in(sentence.text))
    )


def _content(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 2} - languages_of_stop_word().keys()


def _hears(text: str, kind: PhraseKind) -> bool:
    return any(
        heard.kind is kind
        for sentence in sentences(text[:_LONGEST_READ])
        for book in phrase_books()
        for heard in book.heard_in(sentence)
    )
