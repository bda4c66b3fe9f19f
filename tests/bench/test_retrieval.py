"""``bench retrieval``: what is said about answers, and the whole at a small size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maintenance.bench.asking import fuse
from maintenance.bench.metrics import Outcome, interval, summary
from maintenance.bench.questions import of_file
from maintenance.bench.targets import shortfalls
from memories.contract import MemsuiteError
from tests.support.commands import Run


def _outcome(found: str, expected: str = "", avoid: str = "", **more: object) -> Outcome:
    values: dict[str, object] = {"kind": "k", "group": "g", "near_miss": False} | more
    lists = {"expected": frozenset(expected), "avoid": frozenset(avoid), "found": tuple(found)}
    return Outcome(**values, **lists)  # type: ignore[arg-type]


def test_measures_of_one_answer() -> None:
    one = _outcome("abcdef", expected="bf")
    assert (one.recall(5), one.recall(10), one.reciprocal_rank) == (0.5, 1.0, 0.5)
    assert 0 < one.gain < 1
    assert _outcome("bf", expected="bf").gain == pytest.approx(1.0)
    assert _outcome("", expected="bf").gain == 0.0


def test_an_outdated_memory_is_only_harmful_before_the_right_one() -> None:
    assert _outcome("xb", expected="b", avoid="x").hits_avoided
    assert not _outcome("bx", expected="b", avoid="x").hits_avoided
    assert not _outcome("", expected="b", avoid="x").hits_avoided


def test_the_interval_is_that_of_groups_and_always_the_same() -> None:
    outcomes = [_outcome("a" if at % 3 else "", expected="a", group=str(at)) for at in range(30)]
    low, high = interval(outcomes)
    assert 0.4 < low < 20 / 30 < high < 0.9
    assert interval(outcomes) == (low, high)


def test_a_summary_keeps_questions_with_and_without_an_answer_apart() -> None:
    row = summary([_outcome("a", expected="a"), _outcome("a", near_miss=True), _outcome("")])
    assert (row["questions"], row["recall_5"]) == ("1 + 2", 1.0)
    assert (row["false_unrelated"], row["false_near"]) == ("0 of 1", "1 of 1")


def test_reciprocal_ranks_are_fused_with_ties_by_id() -> None:
    assert fuse("ab", "ba") == ["a", "b"]
    assert fuse("ab", "b") == ["b", "a"]


def test_bars_are_absolute() -> None:
    good = [
        _outcome("a", expected="a", kind="old_critical_correction"),
        _outcome(""),
        _outcome("", near_miss=True),
    ]
    assert list(shortfalls(good)) == []
    bad = [*good, _outcome("a"), *[_outcome("", expected="a")] * 3]
    assert len(list(shortfalls(bad))) == 3


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '[{"text": "x"}]',
        '[{"text": "x", "expected": "id"}]',
        '[{"text": "x", "expected": [], "z": 1}]',
    ],
)
def test_a_question_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "questions.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MemsuiteError, match="uestion"):
        of_file(path)


def test_the_benchmark_asks_the_corpus_in_every_way(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    asked = ("--half", "calibration", "--every", "24", "--model", "builtin:static", "--output", str(output))
    assert run("bench", "retrieval", *asked, "--misses", "1").exit == 0
    document = json.loads(output.read_text(encoding="utf-8"))
    ways = {row["way"]: row for row in document["rows"] if row["kind"] == "all"}
    assert {"auto", "hybrid, one hop", "hybrid", "lexical", "vector", "RRF, no gate"} <= ways.keys()
    assert ways["auto"]["recall_5"] > 0.4
    assert ways["hybrid, no gate"]["results"] == 10 > ways["auto"]["results"]
    assert ways["auto"]["search_ms"] > 0
    assert len(document["corpus_hash"]) == 64
    missed = [row for row in document["rows"] if "missed" in row]
    assert len({row["kind"] for row in missed}) == len(missed) > 0


def test_the_final_half_is_held_against_the_frozen_targets(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    # Of every hundredth question none is a critical correction, and no share of nothing reaches a bar.
    asked = ("--half", "final", "--every", "100", "--model", "builtin:static", "--output", str(output))
    done = run("bench", "retrieval", *asked, "--misses", "9")
    document = json.loads(output.read_text(encoding="utf-8"))
    assert document["figures"]["targets"]["recall_5"] == 0.95
    assert (done.exit == 1) is bool(document["failures"])
    assert not any("missed" in row for row in document["rows"])
    assert document["failures"]


def test_own_questions_are_asked_of_an_own_database(run: Run, tmp_path: Path) -> None:
    about = ("--domain", "Orchard", "--subject", "gate", "--tier", "2", "--category", "tech")
    (added,) = run("add_memory", *about, "--fact", "The gate listens on port=4633", "--json").answers
    questions, output = tmp_path / "questions.json", tmp_path / "result.json"
    asked = [
        {"text": "which port does the Orchard gate use?", "expected": [added["memory_id"]]},
        {"text": "what is the capital of Mongolia?", "expected": []},
    ]
    questions.write_text(json.dumps(asked), encoding="utf-8")
    assert run("bench", "retrieval", "--questions", str(questions), "--output", str(output)).exit == 0
    row = json.loads(output.read_text(encoding="utf-8"))["rows"][0]
    assert (row["way"], row["recall_5"], row["false_unrelated"]) == ("auto", 1.0, "0 of 1")
