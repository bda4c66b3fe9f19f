"""What is confidential stays in the page: never in a log, an address, a title, a cookie, an error page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from console.addresses import ADMINS, POSTED, READ
from console.page_structure import Structure, structure
from console.people import BACKEND
from console.worlds import Held, Stored, hold, store
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

pytestmark = pytest.mark.django_db

CANARY = "canary-7f3a-of-the-memory"
TYPED = "typed-5c1e-in-a-form"
PASSWORD = "password-9d2b-of-ingrid"
FRAGMENT = {"HX-Request": "true", "HX-Current-URL": "http://localhost/memories/"}


class Heard(logging.Handler):
    """Every record of every logger, as a file would hold it, tracebacks and all."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def holding(self, *words: str) -> list[str]:
        return [line for line in self.lines if any(word in line for word in words)]


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler, root = Heard(), logging.getLogger()
    # Loggers that say themselves how much they tell keep to it, but for Django's, which the site keeps to
    # errors: with its warnings too, more could be told.
    before, django = root.level, logging.getLogger("django")
    level = django.level
    django.setLevel(logging.WARNING)
    cut_off = [
        logger for logger in map(logging.getLogger, logging.root.manager.loggerDict) if not logger.propagate
    ]
    for logger in (root, *cut_off):
        logger.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.setLevel(before)
    django.setLevel(level)
    for logger in (root, *cut_off):
        logger.removeHandler(handler)


@pytest.fixture
def world(repository: MemoryRepository) -> Stored:
    """The canary in facts, notes, a relation, an audit payload: wherever a memory's text or a note lies.
    The person has a name of their own, which is no secret."""
    return store(repository, [CANARY])[0]


@pytest.fixture
def held(repository: MemoryRepository, world: Stored) -> Held:
    made = hold(repository, world)
    made.user.username = "ingrid"
    made.user.set_password(PASSWORD)
    made.user.save()
    return made


@pytest.fixture
def client(held: Held) -> Client:
    browser = Client(headers={"host": "localhost"}, raise_request_exception=False)
    browser.force_login(held.user, backend=BACKEND)
    return browser


def title_of(read: Structure, content: str) -> str:
    return content.partition("<title>")[2].partition("</title>")[0]


def assert_quiet(answer: HttpResponse, *words: str) -> None:
    """None of the words is in the headers, the cookies or the title."""
    sent = [f"{name}: {value}" for name, value in answer.headers.items()]
    sent += [morsel.OutputString() for morsel in answer.cookies.values()]
    if not answer.streaming:
        content = answer.content.decode(errors="replace")
        sent.append(title_of(structure(content), content))
    assert [line for line in sent if any(word in line for word in words)] == []


def test_no_page_tells_memory_text_to_a_log_a_header_a_cookie_or_a_title(
    held: Held, client: Client, heard: Heard
) -> None:
    shown = 0
    for path in (*(address.path_with(dict(held.arguments)) for address in READ), *ADMINS):
        for headers in ({}, FRAGMENT):
            answer = client.get(path, headers=headers)
            assert answer.status_code < 500
            assert_quiet(answer, CANARY)
            shown += not answer.streaming and CANARY in answer.content.decode(errors="replace")

    assert shown > 10  # it was there to be told
    assert heard.lines
    assert heard.holding(CANARY, PASSWORD) == []


def test_what_is_typed_is_in_no_log_whatever_becomes_of_it(held: Held, client: Client, heard: Heard) -> None:
    for address in POSTED:
        path = address.path_with(dict(held.arguments))
        for fields in forms(held):
            client.force_login(held.user, backend=BACKEND)
            answer = client.post(path, fields)
            assert answer.status_code < 500, (path, fields)
            # A list's own filter is what its address is made of; facts and notes are no filter.
            assert_quiet(answer, TYPED)

    assert heard.holding(TYPED, PASSWORD) == []


def forms(held: Held) -> Iterator[dict[str, Any]]:
    text = dict.fromkeys(("fact", "note", "new_relation", "new_tag", "password", "old_password"), TYPED)
    fits = {"domain": "Havlys", "subject": "Quiet", "tier": "2", "category": "tech", "quality": "0.5"}
    yield text
    yield text | fits
    yield text | fits | {"tier": "9", "base_revision": "1"}
    yield text | {"action": "set_tier", "value": "3", "ids": [held.arguments["memory_id"]], "of": "memories"}
    yield text | {"action": "set_tier", "value": "3", "confirm": "1"}
    yield {"username": "ingrid", "password": TYPED}


