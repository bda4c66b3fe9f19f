"""From a query to ranked evidence, or to a plain word that nothing is stored about it."""

from __future__ import annotations

from memories.retrieval.answer import SearchAnswer
from memories.retrieval.request import Mode, SearchRequest
from memories.retrieval.router import Route
from memories.retrieval.search import search

__all__ = ["Mode", "Route", "SearchAnswer", "SearchRequest", "search"]
