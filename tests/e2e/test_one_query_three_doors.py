"""One query through the agent's tool, through recall before the turn, and through the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from hermes_plugin.provider import SuiteProvider
from tests.support.provider_calls import call, form

FACTS = {
    "gateway_port": "The gateway listens on port 7777",
    "gateway_host": "The gateway runs on the NAS in the cellar",
    "proxy": "Caddy terminates TLS before the gateway",
    "backup": "The backup of the NAS runs at night with restic",
    "printer": "The printer is called Brunhilde",
    "editor": "Anna prefers Helix to Vim",
}


@pytest.fixture
def provider(hermes_home: Path) -> Iterator[SuiteProvider]:
    """A provider with the model the product uses, recalling without a limit that would cut the lines."""
    (hermes_home / "lancedb-suite").mkdir(parents=True)
    (hermes_home / "lancedb-suite" / "config.json").write_text(
        '{"auto_prefetch": true, "prefetch_budget_chars": 10000}'
    )
    provider = SuiteProvider()
    provider.initialize("s1", hermes_home=str(hermes_home), platform="cli")
    for subject, fact in FACTS.items():
        assert call(provider, "lancedb_add", **form(subject, fact))["status"] == "created"
    yield provider
    provider.shutdown()


@pytest.mark.parametrize(
    "query",
    [
        "which port does the gateway listen on",
        "gateway",
        "backup of the NAS",
        '"Caddy terminates"',
        "quantum geese",
    ],
)
def test_every_door_gives_the_same_memories_in_the_same_order(
    provider: SuiteProvider, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    by_tool = [row["id"] for row in call(provider, "lancedb_search", query=query)["results"]]
    recalled = provider.prefetch(query)
    by_recall = sorted((identifier for identifier in by_tool if identifier in recalled), key=recalled.index)
    capsys.readouterr()
    call_command("search_memories", query, "--json")
    by_command = [row["id"] for row in json.loads(capsys.readouterr().out)["results"]]
    assert by_command == by_tool
    assert by_recall == by_tool
    assert recalled.count("> [") == len(by_tool)
