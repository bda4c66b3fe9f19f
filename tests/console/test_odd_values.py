"""Numbers, dates, ids and text that nobody's form sends: refused in words, never an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from console.addresses import POSTED, READ, Address, named
from console.page_structure import structure
from console.people import BACKEND
from console.worlds import Held, hold, store
from django.http import HttpResponse
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.console.repository_access import using
from memories.repository import MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from memories.embedding.base import Embedder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("jobs_wait")]

ODD = (
    "", " ", "0", "-1", "1", "50", "00000050", "2147483648", "9223372036854775808", "1e309", "-1e309", "NaN",
    "inf", "0x10", "1_000", "+5", "٣", "²", "½", "1.5", "0,8", ".", "9" * 400, "2026-02-30", "2026-13-01",
    "0000-00-00", "0001-01-01", "9999-12-31", "10000-01-01", "2026-W01-1", "20260314", "2026-03-14T25:00",
    "true", "null", "None", "[]", "{}", "../../etc/passwd", "%00", "\x00", "\x01", "\ud7ff", "\ufeff", "💥",
    "\u202e", "a\nb", "a\r\nX-Injected: 1", "'", '"', "' OR 1=1 --", "`", "\\", "%", "_", "*", "?", "(", "[",
    "id = 'x' OR true", "fact_up:99999999999999999999", "tag_remove:-1", "relation_remove:²", "fact_add:",
    "relation_add_id:", "rebase", "adopt", "trash", "restore", "merge_tags", "set_tier", "undo", "a" * 600,
)  # fmt: skip
NAMES = (
    "q", "how", "category", "type", "tier", "tag", "entity", "source", "session", "quality_min",
    "quality_max", "created_from", "created_to", "conflict", "never_recalled", "sort", "size", "offset",
    "of", "who", "action", "result", "memory", "since", "until", "next", "value", "target",
    "everything", "filter", "ids", "id", "only", "again", "confirm", "note", "revision", "edit", "name",
    "domain", "subject", "fact", "quality", "relation_type", "relation_id", "relation_label", "new_tag",
    "new_relation", "new_relation_type", "base_revision",
)  # fmt: skip
VALUE = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
FEW = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FRAGMENT = {"HX-Request": "true", "HX-Current-URL": "http://localhost/memories/"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    """A few memories that the pages may do with what they like."""
    home = load_settings(hermes_home=tmp_path_factory.mktemp("odd"), environ={"MEMSUITE_FSYNC": "off"})
    with using(MemoryRepository(home, fast_embedder, lock_wait=1.0)) as repository:
        yield repository
        repository.close()


@pytest.fixture
def held(filled: MemoryRepository, db: None) -> Held:
    number = filled.count()
    return hold(filled, store(filled, [f"harbour {number}"])[0])


@pytest.fixture
def client(held: Held) -> Client:
    browser = Client(headers={"host": "localhost"}, raise_request_exception=True)
    browser.force_login(held.user, backend=BACKEND)
    return browser


def typed(answer: HttpResponse) -> bool:
    """Whether it is an answer that was meant: a page, a redirect, or a refusal with its code."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    if answer.status_code < 400:
        return True
    # An error of ours would have flown out of the client; what remains are refusals, which say their code.
    said = bool(body) or "HX-Redirect" in answer
    return answer.status_code in (400, 401, 403, 404, 409, 413, 422, 429) and said


@pytest.mark.parametrize("address", READ, ids=named)
def test_an_odd_query_is_answered(address: Address, held: Held, client: Client) -> None:
    path = address.path_with(dict(held.arguments))
    names = sorted({*NAMES, *fields_of(client, path)})

    @FEW
    @given(st.dictionaries(st.sampled_from(names), VALUE, min_size=1, max_size=4), st.booleans())
    def asked(query: dict[str, str], fragment: bool) -> None:
        answer = client.get(path, query, headers=FRAGMENT if fragment else {})
        assert typed(answer), (query, answer.status_code)
        assert "X-Injected" not in answer.headers

    asked()


def fields_of(client: Client, path: str) -> set[str]:
    """The fields of the forms that ask, where the address is a page."""
    answer = client.get(path)
    is_page = answer.headers.get("Content-Type", "").startswith("text/html")
    return structure(answer.content.decode()).asks if is_page else set()


@pytest.mark.parametrize("address", POSTED, ids=named)
def test_an_odd_form_is_answered(address: Address, held: Held, client: Client) -> None:
    path = address.path_with(dict(held.arguments))
    values = st.one_of(VALUE, st.lists(VALUE, max_size=4), st.just(held.arguments["memory_id"]))

    @FEW
    @given(st.dictionaries(st.sampled_from(NAMES), values, max_size=12), st.booleans())
    def sent(fields: dict[str, Any], fragment: bool) -> None:
        client.force_login(held.user, backend=BACKEND)
        answer = client.post(path, fields, headers=FRAGMENT if fragment else {})
        assert typed(answer), (fields, answer.status_code)
        assert "X-Injected" not in answer.headers

    sent()


@pytest.mark.parametrize("address", [each for each in READ if each.arguments], ids=named)
def test_an_odd_id_is_not_found(address: Address, held: Held, client: Client) -> None:
    path = address.path_with(dict.fromkeys(address.arguments, "7"))

    for odd in ODD:
        spelt = "".join(f"%{byte:02X}" for byte in odd.replace("/", "").encode()) or "%20"
        answer = client.get(path.replace("/7/", f"/{spelt}/"))
        assert typed(answer), odd
        assert answer.status_code in (301, 302, 400, 404), odd


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe", b"--x", b"a" * 10_000, b"&&&==&=", b"%", b"facts=%ff%fe&tag=%00", b"a=1&" * 1_200],
)
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data", "text/x", ""])
def test_a_body_that_is_no_form_is_answered(body: bytes, kind: str, held: Held, client: Client) -> None:
    for path in ("/memories/add/", "/bulk/", "/saved-filters/", f"/memories/{held.arguments['memory_id']}/"):
        answer = client.generic("POST", path, body, content_type=kind)
        assert typed(answer), (path, answer.status_code)
