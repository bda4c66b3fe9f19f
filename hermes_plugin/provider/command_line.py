"""`hermes lancedb-suite status|doctor|search|compact`: thin commands over the same calls the tools make."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from memories.contract import MemsuiteError
from memories.screening import mask_secrets, safe_answer
from memories.settings import Settings, load_settings

from . import configuration
from .capturing import counts_of
from .identity import PROVIDER_NAME, missing_modules, package_version
from .install_hint import install_command
from .shared_store import borrowed


def add_subcommands(parser: Any) -> None:
    """Register what this installation has; each subcommand takes `--json`."""
    commands = parser.add_subparsers(dest="lancedb_suite_command", metavar="COMMAND")
    parser.set_defaults(func=lambda _: parser.print_help())
    _add(commands, "status", "Show the settings, the database and the memory count", _status)
    search = _add(commands, "search", "Search the memories as the agent does", _search)
    search.add_argument("query")
    search.add_argument("--top-k", type=int, default=10)
    _add(commands, "doctor", "Check the installation and the database", _doctor)
    compact = _add(
        commands, "compact", "Compact the tables and remove old versions, where it is time", _compact
    )
    compact.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")


def _add(
    commands: Any, name: str, about: str, run: Callable[[argparse.Namespace, Settings], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(func=lambda options: _finish(run, options))
    return parser


def _finish(run: Callable[[argparse.Namespace, Settings], int], options: argparse.Namespace) -> None:
    """Run and leave with status 0 done, 1 failed or 2 refused (the host ignores return values)."""
    if missing := missing_modules():
        print(
            f"{', '.join(missing)} not installed in Hermes' environment; run: {install_command()}",
            file=sys.stderr,
        )
        sys.exit(1)
    try:
        status = run(options, load_settings(hermes_home=configuration.active_home()))
    except MemsuiteError as error:
        if options.json:
            print(json.dumps(safe_answer(error), ensure_ascii=False, default=str))
        else:
            print(f"{error.code}: {mask_secrets(error.message)[0]}", file=sys.stderr)
        status = 1 if error.retryable else 2
    if status:
        sys.exit(status)


def _status(options: argparse.Namespace, settings: Settings) -> int:
    shown = {"provider": PROVIDER_NAME, "version": package_version(), **configuration.status(settings, "")}
    shown |= configuration.capture_status(settings, counts_of(settings))
    if settings.db_path.exists():
        with borrowed(settings) as repository:
            shown["memories"] = repository.count()
            shown["turns"] = repository.turns.count()
    else:
        shown["memories"] = 0
    _show(options, {"success": True, **shown}, [f"{key}: {value}" for key, value in shown.items()])
    return 0


def _search(options: argparse.Namespace, settings: Settings) -> int:
    from memories.retrieval import SearchRequest, search

    request = SearchRequest.from_arguments({"query": options.query, "top_k": options.top_k})
    with borrowed(settings) as repository:
        answer = search(repository, request).as_answer()
    lines = [f"{row['id']}  {row['content']}" for row in answer["results"]]
    _show(options, answer, lines or [str(answer["message"])])
    return 0


def _doctor(options: argparse.Namespace, settings: Settings) -> int:
    from maintenance.doctor import examine

    report = examine(settings)
    lines = []
    for finding in report.findings:
        lines.append(f"{finding.state:<8} {finding.message}")
        if finding.mend:
            lines.append(f"{'':<8} -> {finding.mend}")
    _show(options, report.as_answer(), lines)
    return 1 if report.problems else 0


def _compact(options: argparse.Namespace, settings: Settings) -> int:
    from memories.repository.upkeep import Maintenance

    maintenance = Maintenance(settings)
    if options.dry_run:
        plan = maintenance.plan()
        _show(
            options, plan.as_answer(), ["There is work to do." if plan.needed else "There is nothing to do."]
        )
        return 0
    result = maintenance.run()
    lines = [f"{name}: {', '.join(work.actions)}" for name, work in result.tables.items() if work.actions]
    _show(options, result.as_answer(), [f"status: {result.status}", *lines])
    return 0 if result.success else 1


def _show(options: argparse.Namespace, answer: dict[str, Any], lines: list[str]) -> None:
    print(json.dumps(answer, ensure_ascii=False, default=str) if options.json else "\n".join(lines))
