from __future__ import annotations

import pytest

from memories.capture.contradictions import contradiction, forbids, values_in
from memories.repository import Author, MemoryRepository, StoredMemory

AGENT = Author("agent")


def stored(repository: MemoryRepository, fact: str) -> StoredMemory:
    payload = {"domain": "Home", "subject": "Rule", "facts": [fact], "tier": 1, "category": "correction"}
    return repository.get(repository.add(payload, AGENT).memory_id).memory


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The gateway listens on 7788, not 7777.", "The gateway listens on 7777"),
        ("The backup of the NAS starts at 03:00.", "The backup of the NAS starts at 02:00"),
        ("Push to main without a review.", "Never push to main without a review"),
        ("Bruk pnpm i stedet for npm.", "Pakker installeres med npm, bruk alltid den"),
    ],
)
def test_a_contradiction_is_seen(repository: MemoryRepository, sentence: str, fact: str):
    assert contradiction(sentence, stored(repository, fact))


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The gateway listens on 7788.", "The gateway listens on 7788"),
        ("The printer listens on 9100.", "The gateway listens on 7777"),
        ("Never push to main without a review.", "Never push to main without a review"),
        ("Always answer in English.", "Never push to main without a review"),
    ],
)
def test_what_agrees_or_is_about_something_else_is_none(
    repository: MemoryRepository, sentence: str, fact: str
):
    assert contradiction(sentence, stored(repository, fact)) == ""


def test_values_are_numbers_paths_and_hosts():
    assert values_in("Port 7788 on nas.home, config in /etc/app.toml since 3.11.") == {
        "7788",
        "nas.home",
        "/etc/app.toml",
        "3.11",
    }


@pytest.mark.parametrize(
    ("text", "does"), [("Never push.", True), ("Ikke rør den.", True), ("It is 1, not 2.", False)]
)
def test_a_contrast_of_values_forbids_nothing(text: str, does: bool):
    assert forbids(text) is does
