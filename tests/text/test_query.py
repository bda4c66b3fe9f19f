from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.text.normalise import fold, index_text, tokens
from memories.text.query import MAX_EXACT, MAX_TERMS, TermRole, analyse

TEXT = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            [
                "ApiGateway",
                "foo_bar",
                "/etc/hosts",
                "k=v",
                "k = v",
                '"a b"',
                "東京都",
                "don't",
                "the",
                "die",
                "x",
            ]
        ),
    )
).map(" ".join)


def terms(query: str) -> list[str]:
    return [term.word for term in analyse(query).terms]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is the gateway port?", ["gateway", "port"]),
        ("When did Alice move to Oslo", ["alice", "move", "oslo"]),
        ("quel est le port de la passerelle ?", ["port", "passerelle"]),
        ("comment configurer nginx pour docker", ["configurer", "nginx", "docker"]),
        ("hva er passordet til databasen?", ["passordet", "databasen"]),
        ("hvordan kobler jeg til VPN", ["kobler", "vpn"]),
        ("wie ist die Temperatur im Keller", ["temperatur", "keller"]),
        ("¿cuál es el puerto del servidor?", ["puerto", "servidor"]),
        ("don't restart", ["restart"]),
    ],
)
def test_question_and_function_words_are_dropped(query: str, expected: list[str]) -> None:
    assert terms(query) == expected


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("what is the die casting temperature", "die"),
        ("car rental port", "car"),
        ("er model", "er"),
        ("vi editor settings", "vi"),
        ("what is the CAN bus speed", "can"),
        ("MIT license", "mit"),
        ("which man page", "man"),
        ("what hat does she wear", "hat"),
    ],
)
def test_words_of_content_that_another_language_drops_are_kept(query: str, kept: str) -> None:
    assert kept in terms(query)


@pytest.mark.parametrize(
    "query",
    ["", "   ", "...!?", "«»“”", "()[]{}", "what is the", "to be or not to be", "hva er det", "was ist das",
     "qu'est-ce que c'est ?", "¿qué es esto?", "\u200b\u200e", "\ud800"],
)  # fmt: skip
def test_queries_without_content_are_empty(query: str) -> None:
    asked = analyse(query)
    assert asked.is_empty
    assert asked.lexical_query == ""


def test_a_quoted_phrase_of_stop_words_is_looked_for() -> None:
    asked = analyse('"to be or not to be"')
    assert asked.phrases == ("to be or not to be",)
    assert not asked.is_empty


@pytest.mark.parametrize(
    "query", ['say "Blue  Café"', "«Blue Café»", "“Blue Café”", "„Blue Café“", "»Blue Café«"]
)
def test_quoted_phrases_are_folded(query: str) -> None:
    assert analyse(query).phrases == ("blue cafe",)
    assert analyse(query).phrases[0] in fold("The Blue Café opens")


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("what is in /etc/nginx/nginx.conf?", ("/etc/nginx/nginx.conf",)),
        ("open ~/.hermes/config.yaml", ("~/.hermes/config.yaml",)),
        ("look at (/srv/data/)", ("/srv/data",)),
        ("C:\\Users\\Ola\\x.txt", ("c:\\users\\ola\\x.txt",)),
        ("db_path=/var/lib/x", ("/var/lib/x",)),
        ("client/server and 24/7 or a / b", ()),
        ("/ and ~ and /2", ()),
    ],
)
def test_paths_have_shape_and_boundary(query: str, paths: tuple[str, ...]) -> None:
    assert analyse(query).paths == paths


@pytest.mark.parametrize("query", ["port=7777", "port = 7777", 'port="7777"', "Port =7777"])
def test_assignments_are_found_with_and_without_blanks(query: str) -> None:
    asked = analyse(query)
    assert asked.assignments == ("port=7777",)
    assert [term.word for term in asked.terms] == ["port", "7777"]


