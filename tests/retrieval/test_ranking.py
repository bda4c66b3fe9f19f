from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memories.retrieval.calibration import words_only
from memories.retrieval.candidates import Candidate
from memories.retrieval.document import Document
from memories.retrieval.question import Match, Question
from memories.retrieval.ranking import (
    Ranked,
    bm25_share,
    limit_subjects,
    near_ties_settled,
    rank,
    replacements_first,
)
from tests.retrieval.documents import document

QUESTION = Question.of("the blue proxy")


def _candidate(memory: Document, cosine: float = 0.0) -> Candidate:
    return Candidate(memory, cosine, cosine, 1.0, None)


def _ranked(
    *memories: Document, question: Question = QUESTION, cosines: Sequence[float] = ()
) -> list[Ranked]:
    given_cosines = cosines or [0.0] * len(memories)
    candidates = [_candidate(memory, cosine) for memory, cosine in zip(memories, given_cosines, strict=True)]
    return rank(question, candidates, words_only(), literal=False)


def _ids(rows: Sequence[Ranked]) -> list[str]:
    return [row.id for row in rows]


def test_the_share_grows_with_what_is_found_and_stays_below_one() -> None:
    none, one, both = (
        bm25_share(Match.of(QUESTION, document("Orchard:apples", fact)), 20.0)
        for fact in ("A red pear", "A red proxy", "A blue proxy, a blue proxy, a blue proxy")
    )
    assert 0 == none < one < both < 1


def test_a_repeated_query_word_counts_once() -> None:
    memory = document("Orchard:gate", "A blue door")
    once, thrice = Question.of("blue proxy"), Question.of("blue blue blue proxy")
    assert bm25_share(Match.of(once, memory), 20.0) == bm25_share(Match.of(thrice, memory), 20.0)


def test_a_longer_memory_says_less_with_the_same_word() -> None:
    short = document("Orchard:gate", "A blue proxy")
    long = document("Orchard:gate", "A blue proxy " + "stands behind many other things " * 12)
    assert bm25_share(Match.of(QUESTION, short), 20.0) > bm25_share(Match.of(QUESTION, long), 20.0)


def test_the_order_does_not_depend_on_the_order_of_the_candidates() -> None:
    memories = [
        document("Orchard:gate", f"A blue {word}", memory_id=f"m{at}") for at, word in enumerate("abcdef")
    ]
    expected = _ids(_ranked(*memories))
    shuffled = random.Random(3).sample(memories, len(memories))
    assert _ids(_ranked(*shuffled)) == expected == sorted(expected)


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    memory, other = (
        document("Orchard:gate", "A blue proxy"),
        document("Harbour:crane", "lifts", memory_id="m2"),
    )
    assert _ranked(memory)[0] in _ranked(other, memory)


def test_a_literal_question_moves_weight_from_meaning_to_words() -> None:
    said, meant = document("A:a", "blue proxy", memory_id="said"), document("B:b", "red", memory_id="meant")
    candidates = [_candidate(said, 0.1), _candidate(meant, 0.9)]

    def gap(literal: bool) -> float:
        scores = {row.id: row.score for row in rank(QUESTION, candidates, words_only(), literal=literal)}
        return scores["said"] - scores["meant"]

    assert gap(literal=True) > gap(literal=False)


def test_approval_then_quality_settle_a_near_tie() -> None:
    plain = document("Orchard:gate", "A blue proxy", memory_id="a")
    good = document("Orchard:gate", "A blue proxy", memory_id="b", quality=0.9)
    approved = document("Orchard:gate", "A blue proxy", memory_id="c", approved_by="ada")
    rows = _ranked(plain, good, approved, cosines=[0.02, 0.01, 0.0])
    assert _ids(rows) == ["a", "b", "c"]
    assert _ids(near_ties_settled(rows)) == ["c", "b", "a"]


def test_beyond_two_percent_quality_changes_nothing() -> None:
    plain = document("Orchard:gate", "A blue proxy", memory_id="a")
    good = document("Orchard:gate", "A blue proxy", memory_id="b", quality=1.0, approved_by="ada")
    assert _ids(near_ties_settled(_ranked(plain, good, cosines=[0.5, 0.0]))) == ["a", "b"]


def test_at_most_two_of_one_subject() -> None:
    memories = [
        document("Orchard:gateway", f"A blue proxy {word}", memory_id=word) for word in ("x1", "x2", "x3")
    ]
    kept, suppressed = limit_subjects(QUESTION, _ranked(*memories))
    assert (len(kept), len(suppressed)) == (2, 1)


def test_a_subject_asked_by_name_is_not_limited() -> None:
    question = Question.of("gateway blue proxy")
    memories = [
        document("Orchard:gateway", f"A blue proxy {word}", memory_id=word) for word in ("x1", "x2", "x3")
    ]
    kept, _ = limit_subjects(question, _ranked(*memories, question=question))
    assert len(kept) == 3


def test_what_replaces_comes_before_what_it_replaced() -> None:
    assert replacements_first(["old", "other", "new"], {"old": "new"}) == ["new", "old", "other"]
    assert replacements_first(["a"], {"a": "b", "b": "c"}) == ["c", "b", "a"]


@given(
    st.lists(st.sampled_from("abcde"), unique=True),
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from("abcde")),
)
def test_even_circles_of_replacements_end_and_lose_nothing(
    names: list[str], replaced: dict[str, str]
) -> None:
    placed = replacements_first(names, replaced)
    assert set(names) <= set(placed)
    assert len(placed) == len(set(placed))
