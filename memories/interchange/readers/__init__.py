"""One reader a system."""

from __future__ import annotations

from pathlib import Path

from memories.embedding import Embedder
from memories.interchange.readers.base import Reader
from memories.interchange.systems import System


def reader_of(system: System, path: Path, embedder: Embedder | None = None) -> Reader:
    """The reader of a source. ``embedder`` lets it see whether the source's vectors are of this model."""
    if system is System.MEMSUITE:
        from memories.interchange.readers.memsuite import MemsuiteReader

        return MemsuiteReader(path)
    if system is System.SUITE:
        from memories.interchange.readers.suite import SuiteReader

        return SuiteReader(path, embedder)
    if system is System.SUITE_JSON:
        from memories.interchange.readers.suite_json import SuiteJsonReader

        return SuiteJsonReader(path)
    if system in (System.MEMPALACE, System.NEXUS):
        from memories.interchange.readers.palace import PalaceReader

        return PalaceReader(path, system)
    if system is System.MNEMOSYNE:
        from memories.interchange.readers.mnemosyne import MnemosyneReader

        return MnemosyneReader(path)
    if system is System.HERMES_BUILTIN:
        from memories.interchange.readers.builtin import BuiltinReader

        return BuiltinReader(path)
    from memories.interchange.readers.jsonl import JsonLinesReader

    return JsonLinesReader(path)
