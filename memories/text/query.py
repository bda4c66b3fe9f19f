"""What a query asks for: its informative terms, and the parts that must be found exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memories.text.folding import fold, plain_text
from memories.text.languages import (
    Language,
    evidence,
    is_ambiguous,
    languages_of_stop_word,
    languages_seen,
    literal_phrases,
    question_words,
    relation_phrases,
)
from memories.text.stems import stem_language, stems
from memories.text.words import Word, WordKind, words

# What is read of a query, in characters, and the most distinct terms, phrases, paths … kept of it: beyond
# this a query is a pasted document, whose first words say what it is about.
MAX_CHARACTERS = 10_000
MAX_TERMS = 64
MAX_EXACT = 16
_LONGEST_PHRASE_ENTRY = 5
# One whole function word of its own: a query that says less is searched with the stems of all languages.
_LEAST_EVIDENCE = 1.0


class TermRole(StrEnum):
    """Why a term is in the query: routing words ask for a kind of search more than for content."""

    CONTENT = "content"
    RELATION = "relation"
    LITERAL = "literal"


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`word` as indexed; a memory has the term if its tokens (with stems) share any of `variants`:
    the word, its stems in all five languages, and the identifier it is a part of."""

    word: str
    variants: frozenset[str]
    role: TermRole = TermRole.CONTENT


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query taken apart. `phrases` are folded, to be looked for in the folded content; `paths`,
    `assignments` and `identifiers` are whole tokens, to be looked for among the tokens of a memory."""

    raw: str
    terms: tuple[QueryTerm, ...]
    dropped: tuple[str, ...]
    phrases: tuple[str, ...]
    paths: tuple[str, ...]
    assignments: tuple[str, ...]
    identifiers: tuple[str, ...]
    languages: tuple[Language, ...]
    asks_literally: bool
    asks_relations: bool
    lexical_query: str

    @property
    def is_empty(self) -> bool:
        """Nothing to look for: punctuation, or stop and question words only."""
        return not self.terms


_QUOTED = re.compile(r"\"([^\"]+)\"|«([^«»]+)»|»([^«»]+)«|[“„]([^“”„]+)[“”]|「([^「」]+)」|『([^『』]+)』")
_SPACED_EQUALS = re.compile(r"(?<=\w)[ \t]*=[ \t]*(?=[\w\"'/~.])")


def analyse(query: str) -> QueryWords:
    """`query` taken apart; never raises. Bounded by MAX_CHARACTERS, MAX_TERMS and MAX_EXACT."""
    text = _SPACED_EQUALS.sub("=", plain_text(_bounded(query)))
    found = list(words(text))
    flat = [fold(word.text) for word in found]
    droppable = _Droppable(found, text)
    terms, dropped = _terms(found, flat, droppable)
    phrases = _phrases(text)
    if not terms and phrases:
        terms, dropped = _all_terms(words("\n".join(phrases))), ()
    return QueryWords(
        raw=query,
        terms=terms,
        dropped=dropped,
        phrases=phrases,
        paths=_wholes(found, WordKind.PATH),
        assignments=_wholes(found, WordKind.ASSIGNMENT),
        identifiers=_wholes(found, WordKind.IDENTIFIER),
        languages=droppable.languages,
        asks_literally=any(_entry_at(flat, at, literal_phrases()) for at in range(len(flat))),
        asks_relations=any(_entry_at(flat, at, relation_phrases()) for at in range(len(flat))),
        lexical_query=_lexical_query(terms, droppable.languages),
    )


def _bounded(query: str) -> str:
    if len(query) <= MAX_CHARACTERS:
        return query
    cut = query[:MAX_CHARACTERS]
    whole_words = cut.rsplit(None, 1)[0]
    return whole_words or cut


class _Droppable:
    """Decides which folded words of one query are stop or question words there.

    A word that is one in some language and a word of content nowhere always is. An ambiguous one (die, car,
    comment) is only where the rest of the query speaks for its language, or as a question word that opens
    the query. A word in capitals (IT, CAN, MIT) never is, unless the whole query is in capitals.
    """

    def __init__(self, found: Sequence[Word], text: str) -> None:
        leaves = [leaf for word in found for leaf in word.leaves]
        self._evidence = evidence(leaves, text)
        self.languages = languages_seen(self._evidence, least=_LEAST_EVIDENCE)
        self._capitals_tell = any(map(str.islower, text))
        self._opening = leaves[0] if len(set(leaves)) > 1 else ""

    def drops(self, leaf: str, word: Word) -> bool:
        owners = languages_of_stop_word().get(leaf)
        if owners is None or (self._capitals_tell and len(word.text) > 1 and word.text.isupper()):
            return False
        if not is_ambiguous(leaf) or (leaf == self._opening and leaf in question_words()):
            return True
        own = 0.5 / len(owners)
        others = max(self._evidence.values())
        return any(
            self._evidence[language] - own >= 0.5 and self._evidence[language] >= 0.5 * others
            for language in owners
        )


def _terms(
    found: Sequence[Word], flat: Sequence[str], droppable: _Droppable
) -> tuple[tuple[QueryTerm, ...], tuple[str, ...]]:
    terms: dict[str, QueryTerm] = {}
    dropped: dict[str, None] = {}
    roles = _roles(flat)
    for word, role in zip(found, roles, strict=True):
        kept = [leaf for leaf in word.leaves if not droppable.drops(leaf, word)]
        if not kept and _is_name(word):
            kept = list(word.leaves) if word.kind is WordKind.ASSIGNMENT else [word.whole]
        dropped.update(dict.fromkeys(leaf for leaf in word.leaves if leaf not in kept))
        for leaf in kept[:MAX_TERMS]:
            _add(terms, leaf, word, role)
        if len(terms) >= MAX_TERMS:
            break
    return tuple(terms.values())[:MAX_TERMS], tuple(dropped)


def _all_terms(found: Iterable[Word]) -> tuple[QueryTerm, ...]:
    terms: dict[str, QueryTerm] = {}
    for word in found:
        for leaf in word.leaves[:MAX_TERMS]:
            _add(terms, leaf, word, TermRole.CONTENT)
    return tuple(terms.values())[:MAX_TERMS]


def _is_name(word: Word) -> bool:
    """Whether `word` means something whole although all its parts are stop words: to_do, /etc."""
    is_place = word.kind in (WordKind.PATH, WordKind.URL)
    return is_place or (word.kind is not WordKind.PLAIN and len(word.leaves) > 1)


def _add(terms: dict[str, QueryTerm], leaf: str, word: Word, role: TermRole) -> None:
    wholes = {token for token in word.tokens if leaf in token and token not in word.leaves}
    variants = frozenset({leaf, *wholes, *stems(leaf)})
    known = terms.get(leaf)
    if known is None:
        terms[leaf] = QueryTerm(leaf, variants, role)
    else:
        terms[leaf] = QueryTerm(leaf, known.variants | variants, known.role)


def _roles(flat: Sequence[str]) -> list[TermRole]:
    roles = [TermRole.CONTENT] * len(flat)
    for entries, role in ((relation_phrases(), TermRole.RELATION), (literal_phrases(), TermRole.LITERAL)):
        for at in range(len(flat)):
            length = _entry_at(flat, at, entries)
            roles[at : at + length] = [role] * length
    return roles


def _entry_at(flat: Sequence[str], at: int, entries: frozenset[str]) -> int:
    """The length in words of the longest of `entries` that starts at word `at`; 0 for none."""
    for length in range(min(_LONGEST_PHRASE_ENTRY, len(flat) - at), 0, -1):
        if " ".join(flat[at : at + length]) in entries:
            return length
    return 0


def _phrases(text: str) -> tuple[str, ...]:
    inner = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    folded = (" ".join(fold(phrase).split()) for phrase in inner)
    return _first_distinct(phrase for phrase in folded if any(map(str.isalnum, phrase)))


def _wholes(found: Iterable[Word], kind: WordKind) -> tuple[str, ...]:
    every = _with_inner(found)
    return _first_distinct(word.whole for word in every if word.kind is kind)


def _with_inner(found: Iterable[Word]) -> Iterator[Word]:
    for word in found:
        yield word
        yield from _with_inner(word.inner)


def _first_distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:MAX_EXACT]


def _lexical_query(terms: Sequence[QueryTerm], languages: Sequence[Language]) -> str:
    """Distinct words for the engine: each term with its wholes and stems, in the order of the query.

    Stems of languages the query is not in are left out: in a store of mostly English they are rare, and
    BM25 would prefer the few memories that have them. Literal words only when there is nothing else.
    """
    wanted = [term for term in terms if term.role is not TermRole.LITERAL] or terms
    asked = {Language.ENGLISH, *languages} if languages else set(Language)
    sent: dict[str, None] = {}
    for term in wanted:
        sent[term.word] = None
        sent.update(dict.fromkeys(v for v in sorted(term.variants) if stem_language(v) in (None, *asked)))
    return " ".join(sent)
