"""The state of the memory at a glance; every number leads to the list behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.urls import path

from memories.console import times
from memories.console.access import accepts, allows, full_name, may
from memories.console.charts import LineChart, Point, bars
from memories.console.filters import MemoryFilter, Sort
from memories.console.navigation import Page, Section, page_url, rail_pages, register
from memories.console.parts import Action, Empty, Stat
from memories.console.rail_counts import rail_counts
from memories.console.rendering import render_page
from memories.console.repository_access import repository, suite_settings
from memories.console.statistics import (
    LOW_QUALITY,
    OLD_DAYS,
    RECENT_DAYS,
    WEEKS,
    Counts,
    OpenConflicts,
    Storage,
    counts,
    open_conflicts,
    storage,
)
from memories.contract import Tier
from memories.repository import MemoryRepository, Recalls

register(Page(Section.OVERVIEW, 10, "Dashboard", "console:dashboard", "dashboard", "view_memory", key="d"))

MOST_RECALLED = 6
_UNITS = ("KiB", "MiB", "GiB", "TiB")


@accepts("GET")
@may("view_memory")
def dashboard(request: HttpRequest) -> HttpResponse:
    store, now = repository(), datetime.now(UTC)
    recalled = store.usage.recalls()
    figures = counts(store.catalogue(), recalled, now.date())
    open_ones = store.read(open_conflicts)
    stored = storage(store.path, suite_settings().backups_dir)
    context: dict[str, Any] = {
        "title": "Dashboard",
        "wide": True,
        "figures": figures,
        "tiles": tuple(_tiles(figures, open_ones, stored, now)),
        "reviews": tuple(_reviews(request.user, figures, open_ones)),
        "storage": stored,
        "database_size": " ".join(_size(stored.database)),
        "backups_size": " ".join(_size(stored.backups)) if stored.backup_count else "none",
        "maintenance_url": page_url("maintenance"),
        "empty": _empty(request.user) if not figures.total else None,
    }
    if figures.total:
        context |= _charts(figures) | {
            "most_recalled": _most_recalled(store, recalled),
            "most_recalled_url": _listed(sort=Sort.MOST_RECALLED),
        }
    return render_page(request, "console/dashboard/dashboard.html", context)


def _tiles(figures: Counts, conflicts: OpenConflicts, stored: Storage, now: datetime) -> Iterator[Stat]:
    yield Stat("Memories", f"{figures.total:,}", page_url("memories"), note="in this database")
    recent = _listed(created_from=figures.recent_from)
    yield Stat("Added", f"{figures.recent:,}", recent, note=f"in {RECENT_DAYS} days")
    since = f"oldest {times.ago_in_full(conflicts.oldest, now)}" if conflicts.oldest else "none waits"
    yield Stat("Open conflicts", f"{conflicts.rows:,}", _conflicts_url(), note=since)
    last_recalled = _listed(sort=Sort.RECALLED)
    yield Stat("Recalled today", f"{figures.recalled_today:,}", last_recalled, note="by the agent")
    share = f"{100 * figures.never_recalled / figures.total:.1f} % of all" if figures.total else ""
    never = _listed(never_recalled=True)
    yield Stat("Never recalled", f"{figures.never_recalled:,}", never, note=share)
    size, unit = _size(stored.database)
    yield Stat("On disk", size, page_url("maintenance"), unit, _backups(stored))


def _backups(stored: Storage) -> str:
    if not stored.backup_count:
        return "no backup yet"
    return f"{stored.backup_count:,} backup{'' if stored.backup_count == 1 else 's'} beside it"


def _reviews(
    user: User | AnonymousUser, figures: Counts, conflicts: OpenConflicts
) -> Iterator[tuple[str, int | None, str]]:
    """What waits for a person, as (kind, how many, where): pages that decide, then lists to look through.
    None where the number is being counted still; this page does not wait for it."""
    store = repository()
    for page in rail_pages():
        if page.due and page.count and page.url_name != "console:conflicts" and page.allows(user):
            number = rail_counts.count(store, page) if rail_counts.is_known(store, page) else None
            yield page.title, number, page_url(page.url_name.removeprefix("console:"))
    yield "Open conflicts", conflicts.rows, _conflicts_url()
    yield "Memories in conflict", conflicts.memories, _listed(conflict=True)
    old = _listed(never_recalled=True, created_to=figures.old_until)
    yield f"Older than {OLD_DAYS} days, never recalled", figures.never_recalled_old, old
    low = _listed(quality_max=LOW_QUALITY)
    yield f"Quality {LOW_QUALITY} or less", figures.low_quality, low


def _listed(**conditions: Any) -> str:
    """The list of memories narrowed by fields of ``MemoryFilter``."""
    return MemoryFilter(**conditions).address(page_url("memories"))


def _conflicts_url() -> str:
    return page_url("conflicts") or _listed(conflict=True)


def _charts(figures: Counts) -> dict[str, Any]:
    points = [Point(f"{week.monday:%-d %b}", week.total) for week in figures.weeks]
    categories = [(name, count, _listed(category=name)) for name, count in figures.categories.items()]
    tiers = [(str(tier), count, _listed(tier=tier)) for tier, count in figures.tiers.items()]
    return {
        "growth": LineChart("Memories at the end of each week", "Week of", "Memories", points),
        "growth_note": f"{WEEKS} weeks, {sum(week.added for week in figures.weeks):,} added",
        "categories": bars(categories),
        "tiers": bars(tiers, [tier.name.lower() for tier in Tier]),
    }


def _most_recalled(store: MemoryRepository, recalled: Recalls) -> list[tuple[Any, Any, int]]:
    """Memories with their usage and open conflicts, most recalled first."""
    ids = recalled.leaders(store.catalogue().table["id"], MOST_RECALLED)
    memories, conflicts = store.read(
        lambda snapshot: (snapshot.memories(ids), snapshot.open_conflict_counts(ids))
    )
    usage = store.usage.of(ids)
    return [(memories[name], usage.get(name), conflicts.get(name, 0)) for name in ids if name in memories]


def _empty(user: User | AnonymousUser) -> Empty:
    """The first day: what fills this page."""
    add = page_url("add") if allows(user, full_name("add_memory")) else ""
    offered = (
        ("Add a memory", add, True),
        ("What is on this machine", page_url("welcome"), False),
    )
    return Empty(
        "memory",
        "No memories yet",
        "Once the agent stores what it learns, or you add a memory yourself, this page counts them, shows "
        "how they grow and what waits for a decision.",
        [Action(label, url, primary=first) for label, url, first in offered if url],
    )


def _size(number: int) -> tuple[str, str]:
    """Bytes as a number and its unit: ``148.2``, ``MiB``."""
    if not number:
        return "0", _UNITS[0]
    value = number / 1024
    for unit in _UNITS[:-1]:
        if value < 1024:
            return f"{value:,.1f}", unit
        value /= 1024
    return f"{value:,.1f}", _UNITS[-1]


urlpatterns = [path("dashboard/", dashboard, name="dashboard")]