def failing(monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception]) -> None:
    """Everything that reads or writes memories fails, with the text at hand where it fails."""

    def fail(self: MemoryRepository, *given: object, **named: object) -> None:
        in_the_frame = CANARY  # a traceback page of Django's would show what this holds
        assert in_the_frame
        raise error()

    for name in ("read", "get", "catalogue", "snapshot", "revisions", "add", "update", "delete", "restore"):
        monkeypatch.setattr(MemoryRepository, name, fail)


@pytest.mark.parametrize(
    ("error", "statuses"),
    [
        (lambda: MemsuiteError(ErrorCode.STORE_UNAVAILABLE, "", "Not now.", received=CANARY), {503}),
        (lambda: MemsuiteError(ErrorCode.FACT_TOO_LONG, "facts[0]", "Too long.", received=CANARY), {422}),
        (lambda: RuntimeError("a fault of ours"), {500}),
    ],
    ids=["unavailable", "refused", "broken"],
)
def test_a_page_that_fails_tells_nothing(
    held: Held,
    client: Client,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
    error: Callable[[], Exception],
    statuses: set[int],
) -> None:
    failing(monkeypatch, error)
    failed = 0
    for address in READ:
        for headers in ({}, FRAGMENT):
            answer = client.get(address.path_with(dict(held.arguments)), headers=headers)
            assert_quiet(answer, CANARY)
            if answer.status_code in statuses:
                failed += 1
                content = answer.content.decode(errors="replace")
                assert CANARY not in content
                assert not [
                    word for word in ("Traceback", "in_the_frame", "RuntimeError", ".py") if word in content
                ]

    assert failed > 4
    assert heard.holding(CANARY, PASSWORD) == []


def test_a_failed_save_keeps_the_text_out_of_the_log(
    held: Held, client: Client, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(MemoryRepository, "add", fail)
    answer = client.post(
        "/memories/add/",
        {"domain": "Havlys", "subject": "Quiet", "fact": TYPED, "tier": "2", "category": "tech"},
    )

    assert answer.status_code == 500
    assert TYPED not in answer.content.decode(errors="replace")
    assert heard.holding("the disk is gone")
    assert heard.holding(TYPED) == []


def test_no_password_is_told(client_as: ClientAs, repository: MemoryRepository, heard: Heard) -> None:
    User.objects.create_user("erik", password=PASSWORD)
    browser = client_as("anonymous")
    for password in (TYPED, PASSWORD):
        answer = browser.post("/login/", {"username": "erik", "password": password})
        assert_quiet(answer, TYPED, PASSWORD)
        assert TYPED not in answer.content.decode(errors="replace")
    new = "codes-are-four-letters"
    browser.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})

    assert heard.holding(TYPED, PASSWORD, new) == []


def test_forms_that_hold_text_never_ask_with_their_address(held: Held, client: Client) -> None:
    texts = {
        "fact",
        "note",
        "password",
        "old_password",
        "new_password1",
        "new_password2",
        "domain",
        "subject",
    }
    for address in READ:
        answer = client.get(address.path_with(dict(held.arguments)))
        if not answer.streaming:
            assert not structure(answer.content.decode(errors="replace")).asks & texts, address.name


def test_pages_link_to_memories_by_id_not_by_their_text(held: Held, client: Client) -> None:
    # Tags, types, saved filters and searched words are what a list's address is made of; facts are not.
    fact = f"port=8{CANARY}"
    for address in READ:
        answer = client.get(address.path_with(dict(held.arguments)))
        if answer.streaming:
            continue
        for tag in structure(answer.content.decode(errors="replace")).tags:
            assert fact not in tag.get("href") + tag.get("action") + tag.get("hx-get"), address.name


def test_the_site_never_runs_in_debug() -> None:
    # The test runner turns it off as well, so the settings are read by themselves.
    import memsuite_site.settings as ours

    assert ours.DEBUG is False
    assert django_settings.DEBUG is False
