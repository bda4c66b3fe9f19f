"""What the console finds on its first day: an empty place, an older suite's database, a model or none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memories.console.repository_access import repository
from memories.contract import MemsuiteError
from memories.embedding.base import EmbedderState, Readiness


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``count`` is None when the database cannot be read, and ``problem`` says why."""

    path: Path
    count: int | None
    problem: MemsuiteError | None
    older: bool
    embedder: EmbedderState

    @property
    def is_new(self) -> bool:
        """Nothing is stored, or an older suite's database stands in the way."""
        return self.count == 0 or self.older

    @property
    def embedder_works(self) -> bool:
        return self.embedder.readiness in (Readiness.READY, Readiness.COLD)


def look_around() -> Surroundings:
    """Reads HEAD and asks the embedder how it is, which neither loads nor sends anything."""
    store = repository()
    count, problem = None, None
    try:
        count = store.count()
    except MemsuiteError as error:
        problem = error
    older = problem is not None and is_older_suite(store.path)
    return Surroundings(store.path, count, problem, older, store.embedder.state())


def is_older_suite(path: Path) -> bool:
    """Memories without HEAD and without revisions, which this suite makes together with the rest."""
    ours = (path / "HEAD").exists() or (path / "memory_revisions.lance").exists()
    return (path / "memories.lance").is_dir() and not ours
