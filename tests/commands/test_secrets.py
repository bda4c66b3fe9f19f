"""A secret pasted into the wrong field is repeated by no command."""

from __future__ import annotations

import json

import pytest
from screening.made_up import SECRETS

from tests.support.commands import Run

TOKEN = SECRETS["github classic"]
MEMORY = {"domain": "Home", "subject": "Forge", "facts": ["x"], "tier": 2, "category": "tech"}


@pytest.mark.parametrize("wrong", [{"tier": TOKEN}, {"category": TOKEN}, {"facts": f"x {TOKEN}"}, {TOKEN: 1}])
@pytest.mark.parametrize("output", [("--json",), ()])
def test_a_refusal_does_not_repeat_it(run: Run, wrong: dict[str, object], output: tuple[str, ...]) -> None:
    done = run("add_memory", "-", *output, stdin=json.dumps(MEMORY | wrong) + "\n")
    assert done.exit == 2
    assert TOKEN not in done.out + done.err


def test_an_allowed_pattern_lets_it_be_stored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = json.dumps(MEMORY | {"facts": [f"the sample token is {TOKEN}"]}) + "\n"
    assert run("add_memory", "-", stdin=stored).exit == 2
    monkeypatch.setenv("MEMSUITE_ALLOWED_SECRET_PATTERNS", "gh" + r"p_\w+")
    assert run("add_memory", "-", stdin=stored).exit == 0
