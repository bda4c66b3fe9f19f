"""Whole searches over a database on disk, with the static model."""

from __future__ import annotations

import pytest

from memories.repository import MemoryRepository
from memories.retrieval import SearchRequest, search
from memories.retrieval.calibration import running_engine
from tests.retrieval.conftest import AUTHOR, Add, Ask, ids, ranked

FILLER = (
    ("Harbour:crane", "The crane on the north quay lifts twelve tons"),
    ("Harbour:opening_hours", "The gate to the quay is locked after sunset"),
    ("Bakery:oven", "The oven is heated with beech wood on Fridays"),
    ("Bakery:suppliers", "Flour comes from the mill in Sallowby every week"),
    ("Choir:rehearsal", "Singers meet in the chapel on Tuesday evening"),
)


@pytest.fixture(autouse=True)
def _filled(add: Add) -> None:
    for name, fact in FILLER:
        add(name, fact)


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("Le café près de la forêt ferme à six heures", "cafe foret"),
        ("Le cafe pres de la foret ferme a six heures", "café forêt"),
        ("Nøkkelen til båthuset ligger under krukka", "nokkelen bathuset"),
        ("Nokkelen til bathuset ligger under krukka", "nøkkelen båthuset"),
        ("東京都の天気予報を毎朝七時に送る", "天気予報"),
        ("数据库备份保存在地下室服务器", "备份保存"),
        ("ระบบสำรองข้อมูลทำงานทุกคืน", "สำรองข้อมูล"),
        ("The ApiGateway restarts by itself", "api gateway"),
        ("The api gateway restarts by itself", "ApiGateway"),
        ("The flag max_upload_mb is read at start", "max upload mb"),
        ("The max upload mb is read at start", "max_upload_mb"),
        ("The service reads ~/vexel/etc/main.conf first", "~/vexel/etc/main.conf"),
        ("The staff console has admin_port=4633 inside", "admin_port=4633"),
        ("The staff console has admin_port=4633 inside", "admin_port = 4633"),
        ("Ragnhild Kvernberg signs the contracts", "Ragnhild Kvernbreg"),
        ("The sign says wet paint on the hull", '"wet paint on the hull"'),
        ("The mascot of the regatta is 🦊 by vote", "🦊"),
        ("קוד הכניסה של המחסן הוא ארבע ספרות", "קוד הכניסה של המחסן"),
        ("يوجد المفتاح الاحتياطي في الخزانة الحديدية", "المفتاح الاحتياطي"),
        ("The digest is " + "a7f3" * 15 + " since May", "a7f3" * 15),
    ],
)
def test_every_way_of_writing_finds(add: Add, ask: Ask, fact: str, query: str) -> None:
    stored = add("Orchard:note", fact)
    answer = ask(query)
    assert ids(answer)[:1] == [stored]
    assert answer["abstained"] is False


@pytest.mark.parametrize("query", ["the and of what", "où est-ce que", "hva er det", "?!…", "***", "— · —"])
@pytest.mark.parametrize("mode", ["auto", "lexical", "hybrid", "graph"])
def test_without_words_to_look_for_it_abstains(ask: Ask, query: str, mode: str) -> None:
    answer = ask(query, mode=mode)
    assert (answer["abstained"], answer["abstention_reason"], answer["count"]) == (True, "no_search_words", 0)
    assert answer["message"]


@pytest.mark.parametrize(
    "query", ["word " * 2000, "xq" * 5000, "\ud800 broken", "a\x00b\x07", "🦊" * 300, "'; DROP --"]
)
def test_no_query_raises(ask: Ask, query: str) -> None:
    assert ask(query)["success"] is True


def test_a_long_query_is_known_by_what_it_says_first(add: Add, ask: Ask) -> None:
    stored = add("Orchard:mower", "The vexelmower needs winterised fuel")
    assert stored in ids(ask("vexelmower winterised fuel " * 4 + "and so on and on " * 600, mode="lexical"))


def test_a_foreign_question_abstains_and_says_so(ask: Ask) -> None:
    answer = ask("what is the capital of Mongolia")
    assert answer["abstention_reason"] == "below_evidence"
    assert answer["results"] == []
    assert "Nothing is stored about this" in answer["message"]
    assert "specific" in answer["message"]


def test_the_query_is_not_in_the_answer(ask: Ask) -> None:
    assert "zanzibar" not in str(ask("zanzibar qzxvlorp", diagnostics=True)).lower()


def test_an_id_finds_its_memory_and_nothing_is_embedded(add: Add, ask: Ask) -> None:
    stored = add("Orchard:gate", "The gate has a brass bell")
    answer = ask(f"  {stored} ")
    assert (ids(answer), answer["route"]) == ([stored], "exact_id")
    assert answer["results"][0]["match_type"] == "exact_id"
    assert answer["timings"]["embedding_ms"] == 0


def test_an_id_that_is_not_stored_abstains(ask: Ask) -> None:
    answer = ask("1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed")
    assert (answer["route"], answer["abstention_reason"]) == ("exact_id", "exact_id_not_found")


def test_an_id_outside_the_filter_is_not_found(add: Add, ask: Ask) -> None:
    stored = add("Orchard:gate", "The gate has a brass bell")
    assert ask(stored, category="decision")["abstention_reason"] == "exact_id_not_found"


