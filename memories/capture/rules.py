"""The rule in a correction: the shortest of its sentences that says by itself what holds; no model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memories.capture.corrections import Correction
from memories.capture.phrases import PhraseKind
from memories.capture.sentences import Sentence, sentences
from memories.text.languages import languages_of_stop_word
from memories.text.normalise import tokens

LONGEST_RULE = 400
"""Characters of a rule: a fact may hold more, but what is longer is no rule."""

LONGEST_CONTEXT = 240
"""Characters kept of the sentence that was corrected."""

# What joins a lead-in to what it leads to: `no, …`, `wrong: …`, `remember that …`, `husk at …`.
_JOINT = re.compile(r"[\s,.:;!–—-]*[,.:;!–—-][\s,.:;!–—-]*|\s+(?:that|at)\s+|\s+")
_LINK_BEFORE = re.compile(r"\s(?:that|at)\s+\Z")
_PUNCTUATION = " ,.:;!?–—-"

# A rule that begins with one of these needs the sentence it answers to be understood.
_POINTING = re.compile(
    r"(?:it|that|this|these|those|they|he|she|the (?:other|first|second|last)|i (?:meant|said)|not|there|"
    r"det|den|dette|disse|de|han|hun|jeg (?:mente|sa)|ikke|der)\b"
)
# `Bergen.` is no sentence; two words may be (`Use develop.`) if both say something.
_LEAST_WORDS = 3


def rule_of(correction: Correction) -> str:
    """The rule, begun with a capital and closed with a full stop; "" where the correction states none.

    `No, the port is 7788.` gives `The port is 7788.`; of `Wrong. The port is 7788.` it is the sentence
    that follows, and an instruction (`Always run the linter.`) is its own rule.
    """
    for text in _candidates(correction):
        if _says_something(text) and not _is_bare(correction, text):
            return _closed(text)
    return ""


def needs_context(rule: str) -> bool:
    """Whether the rule points at something it does not name."""
    return bool(_POINTING.match(rule.lower()))


def corrected_sentence(rule: str, answer: str) -> str:
    """The sentence of an assistant's answer that a rule most likely corrects, cut; "" for no answer.

    It is the one with the most words in common; where none has any, the last one that is no question.
    """
    said = [sentence for sentence in sentences(answer) if not sentence.is_question]
    if not said:
        return ""
    words = content_words(rule)
    best = max(
        enumerate(said), key=lambda numbered: (len(words & content_words(numbered[1].text)), numbered[0])
    )
    return _cut(_one_line(best[1].text), LONGEST_CONTEXT)


def content_words(text: str) -> frozenset[str]:
    """The words of a text, folded, without those that any text has."""
    return frozenset(tokens(text)) - languages_of_stop_word().keys()


def _candidates(correction: Correction) -> Iterator[str]:
    if correction.kind in (PhraseKind.DIRECT, PhraseKind.BLAME):
        yield _led_to(correction)
        following = correction.next_sentence
        if _is_mere_objection(correction) and following is not None and not following.is_question:
            yield following.text
        yield _rewritten(correction, _without_openers(correction, correction.sentence))
        return
    yield _led_to(correction)
    yield _without_openers(correction, correction.sentence)


def _rewritten(correction: Correction, text: str) -> str:
    """`You forgot the migration again.` as a rule: `Do not forget the migration.`"""
    for pattern, wording in correction.book.rewrites:
        if match := pattern.fullmatch(text):
            return match.expand(wording)
    return text


def _is_bare(correction: Correction, text: str) -> bool:
    """Whether the text is the objection alone, with no matter in it: `Det er helt feil.`"""
    objection = correction.sentence.text[correction.heard.start : correction.heard.end]
    return text.strip(_PUNCTUATION) == objection.strip(_PUNCTUATION) and len(content_words(text)) < 2


def _led_to(correction: Correction) -> str:
    """What a sentence says after the words that only lead to it; "" where those are all of it."""
    text, end = correction.sentence.text, correction.heard.end
    joint = _JOINT.match(text, end)
    if joint is None:
        return ""
    linked = _LINK_BEFORE.search(text, 0, joint.end()) is not None
    if joint.group().isspace() and not (linked or correction.heard.may_answer):
        return ""
    rest = text[joint.end() :]
    if len(rest.split()) < _LEAST_WORDS and not any(character.isdigit() for character in rest):
        return ""
    return _without_openers(correction, Sentence(rest, correction.sentence.words[joint.end() :]))


def _is_mere_objection(correction: Correction) -> bool:
    """Whether the sentence is over once the objection is made: `That is wrong.`, `Nope.`, `Wrong again.`"""
    rest = correction.sentence.words[correction.heard.end :].strip(_PUNCTUATION)
    return len(rest.split()) < _LEAST_WORDS and len(correction.sentence.words.split()) < 2 * _LEAST_WORDS


def _without_openers(correction: Correction, sentence: Sentence) -> str:
    return sentence.text[correction.book.begin_of(sentence.words) :]


def _says_something(text: str) -> bool:
    """Whether there is a word of content in it and enough around it, or a value."""
    words = content_words(text)
    has_value = any(character.isdigit() for word in words for character in word)
    return has_value or (bool(words) and len(text.split()) >= _LEAST_WORDS) or len(words) >= 2


def _closed(text: str) -> str:
    line = _cut(_one_line(text).strip(" ,:;–—-"), LONGEST_RULE)
    line = line[:1].upper() + line[1:]
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return text[: longest - 1].rsplit(" ", 1)[0] + "…"


def teaching_sentences(corrections: Sequence[Correction]) -> tuple[str, ...]:
    """The rules of all corrections of one message, each once, in order."""
    return tuple(dict.fromkeys(rule for correction in corrections if (rule := rule_of(correction))))
