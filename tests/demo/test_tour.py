"""The tour over the invented memories, with the model that users have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memories.commands.terminal import Screen, columns_of
from memories.demo import load_demo
from memories.demo.tour import STOPS, Stop, tour
from memories.embedding import Embedder
from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.settings import load_settings

FIRST_RESULTS = {
    "A question in plain words": "crane_double_booking",
    "What has been replaced": "event_queue",
    "A setting, word for word": "migrations_during_the_day",
    "What hangs together": "booking_api",
    "In French": "paiement_en_ligne",
    "In Norwegian": "koder_ved_strømbrudd",
    "Something nobody has stored": None,
}


@pytest.fixture(scope="module")
def sample(real_embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryRepository]:
    home: Path = tmp_path_factory.mktemp("sample")
    with MemoryRepository.open(load_settings(hermes_home=home, environ={}), real_embedder) as repository:
        load_demo(repository, datetime.now(UTC))
        yield repository


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.title)
def test_each_stop_shows_what_its_text_promises(sample: MemoryRepository, stop: Stop) -> None:
    answer = search(sample, SearchRequest(stop.query, top_k=stop.top_k)).as_answer()
    first = answer["results"][0]["subject"] if answer["results"] else None
    assert first == FIRST_RESULTS[stop.title]


def test_the_relations_of_a_memory_come_with_it(sample: MemoryRepository) -> None:
    stop = next(stop for stop in STOPS if stop.title == "What hangs together")
    results = search(sample, SearchRequest(stop.query, top_k=stop.top_k)).as_answer()["results"]
    related = {"harbour_database", "event_queue", "quay-02", "gateway", "manifest_upload"}
    declared = {row["subject"] for row in results if row["match_type"] == "declared_relation"}
    assert declared and declared <= related
    assert {row["subject"] for row in results} == related | {"booking_api"}


def test_the_tour_ends_with_the_two_disagreements(sample: MemoryRepository) -> None:
    text = "\n".join(line for lines in tour(sample, Screen()) for line in lines)
    assert "2 open disagreements" in text
    assert "2 memories disagree about port" in text
    assert "2 memories disagree about heure_limite" in text


def test_the_tour_fits_eighty_columns(sample: MemoryRepository) -> None:
    lines = "\n".join(line for lines in tour(sample, Screen(width=80)) for line in lines).splitlines()
    assert max(map(columns_of, lines)) <= 80


def test_the_tour_writes_nothing(sample: MemoryRepository) -> None:
    head = (sample.path / "HEAD").read_text(encoding="utf-8")
    list(tour(sample, Screen()))
    assert (sample.path / "HEAD").read_text(encoding="utf-8") == head
