from __future__ import annotations

import json
from pathlib import Path

import pytest

from memories.settings import load_settings
from tests.support.commands import Run

OPTIONS = ("--domain", "Tidewater", "--subject", "gateway", "--tier", "2", "--category", "tech")
GATEWAY = {"domain": "Tidewater", "subject": "gateway", "facts": ["port=8443"], "tier": 2, "category": "tech"}


def line(**changes: object) -> str:
    return json.dumps(GATEWAY | changes, ensure_ascii=False) + "\n"


def test_a_memory_of_options_is_stored(run: Run) -> None:
    done = run("add_memory", *OPTIONS, "--fact", "port=8443", "--tag", "network", "--json")
    (answer,) = done.answers
    assert (done.exit, answer["status"]) == (0, "created")
    assert answer["canonical_content"] == "Tidewater:gateway port=8443. [Tier=2]"


def test_a_stored_memory_counts_as_given_by_a_person(run: Run) -> None:
    from memories.embedding import create_embedder
    from memories.repository import MemoryRepository

    (answer,) = run("add_memory", *OPTIONS, "--fact", "port=8443", "--tag", "network", "--json").answers
    settings = load_settings()
    with MemoryRepository.open(settings, create_embedder(settings)) as repository:
        memory = repository.get(answer["memory_id"]).memory
    assert (memory.source, memory.tags, memory.tags_manual) == ("command", ("network",), True)


def test_the_same_memory_again_is_idempotent_and_done(run: Run) -> None:
    run("add_memory", *OPTIONS, "--fact", "port=8443")
    done = run("add_memory", *OPTIONS, "--fact", "port=8443", "--json")
    assert (done.exit, done.answers[0]["status"]) == (0, "idempotent")


def test_a_refused_memory_ends_with_two_and_the_error_shape(run: Run) -> None:
    done = run(
        "add_memory", *OPTIONS[:4], "--tier", "9", "--category", "tech", "--fact", "port=8443", "--json"
    )
    (answer,) = done.answers
    assert (done.exit, answer["success"], answer["error"]["code"]) == (2, False, "invalid_tier")


def test_a_refusal_for_a_person_goes_to_standard_error(run: Run) -> None:
    done = run("add_memory", "--domain", "Tidewater")
    assert (done.exit, done.out) == (2, "")
    assert done.err.startswith("required_field (subject)")


def test_a_contradiction_is_refused_and_names_both_values(run: Run) -> None:
    run("add_memory", *OPTIONS, "--fact", "port=8443")
    done = run("add_memory", *OPTIONS, "--fact", "port=9443", "--json")
    (clash,) = done.answers[0]["error"]["received"]
    assert done.exit == 2
    assert (clash["claim_key"], clash["existing"], clash["received"]) == ("port", "8443", "9443")


def test_a_suggested_update_is_no_success_and_says_how_to_go_on(run: Run) -> None:
    run("add_memory", *OPTIONS, "--fact", "port=8443")
    done = run("add_memory", *OPTIONS, "--fact", "Caddy answers there")
    assert done.exit == 2
    assert "--write-mode upsert_subject" in done.out


def test_upsert_replaces_the_memory_of_the_subject(run: Run) -> None:
    run("add_memory", *OPTIONS, "--fact", "Caddy answers there")
    done = run(
        "add_memory", *OPTIONS, "--fact", "nginx answers there", "--write-mode", "upsert_subject", "--json"
    )
    assert (done.exit, done.answers[0]["status"]) == (0, "updated")


def test_json_lines_from_standard_input_get_one_answer_each_in_order(run: Run) -> None:
    lines = line() + line(subject="api", tier=7) + "no json\n" + line(subject="queue", facts=["Kø på øya"])
    done = run("add_memory", "-", "--json", stdin=lines)
    outcomes = [answer.get("status") or answer["error"]["code"] for answer in done.answers]
    assert outcomes == ["created", "invalid_tier", "invalid_type", "created"]
    assert done.exit == 2


def test_a_file_with_an_array_is_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "memories.json"
    file.write_text(
        "\ufeff" + json.dumps([GATEWAY, GATEWAY | {"subject": "api"}], indent=2), encoding="utf-8"
    )
    done = run("add_memory", str(file), "--json")
    assert [answer["status"] for answer in done.answers] == ["created", "created"]


def test_a_file_that_is_not_text_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "memories.bin"
    file.write_bytes(b"\xff\xfe\x00")
    done = run("add_memory", str(file), "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (2, "invalid_parameter")


def test_options_and_a_file_at_once_are_refused(run: Run) -> None:
    done = run("add_memory", "-", "--domain", "Tidewater", "--json", stdin=line())
    assert (done.exit, done.answers[0]["error"]["code"]) == (2, "invalid_parameter")


def test_nothing_at_all_is_refused_and_makes_no_database(run: Run) -> None:
    done = run("add_memory", "--json")
    assert (done.exit, done.answers[0]["error"]["code"]) == (2, "required_field")
    assert not load_settings().db_path.exists()


def test_empty_input_is_refused(run: Run) -> None:
    assert run("add_memory", "-", stdin="\n").exit == 2


def test_a_model_that_does_not_answer_is_a_failure_and_not_a_refusal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSUITE_EMBED_MODEL", "builtin:no-such-model")
    done = run("add_memory", *OPTIONS, "--fact", "port=8443", "--json")
    (answer,) = done.answers
    assert (done.exit, answer["error"]["code"], answer["retryable"]) == (1, "embedding_failed", True)


def test_the_database_named_on_the_command_line_is_the_one_written(run: Run, tmp_path: Path) -> None:
    run("add_memory", *OPTIONS, "--fact", "port=8443", "--db-path", str(tmp_path / "here"))
    assert (tmp_path / "here" / "HEAD").is_file()
    assert not load_settings().db_path.exists()
