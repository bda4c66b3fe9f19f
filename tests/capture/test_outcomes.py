from __future__ import annotations

import pytest

from memories.capture.outcomes import approves, bears_out, takes_back


@pytest.mark.parametrize(
    "message", ["that works", "takk, perfekt", "Perfect, thanks!", "Det virker nå", "You're right."]
)
def test_a_good_outcome_is_heard(message: str):
    assert approves(message)


@pytest.mark.parametrize(
    "message", ["that works but slowly", "det virker ikke", "Is that correct?", "Perfect the draft."]
)
def test_what_only_sounds_like_one_is_not(message: str):
    assert not approves(message)


@pytest.mark.parametrize(
    "answer",
    [
        "You're right, the port is 7788.",
        "I apologize for the mix-up.",
        "Beklager, jeg tok feil.",
        "Du har rett, takk.",
    ],
)
def test_an_assistant_takes_something_back(answer: str):
    assert takes_back(answer)


@pytest.mark.parametrize(
    "answer", ["The answer is right.", "You have the right to know.", "Du har rett til ferie."]
)
def test_an_ordinary_answer_takes_nothing_back(answer: str):
    assert not takes_back(answer)


CLAIM = "The gateway listens on port 7788."


@pytest.mark.parametrize(
    ("result", "confirmed"),
    [
        ("LISTEN 0.0.0.0 7788 gateway", True),
        ("LISTEN 0.0.0.0 7777 gateway", False),
        ("7788 lines", False),
        ("error: gateway on 7788 not found", False),
        ("", False),
    ],
)
def test_a_tool_bears_out_a_claim_by_its_values(result: str, confirmed: bool):
    assert bears_out(result, CLAIM) is confirmed


def test_a_tool_bears_out_a_claim_by_its_key():
    assert bears_out("host=x\nport=7788", "It is set to port=7788 now.")
