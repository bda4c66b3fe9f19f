"""A curator at work: conflicts decided each way, duplicates merged, the review gone through by keys alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from statistics import median, quantiles
from typing import TYPE_CHECKING, TypeAlias

import pytest
from browser.desk import (
    DISPUTED,
    KEPT_FACT,
    LOST_FACT,
    SPARE_FACT,
    agent_says,
    change,
    facts_of,
    fill_desk,
)
from browser.driving import PASSWORD, PEOPLE, serving
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.driving import Open, Served, Watched
    from playwright.sync_api import Page

    Seat: TypeAlias = Callable[[], Page]

ITEMS = 40
_TIMING = """
  const noted = () => {
    const pressed = Number(sessionStorage.getItem("pressed"));
    if (!pressed) return;
    const waits = JSON.parse(sessionStorage.getItem("waits") || "[]");
    sessionStorage.setItem("waits", JSON.stringify([...waits, Date.now() - pressed]));
    sessionStorage.removeItem("pressed");
  };
  document.addEventListener("keydown", () => sessionStorage.setItem("pressed", String(Date.now())), true);
  document.addEventListener("DOMContentLoaded", noted);
  document.addEventListener("htmx:afterSettle", noted);
"""


@pytest.fixture(scope="module")
def desk_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A console over work for a curator, shared by the stories here: each uses things of its own."""
    home = tmp_path_factory.mktemp("desk")
    fill_desk(home)
    with serving(home, *PEOPLE) as served:
        yield served


@pytest.fixture
def curator(desk_console: Served, watch: Open) -> Iterator[Page]:
    watched: Watched = watch(desk_console)
    watched.log_in("curator", PASSWORD)
    yield watched.page
    assert watched.faults == []


def open_conflict(page: Page, served: Served, subject: str) -> None:
    page.goto(f"{served.url}/conflicts/")
    row = page.locator("li.m-row", has_text=f"Havlys:{subject}")
    row.get_by_role("link").first.click()
    expect(page.locator("h1")).to_have_text("2 memories disagree about timeout")


def decide(page: Page, label: str, note: str) -> None:
    page.get_by_role("radio", name=re.compile(f"^{label}")).check()
    page.get_by_label("Reason, required").fill(note)
    page.get_by_role("button", name="Decide").click()
    expect(page.locator(".m-toast").last).to_be_visible()


def test_conflicts_are_decided_each_way_and_the_agent_keeps_to_it(
    desk_console: Served, curator: Page
) -> None:
    keep_a, keep_b, both, edited = DISPUTED
    home = desk_console.home
    assert agent_says(home, keep_a, "timeout=600") == "conflicting_claims"

    open_conflict(curator, desk_console, keep_a)
    expect(curator.locator(".m-if-keep_a li.edit")).to_contain_text("timeout=")
    expect(curator.locator(".m-if-keep_b")).to_be_hidden()
    decide(curator, "Keep A", "Measured in March")
    assert [fact for (fact,) in facts_of(home, keep_a)][1] == f"It waits, timeout=900 on {keep_a}"
    assert agent_says(home, keep_a, "timeout=900") == "update_suggested"
    assert agent_says(home, keep_a, "timeout=600") == "conflicting_claims"

    open_conflict(curator, desk_console, keep_b)
    curator.get_by_role("radio", name=re.compile("^Keep B")).check()
    curator.get_by_role("radio", name="Supersede the whole memory").check()
    decide(curator, "Keep B", "A is of last year")
    assert facts_of(home, keep_b)[0] == (f"The service answers with timeout=900 for {keep_b}",)

    open_conflict(curator, desk_console, both)
    decide(curator, "Both stand", "Two clients, two limits")
    assert (
        agent_says(home, both, "timeout=600") == agent_says(home, both, "timeout=900") == "update_suggested"
    )
    assert agent_says(home, both, "timeout=300") == "conflicting_claims"

    open_conflict(curator, desk_console, edited)
    curator.get_by_role("radio", name=re.compile("^Edit")).check()
    curator.get_by_label("Facts of A, one a line").fill("The service answers with timeout=750")
    curator.get_by_label("Facts of B, one a line").fill("It waits, timeout=750")
    decide(curator, "Edit", "Neither was right")
    assert facts_of(home, edited) == [("The service answers with timeout=750",), ("It waits, timeout=750",)]
    assert agent_says(home, edited, "timeout=900") == "conflicting_claims"

    curator.goto(f"{desk_console.url}/conflicts/?state=resolved")
    expect(curator.get_by_text("Two clients, two limits")).to_be_visible()
    curator.get_by_role("link", name="2 memories disagree about timeout").first.click()
    expect(curator.get_by_text("Stood then:")).to_contain_text("A timeout=900 from agent")
    curator.go_back()
    row = curator.locator("li.m-row", has_text=f"Havlys:{both}")
    row.get_by_role("link").first.click()
    curator.get_by_label("Reason, required").fill("One client after all")
    curator.get_by_role("button", name="Reopen the conflict").click()
    expect(curator.locator(".m-toast")).to_contain_text("Reopened the conflict about timeout")
    assert agent_says(home, both, "timeout=600") == "conflicting_claims"
    curator.locator(".m-toast").get_by_role("button", name="Undo").click()
    expect(curator.locator(".m-toast")).to_contain_text("Undone")
    assert agent_says(home, both, "timeout=600") == "update_suggested"


