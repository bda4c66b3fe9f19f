"""Making a database of the older suite one of ours, in place: imported beside it, held against it row by
row, then the two directories change names. The old one is never altered, and can be swapped back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memories.contract import CONTRACT_VERSION, ErrorCode, MemsuiteError
from memories.embedding import Embedder
from memories.interchange.importing import ImportReport, import_from
from memories.interchange.readers import reader_of
from memories.interchange.sources import signature
from memories.interchange.swapping import exchange
from memories.interchange.systems import System
from memories.interchange.verification import Verification, verify
from memories.repository import MemoryRepository, schema
from memories.repository.engine import as_ours
from memories.repository.foreign import is_older_suite, lock_held
from memories.settings import Settings

LOCK_WAIT = 10.0

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Adoption:
    """``older`` is where the old directory lies now. ``report`` and ``verification`` are None where an
    earlier run had done that part."""

    path: Path
    older: Path
    memories: int
    report: ImportReport | None = None
    verification: Verification | None = None

    def as_answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "success": True,
            "status": "adopted",
            "contract_version": CONTRACT_VERSION,
            "path": str(self.path),
            "older": str(self.older),
            "memories": self.memories,
        }
        if self.verification is not None:
            answer["verified"] = dict(self.verification.checked)
        if self.report is not None:
            answer["import"] = self.report.as_answer()
        return answer


@dataclass(frozen=True, slots=True)
class SwappedBack:
    path: Path
    adopted: Path
    written_since: int
    """Memories written into the adopted database after it was made; they are in it still."""

    def as_answer(self) -> dict[str, Any]:
        return {
            "success": True,
            "status": "swapped_back",
            "path": str(self.path),
            "adopted": str(self.adopted),
            "written_since": self.written_since,
        }


class Adopting:
    """The adoption of what lies at a database path. ``making`` is where the new database is built,
    ``older`` where the old one ends up, ``adopted`` where the new one goes when they are swapped back."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        self._settings = settings
        self._embedder = embedder
        # Through links, so that the directories themselves change names and not a link with a directory.
        self.path = settings.db_path.resolve()
        self.making = self.path.with_name(f"{self.path.name}.adopting")
        self.older = self.path.with_name(f"{self.path.name}.older")
        self.adopted = self.path.with_name(f"{self.path.name}.adopted")

    def run(self, progress: Progress = lambda what, done, total: None) -> Adoption:
        """Adopt, or finish what a killed run began. Raises ``not_found`` where there is nothing to adopt,
        ``invalid_parameter`` where the older directory of an earlier adoption is in the way, and what
        importing raises; the old database is in its place then, as it was."""
        try:
            self._finish_swap()
            if not is_older_suite(self.path):
                return self._already()
            if self.older.exists():
                raise _in_the_way(self.older)
            return self._adopt(progress)
        except OSError as error:
            raise as_ours(error, self.path) from error

    def back(self) -> SwappedBack:
        """Put the old directory back in its place, and ours beside it. Raises ``not_found`` where nothing
        was adopted here, and ``invalid_parameter`` where an earlier swap is in the way."""
        try:
            self._finish_swap()
            if not is_older_suite(self.older):
                raise _nothing(self.older)
            if self.adopted.exists():
                raise _in_the_way(self.adopted)
            written = self._written_since()
            self._swap(self.older)
            self.older.rename(self.adopted)
        except OSError as error:
            raise as_ours(error, self.path) from error
        return SwappedBack(self.path, self.adopted, written)

    def _adopt(self, progress: Progress) -> Adoption:
        mark = signature(self.path)
        self._begin_making(mark)
        with self._repository(self.making) as repository:
            report = import_from(repository, self.path, System.SUITE, progress=progress)
            reader = reader_of(System.SUITE, self.path)
            total = reader.total
            found = verify(
                repository, reader, System.SUITE, report.ids, lambda done: progress("Verifying", done, total)
            )
            if not found.holds:
                raise _differs(found)
            count = repository.count()
        with lock_held(self.path, wait=LOCK_WAIT):
            if signature(self.path) != mark:
                raise _written_meanwhile(self.path)
            self._swap(self.making)
        self.making.rename(self.older)
        _note(self.path).unlink(missing_ok=True)
        return Adoption(self.path, self.older, count, report, found)

    def _begin_making(self, mark: str) -> None:
        """A half-made database is gone on with only while the old one is as it was when it was begun."""
        note = _note(self.making)
        if self.making.exists() and (not note.is_file() or note.read_text(encoding="ascii") != mark):
            shutil.rmtree(self.making)
        if not self.making.exists():
            note.parent.mkdir(mode=0o700, parents=True)
            self.making.chmod(0o700)
            note.write_text(mark, encoding="ascii")

    def _swap(self, other: Path) -> None:
        """Put another directory in the place of the database, and the database in its place."""
        if exchange(self.path, other):
            return
        # Two steps: a kill between them leaves no database here, which `_finish_swap` puts right.
        waiting = self.path.with_name(f"{self.path.name}.swapping")
        self.path.rename(waiting)
        other.rename(self.path)
        waiting.rename(other)

    def _finish_swap(self) -> None:
        """What a kill in or just after a swap has left to do."""
        waiting = self.path.with_name(f"{self.path.name}.swapping")
        if waiting.exists() and not self.path.exists():
            waiting.rename(self.path)
        elif waiting.exists():
            waiting.rename(self.making if is_older_suite(waiting) else self.adopted)
        if is_older_suite(self.making) and not self.older.exists():
            self.making.rename(self.older)
        if is_older_suite(self.path) and self.older.exists() and not is_older_suite(self.older):
            self.older.rename(self.adopted)

    def _already(self) -> Adoption:
        if not is_older_suite(self.older):
            raise _nothing(self.path)
        with self._repository(self.path) as repository:
            return Adoption(self.path, self.older, repository.count())

    def _written_since(self) -> int:
        with self._repository(self.path) as repository:

            def newer(snapshot: Any) -> int:
                made = [row["generation"] for row in snapshot.rows(schema.IMPORTS, "system = 'suite'")]
                return int(snapshot.row_count(schema.MEMORIES, f"generation > {min(made, default=0)}"))

            return repository.read(newer)

    def _repository(self, path: Path) -> MemoryRepository:
        return _Borrowing(replace(self._settings, db_path=path), self._embedder)


def _note(root: Path) -> Path:
    """What the old database was like when a new one was begun."""
    return root / ".memsuite" / "adopting"


class _Borrowing(MemoryRepository):
    """A repository that leaves the model to its owner."""

    def close(self) -> None:
        return


def _nothing(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.NOT_FOUND, "db_path", "There is no database of the older suite here.", received=str(path)
    )


def _in_the_way(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        "db_path",
        f"{path} is there already, from an earlier time. Move it elsewhere first.",
        received=str(path),
    )


def _differs(found: Verification) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        "The imported rows are not as the old ones; nothing was swapped. Please report this.",
        received=found.different,
    )


def _written_meanwhile(path: Path) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.STORE_BUSY,
        "db_path",
        f"{path} was written while it was imported. Stop what writes there and try again.",
        received=str(path),
    )
