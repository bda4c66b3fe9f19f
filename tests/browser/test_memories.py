"""The list of memories in a real browser: what htmx swaps, and the same without a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser.driving import NARROW
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.driving import Open, Served, Watched
    from playwright.sync_api import Page


def listed(watched: Watched, address: str = "/memories/") -> Page:
    watched.log_in()
    watched.open(address)
    return watched.page


def subjects(page: Page) -> list[str]:
    return page.locator("a.m-row__subject").all_inner_texts()


def test_typing_searches_and_keeps_the_field(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    page = listed(watched, "/memories/?how=contains&q=tide")
    with page.expect_response(lambda answer: "q=tide_service" in answer.url):
        page.focus("#lq")
        page.keyboard.press("End")
        page.keyboard.type("_service")
    page.wait_for_url("**/memories/?q=tide_service&how=contains")

    assert [name for name in subjects(page) if "tide_service" not in name] == []
    assert page.evaluate("document.activeElement.id") == "lq"
    page.keyboard.type("x")
    assert page.input_value("#lq") == "tide_servicex"
    assert "match" in page.inner_text("#list-count")
    assert watched.faults == []


def test_sorting_swaps_the_rows_and_back_returns(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    page = listed(watched, "/memories/?tier=2")
    before = subjects(page)
    page.select_option("#sort", "oldest")
    page.wait_for_url("**/memories/?tier=2&sort=oldest")
    assert subjects(page)[0] != before[0]

    page.go_back()
    expect(page.locator("a.m-row__subject")).to_have_text(before)
    assert page.url.endswith("/memories/?tier=2")
    assert watched.faults == []


@pytest.mark.parametrize("size", [(1440, 900), NARROW], ids=["wide", "narrow"])
def test_the_filter_panel_narrows_the_list(demo_console: Served, watch: Open, size: tuple[int, int]) -> None:
    watched = watch(demo_console, size)
    page = listed(watched)
    page.click("details.m-more > summary")
    page.select_option("#f-category", "decision")
    assert watched.overflow <= 0
    page.click("text=Apply filters")
    page.wait_for_url("**/memories/?category=decision")

    assert [" ".join(pill.split()) for pill in page.locator(".m-pill").all_inner_texts()] == [
        "category decision"
    ]
    assert watched.faults == []


def test_a_filter_is_saved_without_a_script(demo_console: Served, watch: Open) -> None:
    page = listed(watch(demo_console, script=False), "/memories/?category=insight")
    page.click("details.m-more--save > summary")
    page.fill("#save-name", "What was learned")
    page.click("button[form=save-filter]")

    expect(page.locator(".m-saved a[aria-current]")).to_contain_text("What was learned")
    assert page.url.endswith("/memories/?category=insight")


def test_filters_work_without_a_script(demo_console: Served, watch: Open) -> None:
    page = listed(watch(demo_console, script=False))
    page.select_option("#sort", "subject")
    page.click("form.m-filter > button.m-nojs")

    page.wait_for_url("**/memories/?sort=subject")


def test_the_bulk_bar_comes_with_the_first_tick(demo_console: Served, watch: Open) -> None:
    page = listed(watch(demo_console))
    assert not page.locator(".m-bulk").is_visible()
    rows = page.locator("li.m-row input.m-row__pick")
    rows.nth(1).click()
    rows.nth(3).click(modifiers=["Shift"])

    assert page.inner_text("[data-picked]") == "3"
    assert page.locator(".m-bulk").is_visible()


def test_ticking_a_row_after_a_search_fetches_nothing(demo_console: Served, watch: Open) -> None:
    page = listed(watch(demo_console), "/tags/")
    rows = page.locator("#labels tbody tr")
    before = rows.count()
    page.fill("#lq", "back")
    expect(rows).not_to_have_count(before)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    rows.locator("input").first.check()
    # What one types is searched for after 300 ms; a network that was idle before is idle at once.
    page.wait_for_timeout(600)

    assert asked == []
    assert page.inner_text("[data-picked]") == "1"


def test_a_memory_leads_back_to_the_list_one_came_from(demo_console: Served, watch: Open) -> None:
    page = listed(watch(demo_console), "/memories/?q=tide&how=contains")
    with page.expect_navigation():
        page.locator("a.m-row__subject").first.click()
    page.locator("#l-history").wait_for()
    page.locator(".m-crumb a").first.click()

    page.wait_for_url("**/memories/?q=tide&how=contains")
