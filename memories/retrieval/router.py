"""Which way a query goes: by what its words ask for, never by what is stored."""

from __future__ import annotations

import re
from enum import StrEnum

from memories.retrieval.request import Mode
from memories.text.query import QueryWords


class Route(StrEnum):
    EXACT_ID = "exact_id"
    LEXICAL = "lexical"
    GRAPH = "graph"
    HYBRID = "hybrid"


# Whole ids of ours and of imports are UUIDs; the older suite cut them to 12 and, earlier, 20 characters.
_ID_SHAPE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{3}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)


def is_id_shaped(query: str) -> bool:
    """Whether the whole query has the shape of a memory's id: 12, 20 or 36 characters."""
    return _ID_SHAPE.fullmatch(query.strip().lower()) is not None


def route_of(words: QueryWords, mode: Mode) -> Route:
    """The route of a query that is no id: the mode where one is given, else by the word lists."""
    if mode is not Mode.AUTO:
        return Route(mode)
    if words.asks_literally or words.phrases or words.paths or words.assignments or words.identifiers:
        return Route.LEXICAL
    return Route.GRAPH if words.asks_relations else Route.HYBRID
