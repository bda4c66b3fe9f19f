from __future__ import annotations

import pytest

from memories.commands.exits import Exit, exit_for, worst
from memories.contract import ErrorCode, MemsuiteError


def test_a_retryable_error_is_a_failure_and_not_a_refusal() -> None:
    exits = {code: exit_for(MemsuiteError(code, "", "")) for code in ErrorCode if code.retryable}
    assert set(exits.values()) == {Exit.FAILED}


def test_what_the_contract_refuses_is_a_refusal() -> None:
    assert exit_for(MemsuiteError(ErrorCode.INVALID_TIER, "tier", "")) is Exit.REFUSED


@pytest.mark.parametrize(
    ("exits", "expected"),
    [
        ([], Exit.DONE),
        ([Exit.DONE, Exit.DONE], Exit.DONE),
        ([Exit.DONE, Exit.REFUSED], Exit.REFUSED),
        ([Exit.REFUSED, Exit.FAILED, Exit.DONE], Exit.FAILED),
    ],
)
def test_a_batch_ends_with_its_worst_exit(exits: list[Exit], expected: Exit) -> None:
    assert worst(exits) is expected
