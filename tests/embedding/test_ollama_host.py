from __future__ import annotations

import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.ollama_host import parse_ollama_host


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("localhost:9999", "http://localhost:9999"),
        (":9999", "http://127.0.0.1:9999"),
        ("  nas.lan  ", "http://nas.lan:11434"),
        ("http://nas.lan", "http://nas.lan:11434"),
        ("http://nas.lan:80/", "http://nas.lan:80"),
        ("https://nas.lan", "https://nas.lan:443"),
        ("https://nas.lan/ollama/", "https://nas.lan:443/ollama"),
        ("https://me:secret@nas.lan", "https://me:secret@nas.lan:443"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9999", "http://127.0.0.1:9999"),
        ("http://0.0.0.0:9999", "http://127.0.0.1:9999"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:9999", "http://[::1]:9999"),
        ("::", "http://[::1]:11434"),
        ("[fe80::2]:9999", "http://[fe80::2]:9999"),
    ],
)
def test_every_way_to_write_it_gives_an_address(text: str, url: str) -> None:
    assert parse_ollama_host(text).url == url


@pytest.mark.parametrize(
    "text", ["", "localhost", "0.0.0.0", "127.3.2.1", "::1", "[::]:80", "http://localhost:1"]
)
def test_this_machine_is_recognised(text: str) -> None:
    assert parse_ollama_host(text).is_loopback


@pytest.mark.parametrize("text", ["nas.lan", "192.168.1.4", "localhost.example.org", "[fe80::2]"])
def test_another_machine_is_recognised(text: str) -> None:
    assert not parse_ollama_host(text).is_loopback


@pytest.mark.parametrize(
    "text", ["ftp://nas.lan", "nas.lan:port", "nas.lan:99999", "http://[::1", "unix:///sock"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(MemsuiteError) as refusal:
        parse_ollama_host(text)
    assert refusal.value.code is ErrorCode.EMBEDDING_FAILED


def test_a_password_is_in_no_message() -> None:
    assert parse_ollama_host("http://me:secret@nas.lan").label == "nas.lan:11434"
    with pytest.raises(MemsuiteError) as refusal:
        parse_ollama_host("http://me:secret@nas.lan:port")
    assert "secret" not in str(refusal.value.as_answer())
