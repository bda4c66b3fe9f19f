"""`health`: what is stored, how large, how well indexed; with `--deep`, whether every row is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from maintenance.health import HealthReport, examine_health, require_database
from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.commands.sizes import size
from memories.commands.terminal import ProgressLine
from memories.settings import Settings

if TYPE_CHECKING:
    from memories.repository.integrity import Integrity, Progress

# Enough to see what has happened; `--json` has them all.
_SHOWN = 20


class Command(SuiteCommand):
    help = (
        "Say what the database holds, how large it is, whether its indexes cover it, and whether the model "
        "answers. Changes nothing. Exit code 1 when something is damaged."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--deep",
            action="store_true",
            help="read every row and compare it with the hash it was written with; names what is damaged",
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        # Imported here because the engine and the model take over a second, which `--help` need not wait for.
        from memories.embedding import create_embedder

        embedder = create_embedder(settings)
        try:
            with self._reading(deep=options["deep"]) as progress:
                report = examine_health(settings, embedder, deep=progress)
        finally:
            embedder.close()
        require_database(report)
        if self.json:
            self.answer(report.as_answer())
        self.say(*self._lines(report))
        return Exit.DONE if report.sound else Exit.FAILED

    @contextmanager
    def _reading(self, *, deep: bool) -> Iterator[Progress | None]:
        """What is told how far the reading is; the number of rows is known only once it begins."""
        if not deep:
            yield None
            return
        lines: list[ProgressLine] = []

        def show(done: int, total: int) -> None:
            if not lines:
                lines.append(self.progress("Reading", total))
            lines[0].show(done)

        try:
            yield show
        finally:
            for line in lines:
                line.__exit__()

    def _lines(self, report: HealthReport) -> Iterator[str]:
        answer = report.as_answer()
        yield from self._database_lines(answer["database"])
        yield ""
        yield from _table_lines(answer["tables"])
        yield ""
        yield f"Text index      {_index(answer['text_index'])}"
        yield f"Vector index    {_index(answer['vector_index'])}"
        yield from _storage_lines(answer["storage"])
        yield f"Embedding       {_embedder(answer['embedder'])}"
        yield f"Maintenance     {_maintenance(answer['maintenance'])}"
        yield f"Versions        {', '.join(f'{name} {at}' for name, at in answer['engines'].items())}"
        yield from self._damage_lines(report)

    def _database_lines(self, database: Mapping[str, Any]) -> Iterator[str]:
        yield self.screen.style(database["path"], "strong")
        if database["problem"]:
            yield from self.screen.wrap(database["problem"])
            return
        flush = "" if database["fsync"] else ", files are not flushed (fsync is off)"
        yield f"Change {database['generation']:,}, history {database['lineage']}{flush}"
        spool = "none" if database["spool_files"] is None else f"{database['spool_files']:,} files"
        yield (
            f"Write lock {database['write_lock']}, spool {spool}, "
            f"quarantine {_count(database['quarantine_rows'], 'row')}"
        )
        if database["usage_fault"]:
            yield from self.screen.wrap(
                f"The counts of use cannot be read ({database['usage_fault']}); memories are not affected."
            )

    def _damage_lines(self, report: HealthReport) -> Iterator[str]:
        found = [f"{damage.path}: {damage.what}" for damage in report.database.damage]
        if report.integrity is not None:
            found.extend(_integrity_lines(report.integrity))
        yield ""
        if not found and report.sound:
            read = sum(report.integrity.read.values()) if report.integrity is not None else None
            yield "Nothing is damaged." if read is None else f"All {_count(read, 'row')} are as written."
            return
        yield self.screen.style("Damaged", "bad")
        for line in found[:_SHOWN]:
            yield from self.screen.wrap(line, "  ", "    ")
        if len(found) > _SHOWN:
            yield f"  and {len(found) - _SHOWN:,} more; --json lists them all"
        yield "Bring the database directory back from a backup, or correct what is named here."


def _integrity_lines(integrity: Integrity) -> Iterator[str]:
    """Rows, repeated keys and lost edges; whole files are named already."""
    for row in integrity.rows:
        yield f"{row.table} {row.key or 'without a readable id'}: {row.what}, in {row.file}"
    for table, keys in integrity.repeated_keys.items():
        yield f"{table}: stored more than once: {', '.join(sorted(set(keys)))}"
    for edge in integrity.lost_edges:
        yield f"memory_edges {edge}: one of its ends is not stored"


def _table_lines(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield f"{'table':<26}{'rows':>10}{'version':>9}{'kept':>6}{'parts':>7}{'size':>11}  state"
    for name, table in tables.items():
        rows = "?" if table["rows"] is None else f"{table['rows']:,}"
        parts = "?" if table["fragments"] is None else f"{table['fragments']:,}"
        yield (
            f"{name:<26}{rows:>10}{table['version']:>9,}{table['versions_kept']:>6,}{parts:>7}"
            f"{size(table['bytes']):>11}  {table['state']}"
        )


def _storage_lines(storage: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"On disk         {size(storage['database_bytes'])}, "
        f"{size(storage['active_bytes_estimate'])} of it in use (estimate), backups "
        f"{size(storage['managed_backup_bytes'])}"
    )


def _index(index: Mapping[str, Any]) -> str:
    if index["state"] in ("none", "missing", "unknown"):
        return str(index["state"])
    return f"{index['state']}, {index['indexed_rows']:,} rows in it, {index['unindexed_rows']:,} not yet"


def _embedder(embedder: Mapping[str, Any]) -> str:
    name = embedder["identity"] or "the model"
    if not embedder["reachable"]:
        return f"{name} does not answer: {embedder['message']}"
    return f"{name}, {embedder['latency_ms']:,.1f} ms a query"


def _maintenance(journal: Mapping[str, Any]) -> str:
    if journal["last"] is None:
        return "nothing has been done yet"
    failed = f", {journal['failures']:,} failures in a row" if journal["failures"] else ""
    return f"{journal['last']['status']} at {journal['last']['at']}{failed}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
