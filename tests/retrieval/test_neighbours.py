"""What is declared between memories, and how it shows in an answer."""

from __future__ import annotations

from tests.retrieval.conftest import Add, Ask, ids, ranked

PUMP = "The vexel pump runs at dawn"


def _to(kind: str, target: str) -> list[dict[str, str]]:
    return [{"type": kind, "target_id": target}]


def test_declared_relations_of_the_results_come_after_them(add: Add, ask: Ask) -> None:
    fuse = add("Cellar:fuse", "A glass fuse of ten amperes")
    pump = add("Orchard:vexel", PUMP, relations=_to("depends", fuse))
    tank = add("Meadow:tank", "Holds nine barrels", relations=_to("requires", pump))
    answer = ask("vexel pump")
    assert ids(answer)[0] == pump
    rows = {row["id"]: row for row in answer["results"][1:]}
    assert set(rows) == {fuse, tank}
    assert (rows[fuse]["relation_type"], rows[fuse]["direction"], rows[fuse]["relation"]) == (
        "depends",
        "out",
        "context",
    )
    assert (rows[tank]["direction"], rows[tank]["seed_id"]) == ("in", pump)
    assert all("score" not in row and row["match_type"] == "declared_relation" for row in rows.values())


def test_relation_depth_and_budget_bound_the_hop(add: Add, ask: Ask) -> None:
    fuses = [add(f"Cellar:fuse_{at}", f"A glass fuse of {at} amperes") for at in range(7)]
    relations = [{"type": "uses", "target_id": fuse} for fuse in fuses]
    pump = add("Orchard:vexel", PUMP, relations=relations)
    assert ids(ask("vexel pump", relation_depth=0)) == [pump]
    assert ids(ask("vexel pump", neighbor_budget=0)) == [pump]
    assert len(ids(ask("vexel pump", neighbor_budget=2))) == 3
    assert len(ids(ask("vexel pump"))) == 6
    assert len(ids(ask("vexel pump", top_k=4))) == 4


def test_a_contradiction_is_named_and_comes_first(add: Add, ask: Ask) -> None:
    fuse = add("Cellar:fuse", "A glass fuse of ten amperes")
    pump = add("Orchard:vexel", PUMP, relations=_to("depends", fuse))
    rumour = add("Village:rumour", "Nothing stirs before noon", relations=_to("contradicts", pump))
    assert [row.get("relation") for row in ask("vexel pump")["results"]] == [None, "contradiction", "context"]
    assert ids(ask("vexel pump"))[1] == rumour


def test_the_filter_holds_for_neighbours_too(add: Add, ask: Ask) -> None:
    fuse = add("Cellar:fuse", "A glass fuse of ten amperes", category="decision")
    pump = add("Orchard:vexel", PUMP, relations=_to("depends", fuse))
    assert ids(ask("vexel pump", category="tech")) == [pump]


def test_what_was_replaced_comes_after_its_replacement_and_says_so(add: Add, ask: Ask) -> None:
    old = add("Orchard:vexel", "The vexel pump runs at dawn, every dawn")
    new = add("Orchard:vexel_pump_since_May", "The vexel runs later", relations=_to("supersedes", old))
    answer = ask("vexel pump runs at dawn")
    assert ids(answer) == [new, old]
    assert [row["superseded_by"] for row in answer["results"]] == [None, new]


def test_a_replacement_without_evidence_of_its_own_is_brought_along(add: Add, ask: Ask) -> None:
    old = add("Orchard:vexel", PUMP)
    new = add("Cellar:decision", "Everything waits for the miller", relations=_to("invalidates", old))
    for depth in (0, 1):
        answer = ask("vexel pump", relation_depth=depth)
        assert ids(answer) == [new, old]
        assert (answer["results"][0]["relation"], answer["results"][0]["relation_type"]) == (
            "replacement",
            "invalidates",
        )
    assert ids(ask("vexel pump", top_k=1)) == [new]


def test_a_chain_of_replacements_starts_with_the_newest(add: Add, ask: Ask) -> None:
    first = add("Orchard:vexel", PUMP)
    second = add("Orchard:second", "Another matter", relations=_to("supersedes", first))
    third = add("Orchard:third", "A further matter", relations=_to("supersedes", second))
    answer = ask("vexel pump")
    assert ids(answer) == [third, second, first]
    assert [row["superseded_by"] for row in answer["results"]] == [None, third, second]


def test_what_a_result_replaces_is_left_out_and_counted(add: Add, ask: Ask) -> None:
    old = add("Cellar:fuse", "A glass fuse of ten amperes")
    new = add("Orchard:vexel", PUMP, relations=_to("supersedes", old))
    answer = ask("vexel pump", diagnostics=True)
    assert ids(answer) == [new]
    assert answer["diagnostics"]["hidden_neighbors"] == 1


def test_a_replaced_neighbour_is_left_out(add: Add, ask: Ask) -> None:
    fuse = add("Cellar:fuse", "A glass fuse of ten amperes")
    add("Cellar:new_fuse", "A ceramic one", relations=_to("supersedes", fuse))
    pump = add("Orchard:vexel", PUMP, relations=_to("depends", fuse))
    assert ids(ask("vexel pump")) == [pump]


def test_two_memories_that_replace_each_other_are_both_shown_once(add: Add, ask: Ask) -> None:
    one = add("Orchard:vexel", PUMP, relations=[{"type": "supersedes", "target": "Orchard:vexel_two"}])
    two = add("Orchard:vexel_two", "The vexel pump runs at dusk", relations=_to("supersedes", one))
    assert sorted(ids(ask("vexel pump"))) == sorted([one, two])


def test_a_question_about_relations_keeps_room_for_neighbours(add: Add, ask: Ask) -> None:
    fuses = [add(f"Cellar:fuse_{at}", f"A glass fuse of {at} amperes") for at in range(3)]
    for at in range(6):
        add(
            f"Orchard:pump_{at}",
            f"The vexel pump number {at} runs at dawn",
            relations=[{"type": "uses", "target_id": fuse} for fuse in fuses],
        )
    hybrid, graph = ask("vexel pump", top_k=4), ask("vexel pump", top_k=4, mode="graph")
    assert len(ranked(hybrid)) == 4
    assert (len(ranked(graph)), len(ids(graph))) == (2, 4)


def test_an_exact_id_brings_its_neighbours(add: Add, ask: Ask) -> None:
    fuse = add("Cellar:fuse", "A glass fuse of ten amperes")
    pump = add("Orchard:vexel", PUMP, relations=_to("depends", fuse))
    assert ids(ask(pump)) == [pump, fuse]
