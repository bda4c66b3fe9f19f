"""A short walk through the invented memories in the terminal. It reads only, and counts as no recall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.commands.show import conflict_lines, search_lines
from memories.commands.terminal import Screen

if TYPE_CHECKING:
    from memories.repository import MemoryRepository


@dataclass(frozen=True, slots=True)
class Stop:
    """One question of the walk, and what there is to see."""

    title: str
    says: str
    query: str
    top_k: int = 2


STOPS = (
    Stop(
        "A question in plain words",
        "Found by words and meaning together, each result with the evidence for it.",
        "why did the cranes get double booked",
        1,
    ),
    Stop(
        "What has been replaced",
        "An outdated decision is kept, and comes after the one that replaced it.",
        "what replaced RabbitMQ",
    ),
    Stop(
        "A setting, word for word",
        "A key with its value is looked up exactly as written.",
        "lock_timeout=3s",
        1,
    ),
    Stop(
        "What hangs together",
        "Relations that a person declared are followed one step.",
        "which services does the booking API require and use",
        6,
    ),
    Stop(
        "In French",
        "Accents may be left out: prelevement finds prélèvement.",
        "quand a lieu le prelevement SEPA",
        1,
    ),
    Stop(
        "In Norwegian",
        "The same index serves every language, and no service has to run for it.",
        "koder ved strømbrudd",
        1,
    ),
    Stop(
        "Something nobody has stored",
        "No result is better than a wrong one. The answer says so plainly.",
        "which insurance covers the company cars",
    ),
)


def tour(repository: MemoryRepository, screen: Screen) -> Iterator[list[str]]:
    """The stops one by one as lines, so that each shows as soon as it is found."""
    from memories.retrieval import SearchRequest, search

    for number, stop in enumerate(STOPS, start=1):
        request = SearchRequest.from_arguments({"query": stop.query, "top_k": stop.top_k})
        answer = search(repository, request).as_answer()
        yield [
            *_heading(number, stop.title, stop.says, screen),
            screen.style(f'$ search_memories "{stop.query}"', "accent"),
            "",
            *search_lines(answer, screen),
        ]
    yield _disagreements(repository, screen)
    yield _farewell(screen)


def _disagreements(repository: MemoryRepository, screen: Screen) -> list[str]:
    from memories.repository.results import conflict_answer

    conflicts = repository.conflicts(status="open")
    sides = [side for conflict in conflicts for side in (conflict.memory_a_id, conflict.memory_b_id)]
    memories = repository.read(lambda snapshot: snapshot.memories(sides))
    contents = {memory.id: memory.content for memory in memories.values()}
    title = f"{len(conflicts)} open {'disagreement' if len(conflicts) == 1 else 'disagreements'}"
    says = "Two memories of one subject that state different values. The agent sees them; a person decides."
    lines = _heading(len(STOPS) + 1, title, says, screen)
    for conflict in conflicts:
        lines.extend([*conflict_lines(conflict_answer(conflict), contents, screen), ""])
    return lines


def _heading(number: int, title: str, says: str, screen: Screen) -> list[str]:
    rule = screen.style("─" * screen.width, "faint")
    return ["", rule, screen.style(f"{number}. {title}", "strong"), *screen.wrap(says), ""]


def _farewell(screen: Screen) -> list[str]:
    rule = screen.style("─" * screen.width, "faint")
    text = "Ask your own: manage.py search_memories QUERY, with the same --hermes-home."
    return [rule, *screen.wrap(text)]
