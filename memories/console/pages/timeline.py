"""The timeline: the days on which memories were made; a day opens its memories."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path

from memories.console.access import accepts, may
from memories.console.charts import LineChart, bars
from memories.console.day_counts import Day, Days
from memories.console.navigation import Page, Section, page_url, register
from memories.console.paging import window
from memories.console.parts import Empty, Pager
from memories.console.per_state import PerState
from memories.console.rendering import render_page
from memories.console.repository_access import repository

register(Page(Section.BROWSE, 20, "Timeline", "console:timeline", "timeline", key="t"))

_days = PerState(lambda store: Days(store.catalogue().table))


@accepts("GET")
@may("view_memory")
def timeline(request: HttpRequest) -> HttpResponse:
    """A page of days, newest first, with a chart of the span they cover."""
    days = _days.of(repository())
    offset, size = window(request.GET, len(days))
    shown = days.page(offset, size)
    unit, points = days.points(shown)
    context: dict[str, Any] = {
        "title": "Timeline",
        "total": len(days),
        "days": _rows(shown),
        "chart": LineChart(f"Memories made, by {unit}", unit.capitalize(), "Memories", points),
        "unit": unit,
        "added": sum(point.value for point in points),
        "pager": Pager.of(request, len(days), offset, size),
        "empty": Empty("timeline", "No memories yet", "Each day on which one is made will stand here."),
    }
    return render_page(
        request, "console/timeline/timeline.html", context, fragment="console/timeline/_days.html"
    )


def _rows(days: list[Day]) -> list[dict[str, Any]]:
    measured = bars([(f"{day.day:%Y-%m-%d}", day.count, _address(day)) for day in days])
    return [{"day": day, "bar": bar} for day, bar in zip(days, measured, strict=True)]


def _address(day: Day) -> str:
    return page_url("memories", created_from=day.day.isoformat(), created_to=day.day.isoformat())


urlpatterns = [path("timeline/", timeline, name="timeline")]
