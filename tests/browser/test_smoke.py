"""Every page of the rail in a real browser: nothing refused, nothing broken, nothing asked of elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser.driving import NARROW, WIDE

if TYPE_CHECKING:
    from browser.driving import Open, Served

APART = ("/welcome/", "/password/", "/password/again/", "/manage/auth/user/1/change/", "/no/such/page")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("server", ["empty_console", "demo_console"])
def test_no_page_breaks_the_policy_or_the_window(
    server: str, theme: str, size: tuple[int, int], watch: Open, request: pytest.FixtureRequest
) -> None:
    watched = watch(request.getfixturevalue(server), size, theme)
    watched.log_in()
    watched.open("/welcome/")
    links = watched.page.eval_on_selector_all(".m-rail__item", "all => all.map(a => a.getAttribute('href'))")
    assert "/manage/auth/user/" in links

    for path in (*links, *APART):
        assert watched.open(path) < 500, path
        assert watched.overflow <= 0, path
    assert watched.faults == []


def test_log_in_and_out_without_a_script(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console, script=False)
    watched.log_in()
    page = watched.page
    assert "/login/" not in page.url

    page.click("details.m-menu > summary")
    page.click("text=Log out")
    page.wait_for_url("**/login/")
    watched.open("/welcome/")
    assert "/login/?next=" in page.url


def test_a_wrong_password_is_answered_in_the_form(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in("nobody", "wrong-password")

    assert watched.page.locator("[role=alert]").inner_text().startswith("Name or password not right.")
    assert watched.page.evaluate("document.activeElement.id") == "p"


def test_the_theme_is_chosen_once_and_kept(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in()
    page = watched.page
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"

    page.click("button.theme-toggle")
    assert page.evaluate(ground) == "rgb(20, 23, 27)"
    page.reload()
    assert page.evaluate(ground) == "rgb(20, 23, 27)"


def test_the_rail_folds_and_stays_folded(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in()
    page = watched.page
    page.click("[data-do=rail]")
    page.reload()

    assert page.locator("#rail").bounding_box()["width"] == 48  # type: ignore[index]
    assert page.locator("[data-do=rail]").get_attribute("aria-expanded") == "false"


def test_on_a_narrow_screen_the_rail_is_a_drawer(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console, NARROW)
    watched.log_in()
    page = watched.page
    assert not page.locator("#rail").is_visible()

    page.click("a[href='#rail']")
    page.locator("#rail .m-rail__item").first.wait_for(state="visible")
    page.click("a[aria-label='Close the menu']")
    page.locator("#rail").wait_for(state="hidden")


def test_question_mark_lists_the_keys_and_escape_closes_them(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in()
    page = watched.page
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()

    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


def test_keys_are_off_while_one_types(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in()
    watched.open("/password/")
    watched.page.focus("input[name=old_password]")
    watched.page.keyboard.type("?g")

    assert not watched.page.locator("#keys").is_visible()
    assert watched.page.evaluate("document.activeElement.value") == "?g"


def test_the_policy_holds_against_an_inline_script(demo_console: Served, watch: Open) -> None:
    watched = watch(demo_console)
    watched.log_in()
    watched.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hit = 1';"
        " document.body.append(s); }"
    )

    assert watched.page.evaluate("window.hit") is None
    assert any("Content Security Policy" in fault for fault in watched.faults)
