"""Read-only keyword recall over the Mnemosyne database of the active Hermes home.

A Hermes tool plugin of its own: standard library only, and only relative imports, since the folder is
copied whole into $HERMES_HOME/plugins and imported there under a name the host makes up.
"""

from __future__ import annotations

from typing import Any

from .home import has_database
from .tool import DEFAULT_LIMIT, MAX_LIMIT, recall

TOOL = "mnemosyne_fts_recall"
TOOLSET = "ram_first"
SCHEMA: dict[str, Any] = {
    "name": TOOL,
    "description": (
        "Find earlier notes by keyword in the local Mnemosyne memory. Read-only and fast; try it before "
        "slower recall. Every word of the query must occur in a note. A trailing * finds words that begin so "
        "(deploy*). No other operators, no meaning: use the words the note would use. Answers a JSON array "
        "of notes, best first; [] means no note has all the words."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "One to a few words; fewer words find more notes."},
            "limit": {
                "type": "integer",
                "description": f"The most notes to return, 1 to {MAX_LIMIT}.",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "default": DEFAULT_LIMIT,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}


def register(ctx: Any) -> None:
    """Called by the host once per process."""
    ctx.register_tool(
        name=TOOL,
        toolset=TOOLSET,
        schema=SCHEMA,
        handler=recall,
        check_fn=has_database,
        description=SCHEMA["description"],
        emoji="🔎",
    )
