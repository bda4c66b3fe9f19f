"""The parts: what they show, and that memory text stays text in each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload
from django.template import Context, Template
from django.test import RequestFactory

from memories.console import parts
from memories.console.tags import SHAPES
from memories.contract import Category
from memories.repository.usage import Usage

if TYPE_CHECKING:
    from memories.repository import MemoryRepository, StoredMemory

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    '<a href="javascript:alert(1)">x</a>',
    '<div hx-get="/" hx-trigger="load">',
    "{{ 7|add:7 }}{% now 'Y' %}",
    "</textarea><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!--><script>alert(1)</script>-->",
    "key=<b onclick=alert(1)>x</b>",
)


class Danger(HTMLParser):
    """Collects what a browser would act on: scripts, handlers, htmx attributes, script links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "img", "b"):
            self.found.append(tag)
        for name, value in attrs:
            leads = name in ("href", "src", "action", "formaction", "data")
            if name.startswith(("on", "hx-", "style")) or (leads and _runs(value or "")):
                self.found.append(f"{tag} {name}")

    def handle_data(self, data: str) -> None:
        self.text += data


def _runs(address: str) -> bool:
    """Whether following a link runs a script: browsers skip blanks and control characters before it."""
    return "".join(c for c in address if c > " ").lower().startswith("javascript:")


def shown(template: str, **context: object) -> Danger:
    request = RequestFactory().get("/memories/", headers={"host": "localhost"})
    parser = Danger()
    parser.feed(Template("{% load parts %}" + template).render(Context({"request": request, **context})))
    return parser


@pytest.fixture
def memory(repository: MemoryRepository) -> StoredMemory:
    return repository.get(repository.add(payload(), AUTHOR).memory_id).memory


@pytest.mark.parametrize("text", PAYLOADS)
@pytest.mark.parametrize(
    "part", ["{% memory_row memory usage conflicts=2 pick=True %}", "{% memory_card memory %}"]
)
def test_a_memory_stays_text(part: str, text: str, memory: StoredMemory) -> None:
    from dataclasses import replace

    hostile = replace(
        memory, domain=text, subject=text, facts=(text, text), tags=(text,), source=text, id=text
    )
    found = shown(part, memory=hostile, usage=Usage())

    assert found.found == []
    assert found.text.count(text) >= 3


@pytest.mark.parametrize("text", PAYLOADS)
def test_every_other_part_keeps_text_as_text(text: str) -> None:
    change = parts.FactChange("edit", text, (("", text), ("ins", text), ("del", text)))
    sheet = parts.ConfirmSheet(
        text,
        text,
        text,
        "/memories/",
        warnings=(text,),
        figures=((text, text),),
        samples=(parts.Sample(text, text, text, (change, parts.FactChange("gone", text)), text),),
        irreversible=(text,),
        hidden=((text, text),),
        note=text,
        foot=text,
    )
    bar = parts.FilterBar(
        "/memories/",
        text,
        text,
        (parts.Pill(text, text, "/memories/"),),
        ((text, text),),
        sorts=((text, text),),
    )
    found = shown(
        "{% confirm_sheet sheet %}{% filter_bar bar %}{% notice notice %}{% empty empty %}{% stats tiles %}"
        "{% chip text %}{% tag_chip text 3 %}{% category text %}{% short_id text %}{% fact_list facts %}"
        "{% progress line %}{% key_hint text text %}",
        sheet=sheet,
        bar=bar,
        notice=parts.Notice(text, text, code=text, actions=(parts.Action(text, value=text),)),
        empty=parts.Empty("memory", text, text),
        tiles=(parts.Stat(text, text, note=text, unit=text),),
        text=text,
        facts=(text,),
        line=parts.Progress(text, 1, 2),
    )

    assert found.found == []
    assert found.text.count(text) > 15


def test_claims_are_set_apart_and_nothing_is_lost() -> None:
    fact = 'port=8410 host=tide.havlys.internal, see name="Tide API"; a != b'
    html = Template("{% load parts %}{{ text|fact }}").render(Context({"text": fact}))
    parser = Danger()
    parser.feed(html)

    assert parser.text == fact
    assert html.count('<code class="m-claim">') == 3


def test_every_category_has_a_shape() -> None:
    assert SHAPES.keys() == {str(category) for category in Category}


@pytest.mark.parametrize(("tier", "bars"), [(1, 3), (2, 2), (3, 1)])
def test_a_weightier_tier_fills_more_bars_and_says_its_digit(tier: int, bars: int) -> None:
    html = Template("{% load parts %}{% tier n %}").render(Context({"n": tier}))

    assert html.count('class="on"') == bars
    assert f"T{tier}" in html


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-500, "just now"),
        (59, "just now"),
        (300, "5 min ago"),
        (3 * 3600, "3 h ago"),
        (30 * 3600, "yesterday"),
        (9 * 86400, "9 d ago"),
        (800 * 86400, "2 y ago"),
    ],
)
def test_a_time_says_how_long_ago_and_the_moment_on_hover(seconds: int, words: str) -> None:
    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    html = Template("{% load parts %}{% when moment %}").render(Context({"moment": moment}))

    assert f">{words}</time>" in html
    assert f'title="{moment:%Y-%m-%d %H:%M:%S} UTC"' in html


def test_what_never_happened_says_so() -> None:
    assert "never" in Template("{% load parts %}{% when moment %}").render(Context({"moment": None}))


@pytest.mark.parametrize(
    ("offset", "says", "previous", "following"),
    [
        (0, (1, 50), "", "/memories/?tag=a&tag=b&size=50&offset=50"),
        (
            50,
            (51, 100),
            "/memories/?tag=a&tag=b&size=50&offset=0",
            "/memories/?tag=a&tag=b&size=50&offset=100",
        ),
        (100, (101, 120), "/memories/?tag=a&tag=b&size=50&offset=50", ""),
    ],
)
def test_a_pager_keeps_the_filter_and_ends_where_the_list_ends(
    offset: int, says: tuple[int, int], previous: str, following: str
) -> None:
    request = RequestFactory().get("/memories/?tag=a&tag=b&size=20&offset=7")
    pager = parts.Pager.of(request, total=120, offset=offset, size=50)

    assert (pager.first, pager.last) == says
    assert (pager.previous_url, pager.next_url) == (previous, following)


def test_a_link_to_a_page_that_is_not_there_is_no_link() -> None:
    html = Template("{% load parts %}[{% page_link 'no-such-page' %}]").render(Context())

    assert html == "[]"