def test_duplicates_are_merged_fact_by_fact_and_parted_again(desk_console: Served, curator: Page) -> None:
    home = desk_console.home
    before = facts_of(home, "Ferry"), facts_of(home, "Ferry_time")
    curator.goto(f"{desk_console.url}/duplicates/?threshold=0.80")
    curator.locator(".m-pick").get_by_role("link", name="Ferry").first.click()
    table = curator.locator("table.m-choice")
    expect(table.locator("tbody tr")).to_have_count(3)

    table.locator("tr", has_text=LOST_FACT).get_by_text("Drop").click()
    curator.get_by_role("button", name="Preview").click()
    preview = curator.locator(".m-preview")
    expect(preview).to_contain_text(SPARE_FACT)
    expect(preview).not_to_contain_text(LOST_FACT)
    curator.get_by_role("button", name="Merge 2 memories").click()
    expect(curator.locator(".m-toast")).to_contain_text("Merged 2 memories into Havlys:Ferry")
    assert facts_of(home, "Ferry") == [(KEPT_FACT, SPARE_FACT)]
    assert facts_of(home, "Ferry_time") == []

    curator.locator(".m-toast").get_by_role("button", name="Undo").click()
    expect(curator.locator(".m-toast")).to_contain_text("Undone")
    assert (facts_of(home, "Ferry"), facts_of(home, "Ferry_time")) == before


def test_forty_items_are_reviewed_by_keys_alone(
    desk_console: Served, curator: Page, record_property: Callable[[str, object], None]
) -> None:
    curator.add_init_script(_TIMING)
    curator.goto(f"{desk_console.url}/dashboard/")
    with curator.expect_navigation(url="**/review/"):
        curator.keyboard.press("g")
        curator.keyboard.press("r")
    place = curator.locator(".m-queue > strong")
    total = int(place.inner_text().split()[-1])
    assert total > ITEMS
    curator.evaluate("sessionStorage.removeItem('waits')")
    decided = dict.fromkeys("AXSJ", 0)
    for number in range(ITEMS):
        card = curator.locator("#queue article")
        key = "A" if card.locator("button[aria-keyshortcuts=A]").count() and number % 4 else "XSJ"[number % 3]
        curator.keyboard.press(key)
        decided[key] += 1
        expect(place).to_have_text(f"{number + 2} of {total}")

    said = curator.locator(".m-queue > span")
    expect(said).to_have_text(f"{decided['A']} accepted · {decided['X']} dismissed · {decided['S']} skipped")
    assert decided["A"] > ITEMS / 4
    at = place.inner_text()
    curator.keyboard.press("z")
    expect(place).not_to_have_text(at)
    waits = sorted(json.loads(curator.evaluate("sessionStorage.getItem('waits')")))
    assert len(waits) >= ITEMS
    figures = (
        f"median {median(waits):.0f} ms, p95 {quantiles(waits, n=20)[-1]:.0f} ms, worst {waits[-1]:.0f} ms"
    )
    record_property("next review item", figures)
    print(f"next review item after a key: {figures}")


def test_a_dismissed_item_comes_back_when_its_row_changes(desk_console: Served, curator: Page) -> None:
    queue = f"{desk_console.url}/review/?kind=secret"
    curator.goto(queue)
    subject = curator.locator("#rv a").inner_text().removeprefix("Havlys:")
    curator.keyboard.press("x")
    expect(curator.locator(".m-queue > span")).to_contain_text("1 dismissed")
    curator.goto(f"{queue}&view=list")
    listed = curator.get_by_role("link", name=f"Havlys:{subject}", exact=True)
    expect(listed).to_have_count(0)

    change(desk_console.home, subject, quality=0.7)
    curator.reload()

    expect(listed).to_have_count(1)
