"""The tool's handler: checked arguments in, always a JSON array out."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from .home import database_path, usage_log
from .search import SearchTooLong, search
from .terms import parse_terms
from .usage import note_usage

DEFAULT_LIMIT = 5
MAX_LIMIT = 50
ARGUMENTS = frozenset({"query", "limit"})


class _Refused(Exception):
    """Why there is no search, in words for the model."""


@dataclass(frozen=True, slots=True)
class _Request:
    query: str
    limit: int  # 1 .. MAX_LIMIT


def recall(args: object, **_host: object) -> str:
    """The notes that have every word of `args["query"]`, as a JSON array of at most `args["limit"]` objects.

    An object has id, content, source, importance, timestamp, memory_type, metadata_json and rank. When
    there can be no search the array holds one object, `{"error": why}`. Never raises.
    """
    try:
        return json.dumps(_answer(args), ensure_ascii=False, allow_nan=False)
    except Exception as problem:
        return json.dumps([{"error": f"The search failed: {type(problem).__name__}."}])


def _answer(args: object) -> list[dict[str, Any]]:
    try:
        request = _checked(args)
    except _Refused as refusal:
        return [{"error": str(refusal)}]
    try:
        rows = _found(request)
        hits = len(rows)
    except _Refused as refusal:
        rows, hits = [{"error": str(refusal)}], 0
    note_usage(usage_log, query_length=len(request.query), hits=hits)
    return rows


def _checked(args: object) -> _Request:
    if not isinstance(args, dict):
        raise _Refused("The arguments have to be an object with query and, if wanted, limit.")
    if args.keys() - ARGUMENTS:
        raise _Refused("This tool takes query and limit, nothing else.")
    query, limit = args.get("query"), args.get("limit")
    if not isinstance(query, str):
        raise _Refused("query has to be a string.")
    if limit is None:
        limit = DEFAULT_LIMIT
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise _Refused(f"limit has to be an integer from 1 to {MAX_LIMIT}.")
    return _Request(query, max(1, min(limit, MAX_LIMIT)))


def _found(request: _Request) -> list[dict[str, Any]]:
    terms = parse_terms(request.query)
    if not terms:
        return []
    try:
        database = database_path()
        if not database.is_file():
            raise _Refused("This Hermes home has no Mnemosyne database (mnemosyne/data/mnemosyne.db).")
        return search(database, terms, request.limit)
    except SearchTooLong as problem:
        raise _Refused(f"{problem} Fewer or rarer words may do.") from problem
    except (sqlite3.Error, OSError) as problem:
        raise _Refused(f"The Mnemosyne database cannot be read: {problem}.") from problem
