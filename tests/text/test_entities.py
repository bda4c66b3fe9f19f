from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.contract import Category, MemoryForm, Tier
from memories.text.entities import AUTOMATIC_TAGS, MOST_TAGS, entities, tags


def form(*facts: str, subject: str = "notes", given_tags: tuple[str, ...] = ()) -> MemoryForm:
    return MemoryForm(
        domain="Home", subject=subject, facts=facts, tier=Tier(2), category=Category("tech"), tags=given_tags
    )


def test_technology_comes_before_projects_before_names() -> None:
    memory = form("We asked Margrethe whether ApiGateway keeps state in redis.")
    assert tags(memory) == ("redis", "ApiGateway", "Margrethe", "notes")


def test_longer_then_alphabetical_among_equals() -> None:
    found = tags(form("uses zsh, bash, curl, postgres and git", subject="x"))
    assert found == ("postgres", "bash", "curl", "git", "zsh")


def test_at_most_five_are_automatic() -> None:
    assert len(tags(form("uses zsh bash curl postgres git docker nginx"))) == AUTOMATIC_TAGS


def test_given_tags_come_first_and_keep_their_spelling() -> None:
    assert tags(form("uses docker and nginx", subject="x", given_tags=("Home lab", "Docker"))) == (
        "Home lab", "Docker", "nginx",
    )  # fmt: skip


def test_given_tags_count_towards_twenty() -> None:
    given_tags = tuple(f"tag {n}" for n in range(18))
    found = tags(form("uses docker, nginx, postgres", given_tags=given_tags))
    assert len(found) == MOST_TAGS
    assert found[:18] == given_tags


def test_entities_are_sorted_and_written_as_first_seen() -> None:
    found = entities(form("uses nginx; then Docker, later docker and NASA", subject="x"))
    assert found == ("Docker", "NASA", "nginx")


@pytest.mark.parametrize(
    "fact",
    ["search the archive", "go to the store", "see 7777 and 3.11 and v1.2.3 and 10GB",
     "kept in /etc/hosts and ~/x.md", "see https://example.org/Docs", "set host=Alpha",
     'set name="Foo Bar"', "edit config.yaml and .env", "mail ola@example.org", "IMPORTANT: NEVER do it",
     "Important: Always ask. Then wait.", "commit 9f86d081884c", "Viktig: Aldri gjør dette",
     "Attention : Jamais sans mot"],
)  # fmt: skip
def test_values_and_noise_are_no_entities(fact: str) -> None:
    assert entities(form(fact, subject="x")) == ()


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("the service is in C++ today", "C++"),
        ("built with node.js", "node.js"),
        ("l'API est lente", "API"),
        ("it is Alice's laptop", "Alice"),
        ("they rewrote it in Go last year", "Go"),
        ("set embed_model first", "embed_model"),
        ("runs qwen3 at night", "qwen3"),
        ("all LLMs are slow", "LLMs"),
    ],
)
def test_names_are_entities(fact: str, name: str) -> None:
    assert name in entities(form(fact, subject="x"))


def test_words_of_the_subject_are_names() -> None:
    assert entities(form("it is up.", subject="Backup_robot")) == ("Backup", "robot")


def test_german_nouns_are_no_names() -> None:
    assert entities(form("Die Datenbank ist auf der Platte und nutzt Redis.", subject="x")) == ("Redis",)


@given(st.text("aB1 ._-=/'\"東é+#", max_size=60), st.text("aB_1", min_size=1, max_size=20))
def test_any_text_gives_names_that_can_be_tags(fact: str, subject: str) -> None:
    names = entities(form(fact, subject=subject))
    assert all(name == name.strip() and 2 <= len(name) <= 80 for name in names)
    assert set(tags(form(fact, subject=subject))) <= set(names)
