"""The words of a query, and the two ways to look for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# NUL ends a string for SQLite's query parser, and lone surrogates have no UTF-8: neither is part of a word.
_NO_PART_OF_A_WORD = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One white-space-separated word; `prefix` when it ended in `*` (which `text` leaves out)."""

    text: str
    prefix: bool

    def as_fts5(self) -> str:
        """Quoted, so that whatever FTS5 would take for an operator is a word."""
        quoted = '"' + self.text.replace('"', '""') + '"'
        return quoted + "*" if self.prefix else quoted


def parse_terms(query: str) -> tuple[Term, ...]:
    """The distinct terms in their order; a word of nothing but `*` says nothing and is left out."""
    terms = []
    for word in _NO_PART_OF_A_WORD.sub(" ", query).split():
        if text := word.rstrip("*"):
            terms.append(Term(text, prefix=text != word))
    return tuple(dict.fromkeys(terms))


def match_expression(terms: Sequence[Term]) -> str:
    """What to give to MATCH: FTS5 reads terms side by side as "all of them"."""
    return " ".join(term.as_fts5() for term in terms)


def substring_test(terms: Sequence[Term]) -> Callable[[object], bool]:
    """Whether a text has every term somewhere, by case-folded comparison.

    Not LIKE: that folds ASCII only, refuses patterns above 50 kB, and needs `%`, `_` and `\\` escaped.
    """
    wanted = tuple(dict.fromkeys(term.text.casefold() for term in terms))

    def has_every_term(content: object) -> bool:
        if not isinstance(content, str):
            return False
        folded = content.casefold()
        return all(word in folded for word in wanted)

    return has_every_term
