"""The pages of the rail. Each page module registers itself, so the rail holds what exists and no more."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from django.contrib.auth.models import AnonymousUser, User
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_script_prefix, reverse
from django.utils.http import urlencode

from memories.console.access import allows, full_name

if TYPE_CHECKING:
    from memories.repository import MemoryRepository


class Section(StrEnum):
    """The groups of the rail, in their order."""

    OVERVIEW = "Overview"
    BROWSE = "Browse"
    DECIDE = "Decide"
    RUN = "Run"
    MANAGE = "Manage"


@dataclass(frozen=True, slots=True)
class Page:
    """One link of the rail.

    ``icon`` is a symbol of ``templates/console/parts/icons.html`` without its ``i-``. ``key`` is the letter
    that follows ``g`` on the keyboard. ``count`` gives the exact number shown at the right, ``due`` marks it
    as work that waits; ``light`` says that counting costs nothing, whatever has changed. ``order`` places the
    link within its section.
    """

    section: Section
    order: int
    title: str
    url_name: str
    icon: str
    permission: str = "view_memory"
    key: str = ""
    count: Callable[[MemoryRepository], int] | None = None
    due: bool = False
    light: bool = False

    def allows(self, user: User | AnonymousUser) -> bool:
        return allows(user, full_name(self.permission))


QueryValue: TypeAlias = str | int | list[str] | None

_pages: dict[str, Page] = {}


def register(page: Page) -> Page:
    """Give a page its place in the rail. Raises ValueError for a key that another page has."""
    taken = next((p for p in _pages.values() if p.key == page.key and p.url_name != page.url_name), None)
    if page.key and taken is not None:
        raise ValueError(f"{page.title} and {taken.title} both want the key g {page.key}")
    _pages[page.url_name] = page
    return page


def rail_pages() -> list[Page]:
    """Every registered page in the order of the rail."""
    sections = list(Section)
    return sorted(_pages.values(), key=lambda page: (sections.index(page.section), page.order, page.title))


def page_url(name: str, /, *arguments: str, **query: QueryValue) -> str:
    """The address of ``console:<name>`` with a query, "" while there is no such page."""
    address = _reversed(name, get_script_prefix(), *arguments)
    if not address:
        return ""
    given = {key: value for key, value in query.items() if value is not None and value != ""}
    return f"{address}?{urlencode(given, doseq=True)}" if given else address


@lru_cache(maxsize=4096)
def _reversed(name: str, prefix: str, *arguments: str) -> str:
    """The address under the ``prefix`` that the site is served at; "" where there is none. Remembered: a
    list asks for the same ones for each of its rows."""
    try:
        return reverse(f"console:{name}", args=arguments)
    except NoReverseMatch:
        return ""


def page_patterns() -> Iterator[URLPattern | URLResolver]:
    """The addresses of every module in ``memories.console.pages``, in the order of their names."""
    from memories.console import pages

    for module in sorted(pkgutil.iter_modules(pages.__path__), key=lambda found: found.name):
        yield from importlib.import_module(f"{pages.__name__}.{module.name}").urlpatterns
