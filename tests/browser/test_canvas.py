"""Map and graph in a real browser: drawn, lassoed, clicked, cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from browser.driving import Open, Served

DRAWN = "[data-ready]"


def drawn(page: Page) -> None:
    page.wait_for_selector(DRAWN, timeout=60_000)


def test_a_lasso_leads_to_the_change_of_many(watch: Open, demo_console: Served) -> None:
    watched = watch(demo_console)
    watched.log_in()
    watched.open("/map/")
    page = watched.page
    drawn(page)

    page.click('[data-map="lasso"]')
    box = page.locator('[data-map="gl"]').bounding_box()
    assert box is not None
    left, top = box["x"] + 60, box["y"] + 4
    right, bottom = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(x, y, steps=3)
    page.mouse.up()

    expect(page.locator('[data-map="count"]')).not_to_have_text("0")
    counted = page.locator('[data-map="count"]').inner_text()
    with page.expect_navigation(url="**/bulk/**"):
        page.click("text=Change them")
    expect(page.locator("main")).to_contain_text(counted)
    assert watched.faults == []


def test_a_click_opens_the_panel_and_escape_clears_it(watch: Open, demo_console: Served) -> None:
    watched = watch(demo_console)
    watched.log_in()
    watched.open("/graph/")
    page = watched.page
    drawn(page)

    page.evaluate("memsuite.graph.open(memsuite.graph.drawing.points.ids[0])")
    expect(page.locator('[data-graph="panel"] h2')).to_be_visible()
    assert page.evaluate("memsuite.graph.around().size") >= 1
    page.keyboard.press("Escape")

    expect(page.locator('[data-graph="panel"]')).to_contain_text("Click a memory")
    assert page.evaluate("memsuite.graph.around()") is None
    assert watched.faults == []


def test_without_script_both_are_tables(watch: Open, demo_console: Served) -> None:
    watched = watch(demo_console, script=False)
    watched.log_in()

    for path in ("/map/", "/graph/"):
        watched.open(path)
        expect(watched.page.locator(".m-nojs-only")).to_be_visible()
        expect(watched.page.locator("details.m-tablealt")).to_be_visible()
