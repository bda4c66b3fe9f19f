"""What is a duplicate and what only looks like one. Cosines are given, so that the words alone decide."""

from __future__ import annotations

from itertools import combinations

import pytest

from memories.analysis.likeness import Relation, are_apart, likeness
from memories.analysis.profile import Profile, profile_of
from memories.contract import claims_of

NEAR = 0.97
"""A cosine that look-alikes reach easily: two ports differ less than two wordings."""


def told(*facts: str, subject: str = "Tide_API", domain: str = "Havlys") -> Profile:
    return profile_of(domain, subject, facts, claims_of(facts))


LOOK_ALIKES = {
    "port in a claim": (told("port=8410 serves tide tables"), told("port=8411 serves tide tables")),
    "port in prose": (
        told("The gateway listens on port 8410 behind nginx"),
        told("The gateway listens on port 8411 behind nginx"),
    ),
    "version": (
        told("The build needs Python 3.11 and Node 20"),
        told("The build needs Python 3.12 and Node 20"),
    ),
    "host": (
        told("Redis runs on cache-a.havlys.internal with 2 GB"),
        told("Redis runs on cache-b.havlys.internal with 2 GB"),
    ),
    "host in lower case": (
        told("The server rowan runs the nightly reports"),
        told("The server alder runs the nightly reports"),
    ),
    "name first in the sentence": (told("Ingrid owns the deploy keys"), told("Astrid owns the deploy keys")),
    "name within": (told("The deploy keys are with Ingrid"), told("The deploy keys are with Astrid")),
    "path": (told("Logs go to /var/log/tide"), told("Logs go to /var/log/gauge")),
    "file": (told("Tokens come from tide.env at start"), told("Tokens come from gauge.env at start")),
    "project": (told("Migrations run on deploy"), told("Migrations run on deploy", domain="Brume")),
    "negation": (told("Deploys on Friday are allowed"), told("Deploys on Friday are not allowed")),
    "opposite": (told("Compression is enabled for replies"), told("Compression is disabled for replies")),
    "day": (told("Releases go out on Tuesday"), told("Releases go out on Thursday")),
    "day with other words": (
        told("Every Tuesday a release goes out"),
        told("The release is sent out on Thursdays, that is Thursday at noon"),
    ),
    "environment": (
        told("The staging database is restored nightly"),
        told("The production database is restored nightly"),
    ),
    "subject with a number": (
        told("Runs in docker", subject="Gateway_1"),
        told("Runs in docker", subject="Gateway_2"),
    ),
    "subject of another environment": (
        told("Serves tide tables", subject="Tide_API"),
        told("Serves tide tables", subject="Tide_API_staging"),
    ),
    "one pattern for two things": (
        told("Runs in docker behind the proxy", subject="Gateway"),
        told("Runs in docker behind the proxy", subject="Website"),
    ),
    "number as a word": (told("Keeps two copies of each file"), told("Keeps three copies of each file")),
    "amount in French": (
        told("Les frais de port sont offerts dès 49 euros"),
        told("Les frais de port sont offerts dès 59 euros"),
    ),
    "negation in Norwegian": (
        told("Varsler sendes i helgen"),
        told("Varsler sendes ikke i helgen"),
    ),
    "one of several facts": (
        told("Serves tide tables per harbour", "Tables are cached for 900 seconds"),
        told("Serves tide tables for each harbour", "Tables are cached for 600 seconds"),
    ),
}  # fmt: skip

PARAPHRASES = {
    "backup": [
        told("The nightly backup starts at 02:30 and is kept for 14 days", subject="Nightly_backup"),
        told("Backups run every night at 02:30 and are retained for 14 days", subject="Nightly_backup"),
        told("Each night at 02:30 a backup is taken; it is kept 14 days", subject="Backup_schedule"),
        told("Every night a backup runs at 02:30, retention 14 days", subject="Backups"),
        told("A backup is made nightly at 02:30 and stored for 14 days", subject="Nightly_backups"),
    ],
    "editor": [
        told("Ingrid prefers Neovim over VS Code for all edits", subject="Editor"),
        told("For editing, Ingrid likes Neovim better than VS Code", subject="Editor"),
        told("Ingrid would rather edit in Neovim than in VS Code", subject="Editor_choice"),
        told("Of VS Code and Neovim, Ingrid prefers the latter, Neovim", subject="Editor"),
        told("Neovim is the editor Ingrid prefers to VS Code", subject="Preferred_editor"),
    ],
    "one subject, claims as prose": [
        told("port=8410 on the harbour host", subject="Gateway"),
        told("The gateway on the harbour host listens on port 8410", subject="Gateway"),
    ],
    "a form of a name": [
        told("Yearly reports are stored in Postgres", subject="Reports"),
        told("The yearly reports live in PostgreSQL", subject="Reports"),
    ],
}


@pytest.mark.parametrize("pair", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_look_alikes_are_no_duplicates(pair: tuple[Profile, Profile]) -> None:
    one, other = pair

    assert likeness(one, other, NEAR) is None
    assert likeness(other, one, NEAR) is None


@pytest.mark.parametrize("memories", PARAPHRASES.values(), ids=PARAPHRASES)
def test_paraphrases_are_duplicates(memories: list[Profile]) -> None:
    found = [likeness(one, other, NEAR) for one, other in combinations(memories, 2)]

    assert all(found)


def test_shared_words_raise_the_cosine_and_nothing_lowers_it() -> None:
    backup, other = PARAPHRASES["backup"][:2]
    wholly_reworded = told("Saved nightly from 02:30, dropped after 14 days", subject="Nightly_backup")

    same_words, fewer = likeness(backup, other, 0.9), likeness(backup, wholly_reworded, 0.9)

    assert same_words is not None
    assert fewer is not None
    assert 0.9 <= fewer.value < same_words.value < 1


def test_words_of_the_subject_alone_make_no_likeness() -> None:
    tea = told("Torbjørg Vikesland takes hot water with ginger", subject="Torbjørg_Vikesland_drink")
    pet = told("Torbjørg Vikesland has a tortoise", subject="Torbjørg_Vikesland_pet")

    assert likeness(tea, pet, 0.9) is None


def test_a_sentence_within_a_longer_memory_is_contained() -> None:
    short = told("Returns 204 with no body when a harbour has no gauge")
    long = told(
        "Serves tide tables per harbour",
        "Returns 204 with no body when a harbour has no gauge",
        "Times are UTC",
        subject="Tide_service",
    )

    within, around = likeness(short, long, 0.7), likeness(long, short, 0.7)

    assert within is not None
    assert within.relation is Relation.CONTAINED
    assert around is not None
    assert around.relation is Relation.CONTAINS


def test_a_sentence_with_another_number_is_not_contained() -> None:
    short = told("Returns 404 with no body when a harbour has no gauge")
    long = told("Serves tide tables", "Returns 204 with no body when a harbour has no gauge", "Times are UTC")

    assert likeness(short, long, 0.9) is None


def test_another_fact_more_sets_nothing_apart() -> None:
    assert not are_apart(
        told("Serves tide tables per harbour", "Replies in 40 ms"), told("Serves tide tables per harbour")
    )


def test_what_is_near_in_meaning_alone_is_no_duplicate() -> None:
    deploys = told("Deploys run from the main branch by GitHub Actions", subject="Deploy")
    approval = told("Deploys need an approval of two people", subject="Deploy_approval")

    assert likeness(deploys, approval, 0.6) is None
