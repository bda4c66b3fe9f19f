"""How long pages take on a database of many memories: ``python tests/browser/page_times.py --rows 10000``.

The pages are asked for in this process, with everything that stands before a view and without a socket, so
that wall and processor times are the console's own. Two times are told. ``warm``: the page again while
nothing changes. ``changed``: the page right after a memory was added, which sets aside what was kept of
the state before. A first, untimed round fills the caches, as the server's own start does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

    from memories.repository import MemoryRepository

BARS = {10_000: 100.0, 100_000: 300.0}
"""Milliseconds that 95 of 100 requests may take at so many memories (07, "Speed that must hold")."""


@dataclass(frozen=True)
class Times:
    """Milliseconds of one page: median and 95th percentile of the wall, and the median processor time."""

    page: str
    when: str
    p50: float
    p95: float
    cpu: float


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="page-times-") as home:
        _set_up(Path(home))
        with _filled(Path(home), asked.rows, asked.database) as repository:
            found = list(_measured(repository, asked.rounds, asked.only))
    bar = max((ms for rows, ms in BARS.items() if rows <= asked.rows), default=0.0)
    for times in found:
        late = "  over the bar" if bar and times.p95 > bar else ""
        sys.stdout.write(
            f"{times.page:28} {times.when:8} p50 {times.p50:7.1f}  p95 {times.p95:7.1f}"
            f"  cpu {times.cpu:7.1f} ms{late}\n"
        )
    if asked.json:
        asked.json.write_text(json.dumps({"rows": asked.rows, "bar": bar, "times": [*map(asdict, found)]}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the console's pages.")
    parser.add_argument("--rows", type=int, default=10_000, help="memories to fill in (10,000)")
    parser.add_argument("--database", type=Path, help="a filled database; worked on in a copy")
    parser.add_argument("--rounds", type=int, default=40, help="requests of each page (40)")
    parser.add_argument("--only", default="", help="pages whose name holds this")
    parser.add_argument("--json", type=Path, help="a file to write the times to")
    return parser.parse_args()


def _set_up(home: Path) -> None:
    import django

    os.environ.update(HERMES_HOME=str(home), DJANGO_SETTINGS_MODULE="memsuite_site.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from memories.console.static_files import collect

    call_command("migrate", verbosity=0)
    collect(settings.STATIC_ROOT)


@contextmanager
def _filled(home: Path, rows: int, database: Path | None) -> Iterator[MemoryRepository]:
    """The repository the pages work on: made-up memories, their history, a hundred of them in the trash."""
    from maintenance.bench.filling import fill
    from maintenance.bench.hash_vectors import HashEmbedder
    from memories.console.repository_access import using
    from memories.repository import Author, MemoryRepository
    from memories.settings import load_settings

    settings = load_settings(hermes_home=home, db_path=home / "db")
    if database is not None:
        shutil.copytree(database, settings.db_path)
    repository = MemoryRepository(settings, HashEmbedder())
    if repository.count() < rows:
        fill(repository, rows)
    who = Author("console:times", source="console")
    for name in repository.catalogue().table["id"][:100].to_pylist():
        repository.delete(name, who)
    with using(repository):
        yield repository


def _measured(repository: MemoryRepository, rounds: int, only: str) -> Iterator[Times]:
    client, pages = _client(), _pages(repository)
    for name, path in pages.items():
        if only in name:
            client.get(path)
            yield _timed(name, "warm", rounds, lambda path=path: _ask(client, path), lambda: None)
            yield _timed(
                name,
                "changed",
                max(rounds // 2, 5),
                lambda path=path: _ask(client, path),
                _adding(repository),
            )


def _pages(repository: MemoryRepository) -> dict[str, str]:
    catalogue = repository.catalogue()
    tag = next(iter(catalogue.counts("tags")))
    return {
        "dashboard": "/dashboard/",
        "list": "/memories/",
        "list by tag and tier": f"/memories/?tag={tag}&tier=2",
        "list of a category": "/memories/?category=tech&sort=quality",
        "list never recalled": "/memories/?never_recalled=1&sort=changed",
        "list by subject": "/memories/?sort=subject&size=100",
        "list, last page": "/memories/?offset=99999000",
        "list, search": "/memories/?q=nightly+backup+window",
        "list, plain text": "/memories/?q=port&how=contains",
        "memory": f"/memories/{catalogue.table['id'][len(catalogue) // 2].as_py()}/",
        "add": "/memories/add/",
        "tags": "/tags/",
        "tags searched": "/tags/?q=a&sort=name",
        "entities": "/tags/?of=entities",
        "trash": "/trash/",
        "audit": "/audit/",
        "audit filtered": "/audit/?action=delete&who=console%3Atimes",
        "timeline": "/timeline/",
        "stale": "/stale/?quality=0.6&days=1",
        "search lab": "/search-lab/?q=nightly+backup+window",
        "saved filters": "/saved-filters/",
        "jobs": "/jobs/",
    }


def _client() -> Client:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    user = User.objects.create(username="times", is_superuser=True)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _ask(client: Client, path: str) -> None:
    answer = client.get(path)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}")


def _adding(repository: MemoryRepository) -> Callable[[], Any]:
    from maintenance.bench.made_up import payload
    from memories.repository import Author

    numbers = iter(range(repository.count() + 1_000_000, 2**31))
    who = Author("agent")
    return lambda: repository.add(payload(next(numbers)), who)


def _timed(name: str, when: str, rounds: int, ask: Callable[[], None], before: Callable[[], Any]) -> Times:
    walls, processor = [], []
    for _ in range(rounds):
        before()
        began, worked = time.perf_counter(), time.process_time()
        ask()
        processor.append(1000 * (time.process_time() - worked))
        walls.append(1000 * (time.perf_counter() - began))
    last = sorted(walls)[min(len(walls) - 1, round(0.95 * len(walls)))]
    return Times(name, when, statistics.median(walls), last, statistics.median(processor))


if __name__ == "__main__":
    main()
