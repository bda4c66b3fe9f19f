"""A note of how far the audit history reached, in a file beside the console's database.

It is written after each commit, so it may name an earlier row than the last one, never a later one. A
database that was emptied, cut short or exchanged for an older copy no longer holds the row it names.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from pathlib import Path

from memories.console.audit_chain import Link
from memories.settings import Settings, private_directory

logger = logging.getLogger(__name__)

NAME = "audit.head"
_lock = threading.Lock()


def anchor_file(settings: Settings) -> Path:
    return settings.suite_dir / NAME


def read_anchor(file: Path) -> Link | None:
    """What the file notes; None where there is none. Raises ValueError when it notes nothing legible."""
    try:
        return parse_anchor(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def parse_anchor(text: str) -> Link:
    """``<position>:<hash>``, as the file and `audit_verify` write it."""
    position, mark, mac = text.strip().partition(":")
    if not mark or not position.isdigit() or len(mac) != 64:
        raise ValueError("not an anchor of an audit history")
    return Link(int(position), mac)


def anchor_text(link: Link) -> str:
    return f"{link.position}:{link.mac}"


def raise_to(settings: Settings, link: Link) -> None:
    """Note a row, unless a later one is noted. A failure is logged and harms nothing but the note."""
    file = anchor_file(settings)
    try:
        with _lock:
            noted = _noted(file)
            if noted is None or noted.position < link.position:
                _write(file, anchor_text(link))
    except OSError:
        logger.warning("the end of the audit history cannot be noted in %s", file.name)


def _noted(file: Path) -> Link | None:
    try:
        return read_anchor(file)
    except (ValueError, UnicodeDecodeError):
        return None


def _write(file: Path, text: str) -> None:
    handle, aside = tempfile.mkstemp(dir=private_directory(file.parent), prefix=".audit-")
    with os.fdopen(handle, "w", encoding="ascii") as writer:
        writer.write(text + "\n")
    Path(aside).replace(file)
