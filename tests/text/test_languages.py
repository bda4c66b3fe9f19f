from __future__ import annotations

import pytest

from memories.text.languages import (
    Language,
    evidence,
    folded_entries,
    languages_of_stop_word,
    languages_seen,
    noise_words,
    read_entries,
    technology_words,
)

KINDS = ("stop", "question", "relation", "literal")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", Language)
def test_every_language_has_every_list(kind: str, language: Language) -> None:
    assert len(folded_entries(f"{kind}.{language}")) >= 7


def test_lists_are_as_long_as_the_contract_asks() -> None:
    assert len(technology_words()) >= 180
    assert len(folded_entries("noise")) >= 140 + 60
    assert {"aldri", "viktig"} <= noise_words()


def test_technology_is_listed_once() -> None:
    entries = [entry.lower() for entry in read_entries("technology")]
    assert sorted(entries) == sorted(set(entries))


def test_ambiguous_words_are_stop_words_somewhere() -> None:
    assert not folded_entries("ambiguous") - languages_of_stop_word().keys()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the server is restarted when the disk is full", Language.ENGLISH),
        ("le serveur est dans la salle avec les autres", Language.FRENCH),
        ("serveren er ikke startet på grunn av feil i oppsettet", Language.NORWEGIAN),
        ("der server ist nicht erreichbar und wird neu gestartet", Language.GERMAN),
        ("el servidor no está disponible para los usuarios", Language.SPANISH),
    ],
)
def test_function_words_show_the_language(text: str, language: Language) -> None:
    found = evidence(text.split(), text)
    assert max(found, key=lambda one: found[one]) is language


def test_nothing_is_seen_in_names_alone() -> None:
    assert languages_seen(evidence(["postgresql", "gateway"]), least=0.5) == ()
