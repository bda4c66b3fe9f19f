"""Where the active Hermes home keeps what this plugin reads and writes."""

from __future__ import annotations

import os
from pathlib import Path


def hermes_home() -> Path:
    """The home of the profile that is active now; asked at each call, since one process serves several."""
    try:
        from hermes_constants import get_hermes_home
    except ImportError:  # outside the host, as in a test or at a prompt
        return Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes").absolute()
    return Path(get_hermes_home()).absolute()


def database_path() -> Path:
    """Mnemosyne's database, whether or not it is there."""
    return hermes_home() / "mnemosyne" / "data" / "mnemosyne.db"


def usage_log() -> Path:
    """The telemetry file, whether or not it is there."""
    return hermes_home() / "plugin-data" / "ram-first-context" / "usage.jsonl"


def has_database() -> bool:
    """Whether there is something to search; the host hides the tool where this is False. Never raises."""
    try:
        return database_path().is_file()
    except Exception:
        return False
