from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.retrieval.calibration import calibration_for, words_only
from memories.retrieval.document import Document
from memories.retrieval.evidence import AGAINST, Evidence, Gate, evidence_of, judge
from memories.retrieval.question import Match, Question
from tests.retrieval.documents import document

MINILM = "builtin/all-MiniLM-L6-v2-int8@384#mean-l2-256-v1"
STATIC = "static/wordllama-l2-supercat@256#mean-l2-v1"
GATES = [words_only().gate, calibration_for(MINILM).gate, calibration_for(STATIC).gate]

share = st.floats(0, 1)
evidences = st.builds(
    Evidence,
    **{field.name: share if field.name != "centred" else st.floats(-1, 1) for field in fields(Evidence)},
)
queries = st.text(max_size=60) | st.lists(
    st.sampled_from(
        ["blue", "proxy", "Orchard", "port=7777", "~/x/y.txt", '"night run"', "snake_case", "東京", "🦊"]
    ),
    max_size=6,
).map(" ".join)


def _evidence(query: str, memory: Document, centred: float = 0.0) -> Evidence:
    return evidence_of(Match.of(Question.of(query), memory), centred)


@pytest.mark.parametrize("gate", GATES)
@given(evidence=evidences, name=st.sampled_from([field.name for field in fields(Evidence)]), more=share)
def test_more_evidence_never_lowers_the_value(gate: Gate, evidence: Evidence, name: str, more: float) -> None:
    before = getattr(evidence, name)
    raised = replace(evidence, **{name: before + more * (1 - before)})
    if name in AGAINST:
        assert gate.value(raised) <= gate.value(evidence)
    else:
        assert gate.value(raised) >= gate.value(evidence)


@pytest.mark.parametrize("gate", GATES)
@given(evidence=evidences)
def test_a_value_is_a_share(gate: Gate, evidence: Evidence) -> None:
    assert 0 <= gate.value(evidence) <= 1


@settings(deadline=None)  # the first query reads the word lists
@given(query=queries, centred=st.floats(-1, 1))
def test_any_query_has_a_verdict_within_bounds(query: str, centred: float) -> None:
    memory = document("Orchard:gateway", "The blue proxy listens on port=7777")
    evidence = _evidence(query, memory, centred)
    for name, value in evidence.features().items():
        assert -1 <= value <= 1 + 1e-9, name


@given(query=queries)
def test_a_verdict_does_not_remember_what_was_asked_or_compared_before(query: str) -> None:
    memory = document("Orchard:gateway", "The blue proxy listens on port=7777")
    gate = words_only().gate
    alone = judge(Match.of(Question.of(query), memory), 0.2, gate)
    question = Question.of(query)
    for other in ("Harbour:crane", "Orchard:proxies"):
        judge(Match.of(question, document(other, "blueish proxys and portes, nights running")), 0.9, gate)
    assert judge(Match.of(question, memory), 0.2, gate) == alone


def test_coverage_weighs_words_by_how_rare_they_are() -> None:
    memory = document("Orchard:gateway", "The qzxvlorp is blue")
    rare, common = _evidence("qzxvlorp house", memory), _evidence("kvlmwort blue", memory)
    assert rare.coverage > 0.5 > common.coverage


def test_a_name_the_memory_lacks_counts_against_it() -> None:
    memory = document("Tidewater:backup", "The nightly copy runs at two")
    assert _evidence("when does the Tidewater backup run", memory).about == 0
    assert _evidence("when does the Quillmark backup run", memory).about == 1


def test_exact_parts_are_found_whole_or_count_against() -> None:
    memory = document("Orchard:gateway", "Logs go to /var/log/gate.log and port=7777 is open")
    for query in ("/var/log/gate.log", "port=7777", '"port=7777 is open"', "what is in /var/log/gate.log?"):
        assert (_evidence(query, memory).exact, _evidence(query, memory).about) == (1, 0), query
    for query in ("/var/log/gate.txt", "port=777", '"ort=7777 is"'):
        assert (_evidence(query, memory).exact, _evidence(query, memory).about) == (0, 1), query


def test_a_phrase_is_found_inside_scripts_without_blanks() -> None:
    assert _evidence('"京都"', document("旅:計画", "東京都の港で会う")).exact == 1


def test_the_subject_counts_without_the_names_unless_there_is_nothing_else() -> None:
    overview = document("projects:Tidewater", "Berths for small marinas")
    assert _evidence("what is Tidewater", overview).subject == 1
    assert _evidence("what does Tidewater cost", overview).subject == 0
    assert _evidence("what does Tidewater cost", overview).named == 1


def test_first_and_last_name_say_no_more_than_one_of_them() -> None:
    memory = document("people:Qzxvlorp Tremmlaine birthday", "Born in May")
    both, one = _evidence("Qzxvlorp Tremmlaine's car", memory), _evidence("Qzxvlorp's car", memory)
    assert both.mass == pytest.approx(one.mass, abs=0.02)


def test_what_is_asked_for_most_is_held_or_is_not() -> None:
    backup = document("Tidewater:copies", "The backup of each night goes to the attic")
    assert _evidence("when does the Tidewater backup run", backup).aimed == 1
    assert _evidence("which allergy has Tidewater", backup).aimed == 0


def test_the_right_thing_under_another_name_hits_nothing() -> None:
    memory = document("Tidewater:backup", "The nightly copy runs at two")
    assert _evidence("Tidewater backup", memory).hit > 0.9
    assert _evidence("Quillmark backup", memory).hit == 0


def test_a_memory_that_shows_a_command_is_about_one() -> None:
    shown, silent = document("Orchard:gate", "Open it with `make up`."), document("Orchard:gate", "It opens.")
    assert "command" in shown.concepts
    assert "command" not in silent.concepts


def test_one_everyday_word_is_little_and_one_distinctive_word_is_much() -> None:
    memory = document("Orchard:gateway", "The qzxvlorp house")
    assert _evidence("house", memory).mass < _evidence("qzxvlorp", memory).mass
    assert (_evidence("house", memory).bare, _evidence("qzxvlorp", memory).bare) == (0, 1)


def test_two_words_found_are_keywords_and_one_is_not() -> None:
    memory = document("Orchard:gateway", "The house stands by the river")
    assert _evidence("river house", memory).whole > 0
    assert _evidence("house", memory).whole == _evidence("river bridge", memory).whole == 0


@pytest.mark.parametrize("gate", GATES)
def test_one_distinctive_word_is_enough_without_any_help_from_meaning(gate: Gate) -> None:
    memory = document("Orchard:gateway", "The qzxvlorp hangs behind the door of the shed since the spring")
    assert judge(Match.of(Question.of("qzxvlorp"), memory), 0.0, gate).passed


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    "query", ["capital of Mongolia", "how do I whiten piano keys", "comment cuire des lentilles"]
)
def test_a_foreign_question_is_not(gate: Gate, query: str) -> None:
    memory = document("Orchard:gateway", "The blue proxy listens on port=7777 behind the door")
    assert not judge(Match.of(Question.of(query), memory), 0.3, gate).passed
