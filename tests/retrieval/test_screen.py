"""The screen leaves out what cannot pass, and never anything that the gate would let pass."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maintenance.bench.corpus import load_corpus
from maintenance.bench.corpus_store import put
from memories.repository import MemoryRepository
from memories.retrieval import Mode, SearchRequest, search
from memories.retrieval.calibration import words_only
from memories.retrieval.evidence import AGAINST, evidence_of
from memories.retrieval.held_words import WordIndex
from memories.retrieval.prepared import Prepared
from memories.retrieval.question import Match, Question
from memories.retrieval.screen import _features, hopeful
from memories.settings import load_settings
from memories.text.concepts import keys_of, translations
from memories.text.languages import Language
from memories.text.normalise import tokens
from memories.text.stems import is_stem, stems
from tests.retrieval.conftest import AUTHOR, Add, Ask

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

STORED = 120


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    """Some memories of the public corpus, in all its languages."""
    home = tmp_path_factory.mktemp("corpus")
    chosen = load_settings(hermes_home=home, db_path=home / "db", environ={"MEMSUITE_FSYNC": "off"})
    with MemoryRepository.open(chosen, fast_embedder) as repository:
        put(repository, random.Random(7).sample(load_corpus().memories, STORED))
        yield repository


def _rows(repository: MemoryRepository, query: str, mode: Mode, diagnostics: bool) -> list[dict[str, Any]]:
    """The rows of an answer. Diagnostics show the verdict on every candidate, so nothing is left out."""
    answer = search(repository, SearchRequest(query, mode=mode, diagnostics=diagnostics)).as_answer()
    return [
        {name: row.get(name) for name in ("id", "score", "evidence", "match_type")}
        for row in answer["results"]
    ]


@cache
def _vocabulary() -> tuple[str, ...]:
    """Words that corpus memories hold, words of the same meaning in other languages, and function words."""
    held = {word for memory in load_corpus().memories[:200] for word in tokens(str(memory.payload))}
    concepts = ("backup", "owner", "frequency", "schedule")
    meant = [word for concept in concepts for word in translations(concept)]
    return (*sorted(held), *meant, "when", "who", "which", "où", "hvem", "the", "til", "une")


@st.composite
def _queries(draw: st.DrawFn) -> str:
    """A few words, some of them mistyped, capitalised or quoted."""
    words = draw(st.lists(st.sampled_from(_vocabulary()), min_size=1, max_size=7))
    written = []
    for word in words:
        how = draw(st.sampled_from(("as it is", "as it is", "name", "mistyped", "quoted")))
        if how == "mistyped" and len(word) > 4:
            at = draw(st.integers(1, len(word) - 2))
            word = word[:at] + word[at + 1 :]
        written.append({"name": word.capitalize(), "quoted": f'"{word}"'}.get(how, word))
    return " ".join(written)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=_queries(), mode=st.sampled_from((Mode.AUTO, Mode.LEXICAL)))
def test_answers_are_those_of_a_search_that_looks_at_every_candidate(
    corpus: MemoryRepository, query: str, mode: Mode
) -> None:
    assert _rows(corpus, query, mode, False) == _rows(corpus, query, mode, True)


def test_questions_of_the_corpus_are_answered_the_same(corpus: MemoryRepository) -> None:
    answered = 0
    for question in random.Random(3).sample(load_corpus().questions, 60):
        rows = _rows(corpus, question.text, Mode.AUTO, False)
        assert rows == _rows(corpus, question.text, Mode.AUTO, True)
        answered += bool(rows)
    assert answered


def test_no_evidence_is_beyond_what_the_screen_allows_for(corpus: MemoryRepository) -> None:
    """Feature by feature, whatever a calibration makes of it; who adds one that needs more than words
    sees it here."""
    snapshot, prepared = corpus.snapshot(), Prepared()
    held = prepared.words.of(snapshot, [memory.id for memory in corpus.list_memories(limit=STORED).rows])
    documents = prepared.documents.of(snapshot, held.ids)
    centred = np.linspace(-0.2, 0.9, len(held.ids))
    for asked in random.Random(5).sample(load_corpus().questions, 40):
        question = Question.of(asked.text)
        allowed = _features(question, held, centred)
        for place, name in enumerate(held.ids):
            evidence = evidence_of(Match.of(question, documents[name]), float(centred[place])).features()
            for feature, value in evidence.items():
                if feature not in allowed:
                    assert 0 <= value <= 1
                elif feature in AGAINST:
                    assert allowed[feature][place] <= value + 1e-9, (asked.text, name, feature)
                else:
                    assert allowed[feature][place] >= value - 1e-9, (asked.text, name, feature)


def test_what_holds_a_common_word_only_is_left_out(repository: MemoryRepository, add: Add, ask: Ask) -> None:
    crane = add("Harbour:crane", "The crane on the north quay lifts twelve tons")
    add("Bakery:oven", "The oven north of the hall is heated with beech wood")
    snapshot = repository.snapshot()
    ids = [memory.id for memory in repository.list_memories().rows]
    held = WordIndex().of(snapshot, ids)
    question = Question.of("what does the crane on the north quay lift")
    assert hopeful(question, held, [0.0] * len(held.ids), words_only().gate) == [crane]


@pytest.mark.parametrize("concept", ["backup", "owner", "schedule", "supplier"])
def test_every_key_of_a_concept_is_found_by_the_start_of_its_words(concept: str) -> None:
    """What the vocabulary relies on: a stem begins with the two letters its word begins with, German
    umlauts aside; those of English are indexed."""
    for word in (key for key in keys_of(concept) if not is_stem(key)):
        for stem in stems(word, [language for language in Language if language is not Language.ENGLISH]):
            umlaut = word[0] + word[2:3] if word[1:2] == "e" and word[0] in "aou" else ""
            assert stem.partition("^")[2][:2] in (word[:2], umlaut)


def test_words_follow_every_change(repository: MemoryRepository, add: Add) -> None:
    index = WordIndex()
    kept, gone = add("Harbour:crane", "It lifts tons"), add("Harbour:gate", "The gate is locked")
    assert list(index.of(repository.snapshot(), [kept, gone]).ids) == [kept, gone]
    repository.update(kept, {"facts": ["It hoists tons"]}, AUTHOR, patch=True)
    repository.delete(gone, AUTHOR)
    new = add("Harbour:pier", "The pier is long")
    held = index.of(repository.snapshot(), [kept, gone, new])
    assert list(held.ids) == [kept, new]
    words = [held.vocabulary.words[number] for number in held.tokens[held.owner == 0]]
    assert "hoists" in words and "lifts" not in words


def test_an_older_state_is_read_beside_a_newer_one(repository: MemoryRepository, add: Add) -> None:
    index = WordIndex()
    one = add("Harbour:crane", "The crane lifts tons")
    older = repository.snapshot()
    two = add("Harbour:gate", "The gate is locked")
    assert list(index.of(repository.snapshot(), [one, two]).ids) == [one, two]
    assert list(index.of(older, [one, two]).ids) == [one]
