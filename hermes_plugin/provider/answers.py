"""From an answer to the one JSON text a tool returns, never longer than a model can take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.screening import safe_answer

MAX_CHARACTERS = 20_000
"""Longest answer of a tool, in characters of JSON: about 5,000 tokens (spec 04)."""

_NOTE_ROOM = 600
"""Characters kept free for `truncated`, `omitted` and the sentence on how to go on."""

_LONGEST_TEXT = 2_000
"""Texts beyond this are shortened, only when cutting rows did not suffice (rows older than the limits)."""

_ROW_LISTS = {
    "lancedb_search": ("results", "diagnostics"),
    "lancedb_add": ("candidates", "conflicts", "warnings"),
    "lancedb_update": ("conflicts", "warnings"),
    "lancedb_get": ("revisions", "edges_in", "edges_out", "conflicts"),
    "lancedb_list": ("rows",),
    "lancedb_graph": ("edges", "nodes", "most_connected"),
    "lancedb_conflicts": ("conflicts",),
}
_GO_ON = {
    "lancedb_search": "ask with a smaller top_k, without diagnostics, or read one memory with lancedb_get",
    "lancedb_get": "read the other side of a relation with lancedb_get, conflicts with lancedb_conflicts",
    "lancedb_graph": "ask with a smaller depth or limit, or around another memory_id",
    "lancedb_conflicts": "ask with memory_id, status or a smaller limit",
}


def as_json(answer: Mapping[str, Any]) -> str:
    """Compact JSON, non-ASCII kept (a model reads it, and escapes would cost it characters)."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), default=str)


def error_text(error: MemsuiteError) -> str:
    """The one error shape, as the tool's answer."""
    return as_json({**safe_answer(error), "contract_version": CONTRACT_VERSION})


def unexpected_text(error: BaseException) -> str:
    """An answer for a failure that is ours: its kind only, since its text may quote a memory."""
    fault = MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "",
        f"the memory store failed unexpectedly ({type(error).__name__}); the host's log has the details",
    )
    return error_text(fault)


def answer_text(tool: str, answer: Mapping[str, Any], *, offset: int = 0) -> str:
    """The tool's answer as JSON of at most `MAX_CHARACTERS`, cut at a whole row where it is longer.

    `offset` is where a listed page began, so that the note can name where the next one starts.
    """
    body = dict(answer)
    body.setdefault("contract_version", CONTRACT_VERSION)
    text = as_json(body)
    if len(text) <= MAX_CHARACTERS:
        return text
    omitted = _cut_rows(tool, body, len(text))
    body["truncated"] = True
    body["omitted"] = omitted
    body["how_to_go_on"] = _how_to_go_on(tool, body, offset)
    if "count" in body and "results" in body:
        body["count"] = len(body["results"])
    elif "count" in body and "rows" in body:
        body["count"] = len(body["rows"])
    text = as_json(body)
    return text if len(text) <= MAX_CHARACTERS else as_json(_shortened(body))


def _how_to_go_on(tool: str, body: Mapping[str, Any], offset: int) -> str:
    if tool == "lancedb_list":
        return f"ask again with offset={offset + len(body.get('rows', ()))}"
    return _GO_ON.get(tool, "read single memories with lancedb_get")


def _cut_rows(tool: str, body: dict[str, Any], size: int) -> dict[str, int]:
    """Drop whole rows from the end of the lists, last rows of the bulkiest list first."""
    target = MAX_CHARACTERS - _NOTE_ROOM
    omitted: dict[str, int] = {}
    if isinstance(body.get("diagnostics"), Mapping):
        size -= len(as_json(body.pop("diagnostics")))
        omitted["diagnostics"] = 1
    lists = {name: list(body[name]) for name in _ROW_LISTS.get(tool, ()) if isinstance(body.get(name), list)}
    weights = {name: [len(as_json({"": row})) - 4 for row in rows] for name, rows in lists.items()}
    while size > target and any(lists.values()):
        bulkiest = max(lists, key=lambda name: sum(weights[name]))
        lists[bulkiest].pop()
        size -= weights[bulkiest].pop()
        omitted[bulkiest] = omitted.get(bulkiest, 0) + 1
    body.update(lists)
    if tool == "lancedb_graph":
        _drop_dangling_edges(body, omitted)
    return omitted


def _drop_dangling_edges(body: dict[str, Any], omitted: dict[str, int]) -> None:
    """An edge whose other end was cut would name a memory the reader cannot see."""
    if "edges" not in body:  # the summary lists none
        return
    known = {node["id"] for node in body["nodes"]}
    edges = [edge for edge in body["edges"] if {edge["source_id"], edge["target_id"]} - {""} <= known]
    if cut := len(body["edges"]) - len(edges):
        omitted["edges"] = omitted.get("edges", 0) + cut
        body["edges"] = edges


def _shortened(value: Any, longest: int = _LONGEST_TEXT) -> Any:
    """The same structure with over-long texts ended by `…`, halving the limit until it fits."""
    while True:
        short = _cut_texts(value, longest)
        if len(as_json(short)) <= MAX_CHARACTERS or longest < 50:
            return short
        longest //= 2


def _cut_texts(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest] + "…"
    if isinstance(value, Mapping):
        return {key: _cut_texts(entry, longest) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_texts(entry, longest) for entry in value]
    return value
