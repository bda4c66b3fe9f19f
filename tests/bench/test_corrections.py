"""``bench corrections`` and the memory of ``bench crowding``: figures that can fall short."""

from __future__ import annotations

from maintenance.bench.crowding import crowding_memory
from maintenance.bench.labelled import Agreement, Labelled, agreement
from memories.contract import validate_add
from tests.support.commands import Run


def test_it_gives_figures_for_each_language_and_part(run: Run) -> None:
    (document,) = run("bench", "corrections", "--json").answers
    rows = {(row["language"], row["part"]): row for row in document["rows"]}
    assert set(rows) == {(lang, part) for lang in ("en", "nb") for part in ("tuning", "held_out", "all")}
    assert document["passed"] and rows["en", "all"]["sentences"] >= 200


def test_agreement_counts_what_is_missed_and_what_is_false() -> None:
    said = [
        Labelled("tuning", "direct", "No, use pnpm."),
        Labelled("tuning", "direct", "Good morning."),
        Labelled("tuning", "none", "Never push to main."),
        Labelled("tuning", "none", "No problem."),
    ]
    assert agreement(said) == Agreement(found=1, missed=1, false=1)
    assert (agreement(said).precision, agreement(said).recall) == (0.5, 0.5)


def test_the_crowding_memory_is_the_most_that_the_contract_takes() -> None:
    memory = crowding_memory([f"where is word{number}thing kept" for number in range(600)])
    request = validate_add(memory)
    assert len(request.form.facts) == 12 and len(request.form.tags) == 20
    assert 1_500 < sum(map(len, request.form.facts)) <= 2_000
