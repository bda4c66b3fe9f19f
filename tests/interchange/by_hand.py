"""Two proofs that take minutes, and so are run by hand:

    python tests/interchange/by_hand.py roundtrip 20000 FOLDER
    python tests/interchange/by_hand.py killed 100000 FOLDER

`roundtrip` fills a database with memories, turns, lessons, edges, conflicts, revisions and usage, exports it,
imports it into an empty one, exports that, and compares the bytes. `killed` imports made-up JSON lines, kills
the import twice, runs it again and counts. Both print times and the peak memory of each step's own process.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = ("Orchard", "Harbour", "Tidewater", "Quarry", "Lighthouse", "Foundry", "Meadow", "Viaduct")
THINGS = (
    "gateway",
    "printer",
    "backup",
    "sensor",
    "schedule",
    "database",
    "relay",
    "archive",
    "lamp",
    "crane",
)
TOOLS = ("PostgreSQL", "nginx", "Redis", "Django", "Grafana", "RabbitMQ", "Docker", "systemd")
PLACES = (
    "behind the blue proxy",
    "in the cellar",
    "on the second floor",
    "beside the quay",
    "under the roof",
)
START = datetime(2024, 1, 1, tzinfo=UTC)


def payload(number: int) -> dict[str, Any]:
    """A memory; every twentieth shares its subject with the one before and disagrees about a claim."""
    subject = number - 1 if number % 20 == 19 else number
    found: dict[str, Any] = {
        "domain": DOMAINS[subject % len(DOMAINS)],
        "subject": f"{THINGS[subject % len(THINGS)]}_{subject}",
        "facts": [
            f"Runs {TOOLS[number % len(TOOLS)]} {PLACES[number % len(PLACES)]}",
            f"port={10_000 + number % 50_000}",
            f"Checked on day {number} by hand, naïve é 漢",
        ],
        "tier": 1 + number % 3,
        "category": ("tech", "project", "fact", "decision")[number % 4],
        "tags": [f"tag-{number % 97}"],
    }
    if number % 5 == 4:
        found["relations"] = [{"type": "uses", "target": f"{DOMAINS[1]}:{THINGS[1]}_{number // 80 * 80 + 1}"}]
    return found


def write_lines(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            line = payload(number) | {"created_at": (START + timedelta(minutes=number)).isoformat()}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def repository(folder: Path) -> Any:
    from memories.embedding import create_embedder
    from memories.repository import MemoryRepository
    from memories.settings import load_settings

    settings = load_settings(hermes_home=folder, embed_model="builtin:static")
    return MemoryRepository.open(settings, create_embedder(settings))


def fill(folder: Path, count: int) -> None:
    """Memories by import, everything else by what the suite itself does."""
    from memories.interchange import System, import_from
    from memories.repository import Author, BulkChange
    from memories.repository.lessons import Evidence, NewLesson
    from memories.repository.turn_records import NewTurn, TurnKind

    store, author = repository(folder), Author("agent", session_id="s", user_id="u")
    write_lines(folder / "lines.jsonl", count)
    import_from(store, folder / "lines.jsonl", System.JSONL)
    ids = store.catalogue().table["id"].to_pylist()
    store.apply(BulkChange.of("add_tags", ["moved"]), ids[: count // 10], author)
    store.apply(BulkChange.of("trash"), ids[count // 10 : count // 10 + count // 50], author)
    turns = [
        NewTurn(
            f"turn-{n}",
            TurnKind.EXCHANGE,
            f"Where is {n}?",
            f"At place {n}.",
            START + timedelta(hours=n),
            "general",
            "conversations",
            session_id=f"s{n % 50}",
            user_id="u",
        )
        for n in range(count // 5)
    ]
    for start in range(0, len(turns), 1_000):
        batch = turns[start : start + 1_000]
        store.turns.file(batch, store.turns.embed(batch), author, threshold=0.999999)
    store.lessons.propose(
        [
            NewLesson(f"Never move {n}", (Evidence("turn", f"turn-{n}", user_id="u"),), payload(n), "u")
            for n in range(count // 100)
        ],
        author,
    )
    store.usage.record_recall(ids[: count // 4])


def exported(folder: Path, path: Path, vectors: bool) -> None:
    from memories.interchange import export_jsonl

    result = export_jsonl(repository(folder), path, vectors=vectors)
    print(json.dumps(result.rows), f"{result.size / 1e6:.1f} MB", flush=True)


def imported(folder: Path, path: Path) -> None:
    from memories.interchange import import_from
    from memories.interchange.systems import AUTO, system_named

    report = import_from(
        repository(folder),
        path,
        system_named(AUTO, path),
        progress=lambda what, done, total: print(f"\r{what} {done:,} of {total:,}   ", end="", flush=True),
    )
    kept = {
        name: value
        for name, value in report.as_answer().items()
        if name in ("added", "already", "quarantined", "whole", "resumed_from", "seconds")
    }
    print("\n" + json.dumps(kept), flush=True)


def step(what: str, *arguments: object) -> None:
    """One step in a process of its own, with its time and peak memory."""
    started = time.monotonic()
    subprocess.run([sys.executable, __file__, what, *map(str, arguments)], check=True, env=_environment())
    print(f"  {what}: {time.monotonic() - started:.1f} s", flush=True)


def roundtrip(count: int, folder: Path) -> None:
    step("fill", folder / "a", count)
    for vectors in (0, 1):
        print(f"vectors: {'with' if vectors else 'without'}")
        step("exported", folder / "a", folder / "1.jsonl", vectors)
        step("imported", folder / f"b{vectors}", folder / "1.jsonl")
        step("exported", folder / f"b{vectors}", folder / "2.jsonl", vectors)
        print(
            "identical bytes:", _sha(folder / "1.jsonl") == _sha(folder / "2.jsonl"), _sha(folder / "2.jsonl")
        )


def killed(count: int, folder: Path) -> None:
    write_lines(folder / "lines.jsonl", count)
    for share in (0.3, 0.7):
        child = subprocess.Popen(
            [sys.executable, __file__, "imported", str(folder / "c"), str(folder / "lines.jsonl")],
            env=_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        seen = ""
        while _read(seen) < count * share:
            piece = child.stdout.read(64)
            if not piece:
                break
            seen += piece
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        print(
            f"killed after {_read(seen):,}; memories stored: {repository(folder / 'c').count():,}", flush=True
        )
    step("imported", folder / "c", folder / "lines.jsonl")
    print("memories stored:", f"{repository(folder / 'c').count():,}")
    step("imported", folder / "c", folder / "lines.jsonl")


def _read(seen: str) -> int:
    numbers = [part.split(" of ")[0] for part in seen.split("Reading ")[1:] if " of " in part]
    return int(numbers[-1].replace(",", "")) if numbers else 0


def _sha(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "roundtrip":
        roundtrip(int(rest[0]), Path(rest[1]))
    elif what == "killed":
        killed(int(rest[0]), Path(rest[1]))
    elif what == "fill":
        Path(rest[0]).mkdir(parents=True)
        fill(Path(rest[0]), int(rest[1]))
    elif what == "exported":
        exported(Path(rest[0]), Path(rest[1]), rest[2] == "1")
    else:
        imported(Path(rest[0]), Path(rest[1]))
    if what not in ("roundtrip", "killed"):
        print(
            f"  peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB", flush=True
        )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
