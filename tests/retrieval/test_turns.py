"""How turns of conversations are scored."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memories.retrieval.question import Question
from memories.retrieval.turns import TurnCandidate, decay, score_turns, standing, turn_evidence
from memories.text.normalise import index_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
QUESTION = Question.of("which bread did Maren bake for the harbour feast?")


def _turn(name: str, text: str, **more: object) -> TurnCandidate:
    counts = Counter(index_text(domain="", subject="", facts=[text], tags=[]).split())
    turn = TurnCandidate(name, counts, 0.3, 0.3, "s1", 0, "", 0.5, NOW)
    return replace(turn, **more)  # type: ignore[arg-type]


def _order(*turns: TurnCandidate) -> list[str]:
    return [row.id for row in score_turns(QUESTION, turns, NOW)]


def test_more_of_the_questions_words_rank_higher() -> None:
    few, many = _turn("few", "the harbour was cold"), _turn("many", "bread for the harbour feast")
    other = _turn("other", "we painted the door", session="s2")
    assert _order(few, other, many) == ["many", "few", "other"]


def test_a_turn_gains_by_what_stands_beside_it_in_its_session_only() -> None:
    answer = _turn("answer", "rye, with a lot of salt", position=1)
    elsewhere = replace(answer, id="elsewhere", session="s2")
    asked = _turn("asked", "which bread for the harbour feast?", position=0)
    assert _order(elsewhere, answer, asked) == ["asked", "answer", "elsewhere"]


def test_who_is_named_in_the_question_goes_first() -> None:
    text = "bread for the harbour feast"
    hers = _turn("hers", text, speaker="Maren", listener="Ola", session="a")
    his = _turn("his", text, speaker="Ola", listener="Maren", session="b")
    assert _order(his, hers) == ["hers", "his"]
    assert turn_evidence(QUESTION, hers) == pytest.approx(2 * turn_evidence(QUESTION, his))


def test_ties_go_by_id() -> None:
    assert _order(_turn("b", "x", session="1"), _turn("a", "x", session="2")) == ["a", "b"]


def test_age_and_trust_order_what_is_alike_and_bury_nothing() -> None:
    text = "bread for the harbour feast"
    old = _turn("old", text, session="a", trust=1.0, last_seen=NOW - timedelta(days=300))
    fresh = _turn("fresh", text, session="b", trust=1.0)
    beside = _turn("weak", "the feast was cold", session="c", trust=1.0)
    assert _order(old, beside, fresh) == ["fresh", "old", "weak"]


def test_standing_is_between_085_and_1() -> None:
    assert standing(0.5, NOW, NOW) == 0.85
    assert standing(1.0, NOW, NOW) == 1.0
    assert 0.85 < standing(1.0, NOW - timedelta(days=30), NOW) < 1.0


def test_decay_halves_in_thirty_days_and_never_exceeds_one() -> None:
    assert decay(NOW - timedelta(days=30), NOW) == pytest.approx(0.5)
    assert decay(NOW + timedelta(days=3), NOW) == 1.0


def test_evidence_depends_on_the_question_and_the_turn_alone() -> None:
    turn = _turn("t", "bread for the harbour feast", centred=0.6)
    alone = score_turns(QUESTION, [turn], NOW)[0]
    among = next(
        row
        for row in score_turns(QUESTION, [turn, *(_turn(str(n), "bread feast") for n in range(50))], NOW)
        if row.id == "t"
    )
    assert (alone.evidence, alone.passed) == (among.evidence, among.passed)


def test_nothing_in_common_is_no_evidence_however_near_the_meaning() -> None:
    assert turn_evidence(QUESTION, _turn("t", "we painted the door", centred=0.9)) == 0.0


def test_a_strong_answer_passes_and_a_stray_word_does_not() -> None:
    answer = _turn("yes", "Maren baked rye bread for the harbour feast", centred=0.7)
    stray = _turn("no", "the bread was dry", centred=0.2)
    passed = {row.id: row.passed for row in score_turns(QUESTION, [answer, stray], NOW)}
    assert passed == {"yes": True, "no": False}


def test_no_candidates_give_no_rows() -> None:
    assert score_turns(QUESTION, [], NOW) == []
