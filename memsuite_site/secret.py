"""The installation's secret: signs sessions now, and will anchor the audit chain."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from memories.settings import private_directory

# Bytes of randomness; written as URL-safe text of 86 characters. Django's own check asks for 50.
SECRET_BYTES = 64
SHORTEST_SECRET = 50


class UnusableSecret(RuntimeError):
    """The secret file is there but holds no secret."""


def installation_secret(file: Path) -> str:
    """The secret in ``file``, made on first need. The file is readable by its owner only (0600).

    Raises UnusableSecret when the file holds something too short: making a new one silently would end
    every session and break the audit chain, so that is left to a person.
    """
    try:
        found = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        _create(file)
        found = file.read_text(encoding="utf-8").strip()
    if len(found) < SHORTEST_SECRET:
        raise UnusableSecret(f"{file} holds no usable secret. Move it away, and a new one is made.")
    _close_to_others(file)
    return found


def _create(file: Path) -> None:
    # Written aside and linked into place: of two first processes one wins, and nobody reads half a secret.
    handle, aside = tempfile.mkstemp(dir=private_directory(file.parent), prefix=".secret-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as writer:
            writer.write(secrets.token_urlsafe(SECRET_BYTES))
            writer.flush()
            os.fsync(writer.fileno())
        try:
            file.hardlink_to(aside)
        except FileExistsError:
            return
    finally:
        Path(aside).unlink()


def _close_to_others(file: Path) -> None:
    if file.stat().st_mode & 0o077:
        file.chmod(0o600)
