"""Files that a person sent to be imported: kept by a key of ours for a while, never by a name of theirs."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from memories.console.keys import unguessable
from memories.console.repository_access import suite_settings
from memories.contract import ErrorCode, MemsuiteError
from memories.interchange.systems import BUILTIN_FILES
from memories.settings import private_directory

UPLOAD_MAX = 64 * 2**20
"""Bytes of one file: an export of 20,000 memories with vectors is 58 MB. Larger ones are imported by the
command, which reads them where they lie."""

KEPT_SECONDS = 7 * 86_400

_KEY = re.compile(r"[\w-]{16,64}")
_PLAIN = "upload"
_NAME_MAX = 120


@dataclass(frozen=True, slots=True)
class Upload:
    """``name`` is what the person's machine calls the file; it is shown and nothing else."""

    key: str
    path: Path
    name: str


def keep(sent: UploadedFile) -> Upload:
    """Store a sent file where only we find it. Raises ``payload_too_large`` and ``required_field``."""
    if not sent.size:
        raise MemsuiteError(ErrorCode.REQUIRED_FIELD, "file", "The file is empty.")
    if sent.size > UPLOAD_MAX:
        raise MemsuiteError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            "file",
            "The file is too large for the console; import_memories takes it.",
            expected=UPLOAD_MAX,
        )
    _forget_old()
    key, name = unguessable(), str(sent.name or "")
    # Told from other Markdown by its name alone, so the name is kept where it is one of these two.
    stored = next((known for known in BUILTIN_FILES if known == name), _PLAIN)
    path = private_directory(_folder() / key) / stored
    with path.open("xb") as file:
        for piece in sent.chunks():
            file.write(piece)
    path.chmod(0o600)
    return Upload(key, path, "".join(c for c in name if c.isprintable())[:_NAME_MAX] or "a file")


def path_of(key: str) -> Path:
    """Raises ``not_found`` for a file that is gone by now."""
    folder = _folder() / key
    found = list(folder.iterdir()) if _KEY.fullmatch(key) and folder.is_dir() else []
    if len(found) != 1:
        raise MemsuiteError(ErrorCode.NOT_FOUND, "file", "The file is no longer kept. Send it again.")
    return found[0]


def is_signed_in(request: HttpRequest) -> bool:
    """By the session alone: asked before the sessions of Django are there."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    return bool(key) and SESSION_KEY in SessionStore(key)


def _folder() -> Path:
    return suite_settings().suite_dir / "uploads"


def _forget_old() -> None:
    oldest = time.time() - KEPT_SECONDS
    for folder in _folder().glob("*"):
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
