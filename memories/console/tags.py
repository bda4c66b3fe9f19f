"""Template tags: one for each part. ``{% load parts %}``. All text is escaped, memory text above all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.messages import get_messages
from django.template.context import RequestContext
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memories.console import parts, times
from memories.console.access import page_of
from memories.console.navigation import QueryValue, page_url
from memories.console.rendering import undo_of
from memories.contract import claims_of
from memories.repository import StoredMemory
from memories.repository.usage import Usage

register = template.Library()

SHAPES = {
    "tech": "circle",
    "correction": "circle",
    "project": "square",
    "user_pref": "square",
    "fact": "triangle",
    "insight": "triangle",
    "decision": "diamond",
    "reference": "diamond",
    "pattern": "plus",
    "question": "plus",
}
"""The shape of each category, so that no hue has to be told from another to tell two apart."""

_BARS = ("M0.5 8h3V12h-3z", "M4.5 5h3V12h-3z", "M8.5 2h3V12h-3z")
SHORT_ID = 8

_once = lru_cache(maxsize=2048, typed=True)
"""For parts that a list shows again and again. By type too: text and text marked as safe are equal, and
only one of them is escaped."""


@register.simple_tag
@_once
def icon(name: str, extra: str = "") -> SafeString:
    return format_html(
        '<svg class="m-i{}" aria-hidden="true"><use href="#i-{}"/></svg>', f" {extra}" if extra else "", name
    )


@register.simple_tag
@_once
def tier(number: int) -> SafeString:
    """Three bars, of which a weightier tier fills more; the digit always beside them."""
    filled = 4 - int(number)
    bars = format_html_join("", '<path{} d="{}"/>', ((_on(at < filled), bar) for at, bar in enumerate(_BARS)))
    return format_html(
        '<span class="m-tier"><svg viewBox="0 0 12 12" aria-hidden="true">{}</svg>'
        '<span class="m-vh">Tier {}</span><span aria-hidden="true">T{}</span></span>',
        bars,
        number,
        number,
    )


@register.simple_tag
@_once
def category(name: str, link: bool = True) -> SafeString:
    """The category's mark and name; a link to the memories of it."""
    mark = format_html(
        '<svg class="m-cat m-cat-{}" aria-hidden="true"><use href="#s-{}"/></svg>{}',
        name,
        SHAPES.get(name, "circle"),
        name,
    )
    return _linked(page_url("memories", category=name) if link else "", "m-chip m-chip--cat", mark)


@register.simple_tag
@_once
def chip(text: str, url: str = "", kind: str = "", count: int | None = None) -> SafeString:
    """A small label. ``kind`` is ok, warn, bad or accent."""
    counted = (
        format_html(' <span class="m-quiet m-num">{}</span>', number(count)) if count is not None else ""
    )
    return _linked(url, f"m-chip m-chip--{kind}" if kind else "m-chip", format_html("{}{}", text, counted))


@register.simple_tag
@_once
def tag_chip(text: str, count: int | None = None) -> SafeString:
    """A tag, linked to the memories that carry it."""
    return chip(text, page_url("memories", tag=text), count=count)


@register.simple_tag
def when(moment: datetime | None, style: str = "full", extra: str = "") -> SafeString:
    """How long ago; ``style`` short for columns (``3 h``), full for sentences (``3 h ago``)."""
    if moment is None:
        return SafeString('<span class="m-time">never</span>')
    said = times.ago if style == "short" else times.ago_in_full
    text = f"{said(moment, datetime.now(UTC))}{extra}"
    return format_html(
        '<time class="m-time" datetime="{}" title="{}">{}</time>',
        times.machine(moment),
        times.utc(moment),
        text,
    )


@register.simple_tag
def exact(moment: datetime) -> SafeString:
    """The moment itself. The script turns the words into local time; UTC stays on hover."""
    return format_html(
        '<time class="m-time" data-local datetime="{}" title="{}">{}</time>',
        times.machine(moment),
        times.utc(moment),
        times.utc(moment),
    )


@register.simple_tag
def short_id(memory_id: str) -> SafeString:
    """The end of an id; the button copies all of it."""
    return format_html(
        '<button class="m-id" type="button" data-do="copy" value="{}" title="{}, copy">'
        "<code>{}</code>{}</button>",
        memory_id,
        memory_id,
        memory_id[-SHORT_ID:],
        icon("copies"),
    )


@register.filter
def number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


@register.filter
def fact(text: str, hit: str = "") -> SafeString:
    """A fact with its ``key=value`` claims set apart, those of the key ``hit`` more than others."""
    return format_html_join("", "{}", ((piece,) for piece in _pieces(text, hit)))


@register.simple_tag
def page_link(name: str, *arguments: str, **query: QueryValue) -> str:
    """The address of ``console:<name>``, "" while there is no such page."""
    return page_url(name, *arguments, **query)


