"""Reading a whole database directory and saying what it holds, in a process of its own: nothing that
this process has cached can make a copy look better than it is.

``python -m memories.repository.backup_check DIRECTORY`` prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import memories
from memories.contract import ErrorCode, MemsuiteError


@dataclass(frozen=True, slots=True)
class Check:
    """What a fresh process found. ``contents`` is as ``contents.plain`` gives it, ``problems`` what is
    not as it was written; ``generation`` and ``embedding`` are those of HEAD."""

    generation: int
    embedding: str
    contents: dict[str, dict[str, Any]]
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        return not self.problems


def check(directory: Path) -> Check:
    """Read every row of a database directory in a fresh process. Nobody else may be at work there: it is
    a copy, or held alone.

    Raises ``store_unavailable`` where that process could not even say what is wrong.
    """
    package = str(Path(memories.__file__).parents[1])
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{known}" if known else package}
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(directory)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise MemsuiteError(
            ErrorCode.STORE_UNAVAILABLE,
            "backup",
            f"{directory} could not be checked: {last}",
            received=str(directory),
        ) from error
    return Check(**found | {"problems": tuple(found["problems"])})


def look(directory: Path) -> Check:
    """What ``check`` says, from this process."""
    from memories.repository.contents import contents_of, plain
    from memories.repository.engine import connect
    from memories.repository.files import DatabaseFiles
    from memories.repository.head import parse_head, read_line
    from memories.repository.integrity import verify
    from memories.repository.snapshot import Snapshot

    files = DatabaseFiles(directory)
    line = read_line(files.head)
    if line is None:
        return Check(0, "", {}, (f"{files.head} is missing",))
    # What HEAD itself names: a copy must not pass for whole by an older state that it holds.
    head = parse_head(line, files.head)
    found = verify(directory, lambda done, total: None, shared=False)
    problems = [f"{path}: {what}" for path, what in found.files]
    problems += [f"{row.table} {row.key or row.file}: {row.what}" for row in found.rows]
    problems += [f"{table}: {len(keys)} keys are stored twice" for table, keys in found.repeated_keys.items()]
    contents = {} if problems else plain(contents_of(Snapshot(connect(directory), files, head)))
    return Check(head.generation, head.embedding, contents, tuple(problems))


def _main() -> None:
    try:
        found = look(Path(sys.argv[1]))
    except MemsuiteError as error:
        found = Check(0, "", {}, (error.message,))
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    _main()
