"""The one place that knows LanceDB: connecting, quoting, and what its errors mean."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memories.contract import ErrorCode, MemsuiteError
from memories.repository.manifest import damaged_files, newest_version

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa
    from lancedb.table import Table

KEEP_EVERY_VERSION = timedelta(days=36_500)
"""``optimize`` prunes what is older than a week unless told otherwise; writers prune nothing."""

_AT_ONCE = timedelta(0)
"""After how long a handle looks for other processes' commits."""

ROWS_UNLIMITED = 2_147_483_647
"""``search()`` without a limit returns ten rows, so every read states one."""


def connect(path: Path) -> lancedb.DBConnection:
    """A connection whose table handles see other processes' commits at once."""
    # Two threads at least: with one, building a text index can wait for itself for ever.
    os.environ.setdefault("LANCE_CPU_THREADS", str(max(2, os.cpu_count() or 2)))
    # The engine warns on standard error about its own plans; errors reach us as exceptions.
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb  # 1.5 s: only on first use, and Hermes does that on a warm-up thread

    if sys.getfilesystemencoding() == "utf-8":
        return lancedb.connect(str(path), read_consistency_interval=_AT_ONCE)
    return _connected_past_the_locale(path)


def _connected_past_the_locale(path: Path) -> lancedb.DBConnection:
    """For a process whose locale is not UTF-8. The engine takes paths as UTF-8 whatever the locale, but
    its Python side first makes the directory by the locale's name, which can be another directory."""
    import lancedb
    from lancedb.background_loop import LOOP
    from lancedb.db import LanceDBConnection

    loop: Any = LOOP
    name = os.fsencode(path).decode()
    inner = loop.run(lancedb.connect_async(name, read_consistency_interval=_AT_ONCE))
    connection: lancedb.DBConnection = LanceDBConnection.from_inner(inner, _AT_ONCE)
    return connection


def query_of(table: Table) -> Any:
    """A query of a table, for ``fetched``. Filters hold before ranking."""
    # The handle's own asynchronous one: its synchronous queries go to the engine's thread a dozen
    # times each, to look at the schema, which is longer than many of them take.
    handle: Any = table
    return handle._table.query()


def fetched(query: Any) -> pa.Table:
    """The rows a query finds."""
    from lancedb.background_loop import LOOP

    loop: Any = LOOP
    found: pa.Table = loop.run(query.to_arrow())
    return found


def streamed(query: Any) -> Iterator[pa.RecordBatch]:
    """The rows a query finds, part by part: for what would be too much at once."""
    from lancedb.background_loop import LOOP

    loop: Any = LOOP
    reader = loop.run(query.to_batches())
    while (batch := loop.run(anext(reader, None))) is not None:
        yield batch


def quoted(text: str) -> str:
    """A user's text as an SQL string of the engine's filters. The only way text gets there.

    Single quotes only: double ones would name a column.
    """
    return "'" + text.replace("'", "''") + "'"


def is_in(column: str, values: Iterable[str]) -> str:
    """``column IN (…)``; no value at all matches nothing."""
    listed = ", ".join(quoted(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


_FULL = re.compile(r"no space left|disk quota|os error 28|os error 122", re.I)
_READ_ONLY = re.compile(r"read-only file system|permission denied|not permitted|os error (?:1|13|30)\b", re.I)
_PRUNED = re.compile(r"not found|no longer exists", re.I)


_PANICS = frozenset({"RustPanic", "PanicException"})


class VersionGone(Exception):
    """A file of the version being read is no longer there; a newer HEAD may have it."""


@contextmanager
def engine_errors(path: Path, *, reading: bool = False) -> Iterator[None]:
    """Turn the engine's untyped errors into ours.

    Raises ``disk_full``, ``store_read_only``, ``store_unavailable`` (naming the file where the
    engine does), or ``VersionGone`` when ``reading`` and something was not found.
    """
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        if reading and _PRUNED.search(str(error)):
            raise VersionGone(str(error)) from error
        raise as_ours(error, path) from error
    except BaseException as error:
        # The engine's own assertions, which damaged files can break; their classes cannot be imported.
        if type(error).__name__ not in _PANICS:
            raise
        raise unavailable(path, str(error)) from error


def as_ours(error: Exception, path: Path) -> MemsuiteError:
    """What an error of the engine or of the system says about the database at ``path``."""
    text = str(error)
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT) or _FULL.search(text):
        return MemsuiteError(
            ErrorCode.DISK_FULL, "db_path", "The disk is full; nothing was written.", received=str(path)
        )
    if number in (errno.EACCES, errno.EROFS, errno.EPERM) or _READ_ONLY.search(text):
        return MemsuiteError(
            ErrorCode.STORE_READ_ONLY,
            "db_path",
            "The database directory cannot be written; nothing was changed.",
            received=str(path),
        )
    return unavailable(path, text)


def unavailable(path: Path, reason: str) -> MemsuiteError:
    """``store_unavailable``, naming the file at fault and saying that nothing was changed."""
    line = first_line(reason)
    return MemsuiteError(
        ErrorCode.STORE_UNAVAILABLE,
        "db_path",
        f"The database cannot be read: {_place(path, line)}{line} Nothing was changed; bring the "
        "directory back from a backup.",
        received=str(path),
    )


def _place(path: Path, reason: str) -> str:
    """The file to put before a reason that names none; for a table, which of its files it is."""
    # The engine leaves out the first slash of a path.
    if str(path).lstrip("/") in reason:
        return ""
    version = newest_version(path)
    damaged = damaged_files({path: version}) if version is not None else []
    return f"{damaged[0][0]} ({damaged[0][1]}): " if damaged else f"{path}: "


def first_line(reason: str) -> str:
    """What the engine says, without the places in its own source and what follows."""
    line = reason.strip().splitlines()[0] if reason.strip() else "unknown reason"
    # The engine ends its messages with a place in its own source, which helps no user.
    line = re.sub(r",?\s+\S*\.rs:\d+:\d+$", "", line)
    return line if line.endswith((".", "!", "?")) else line + "."
