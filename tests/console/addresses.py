"""Every address of the console, found by walking the resolver, so that a page added later is walked too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from console.samples import SAMPLES, World
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from memories.console.access import Access, access_of, allows
from memories.console.gate import is_admin_view

ADMINS = (
    "/manage/",
    "/manage/auth/user/",
    "/manage/auth/user/add/",
    "/manage/auth/group/",
    "/manage/auth/group/add/",
    "/manage/no/",
)
"""Pages of Django's admin that stand beside ours, and one that does not exist."""


@dataclass(frozen=True)
class Address:
    name: str
    view: Any
    arguments: tuple[str, ...]

    def path(self, world: World) -> str:
        missing = [name for name in self.arguments if name not in SAMPLES]
        assert not missing, f"say in tests/console/samples.py what to open {self.name} with: {missing}"
        return self.path_with({name: SAMPLES[name](world) for name in self.arguments})

    def path_with(self, values: dict[str, str]) -> str:
        return reverse(self.name, kwargs={name: values[name] for name in self.arguments})

    @property
    def methods(self) -> frozenset[str]:
        access = access_of(self.view)
        assert access is not None
        return access.methods


def addresses(resolver: URLResolver, spaces: tuple[str, ...] = ()) -> Iterator[Address]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, (*spaces, *filter(None, [pattern.namespace])))
        elif isinstance(pattern, URLPattern):
            name = ":".join((*spaces, pattern.name or str(pattern.pattern)))
            yield Address(name, pattern.callback, tuple(pattern.pattern.converters))


def named(address: Address) -> str:
    return address.name


def expected(access: Access, user: User | None, method: str) -> str:
    """What a person gets, None being nobody, by what the view asks for."""
    if user is None and not access.public:
        return "login"
    if method not in access.methods:
        return "not allowed"
    if user is not None and not all(allows(user, name) for name in access.needed(method)):
        return "forbidden"
    return "password" if access.wants_password(method) else "answered"


def outcome(answer: HttpResponse) -> str:
    """What a person got."""
    where = answer.headers.get("Location", "")
    if answer.status_code == 401:  # a program is told so, where a person is sent to log in
        return "login"
    if where.startswith(reverse("console:confirm_password")):
        return "password"
    if where.startswith(f"{reverse('console:login')}?next="):
        return "login"
    said = {403: "forbidden", 405: "not allowed"}.get(answer.status_code)
    return said or ("answered" if answer.status_code < 500 else f"broken: {answer.status_code}")


EVERY = list(addresses(get_resolver()))
OURS = [address for address in EVERY if not is_admin_view(address.view)]
PAGES = [address for address in OURS if not address.name.startswith("api:")]
READ = [address for address in PAGES if "GET" in address.methods]
POSTED = [address for address in PAGES if "POST" in address.methods]


def served() -> Iterator[str]:
    """Method and path of every address but the description and what answers for all others."""
    for address in OURS:
        if address.name.startswith("api:") and address.name not in ("api:description", "api:nothing_here"):
            path = address.path_with({name: f"{{{name}}}" for name in address.arguments})
            for method in sorted(address.methods - {"HEAD"}):
                yield f"{method} {unquote(path)}"
