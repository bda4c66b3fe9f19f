"""Which kind of thing answers a question, and which memories hold one."""

from __future__ import annotations

import pytest

from memories.retrieval.evidence import evidence_of
from memories.retrieval.kinds import kinds_asked, words_asked
from memories.retrieval.question import Match, Question
from memories.text.concepts import leaves
from tests.retrieval.documents import document


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("who looks after the gate?", ("person",)),
        ("how long are logs kept?", ("duration",)),
        ("how often does it run?", ("frequency",)),
        ("combien de temps dure la sauvegarde ?", ("duration",)),
        ("hvor mange brukere er det?", ("amount",)),
        ("hvilket år startet det?", ("year",)),
        ("à quelle heure est la réunion ?", ("moment",)),
        ("how do I restart it when it hangs?", ()),
        ("the port of the gate", ()),
    ],
)
def test_a_question_asks_for_kinds_by_its_longest_phrases(query: str, kinds: tuple[str, ...]) -> None:
    assert kinds_asked(query) == kinds


@pytest.mark.parametrize(
    ("fact", "held", "lacking"),
    [
        ("Founded in 2019 by the harbour.", {"year", "amount", "moment"}, {"command"}),
        ("Repaired by Ola Nordmann.", {"person"}, {"amount", "year"}),
        ("Runs every Friday.", {"moment", "frequency"}, {"year", "path"}),
        ("Kept in /etc/gate/main.toml.", {"path"}, {"year"}),
        ("Start it with `make up`.", {"command"}, {"year", "amount"}),
    ],
)
def test_a_memory_holds_the_kinds_its_facts_show(fact: str, held: set[str], lacking: set[str]) -> None:
    kinds = document("Orchard:gate", fact).kinds
    assert held <= kinds
    assert not lacking & kinds


def test_a_memory_without_the_kind_asked_for_lacks_it() -> None:
    question = Question.of("in which year was the Orchard gate painted?")
    lacking = [
        evidence_of(Match.of(question, document("Orchard:gate", fact)), 0.5).lacking
        for fact in ("The gate was painted green.", "The gate was painted in 2021.")
    ]
    assert lacking == [1.0, 0.0]


def test_the_thing_asked_for_stands_after_which() -> None:
    assert words_asked(leaves("which port does the API use?")) == {"port"}
    assert words_asked(leaves("combien de jours ?")) == {"jours"}


def test_a_memory_that_does_not_hold_the_thing_asked_for_leaves_it_unnamed() -> None:
    question = Question.of("which zorblatt does Orchard use?")
    unnamed = [
        evidence_of(Match.of(question, document("Orchard:gate", fact)), 0.5).unnamed
        for fact in ("A zorblatt of oak.", "A lock of oak.")
    ]
    assert unnamed == [0.0, 1.0]
