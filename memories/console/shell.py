"""What the frame of every page shows: the rail, the database, the model, the embedder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from memories.console.navigation import Page, page_url, rail_pages
from memories.console.rail_counts import rail_counts
from memories.console.repository_access import repository
from memories.contract import MemsuiteError
from memories.embedding.base import Readiness
from memories.embedding.identity import EmbeddingIdentity


@dataclass(frozen=True, slots=True)
class RailLink:
    """A page as the rail shows it to one person; ``count`` is None where there is nothing to count, or
    where it ``waits`` for being counted."""

    page: Page
    url: str
    count: int | None
    current: bool
    waits: bool = False

    @property
    def count_id(self) -> str:
        """The id of the element that shows the number."""
        return f"n-{self.page.url_name.rpartition(':')[2]}"


@dataclass(frozen=True, slots=True)
class EmbedderDot:
    """``kind`` is "" (well), ``warn`` or ``bad``; ``says`` is beside it, ``more`` on hover."""

    kind: str
    says: str
    more: str


_DOTS = {
    Readiness.READY: ("", "embedder ready"),
    Readiness.COLD: ("", "embedder idle"),
    Readiness.FAILING: ("warn", "embedder failing"),
    Readiness.OPEN_CIRCUIT: ("bad", "embedder down"),
}


def shell(request: HttpRequest) -> dict[str, object]:
    """Context processor: ``shell``, of which a template reads only what it shows.

    The other name is the admin's: its base template leaves the block of the rail out without it.
    """
    return {"shell": Shell(request), "is_nav_sidebar_enabled": True}


class Shell:
    """Computed when a page reads it, so that fragments and error pages pay for nothing."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @cached_property
    def rail(self) -> list[tuple[str, list[RailLink]]]:
        """The sections with at least one page that this person may open."""
        user = getattr(self._request, "user", None)
        if user is None:
            return []
        shown = [(page, _address(page)) for page in rail_pages() if page.allows(user)]
        current = _current([address for _, address in shown], self._request.path)
        sections: dict[str, list[RailLink]] = {}
        for page, address in shown:
            if address:
                link = _link(page, address, current=address == current)
                sections.setdefault(str(page.section), []).append(link)
        return list(sections.items())

    @property
    def counts_wait(self) -> bool:
        """Whether numbers of the rail are still to be brought."""
        return any(link.waits for _, links in self.rail for link in links)

    @property
    def counted(self) -> list[RailLink]:
        """The pages of the rail with all their numbers, counted now."""
        return [
            replace(link, count=rail_counts.count(repository(), link.page), waits=False)
            for _, links in self.rail
            for link in links
            if link.page.count is not None
        ]

    @property
    def database(self) -> str:
        """The directory in use, the home shown as ``~``."""
        path = repository().path
        home = Path.home()
        return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)

    @cached_property
    def model(self) -> str:
        """The model of the stored vectors, or the configured one while nothing is stored."""
        try:
            stored = repository().read(lambda snapshot: snapshot.embedding_id)
            if stored:
                return EmbeddingIdentity.parse(stored).model
        except MemsuiteError:
            pass
        return _configured_model()

    @property
    def embedder(self) -> EmbedderDot:
        state = repository().embedder.state()
        kind, says = _DOTS[state.readiness]
        return EmbedderDot(kind, says, state.message or says)

    @cached_property
    def role(self) -> str:
        """The person's standing in a word or two: administrator, or their groups."""
        user = self._request.user
        if getattr(user, "is_superuser", False):
            return "administrator"
        return ", ".join(group.name.lower() for group in user.groups.order_by("name"))

    @property
    def search_url(self) -> str:
        return page_url("memories")

    @property
    def home_url(self) -> str:
        return page_url("home")


def _configured_model() -> str:
    """Without asking an Ollama host, which a page would have to wait for."""
    name = repository().settings.embed_model
    if name and not name.startswith("builtin:"):
        return name
    try:
        return repository().embedder.identity.model
    except MemsuiteError:
        return name


def _address(page: Page) -> str:
    try:
        return reverse(page.url_name)
    except NoReverseMatch:
        return ""


def _link(page: Page, address: str, *, current: bool) -> RailLink:
    if page.count is None or not _is_known(page):
        return RailLink(page, address, None, current, waits=page.count is not None)
    return RailLink(page, address, rail_counts.count(repository(), page), current)


def _is_known(page: Page) -> bool:
    try:
        return rail_counts.is_known(repository(), page)
    except MemsuiteError:
        return True  # a database that cannot be read is not read again for its numbers


def _current(addresses: list[str], path: str) -> str:
    """The longest address that the path lies under."""
    return max(
        (address for address in addresses if address and path.startswith(address)), key=len, default=""
    )