@pytest.mark.parametrize(
    ("query", "identifiers"),
    [
        ("where is embed_model set", ("embed_model",)),
        ("os.path.join", ("os.path.join",)),
        ("Http2Server", ("http2server",)),
        ("gpt-4 or v1.2.3", ("gpt-4", "v1.2.3")),
        ("ERR_42", ("err_42",)),
        ("well-known client/server on 3.11 at 10:30, e.g. GitHub or node.js", ()),
        ("2024-01-05", ()),
    ],
)
def test_identifiers_have_the_shape_of_code(query: str, identifiers: tuple[str, ...]) -> None:
    assert analyse(query).identifiers == identifiers


@pytest.mark.parametrize("asked", ["ApiGateway", "api_gateway", "api-gateway", "apigateway", "API Gateway"])
@pytest.mark.parametrize("written", ["ApiGateway", "api_gateway", "api-gateway"])
def test_compound_names_match_however_they_are_written(asked: str, written: str) -> None:
    found = set(index_text(domain="D", subject="S", facts=[f"Restart {written} first"], tags=[]).split())
    assert all(term.variants & found for term in analyse(asked).terms)


def test_a_name_of_stop_words_is_one_term() -> None:
    assert terms("what is to_do") == ["to_do"]
    assert terms("show me /etc") == ["/etc"]
    assert terms("who/what") == []


@pytest.mark.parametrize(
    "query",
    [
        "the exact command",
        "donne mot pour mot la règle",
        "ordrett svar",
        "wörtlich bitte",
        "cita literalmente",
    ],
)
def test_words_for_the_exact_wording_are_noticed(query: str) -> None:
    asked = analyse(query)
    assert asked.asks_literally
    assert any(term.role is TermRole.LITERAL for term in asked.terms)


@pytest.mark.parametrize(
    "query",
    ["what depends on the gateway", "what is part of the stack", "de quoi dépend le service",
     "hva henger sammen med x", "was hängt von Redis ab", "qué servicios están conectados"],
)  # fmt: skip
def test_words_for_relations_are_noticed(query: str) -> None:
    assert analyse(query).asks_relations


def test_relation_words_are_whole_words() -> None:
    assert not analyse("independent linkage of party offices").asks_relations


def test_literal_words_are_not_sent_unless_alone() -> None:
    assert "verbatim" not in analyse("verbatim backup rule").lexical_query.split()
    assert "verbatim" in analyse("verbatim").lexical_query.split()


def test_terms_are_distinct() -> None:
    assert terms("Port port PORT pórt") == ["port"]


def test_the_engine_gets_no_stems_of_languages_the_query_is_not_in() -> None:
    sent = analyse("what are the settings of the server").lexical_query.split()
    assert {word[:2] for word in sent if "^" in word} == {"en"}
    assert {"nb", "en"} <= {word[:2] for word in analyse("server").lexical_query.split() if "^" in word}


@pytest.mark.parametrize(
    "query",
    [" ".join(f"word{n}" for n in range(2000)), "x" * 10_000, "東京都庁" * 2500, '"a" ' * 2500, "a." * 5000,
     "/x" * 5000, "k=" * 5000, "«" * 10_000, "a_B" * 3333, "'" * 10_000, "é\u0301" * 5000],
    ids=lambda query: query[:4],
)  # fmt: skip
def test_long_queries_are_bounded(query: str) -> None:
    asked = analyse(query)
    assert len(asked.terms) <= MAX_TERMS
    assert max(map(len, (asked.phrases, asked.paths, asked.assignments, asked.identifiers))) <= MAX_EXACT
    assert len(set(asked.lexical_query.split())) == len(asked.lexical_query.split())


@given(TEXT)
def test_analysis_never_raises_and_terms_are_tokens(text: str) -> None:
    asked = analyse(text)
    assert all(term.word in term.variants and term.word.split() == [term.word] for term in asked.terms)
    assert asked.is_empty == (not asked.lexical_query)


@given(TEXT)
def test_every_term_of_a_text_is_found_in_that_text(text: str) -> None:
    found = set(index_text(domain="D", subject="S", facts=[text], tags=[]).split())
    assert all(term.variants & found for term in analyse(text).terms)


@given(TEXT)
def test_paths_and_identifiers_of_a_text_are_tokens_of_it(text: str) -> None:
    asked = analyse(text)
    assert {*asked.paths, *asked.identifiers} <= set(tokens(text.replace(" = ", "=")))
