from __future__ import annotations

import pytest

from memories.retrieval import Mode, Route
from memories.retrieval.router import is_id_shaped, route_of
from memories.text.query import analyse


@pytest.mark.parametrize(
    "query",
    [
        'where is "blue proxy" mentioned',
        "what reads /etc/gateway/main.conf",
        "who edits ~/notes/todo.md",
        "port=7777",
        "what sets max_upload_mb",
        "gateway.timeout.seconds",
        "Api2Gateway",
        "the exact wording of the backup rule",
        "give me the rule verbatim",
        "cite mot à mot la règle de sauvegarde",
        "gjengi regelen ordrett",
        "wörtlich die Regel zur Sicherung",
        "la regla de copias literalmente",
    ],
)
def test_literal_questions_go_the_lexical_way(query: str) -> None:
    assert route_of(analyse(query), Mode.AUTO) is Route.LEXICAL


@pytest.mark.parametrize(
    "query",
    [
        "what depends on the gateway",
        "which service uses the blue proxy",
        "what is the scanner part of",
        "de quoi dépend la passerelle",
        "quels services sont liés au proxy",
        "hva avhenger av porten",
        "hva er skanneren en del av",
        "wovon hängt das Tor ab, was benötigt es",
        "qué depende de la pasarela",
    ],
)
def test_questions_about_relations_go_the_graph_way(query: str) -> None:
    assert route_of(analyse(query), Mode.AUTO) is Route.GRAPH


@pytest.mark.parametrize(
    "query",
    [
        "how does the client/server split work",
        "when is the nightly backup",
        "quand part la sauvegarde",
        "når tas sikkerhetskopien",
        "wann läuft die Sicherung",
        "cuándo se hace la copia",
        "independent films of the nineties",
    ],
)
def test_all_others_go_the_hybrid_way(query: str) -> None:
    assert route_of(analyse(query), Mode.AUTO) is Route.HYBRID


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL, Mode.GRAPH])
def test_a_mode_that_is_given_decides(mode: Mode) -> None:
    assert route_of(analyse('"blue proxy" depends on port=7777'), mode) == Route(mode)


@pytest.mark.parametrize(
    "name", ["1b9d6bcd-bbf", "1b9d6bcd-bbfd-4b2d-9", "1B9D6BCD-BBFD-4B2D-9B5D-AB8DFBBD4BED"]
)
def test_all_three_lengths_of_ids_are_recognised(name: str) -> None:
    assert is_id_shaped(f" {name} ")


@pytest.mark.parametrize(
    "text", ["deadbeefcafe", "1b9d6bcd-bb", "CL-0478", "what is 1b9d6bcd-bbf", "2026-11-30-a"]
)
def test_hashes_tickets_and_sentences_are_no_ids(text: str) -> None:
    assert not is_id_shaped(text)