def test_filters_narrow_before_ranking(add: Add, ask: Ask) -> None:
    tech = add("Orchard:vexel", "The vexel pump runs at dawn")
    decision = add(
        "Orchard:vexels", "The vexel pump was chosen at dawn", category="decision", tags=["Blue"], tier=1
    )
    assert set(ids(ask("vexel pump"))) == {tech, decision}
    for narrowed in ({"category": "decision"}, {"tier": 1}, {"tag": "Blue"}):
        assert ids(ask("vexel pump", **narrowed)) == [decision]
    answer = ask("vexel pump", category="question")
    assert answer["abstention_reason"] == "nothing_in_filter"


def test_an_empty_store_says_that_it_is_empty(repository: MemoryRepository, ask: Ask) -> None:
    for row in repository.list_memories().rows:
        repository.delete(row.id, AUTHOR)
    assert ask("vexel pump")["abstention_reason"] == "empty_store"


def test_a_change_is_seen_by_the_next_search(repository: MemoryRepository, add: Add, ask: Ask) -> None:
    stored = add("Orchard:vexel", "The vexel pump runs at dawn")
    assert ids(ask("vexel pump")) == [stored]
    repository.update(stored, {"facts": ["The grimsel fan runs at dusk"]}, AUTHOR, patch=True)
    assert ids(ask("grimsel fan")) == [stored]
    assert "pump" not in ask("grimsel fan")["results"][0]["content"]
    repository.delete(stored, AUTHOR)
    assert ask("grimsel fan")["abstained"]


def test_asking_does_not_change_the_next_answer(repository: MemoryRepository, add: Add, ask: Ask) -> None:
    for at in range(4):
        add(f"Orchard:pump_{at}", f"The vexel pump number {at} runs at dawn")
    first = ids(ask("vexel pump at dawn"))
    repository.usage.record_recall(first[-1:] * 5)
    repository.usage.record_confirmation(first[-1])
    assert ids(ask("vexel pump at dawn")) == first


def test_at_most_top_k_rows_and_the_same_order_whatever_top_k_is(add: Add, ask: Ask) -> None:
    for at in range(8):
        add(f"Orchard:pump_{at}", f"The vexel pump number {at} runs at dawn", relations=[])
    all_of_them = ids(ask("vexel pump at dawn", top_k=50))
    assert len(all_of_them) == 8
    assert ids(ask("vexel pump at dawn", top_k=3)) == all_of_them[:3]


def test_the_same_query_through_every_door_gives_the_same_ids(
    repository: MemoryRepository, add: Add, ask: Ask
) -> None:
    for at in range(5):
        add(f"Orchard:pump_{at}", f"The vexel pump number {at} runs at dawn")
    again = MemoryRepository.open(repository.settings, repository.embedder)
    other_door = search(again, SearchRequest("vexel pump at dawn")).as_answer()
    assert ids(other_door) == ids(ask("vexel pump at dawn"))


def test_an_answer_has_the_shape_that_every_door_prints(add: Add, ask: Ask) -> None:
    add("Orchard:vexel", "The vexel pump runs at dawn")
    answer = ask("vexel pump")
    assert set(answer) == {
        *("success", "count", "results", "engine", "route", "degraded", "degraded_reason", "abstained"),
        *("abstention_reason", "message", "timings", "contract_version"),
    }
    assert answer["engine"] == {"running": running_engine(), "calibrated": running_engine(), "matches": True}
    row = answer["results"][0]
    assert {
        "id",
        "content",
        "score",
        "evidence",
        "match_type",
        "conflicts_open",
        "superseded_by",
        "trust",
    } <= set(row)
    assert "vector" not in row
    assert row["match_type"] == "hybrid"
    assert row["retrieval_source"] == "memories"


def test_open_conflicts_are_counted_on_the_row(add: Add, ask: Ask, repository: MemoryRepository) -> None:
    one = add("Orchard:vexel_port", "The vexel listens on port=7000")
    other = add("Orchard:vexel_ports", "The vexel listens on port=8000")
    repository.update(other, {"subject": "vexel_port"}, AUTHOR, patch=True)
    counts = {row["id"]: row["conflicts_open"] for row in ask("vexel port")["results"]}
    assert counts == {one: 1, other: 1}


def test_diagnostics_show_the_numbers_behind(add: Add, ask: Ask) -> None:
    stored = add("Orchard:vexel", "The vexel pump runs at dawn")
    shown = ask("vexel pump", diagnostics=True)["diagnostics"]
    assert [row["id"] for row in shown["passed"]] == [stored]
    assert len(shown["losers"]) == len(FILLER)
    assert all(
        row["evidence"] < shown["threshold"] <= shown["passed"][0]["evidence"] for row in shown["losers"]
    )
    assert [row["id"] for row in shown["lexical_candidates"]] == [stored]
    assert len(shown["vector_candidates"]) == len(FILLER) + 1
    assert shown["calibrated"] is True
    assert {"embedding", "date", "corpus", "engine", "command"} <= set(shown["calibration"])
    assert shown["running_engine"] == running_engine()
    assert {"order", "gate"} == set(shown["weights"])
    assert "diagnostics" not in ask("vexel pump")


def test_a_literal_mode_finds_by_words_alone(add: Add, ask: Ask) -> None:
    stored = add("Orchard:vexel", "The vexel pump runs at dawn")
    answer = ask("vexel pump", mode="lexical")
    assert (ranked(answer), answer["results"][0]["match_type"]) == ([stored], "lexical")
    assert answer["timings"]["embedding_ms"] == 0
