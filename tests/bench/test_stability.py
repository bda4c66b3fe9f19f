"""``bench stability`` at a small size: nothing that happens around a question changes what it gets."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import Run


def test_no_step_changes_a_verdict(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    small = ("--every", "20", "--unrelated", "300", "--sizes", "20,60", "--model", "builtin:static")
    run("bench", "stability", *small, "--output", str(output))
    document = json.loads(output.read_text(encoding="utf-8"))
    steps = [row for row in document["rows"] if "step" in row]
    assert [row["step"] for row in steps] == [
        "a filter",
        "300 unrelated adds",
        "compaction",
        "a restart without indexes, which makes them anew",
    ]
    assert all(row["verdicts"] > 500 for row in steps)
    assert [row["verdicts_changed"] for row in steps] == [0, 0, 0, 0]
    assert [row.get("answers_changed", 0) for row in steps] == [0, 0, 0, 0]
    sizes = [row for row in document["rows"] if "memories" in row]
    assert [row["memories"] for row in sizes] == [20, 60]
    assert all(0 < row["recall_5"] <= 1 and 0 < row["abstained"] <= 1 for row in sizes)
