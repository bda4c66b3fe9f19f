from __future__ import annotations

import pytest

from memories.capture.contradictions import contradiction, forbids, opposed, values_in
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
        ("The printer in the hall listens on port 9100.", "The gateway in the hall listens on port 7777"),
        ("Never push to main without a review.", "Never push to main without a review"),
        ("Always answer in English.", "Never push to main without a review"),
    ],
)
def test_what_agrees_or_is_about_something_else_is_none(
    repository: MemoryRepository, sentence: str, fact: str
):
    assert contradiction(sentence, stored(repository, fact)) == ""


def test_each_fact_is_compared_by_itself(repository: MemoryRepository):
    facts = ["The gateway runs on the NAS", "Never restart it by day"]
    payload = {"domain": "Home", "subject": "Rule", "facts": facts, "tier": 1, "category": "correction"}
    memory = repository.get(repository.add(payload, AGENT).memory_id).memory
    assert contradiction("The gateway runs on the NAS.", memory) == ""
    assert contradiction("Restart it by day.", memory)


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


def add(repository: MemoryRepository, subject: str, fact: str, tier: int = 2) -> str:
    payload = {"domain": "Home", "subject": subject, "facts": [fact], "tier": tier, "category": "tech"}
    return repository.add(payload, AGENT).memory_id


def test_a_memory_that_contradicts_a_tier_1_memory_is_found(repository: MemoryRepository):
    critical = add(repository, "Main", "Never push to main without a review", tier=1)
    other = add(repository, "Friday", "Push to main without a review on Fridays")
    add(repository, "Lamp", "The lamp hangs in the hall")
    (found,) = opposed(repository)
    assert (found.memory_id, found.critical_id) == (other, critical)
    assert "Home:Main" in found.says


def test_of_two_tier_1_memories_the_newer_one_is_named(repository: MemoryRepository):
    add(repository, "Main", "Never push to main without a review", tier=1)
    newer = add(repository, "Friday", "Push to main without a review on Fridays", tier=1)
    assert [one.memory_id for one in opposed(repository)] == [newer]


def test_a_superseded_memory_binds_nobody(repository: MemoryRepository):
    old = add(repository, "Main", "Never push to main without a review", tier=1)
    payload = {"domain": "Home", "subject": "Now", "facts": ["Push to main without a review"], "tier": 1}
    newer = {"category": "tech", "relations": [{"type": "supersedes", "target_id": old}]}
    repository.add(payload | newer, AGENT)
    assert opposed(repository) == []


def test_an_empty_database_has_none(repository: MemoryRepository):
    assert opposed(repository) == []
