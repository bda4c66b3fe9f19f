"""The eight tool schemas, exactly as the model sees them.

They are also what `arguments` checks against, so a limit is written once. Every schema is closed
(`additionalProperties: false`): the host repairs unknown tool names by resemblance, so a call may
arrive under a name its arguments were not meant for.
"""

from __future__ import annotations

import copy
from typing import Any

from memories.contract import Category, RelationType
from memories.contract import limits as contract_limits

Schema = dict[str, Any]

_CATEGORIES = [str(category) for category in Category]

_TEXT: Schema = {"type": "string"}
_MEMORY_ID: Schema = {
    "type": "string",
    "minLength": 1,
    "description": "The id of one stored memory, as a search, a list or an add returned it.",
}
_CATEGORY: Schema = {"type": "string", "enum": _CATEGORIES}
_TIER: Schema = {
    "type": "integer",
    "minimum": 1,
    "maximum": 3,
    "description": "1 correction, safety rule, critical command or recurring failure; 2 reusable "
    "configuration, architecture, endpoint or workflow; 3 durable background.",
}
_RELATIONS: Schema = {
    "type": "array",
    "maxItems": contract_limits.RELATIONS_MAX,
    "description": "What this memory is connected to: each names a type and exactly one of target_id "
    "(a memory id) or target (Domain:Subject, resolved when it exists).",
    "items": {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": [str(kind) for kind in RelationType]},
            "target_id": _TEXT,
            "target": _TEXT,
        },
        "required": ["type"],
        "additionalProperties": False,
    },
}
_TAGS: Schema = {"type": "array", "maxItems": contract_limits.TAGS_MAX, "items": _TEXT}
_FORM: dict[str, Schema] = {
    "domain": {"type": "string", "description": "Project or area, one word or name, at most 32 characters."},
    "subject": {
        "type": "string",
        "description": "What the facts are about, specific enough to be the only one, at most 80 characters.",
    },
    "facts": {
        "type": "array",
        "minItems": 1,
        "maxItems": contract_limits.FACTS_MAX,
        "items": _TEXT,
        "description": "1 to 12 statements, one line each; write checkable values as key=value.",
    },
    "tier": _TIER,
    "category": _CATEGORY,
}


def _tool(
    name: str, description: str, properties: dict[str, Schema], required: tuple[str, ...] = ()
) -> Schema:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    }


def _whole(minimum: int, maximum: int | None, default: int, description: str = "") -> Schema:
    schema: Schema = {"type": "integer", "minimum": minimum, "default": default}
    if maximum is not None:
        schema["maximum"] = maximum
    if description:
        schema["description"] = description
    return schema


def _choice(values: tuple[str, ...], default: str, description: str = "") -> Schema:
    schema: Schema = {"type": "string", "enum": list(values), "default": default}
    if description:
        schema["description"] = description
    return schema


_SEARCH = _tool(
    "lancedb_search",
    "Search the long-term memory. Returns only memories with enough evidence; when nothing is stored about "
    "the question it says so (abstained), and asking again in other words rarely helps.",
    {
        "query": {
            "type": "string",
            "description": "The question or its distinctive words; a memory id finds exactly that memory.",
        },
        "top_k": _whole(1, 50, 10, "How many results at most."),
        "category": _CATEGORY,
        "mode": _choice(("auto", "hybrid", "lexical", "graph"), "auto"),
        "relation_depth": _whole(0, 1, 1, "1 also returns memories one declared relation away."),
        "neighbor_budget": _whole(0, 5, 5, "How many related memories at most."),
        "scope": _choice(("memories", "turns", "all"), "memories", "What is searched."),
        "diagnostics": {"type": "boolean", "default": False},
    },
    ("query",),
)

_ADD = _tool(
    "lancedb_add",
    "Store one new durable memory: a decision, a correction, a configuration value, a preference. Nothing is "
    "overwritten: an exact repeat is idempotent, a known subject is suggested for update, and a value that "
    "contradicts a stored one is refused and named. Never store secrets.",
    {
        **_FORM,
        "relations": _RELATIONS,
        "tags": _TAGS,
        "write_mode": _choice(
            ("create", "upsert_subject"),
            "create",
            "upsert_subject replaces the one memory of the same subject.",
        ),
    },
    ("domain", "subject", "facts", "tier", "category"),
)

_UPDATE = _tool(
    "lancedb_update",
    "Replace the text of one stored memory. Give all five fields; relations, tags, quality and type are kept "
    "when left out. The earlier state stays in the history.",
    {
        "memory_id": _MEMORY_ID,
        **_FORM,
        "relations": _RELATIONS,
        "tags": _TAGS,
        "quality": {"type": "number", "minimum": 0, "maximum": 1},
        "type": _TEXT,
        "base_revision": {
            "type": "integer",
            "minimum": 1,
            "description": "The revision you read; the update is refused when it has changed since.",
        },
    },
    ("memory_id", "domain", "subject", "facts", "tier", "category"),
)

_DELETE = _tool(
    "lancedb_delete",
    "Move one memory to the trash, with its relations in both directions. A person can restore it.",
    {"memory_id": _MEMORY_ID},
    ("memory_id",),
)

_GET = _tool(
    "lancedb_get",
    "Read one memory whole: facts, relations both ways, open conflicts and its last revisions.",
    {"memory_id": _MEMORY_ID},
    ("memory_id",),
)

_LIST = _tool(
    "lancedb_list",
    "List stored memories page by page (the first 300 characters of each).",
    {
        "category": _CATEGORY,
        "tier": _TIER,
        "tag": _TEXT,
        "quality_min": {"type": "number", "minimum": 0, "maximum": 1},
        "limit": _whole(1, 200, 50),
        "offset": _whole(0, None, 0),
        "order": _choice(("newest", "oldest", "quality"), "newest"),
    },
)

_GRAPH = _tool(
    "lancedb_graph",
    "Declared relations around one memory; without memory_id, counts per relation type and the "
    "best-connected memories.",
    {
        "memory_id": _MEMORY_ID,
        "depth": _whole(1, 2, 1),
        "limit": _whole(1, 200, 50, "How many relations at most."),
    },
)

_CONFLICTS = _tool(
    "lancedb_conflicts",
    "List pairs of memories that state different values for one key, newest first. "
    "Only a person resolves them.",
    {
        "status": _choice(("", "open", "resolved", "archived"), "", "Empty lists open and resolved ones."),
        "memory_id": _MEMORY_ID,
        "limit": _whole(1, 500, 100),
    },
)

_ALL = (_SEARCH, _ADD, _UPDATE, _DELETE, _GET, _LIST, _GRAPH, _CONFLICTS)
_PARAMETERS: dict[str, Schema] = {tool["name"]: tool["parameters"] for tool in _ALL}


def tool_schemas() -> list[Schema]:
    """The eight schemas, as a fresh copy: the host may change what it is given."""
    return copy.deepcopy(list(_ALL))


def parameters_of(tool: str) -> Schema | None:
    """The parameter schema of one tool (shared, not to be changed), or None for a foreign name."""
    return _PARAMETERS.get(tool)
