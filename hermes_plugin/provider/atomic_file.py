"""Replacing a small settings file in one step, so that a reader sees the old one or the new one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_text(file: Path, text: str) -> None:
    """Write `text` in place of `file` (through a link where it is one), keeping its mode; 0600 if new."""
    target = file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
