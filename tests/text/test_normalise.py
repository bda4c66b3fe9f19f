from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.text.normalise import index_text, tokens

PIECES = st.sampled_from(
    ["ApiGateway", "Http2Server", "foo_bar", "foo-bar", "a.b.c", "v1.2.3", "/etc/hosts", "~/x.md",
     "C:\\a\\b", "k=v", "k=/a/b", "don't", "l'API", "https://a.org/x?y=z", "a@b.org", "foo::bar", "10:30",
     "2024-01-05", "ab12cd34", "ab12cd34" * 9, "x~y", "'=a", "en^x", "C++", ".env", "((", "''",
     "=", "/", "\\", "~", ".", "--", "_", "++", "#", "東京都", "人工智能", "ไทยแลนด์한국어", "straße", "İx",
     "🚀", "é", "\u0301", "ａＢ", "١", "\u200b", "\ud800", "\x00", "\u2028"]
)  # fmt: skip
MIXED_TEXT = st.lists(st.one_of(PIECES, st.text(max_size=6), st.just(" "))).map("".join)


def indexed(*facts: str, subject: str = "S", tags: tuple[str, ...] = ()) -> set[str]:
    return set(index_text(domain="D", subject=subject, facts=facts, tags=tags).split(" "))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ApiGateway", {"apigateway", "api", "gateway"}),
        ("api_gateway", {"api_gateway", "apigateway", "api", "gateway"}),
        ("api-gateway", {"api-gateway", "apigateway", "api", "gateway"}),
        ("os.path.join", {"os.path.join", "os", "path", "join"}),
        ("node.js", {"node.js", "nodejs", "node", "js"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("python3", {"python3", "python", "3"}),
        ("utf-8", {"utf-8", "utf8", "utf", "8"}),
        ("v1.2.3", {"v1.2.3", "1.2.3", "1.2", "1", "2", "3"}),
        ("port=7777", {"port=7777", "port", "7777"}),
        ("name='foo'", {"name=foo", "name", "foo"}),
        ("qwen2.5:7b", {"qwen2.5:7b", "qwen2.5", "qwen2", "qwen", "2", "5", "7b"}),
        ("client/server", {"client/server", "client", "server"}),
    ],
)
def test_identifiers_are_indexed_whole_and_in_parts(text: str, expected: set[str]) -> None:
    assert set(tokens(text)) == expected


def test_paths_are_indexed_whole_and_in_parts() -> None:
    found = set(tokens("/etc/nginx/nginx.conf"))
    assert {"/etc/nginx/nginx.conf", "etc", "nginx", "nginx.conf", "conf"} <= found
    assert {"~/.hermes/config.yaml", ".hermes", "hermes", "config.yaml"} <= {
        *tokens("(see ~/.hermes/config.yaml)"),
        *tokens("~/.hermes"),
    }
    assert {"c:\\users\\ola", "users", "ola"} <= set(tokens("C:\\Users\\Ola"))


def test_addresses_are_indexed_whole_and_in_parts() -> None:
    found = set(tokens("https://docs.example.org:8080/guide?page=2."))
    assert {"https://docs.example.org:8080/guide?page=2", "docs.example.org", "guide", "page", "2"} <= found


def test_value_of_an_assignment_keeps_its_path() -> None:
    assert {"db_path=~/x/y", "db_path", "~/x/y"} <= set(tokens("db_path=~/x/y"))


def test_known_product_names_and_one_letter_humps_stay_whole() -> None:
    assert tokens("JavaScript iPhone APIs") == ["javascript", "iphone", "apis"]


def test_signs_that_belong_to_a_name_stay() -> None:
    assert tokens("C++ C# .NET count++ section#") == ["c++", "c#", ".net", "net", "count", "section"]


def test_elisions_and_contractions() -> None:
    assert tokens("l'API d'accord qu’il Alice's don't O’Brien 'quoted'") == [
        "api", "accord", "il", "alice", "dont", "obrien", "quoted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("dépendances", "dependances"),
        ("dependances", "dépendances"),
        ("Smørbrød", "smorbrod"),
        ("Größe", "grosse"),
    ],
)
def test_accents_match_both_ways(written: str, asked: str) -> None:
    assert set(tokens(asked)) <= indexed(f"Voir {written} ici")


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("我们正在研究人工智能的应用", "人工智能"),
        ("我们正在研究人工智能的应用", "智能"),
        ("サーバーは東京都にあります", "東京"),
        ("데이터베이스서버는서울에있다", "서버"),
        ("ฉันใช้ภาษาไทยทุกวัน", "ไทย"),
        ("东京tower是地标", "tower"),
    ],
)
def test_scripts_without_blanks_are_found_inside_longer_words(sentence: str, asked: str) -> None:
    assert set(tokens(asked)) <= indexed(sentence)


def test_a_character_that_stands_alone_is_a_token() -> None:
    assert tokens("京 と") == ["京", "と"]


def test_right_to_left_text_and_emoji_are_found() -> None:
    assert {"שלום", "עולם", "قاعدة", "🚀"} <= indexed("שלום עולם, قاعدة البيانات 🚀!")


def test_a_sixty_character_identifier_is_kept_whole_with_its_parts() -> None:
    name = "retrieval_evidence_gate_calibration_threshold_for_unknown_ids"
    assert len(name) > 59
    assert {name, "calibration", "threshold"} <= indexed(name)


def test_a_token_over_64_characters_is_also_found_by_its_ends() -> None:
    digest = "9f86d081884c7d659a2feaa0c55ad015" * 4
    assert {digest, digest[:8], digest[:12], digest[:64], digest[-8:]} <= set(tokens(digest))


def test_subject_domain_and_tags_are_included() -> None:
    found = set(index_text(domain="Infra", subject="Api_Gateway", facts=["Up."], tags=["Home lab"]).split())
    assert {"infra", "api_gateway", "gateway", "home", "lab", "up"} <= found


def test_english_memories_carry_no_stems_of_other_languages() -> None:
    stems = {token for token in indexed("The sockets are closed by the server after use") if "^" in token}
    assert "en^socket" in stems
    assert {stem[:2] for stem in stems} == {"en"}


def test_norwegian_memories_carry_norwegian_stems() -> None:
    assert "nb^tjenest" in indexed("Alle tjenestene kjører på denne maskinen")


def test_function_words_carry_no_stem() -> None:
    assert "en^this" not in indexed("This is here")


@given(MIXED_TEXT)
def test_any_text_gives_clean_tokens(text: str) -> None:
    for token in tokens(text):
        assert token
        assert token.split() == [token]
        assert "^" not in token
        token.encode("utf-8")


@given(MIXED_TEXT)
def test_tokens_of_tokens_are_the_same_set(text: str) -> None:
    once = tokens(text)
    assert set(tokens(" ".join(once))) == set(once)


@given(
    st.text(max_size=9),
    st.text(max_size=9),
    st.lists(MIXED_TEXT, max_size=3),
    st.lists(st.text(), max_size=2),
)
def test_index_text_is_blank_joined_tokens(
    domain: str, subject: str, facts: list[str], tags: list[str]
) -> None:
    text = index_text(domain=domain, subject=subject, facts=facts, tags=tags)
    assert text.split() == [token for token in text.split(" ") if token]
    assert set(tokens("\n".join(facts))) <= set(text.split())