@register.inclusion_tag("console/parts/memory_row.html")
def memory_row(
    memory: StoredMemory,
    usage: Usage | None = None,
    conflicts: int = 0,
    secret: bool = False,
    pick: bool = False,
    checked: bool = False,
    url: str = "",
) -> dict[str, Any]:
    """One memory of a list (inside ``ol.m-list``, with ``--pick`` where rows can be ticked)."""
    return _memory(memory, usage, url) | {
        "conflicts": conflicts,
        "secret": secret,
        "pick": pick,
        "checked": checked,
        "more": len(memory.facts) - 1,
    }


@register.inclusion_tag("console/parts/memory_card.html")
def memory_card(memory: StoredMemory, usage: Usage | None = None, conflicts: int = 0) -> dict[str, Any]:
    """One memory in full: head, all facts, foot."""
    return _memory(memory, usage, "") | {"conflicts": conflicts}


@register.inclusion_tag("console/parts/fact_list.html")
def fact_list(facts: tuple[str, ...]) -> dict[str, Any]:
    return {"facts": facts}


@register.inclusion_tag("console/parts/fact_diff.html")
def fact_diff(changes: tuple[parts.FactChange, ...]) -> dict[str, Any]:
    return {"changes": changes}


@register.inclusion_tag("console/parts/filter_bar.html")
def filter_bar(bar: parts.FilterBar) -> dict[str, Any]:
    return {"bar": bar}


@register.inclusion_tag("console/parts/bulk_bar.html")
def bulk_bar(bar: parts.BulkBar) -> dict[str, Any]:
    return {"bar": bar}


@register.inclusion_tag("console/parts/confirm_sheet.html", takes_context=True)
def confirm_sheet(context: RequestContext, sheet: parts.ConfirmSheet) -> dict[str, Any]:
    return {"sheet": sheet, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("console/parts/progress.html")
def progress(line: parts.Progress) -> dict[str, Any]:
    left = None if line.left_seconds is None else max(1, round(line.left_seconds))
    return {"line": line, "rate": round(line.rate), "left": left}


@register.inclusion_tag("console/parts/empty.html")
def empty(state: parts.Empty) -> dict[str, Any]:
    return {"state": state}


@register.inclusion_tag("console/parts/notice.html")
def notice(says: parts.Notice) -> dict[str, Any]:
    return {"notice": says, "icon_name": says.icon or ("info" if says.kind in ("", "ok") else "alert")}


@register.inclusion_tag("console/parts/stats.html")
def stats(tiles: tuple[parts.Stat, ...]) -> dict[str, Any]:
    return {"tiles": tiles}


@register.inclusion_tag("console/parts/pager.html")
def pager(page: parts.Pager) -> dict[str, Any]:
    return {"page": page}


@register.inclusion_tag("console/parts/action.html")
def action(button: parts.Action, extra: str = "") -> dict[str, Any]:
    return {"action": button, "extra": extra}


@register.inclusion_tag("console/parts/key_hint.html")
def key_hint(*pairs: str) -> dict[str, Any]:
    """``{% key_hint "j k" "next, back" "x" "select" %}``: keys parted by blanks, then what they do."""
    return {"hints": [(keys.split(), says) for keys, says in zip(pairs[::2], pairs[1::2], strict=True)]}


@register.inclusion_tag("console/parts/toasts.html", takes_context=True)
def toasts(context: RequestContext) -> dict[str, Any]:
    """The messages that wait, each with Undo where it offers one. Showing them takes them."""
    request = context["request"]
    shown = [
        {
            "text": message.message,
            "bad": message.level_tag == "error",
            "undo": undo_of(message.extra_tags or ""),
        }
        for message in get_messages(request)
    ]
    return {"toasts": shown, "csrf_token": context.get("csrf_token"), "here": page_of(request)}


def _memory(memory: StoredMemory, usage: Usage | None, url: str) -> dict[str, Any]:
    return {
        "memory": memory,
        "usage": usage or Usage(),
        "recalls": f" · {usage.recalls}×" if usage and usage.recalls else "",
        "url": url or page_url("memory", memory.id),
        "conflicts_url": page_url("conflicts", memory=memory.id),
    }


def _linked(url: str, classes: str, inside: SafeString) -> SafeString:
    if not url:
        return format_html('<span class="{}">{}</span>', classes, inside)
    return format_html('<a class="{}" href="{}">{}</a>', classes, url, inside)


def _on(filled: bool) -> SafeString:
    return SafeString(' class="on"' if filled else "")


def _pieces(text: str, hit: str = "") -> Iterator[SafeString | str]:
    at = 0
    for start, end, key in _claim_spans(text):
        if start >= at:
            yield text[at:start]
            more = " m-claim--hit" if key == hit else ""
            yield format_html('<code class="m-claim{}">{}</code>', more, text[start:end])
            at = end
    yield text[at:]


def _claim_spans(text: str) -> list[tuple[int, int, str]]:
    if "=" not in text:
        return []
    found = []
    for claim in claims_of((text,)):
        written = rf"""{re.escape(claim.key)}\s?=\s?["'`]?{re.escape(claim.value)}["'`]?"""
        match = re.search(written, text, re.IGNORECASE)
        if match is not None:
            found.append((*match.span(), claim.key))
    return sorted(found)
