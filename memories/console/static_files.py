"""Static files under names that hold their hash, so that browsers may keep them for good."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from whitenoise.storage import CompressedManifestStaticFilesStorage

STAMP = ".collected"


class HashedFiles(CompressedManifestStaticFilesStorage):
    """Before the files are collected, a name stands for itself: commands and tests need no collection."""

    manifest_strict = False

    def hashed_name(self, name: str, content: Any = None, filename: str | None = None) -> str:
        try:
            return super().hashed_name(name, content, filename)
        except ValueError:
            return name


def collect(root: Path) -> None:
    """Bring all static files to ``root``, unless they are there as they are now."""
    from django.core.management import call_command

    stamp, wanted = root / STAMP, _fingerprint()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(wanted, encoding="utf-8")


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for name, file in sorted(_sources()):
        state = file.stat()
        digest.update(f"{name}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _sources() -> Iterator[tuple[str, Path]]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            yield name, Path(storage.path(name))
