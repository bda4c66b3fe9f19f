"""One distinctive word finds its memory and a foreign question abstains, whatever else is stored.

With the model that the product uses, for the filler too: vectors of another one, even of memories that nobody
asks for, would make lists of candidates that no user ever sees.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import lancedb
import pytest

from memories.repository import MemoryRepository
from memories.repository.tables import MOST_FRAGMENTS
from memories.retrieval import SearchRequest, search
from memories.settings import load_settings
from tests.retrieval.conftest import AUTHOR, stored_ids

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

SIZES = (20, 200, 5_000)
BATCH = 500

DISTINCTIVE = {
    "zorblatt": ("Orchard", "gate bell", "The zorblatt hangs behind the door of the shed"),
    "vexelmower": ("Meadow", "mowing", "Fill the vexelmower with winter fuel before the first frost"),
    "quillmark": ("Letters", "sending", "Quillmark mails the newsletter of the choir every Tuesday"),
    "grimselport": ("Harbour", "console", "The console answers on grimselport=4633 after the move"),
    "fjellsnarre": ("Hytta", "varme", "Fjellsnarre må startes før vannet settes på om vinteren"),
    "brumelette": ("Boulangerie", "commande", "La brumelette se commande avant jeudi midi chez la meunière"),
    "err_gate_42": ("Orchard", "error", "err_gate_42 means that the motor ran but the gate stood still"),
}
FOREIGN = (
    "what is the capital of Mongolia",
    "how do I whiten yellowed piano keys",
    "who won the chess championship in 1972",
    "combien de joueurs dans une équipe de rugby",
    "hvor lenge skal poteter koke",
)


def _filler() -> Iterator[dict[str, object]]:
    """Endless memories of everyday work, each with its own subject and facts."""
    things = ("crane", "oven", "ledger", "lantern", "barge", "kiln", "loom", "press", "ferry", "tower")
    doings = ("is checked", "is cleaned", "gets painted", "was repaired", "is rented out", "stands idle")
    times = (
        "in spring",
        "on Mondays",
        "at noon",
        "twice a year",
        "after the fair",
        "before dawn",
        "in March",
    )
    people = ("the keeper", "a carpenter", "two clerks", "the night crew", "a visiting smith")
    for number, (thing, doing, when, who) in enumerate(
        itertools.cycle(itertools.product(things, doings, times, people))
    ):
        yield {
            "domain": f"Works{number % 37}",
            "subject": f"{thing} {number}",
            "facts": [f"The {thing} {doing} {when} by {who}, entry {number}."],
            "tier": 3,
            "category": "fact",
        }


def _verdicts(repository: MemoryRepository) -> dict[str, list[tuple[str, float]]]:
    """For each question the ids it got, with their evidence, best first."""
    return {
        query: [
            (row["id"], row["evidence"])
            for row in search(repository, SearchRequest(query)).as_answer()["results"]
        ]
        for query in (*DISTINCTIVE, *FOREIGN)
    }


def _fragments(repository: MemoryRepository) -> int:
    table = lancedb.connect(str(repository.path)).open_table("memories")
    return int(table.stats()["fragment_stats"]["num_fragments"])


@pytest.fixture
def repository(real_embedder: Embedder) -> MemoryRepository:
    return MemoryRepository.open(load_settings(), real_embedder)


def test_verdicts_stay_as_the_store_grows_and_is_compacted(repository: MemoryRepository) -> None:
    payloads = [
        {"domain": domain, "subject": subject, "facts": [fact], "tier": 2, "category": "tech"}
        for domain, subject, fact in DISTINCTIVE.values()
    ]
    known = dict(zip(DISTINCTIVE, stored_ids(repository.add_many(payloads, AUTHOR)), strict=True))
    filler = _filler()
    seen = []
    for size in SIZES:
        while (missing := size - repository.count()) > 0:
            stored_ids(repository.add_many(list(itertools.islice(filler, min(missing, BATCH))), AUTHOR))
        seen.append(_verdicts(repository))
    before = _fragments(repository)
    while _fragments(repository) >= before:  # the writer compacts by itself past a bound
        stored_ids(repository.add_many([next(filler)], AUTHOR))
        assert repository.count() < SIZES[-1] + 2 * MOST_FRAGMENTS
        before = max(before, _fragments(repository))
    seen.append(_verdicts(repository))
    for verdicts in seen:
        assert {query: [name for name, _ in verdicts[query]] for query in known} == {
            query: [name] for query, name in known.items()
        }
        assert all(verdicts[query] == [] for query in FOREIGN)
        assert verdicts == seen[0]
