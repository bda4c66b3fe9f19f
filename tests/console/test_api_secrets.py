"""A secret sent in the wrong field is repeated by no answer of the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from console.samples import payload
from screening.made_up import SECRETS

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository

TOKEN = SECRETS["github classic"]


@pytest.mark.parametrize(
    "wrong", [{"tier": TOKEN}, {"category": f"x {TOKEN}"}, {"facts": [TOKEN]}, {TOKEN: 1}]
)
def test_a_refusal_does_not_repeat_it(
    client_as: ClientAs, repository: MemoryRepository, wrong: dict[str, object]
):
    body = json.dumps(payload() | wrong)
    answer = client_as("curator").post("/api/memories", body, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert TOKEN not in answer.content.decode()
    assert repository.count() == 0
