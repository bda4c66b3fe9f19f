from __future__ import annotations

from memories.demo import demo_memories
from memories.settings import load_settings
from tests.support.commands import Run


def test_all_invented_memories_are_stored_with_two_open_conflicts(run: Run) -> None:
    (answer,) = run("demo_data", "--json").answers
    assert (answer["added"], answer["kept"], answer["count"]) == (
        len(demo_memories()),
        0,
        len(demo_memories()),
    )
    assert answer["open_conflicts"] == 2


def test_a_second_run_adds_nothing(run: Run) -> None:
    run("demo_data")
    head = (load_settings().db_path / "HEAD").read_text(encoding="utf-8")
    done = run("demo_data", "--json")
    assert (done.exit, done.answers[0]["added"], done.answers[0]["kept"]) == (0, 0, len(demo_memories()))
    assert (load_settings().db_path / "HEAD").read_text(encoding="utf-8") == head


def test_a_database_with_other_memories_is_left_alone(run: Run) -> None:
    memory = (
        "--domain",
        "Mine",
        "--subject",
        "router",
        "--fact",
        "port=1",
        "--tier",
        "2",
        "--category",
        "tech",
    )
    run("add_memory", *memory)
    done = run("demo_data", "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (2, "confirmation_required")
    assert run("demo_data", "--among-others", "--json").answers[0]["added"] == len(demo_memories())


def test_a_memory_added_to_the_sample_does_not_stop_a_second_run(run: Run) -> None:
    run("demo_data")
    memory = (
        "--domain",
        "Mine",
        "--subject",
        "router",
        "--fact",
        "port=1",
        "--tier",
        "2",
        "--category",
        "tech",
    )
    run("add_memory", *memory)
    assert run("demo_data").exit == 0
