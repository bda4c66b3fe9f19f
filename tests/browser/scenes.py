"""What has no address of its own: pages that come of doing something, each left open to be photographed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser.driving import Watched
    from playwright.sync_api import Page


def picked(watched: Watched) -> None:
    _pick(watched, "/memories/")


def filters(watched: Watched) -> None:
    watched.open("/memories/?category=tech")
    watched.page.click("details.m-more > summary")


def choice_of_change(watched: Watched) -> None:
    _pick(watched, "/memories/")
    watched.page.click(".m-bulk button[value=add_tags]")
    watched.page.wait_for_url("**/bulk/**")


def preview(watched: Watched) -> None:
    choice_of_change(watched)
    size = watched.page.viewport_size or {"width": 0}
    dark = watched.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    # Another tag in every round, since what is so already has no preview.
    watched.page.fill("#v-add_tags", f"round of {'evening' if dark else 'morning'} {size['width']}")
    _button(watched.page, "#v-add_tags")
    watched.page.wait_for_selector("#sheet-title")


def preview_of_trash(watched: Watched) -> None:
    _pick(watched, "/memories/")
    watched.page.click(".m-bulk button[value=trash]")
    watched.page.wait_for_selector("#sheet-title")


def superseding(watched: Watched) -> None:
    _pick(watched, "/memories/")
    watched.page.click(".m-bulk__more")
    with watched.page.expect_response(lambda answer: "find=" in answer.url):
        watched.page.fill("#v-supersede", "booking")
    watched.page.wait_for_selector("#superseding li")
    watched.page.locator("#superseding").scroll_into_view_if_needed()


def done_with_undo(watched: Watched) -> None:
    preview(watched)
    watched.page.click("button[name=confirm]")
    watched.page.wait_for_selector(".m-toast")


def operation(watched: Watched) -> None:
    watched.open("/audit/")
    watched.page.click("#operations tbody a")
    watched.page.wait_for_selector("#about")


def merging(watched: Watched) -> None:
    watched.open("/tags/")
    for box in watched.page.locator("#labels input.m-row__pick").all()[:3]:
        box.check()
    watched.page.click(".m-bulk button[value=merge_tags]")
    watched.page.wait_for_url("**/bulk/**")


def two_versions(watched: Watched) -> None:
    watched.open("/memories/")
    watched.page.click("a.m-row__subject")
    watched.page.wait_for_selector("#memory-form")
    other = watched.page.context.new_page()
    other.goto(watched.page.url)
    for page, fact in (
        (other, "Moved to the second rack in spring."),
        (watched.page, "Still in the first rack."),
    ):
        page.locator("textarea[name=fact]").last.fill(f"{fact} round={time.time_ns()}")
        with page.expect_navigation():
            page.locator(".m-dock button.m-btn--primary").click()
    other.close()


def clash_while_adding(watched: Watched) -> None:
    watched.open("/memories/add/")
    page = watched.page
    page.fill("#f-domain", "Tidewater")
    page.fill("#f-subject", "booking_api")
    page.select_option("#f-category", "tech")
    with page.expect_response("**/add/preview/"):
        page.locator("textarea[name=fact]").first.fill("port=7411")
    page.wait_for_load_state("networkidle")
    page.locator("#preview").scroll_into_view_if_needed()


def full_trash(watched: Watched) -> None:
    preview_of_trash(watched)
    watched.page.click("button[name=confirm]")
    watched.page.wait_for_selector(".m-toast")
    watched.open("/trash/")


def one_conflict(watched: Watched) -> None:
    watched.open("/conflicts/")
    watched.page.click("a.m-row__subject")
    watched.page.wait_for_selector(".m-pair")


def one_cluster(watched: Watched) -> None:
    watched.open("/clusters/")
    watched.page.click("tbody th a")
    watched.page.wait_for_selector(".m-row")


def keys(watched: Watched) -> None:
    watched.open("/dashboard/")
    watched.page.keyboard.press("?")


def new_user(watched: Watched) -> None:
    watched.open("/manage/auth/user/add/")


def one_user(watched: Watched) -> None:
    watched.open("/manage/auth/user/1/change/")


def refused(watched: Watched) -> None:
    watched.open("/audit/?since=yesterday")


SCENES: Mapping[str, Callable[[Watched], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        picked,
        filters,
        choice_of_change,
        preview,
        preview_of_trash,
        superseding,
        done_with_undo,
        operation,
        merging,
        two_versions,
        clash_while_adding,
        full_trash,
        one_conflict,
        one_cluster,
        keys,
        new_user,
        one_user,
        refused,
    )
}
"""By the name a picture carries. They change the memories, so they come after the plain pages."""


def _pick(watched: Watched, path: str) -> None:
    watched.open(path)
    for box in watched.page.locator("li.m-row input.m-row__pick").all()[:3]:
        box.check()


def _button(page: Page, field: str) -> None:
    """The button of the form that a field stands in."""
    page.locator("form", has=page.locator(field)).locator("button[type=submit]").click()
