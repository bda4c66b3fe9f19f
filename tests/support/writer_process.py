"""A writer in a process of its own, for tests that kill it or race it.

``python -m tests.support.writer_process JOB DB_PATH [ARGUMENT …]``: says ``ready``, waits for a
line, does the job, and says a line for each operation once it is acknowledged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from memories.contract import MemsuiteError
from memories.embedding.static import static_embedder
from memories.repository import Author, MemoryRepository
from memories.settings import load_settings

AGENT = Author("agent", session_id="writer")


def disagree(repository: MemoryRepository, ids: Sequence[str]) -> Iterator[str]:
    """Updates that each write four tables: another value (a conflict), a relation, a revision."""
    for memory_id in ids:
        change = {"facts": ["port=8888"], "relations": [{"type": "uses", "target": "Proxy"}]}
        yield repository.update(memory_id, change, AGENT, patch=True).memory_id


def delete(repository: MemoryRepository, ids: Sequence[str]) -> Iterator[str]:
    for memory_id in ids:
        yield repository.delete(memory_id, AGENT).memory_id


def add(repository: MemoryRepository, subjects: Sequence[str]) -> Iterator[str]:
    for subject in subjects:
        yield repository.add(memory(subject), AGENT).memory_id


def maintain(repository: MemoryRepository, ids: Sequence[str]) -> Iterator[str]:
    """Updates, and after each a run of maintenance: ten routine ones for each reclaim."""
    from memories.repository import backup, backup_check
    from memories.repository.upkeep import Maintenance, Mode

    # A process of its own for each check would leave few moments to be killed in.
    backup.check = backup_check.look
    nothing_waits = {"retention_seconds": 0, "cleanup_interval_seconds": 0, "compact_cooldown_seconds": 0}
    maintenance = Maintenance(replace(repository.settings, **nothing_waits))
    for number in count(1):
        value = number % 1000 / 1000
        repository.update(ids[number % len(ids)], {"quality": value}, AGENT, patch=True)
        yield f"{ids[number % len(ids)]} {value}"
        result = maintenance.run(Mode.RECLAIM if number % 10 == 0 else Mode.ROUTINE)
        assert result.success, result.error


def race(repository: MemoryRepository, subjects: Sequence[str]) -> Iterator[str]:
    """Adds the same memories as another process, one for each line that comes in."""
    for subject in subjects:
        try:
            yield str(repository.add(memory(subject), AGENT).status)
        except MemsuiteError as error:
            yield str(error.code)
        sys.stdin.readline()


def memory(subject: str) -> dict[str, object]:
    return {
        "domain": "Orchard",
        "subject": subject,
        "facts": ["port=7777"],
        "tier": 2,
        "category": "project",
        "relations": [{"type": "part_of", "target": "Proxy"}],
    }


JOBS: dict[str, Callable[[MemoryRepository, Sequence[str]], Iterator[str]]] = {
    "add": add,
    "delete": delete,
    "disagree": disagree,
    "maintain": maintain,
    "race": race,
}


def main(job: str, db_path: str, arguments: Sequence[str]) -> None:
    repository = MemoryRepository.open(load_settings(db_path=db_path), static_embedder())
    repository.count()
    print("ready", flush=True)
    sys.stdin.readline()
    for line in JOBS[job](repository, arguments):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
