from __future__ import annotations

from pathlib import Path

from tests.support.commands import Run


def test_a_healthy_home_ends_with_zero(run: Run, hermes_home: Path) -> None:
    hermes_home.mkdir(mode=0o700)
    done = run("doctor", "--json")
    assert (done.exit, done.answers[0]["success"]) == (0, True)


def test_a_problem_ends_with_one_and_says_how_to_mend_it(run: Run, hermes_home: Path) -> None:
    done = run("doctor")
    assert done.exit == 1
    assert "mend  The Hermes home" in done.out
    assert "→ Start Hermes once" in done.out
    assert done.out.endswith("1 problem to mend.\n")


def test_lines_for_a_person_keep_to_eighty_columns(run: Run, hermes_home: Path) -> None:
    hermes_home.mkdir(mode=0o700)
    words = [line for line in run("doctor").out.splitlines() if "/" not in line]
    assert max(map(len, words)) <= 80
