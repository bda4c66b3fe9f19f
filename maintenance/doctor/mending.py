"""What the doctor may put right by itself: only where nothing can be lost by it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maintenance.doctor.findings import Finding, Report
from maintenance.doctor.upkeep import leftovers
from memories.contract import MemsuiteError
from memories.settings import Settings

LOCK_WAIT = 10.0


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done about a finding, or why it could not be."""

    check: str
    message: str
    done: bool

    def as_dict(self) -> dict[str, Any]:
        return {"check": self.check, "message": self.message, "done": self.done}


def mend(settings: Settings, report: Report) -> list[Mended]:
    """Mend what is safe of what a report names: rights, damaged indexes, unreadable counts of use, and
    leftovers of killed runs. Everything else is for a person."""
    done: list[Mended] = []
    for finding in report.findings:
        act = _ACTS.get(finding.check)
        if act is None or not finding.mend:
            continue
        try:
            message = act(settings, finding)
        except (OSError, MemsuiteError) as error:
            reason = error.message if isinstance(error, MemsuiteError) else str(error)
            done.append(Mended(finding.check, reason, done=False))
            continue
        if message:
            done.append(Mended(finding.check, message, done=True))
    return done


def _close(settings: Settings, finding: Finding) -> str:
    path = Path(finding.details["path"])
    path.chmod(0o600 if path.is_file() else 0o700)
    return f"{path} is closed to other users now."


def _index(settings: Settings, finding: Finding) -> str:
    """Indexes only, which are made of the rows; a damaged table is for a backup."""
    from memories.repository.store import Store

    path = Path(finding.details["path"])
    if path.parent.parent.name != "_indices":
        return ""
    with Store(settings.db_path, fsync=settings.fsync).upkeep(LOCK_WAIT):
        return f"The index that {path} belonged to was made anew."


def _usage(settings: Settings, finding: Finding) -> str:
    from memories.repository.files import DatabaseFiles

    usage = DatabaseFiles(settings.db_path).usage
    if not usage.is_file():
        return ""
    aside = usage.with_name(f"{usage.name}.damaged")
    usage.replace(aside)
    for journal in ("-wal", "-shm"):
        usage.with_name(usage.name + journal).unlink(missing_ok=True)
    return f"The counts of use are kept at {aside}; counting begins anew."


def _leftover(settings: Settings, finding: Finding) -> str:
    path = Path(finding.details["path"])
    if path not in leftovers(settings):
        return ""
    shutil.rmtree(path)
    return f"{path} is removed."


_ACTS: Mapping[str, Callable[[Settings, Finding], str]] = {
    "permissions": _close,
    "files": _index,
    "usage": _usage,
    "leftovers": _leftover,
}
