"""Writes a database of the older suite, and its JSON export, with the engine it ran on.

    python -m venv older && older/bin/pip install lancedb==0.34.0
    older/bin/python tests/support/older_suite.py tests/support/older_suite.tar.gz

Run only to make that archive anew: it needs lancedb 0.34.0, in an environment of its own. The rows are
made up; every oddity that such databases are known to hold is there once.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
import tempfile
from pathlib import Path

NOON = 1_750_000_000.0
DIMENSION = 768
SEPARATOR = "\x1f"

LONG = " ".join(
    f"Step {number} of the restore copies volume {number:02} to the standby host." for number in range(1, 22)
)
SECRET = "The deploy key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"

# id, content, category, tags (None is NULL), quality, extra columns
ROWS = [
    (
        "0a1b2c3d-4e5",
        "Orchard:gateway port=7777 proxy=blue. Restarts take 40 s. [Tier=1]",
        "tech",
        ["nginx"],
        0.9,
        {},
    ),
    (
        "1a1b2c3d-4e5",
        "Orchard:database Runs on PostgreSQL 16 ::fact:: port=5432 ::fact:: Backups at 03:00 [Tier=2]",
        "tech",
        ["PostgreSQL", "backup"],
        0.7,
        {},
    ),
    ("2a1b2c3d-4e5", "Orchard:gateway port=8888 [Tier=2]", "project", [], 0.5, {}),
    ("3f2504e0-4f89-41d3-9", "Harbour:crane Lifts 40 t [Tier=3]", "fact", None, None, {}),
    (
        "9b2e6a1c-7d3f-4b58-9e0a-6c1d2f3a4b5c",
        "Harbour:tide_table Printed each Monday. Ordered from Brest. [Tier=3]",
        "reference",
        ["print"],
        0.4,
        {},
    ),
    ("4a1b2c3d-4e5", "We talked about the weather in Bergen", "fact", None, 0.5, {"vector": "null"}),
    ("5a1b2c3d-4e5", "Orchard:cache ttl=300 [Tier=2] [Tier=2]", "tech", ["redis"], 0.5, {"vector": "zero"}),
    ("6a1b2c3d-4e5", "Orchard:queue [Tier=2] uses RabbitMQ", "tech", ["queue"], 0.5, {}),
    ("7a1b2c3d-4e5", f"Orchard:restore {LONG} [Tier=1]", "pattern", ["restore"], 0.8, {}),
    ("8a1b2c3d-4e5", "Orchard:theme Dark in the evening [Tier=3]", "mood", ["ui"], 0.5, {}),
    ("9a1b2c3d-4e5", f"Orchard:deploy {SECRET} [Tier=2]", "tech", ["deploy"], 0.5, {}),
    (
        "aa1b2c3d-4e5",
        'Orchard:proxy colour=blue ::relations:: [{"type": "part_of", "target": "Orchard:gateway"}] [Tier=2]',
        "tech",
        ["proxy"],
        0.5,
        {},
    ),
    ("ba1b2c3d-4e5", "Harbour:crane Lifts 40 t [Tier=3]", "fact", ["crane"], 0.6, {}),
    (
        "ca1b2c3d-4e5",
        "Orchard:monitor Watches the gateway [Tier=2]",
        "tech",
        ["grafana"],
        0.5,
        {"relations": [{"type": "depends", "target_id": "0a1b2c3d-4e5", "target": ""}]},
    ),
    (
        "da1b2c3d-4e5",
        "Orchard:mirror Copies the database nightly [Tier=2]",
        "tech",
        ["mirror"],
        0.5,
        {"relations": "not json", "entities": "postgresql, backup"},
    ),
    ("ea1b2c3d-4e5", "Orchard:clock Runs ahead [Tier=2]", "tech", ["ntp"], 0.5, {"created_at": 1.75e12}),
    (
        "fa1b2c3d-4e5",
        "User:language Norsk bokmål, unntatt når koden er på engelsk [Tier=2]",
        "user_pref",
        ["språk"],
        0.9,
        {"access_count": 12},
    ),
]

# source, type, target id (None is NULL, as migrated tables have it), label
EDGES = [
    ("1a1b2c3d-4e5", "runs_on", "", "Harbour:standby"),
    ("2a1b2c3d-4e5", "supersedes", "0a1b2c3d-4e5", ""),
    ("5a1b2c3d-4e5", "uses", "1a1b2c3d-4e5", "Orchard:database"),
    ("7a1b2c3d-4e5", "depends", "dead0000-bee", ""),
    ("da1b2c3d-4e5", "part_of", None, "Orchard:database"),
    ("gone0000-bee", "uses", "1a1b2c3d-4e5", ""),
]

# a, b, key, value a, value b, status, resolution type, note, by, archived
CONFLICTS = [
    ("0a1b2c3d-4e5", "2a1b2c3d-4e5", "port", "7777", "8888", "resolved", "", "Both are in use", "user", 0.0),
    ("1a1b2c3d-4e5", "da1b2c3d-4e5", "port", "5432", "5433", "open", "", "", "", 0.0),
    ("5a1b2c3d-4e5", "gone0000-bee", "ttl", "300", "60", "resolved", "auto", "memory deleted", "system", 0.0),
    (
        "1a1b2c3d-4e5",
        "gone0000-bee",
        "backups",
        "03:00",
        "04:00",
        "resolved",
        "human",
        "Mondays only",
        "user",
        NOON,
    ),
]


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write_database(root / "lancedb")
        export = json.dumps(_export(), ensure_ascii=False, indent=1)
        (root / "lancedb-memories.json").write_text(export, encoding="utf-8")
        with tarfile.open(archive, "w:gz") as packed:
            for path in sorted(root.iterdir()):
                packed.add(path, path.name)


def _write_database(path: Path) -> None:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    text, number, count = pa.string(), pa.float64(), pa.int64()
    kinds = {
        "quality": number,
        "created_at": number,
        "updated_at": number,
        "access_count": count,
        "accessed_at": number,
    }
    vector = pa.list_(pa.float32(), DIMENSION)
    names = [*_memory(0), "vector"]
    memories = pa.schema([(name, vector if name == "vector" else kinds.get(name, text)) for name in names])
    database = lancedb.connect(str(path))
    table = database.create_table("memories", schema=memories)
    table.add([_memory(index) | {"vector": _vector(index)} for index in range(len(ROWS))])
    table.create_index("content", config=FTS())
    edges = pa.schema([(name, number if name == "created_at" else text) for name in _edge(0)])
    database.create_table("memory_edges", schema=edges).add([_edge(index) for index in range(len(EDGES))])
    times = {"confidence", "created_at", "resolved_at", "archived_at"}
    ledger = pa.schema([(name, number if name in times else text) for name in _conflict(0)])
    rows = [_conflict(index) for index in range(len(CONFLICTS))]
    hot = database.create_table("memory_conflicts", schema=ledger)
    hot.add([row for row in rows if not row["archived_at"]])
    cold = database.create_table("memory_conflicts_archive", schema=ledger)
    cold.add([row for row in rows if row["archived_at"]])
    (path / ".write.lock").touch()


def _memory(index: int) -> dict:
    name, content, category, tags, quality, extra = ROWS[index]
    relations = extra.get("relations", [])
    return {
        "id": name,
        "content": content,
        "category": category,
        "entities": extra.get("entities", "[]"),
        "links": "[]",
        "relations": relations if isinstance(relations, str) else json.dumps(relations),
        "tags": None if tags is None else json.dumps(tags, ensure_ascii=False),
        "quality": quality,
        "type": category,
        "source": "",
        "session_id": "",
        "user_id": "",
        "created_at": extra.get("created_at", NOON + 60 * index),
        "updated_at": NOON + 60 * index + 5.25,
        "access_count": extra.get("access_count", 0),
        "accessed_at": NOON + 86_400,
    }


def _vector(index: int) -> list | None:
    kind = ROWS[index][5].get("vector")
    if kind == "null":
        return None
    if kind == "zero":
        return [0.0] * DIMENSION
    numbers = [byte - 127.5 for byte in hashlib.shake_256(ROWS[index][1].encode()).digest(DIMENSION)]
    length = sum(value * value for value in numbers) ** 0.5
    return [value / length for value in numbers]


def _edge(index: int) -> dict:
    source, kind, target, label = EDGES[index]
    key = SEPARATOR.join((source, kind, target or "", label))
    return {
        "edge_key": hashlib.sha256(key.encode()).hexdigest(),
        "source_id": source,
        "relation_type": kind,
        "target_id": target,
        "target_label": label,
        "created_at": NOON + index,
    }


def _conflict(index: int) -> dict:
    one, other, key, value_a, value_b, status, kind, note, by, archived = CONFLICTS[index]
    pair = SEPARATOR.join((*sorted((one, other)), key))
    return {
        "id": f"c{index}000000-abc",
        "memory_a_id": one,
        "memory_b_id": other,
        "subject": "orchard:gateway" if index == 0 else "orchard:database",
        "claim_key": key,
        "value_a": value_a,
        "value_b": value_b,
        "status": status,
        "confidence": 1.0,
        "created_at": NOON + index,
        "resolved_at": NOON + 100 if status == "resolved" else 0.0,
        "resolution_type": kind,
        "resolution_note": note,
        "resolved_by": by,
        "conflict_key": hashlib.sha256(pair.encode()).hexdigest(),
        "archived_at": archived,
    }


def _export() -> dict:
    """As GET /api/export of the older suite answers."""
    left_out = ("source", "session_id", "user_id", "accessed_at")
    memories = []
    for index in range(len(ROWS)):
        row = {name: value for name, value in _memory(index).items() if name not in left_out}
        lists = {name: _listed(row[name]) for name in ("entities", "links", "relations", "tags")}
        memories.append(row | lists | {"quality": 0.5 if row["quality"] is None else row["quality"]})
    edges = [
        {
            "from": row["source_id"],
            "to": row["target_id"] or "",
            "relation_type": row["relation_type"],
            "target_label": row["target_label"],
            "created_at": row["created_at"],
        }
        for row in map(_edge, range(len(EDGES)))
    ]
    conflicts = [_conflict(index) for index in range(len(CONFLICTS))]
    return {
        "memories": memories,
        "typed_edges": edges,
        "conflicts": conflicts,
        "count": len(memories),
        "conflict_count": len(conflicts),
    }


def _listed(text: str | None) -> list:
    try:
        return json.loads(text or "[]")
    except ValueError:
        return []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
