"""Calling a provider's tools the way a model does."""

from __future__ import annotations

import json
from typing import Any

Answer = dict[str, Any]


def call(provider: Any, tool: str, **arguments: Any) -> Answer:
    """What a tool answers, parsed as the model would parse it."""
    answer: Answer = json.loads(provider.handle_tool_call(tool, arguments))
    return answer


def form(subject: str = "gateway_port", *facts: str, **more: Any) -> Answer:
    """The arguments of an add."""
    stated = list(facts) or ["port=7777 for the gateway"]
    return {"domain": "Hermes", "subject": subject, "facts": stated, "tier": 2, "category": "tech", **more}
