"""What people come for, from the first click to the last, as one story each.

In every one: no word from the browser's console, no breach of the policy, no request to elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import pytest
from browser.crowd import MARK, MARKED, ROWS
from browser.driving import PASSWORD
from playwright.sync_api import expect

from memories.embedding.static import static_embedder
from memories.repository import MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.driving import Open, Served, Watched
    from playwright.sync_api import Page

    Seat: TypeAlias = Callable[..., Page]

JOB_ENDS = 90_000
"""Milliseconds a job may take on a busy machine: it starts a process and loads the engine."""


@pytest.fixture
def seat(watch: Open) -> Iterator[Seat]:
    """``seat(console, "curator")``: the page of somebody who has logged in, in a browser of their own."""
    seats: list[Watched] = []

    def taken(console: Served, name: str = "admin") -> Page:
        watched = watch(console)
        seats.append(watched)
        watched.log_in(name, PASSWORD)
        return watched.page

    yield taken
    assert [fault for watched in seats for fault in watched.faults] == []


def tags_stored(console: Served) -> dict[str, tuple[str, ...]]:
    """The tags of every memory by its id, read from the database beside the server."""
    settings = load_settings(hermes_home=console.home, environ={"MEMSUITE_EMBED_MODEL": "builtin:static"})
    with MemoryRepository(settings, static_embedder()) as repository:
        table = repository.catalogue().table.select(["id", "tags"])
        return {row["id"]: tuple(sorted(row["tags"])) for row in table.to_pylist()}


def go(page: Page, place: str) -> None:
    page.locator("#rail").get_by_role("link", name=re.compile(f"^{place}")).click()


def open_memory(page: Page, words: str) -> str:
    """Find a memory from the top bar and open it; its address."""
    page.fill("#q", words)
    # The page one comes from may list memories too.
    with page.expect_navigation():
        page.press("#q", "Enter")
    page.locator("a.m-row__subject").first.click()
    expect(page.locator("#l-history")).to_be_visible()
    return page.url


def test_a_curator_retags_1200_of_20000_and_takes_it_back(crowd_console: Served, seat: Seat) -> None:
    before = tags_stored(crowd_console)
    page = seat(crowd_console, "curator")
    go(page, "Memories")
    page.click("details.m-more > summary")
    page.fill("#f-tag", MARK)
    page.click("text=Apply filters")
    expect(page.locator("#list-count")).to_have_text(f"{MARKED:,} of {ROWS:,} match")

    page.locator("li.m-row input.m-row__pick").first.check()
    page.click(f"text=Select all {MARKED:,} matching")
    page.get_by_label("Add tags").fill("checked in november")
    page.locator("form", has=page.get_by_label("Add tags")).get_by_role("button", name="Preview").click()
    expect(page.locator("#sheet-title")).to_have_text(
        f"Add the tag “checked in november” to {MARKED:,} memories"
    )
    expect(page.locator(".m-diff li.add").first).to_contain_text("tag checked in november")
    assert tags_stored(crowd_console) == before

    page.fill("#note", "The autumn round")
    page.click(f"text=Tag {MARKED:,} memories")
    done = page.locator("#job").get_by_text(f"{MARKED:,} of {MARKED:,} changed")
    expect(done).to_be_visible(timeout=JOB_ENDS)
    after = tags_stored(crowd_console)
    changed = {name for name in before if after[name] != before[name]}
    assert len(changed) == MARKED
    assert all(set(after[name]) - set(before[name]) == {"checked in november"} for name in changed)

    page.locator("#job").get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"Undone, {MARKED:,} memories as before")).to_be_visible(timeout=JOB_ENDS)
    assert tags_stored(crowd_console) == before


def test_three_tags_are_merged_and_parted_again(crowd_console: Served, seat: Seat) -> None:
    before = tags_stored(crowd_console)
    page = seat(crowd_console, "curator")
    go(page, "Tags")
    page.fill("#lq", "area 1")
    expect(page.locator("#labels tbody tr")).to_have_count(11)
    for name in ("area 11", "area 12", "area 13"):
        page.get_by_label(f"Select {name}", exact=True).check()
    page.get_by_role("region", name="Selection").get_by_role("button", name="Merge").click()
    page.get_by_label("Merge tags").fill("harbour wall")
    page.locator("form", has=page.get_by_label("Merge tags")).get_by_role("button", name="Preview").click()
    page.locator("button[name=confirm]").click()
    expect(page.locator("#job .m-note--ok")).to_be_visible(timeout=JOB_ENDS)

    merged = {
        name: tuple(
            sorted({"harbour wall" if tag in ("area 11", "area 12", "area 13") else tag for tag in tags})
        )
        for name, tags in before.items()
    }
    assert merged != before
    assert tags_stored(crowd_console) == merged

    page.locator("#job").get_by_role("button", name="Undo").click()
    expect(page.get_by_text(re.compile("^Undone, [0-9,]+ memories as before"))).to_be_visible(
        timeout=JOB_ENDS
    )
    assert tags_stored(crowd_console) == before


def test_two_people_edit_one_memory_and_nothing_is_lost(team_console: Served, seat: Seat) -> None:
    first, second = seat(team_console, "curator"), seat(team_console, "operator")
    address = open_memory(first, "booking API")
    second.goto(address)
    first.locator("textarea[name=fact]").last.fill("The first one wrote this.")
    second.locator("textarea[name=fact]").last.fill("The second one wrote that.")

    first.get_by_role("button", name="Save", exact=True).last.click()
    expect(first.locator(".m-toast")).to_contain_text("Saved")
    second.get_by_role("button", name="Save", exact=True).last.click()

    expect(second.locator("h1")).to_have_text("Which version is right?")
    versions = second.locator("table.m-versions")
    expect(versions).to_contain_text("The first one wrote this.")
    expect(versions).to_contain_text("The second one wrote that.")
    second.get_by_role("button", name="Keep mine").click()

    expect(second.locator(".m-toast")).to_contain_text("Saved")
    assert second.locator("textarea[name=fact]").last.input_value() == "The second one wrote that."
    expect(second.locator(".m-hist")).to_contain_text("The first one wrote this.")


def test_a_memory_is_trashed_found_and_restored(team_console: Served, seat: Seat) -> None:
    page = seat(team_console, "curator")
    address = open_memory(page, "tide service")
    subject = page.locator("h1").inner_text()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.locator(".m-toast")).to_contain_text(f"Moved {subject} to the trash")

    go(page, "Trash")
    row = page.locator("li.m-row", has_text=subject)
    row.get_by_role("button", name="Restore").click()
    page.locator("button[name=confirm]").click()
    expect(page.locator(".m-toast")).to_contain_text("Restored 1 memory from the trash")
    expect(page.get_by_role("heading", name="The trash is empty")).to_be_visible()

    page.goto(address)
    expect(page.locator("h1")).to_have_text(subject)
    expect(page.locator("#memory-form")).to_be_visible()


def test_a_viewer_finds_no_button_and_is_refused(team_console: Served, seat: Seat) -> None:
    page = seat(team_console, "viewer")
    memory = open_memory(page, "tide service").removeprefix(team_console.url)
    places = ("/dashboard/", "/memories/", "/memories/?tag=api", memory, "/tags/", "/trash/", "/audit/")
    for place in places:
        page.goto(team_console.url + place)
        in_page = page.locator("#content-start, #content").locator("form[method=post] button")
        assert in_page.all_inner_texts() == [], place
        assert page.get_by_role("checkbox", name=re.compile("^Select")).count() == 0, place
        assert page.get_by_role("link", name="Add a memory").count() == 0, place

    token = page.locator("input[name=csrfmiddlewaretoken]").first.input_value()
    refused: dict[str, dict[str, str | float | bool]] = {
        "/memories/add/": {"domain": "Havlys", "subject": "Gate", "fact": "open=yes"},
        memory: {"base_revision": "1", "domain": "Havlys", "subject": "Gate", "fact": "open=yes"},
        f"{memory}trash/": {},
        f"{memory}restore/": {"revision": "1"},
        f"{memory}reviewed/": {},
        "/bulk/": {"everything": "1", "action": "trash"},
    }
    for place, fields in refused.items():
        answer = page.request.post(
            team_console.url + place,
            form=fields | {"csrfmiddlewaretoken": token},
            headers={"Origin": team_console.url},
        )
        assert answer.status == 403, place


def test_the_list_is_worked_with_keys_alone(team_console: Served, seat: Seat) -> None:
    page = seat(team_console, "curator")
    for key, place in {
        "d": "/dashboard/",
        "k": "/tags/",
        "s": "/trash/",
        "y": "/audit/",
        "m": "/memories/",
    }.items():
        # Expected before it is asked for: one that is already there would not be waited for.
        with page.expect_navigation(url=f"**{place}"):
            page.keyboard.press("g")
            page.keyboard.press(key)

    here = page.locator(".m-row--here")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(here.locator("input.m-row__pick")).to_be_checked()
    page.keyboard.press("k")
    page.keyboard.press("x")
    expect(page.locator("[data-picked]").first).to_have_text("2")
    page.keyboard.press("Escape")
    expect(page.locator(".m-bulk")).to_be_hidden()

    subject = here.locator("a.m-row__subject").inner_text()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(subject)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()

    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("tide")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories/?q=tide")


def test_the_first_memory_of_an_empty_console(new_console: Served, seat: Seat) -> None:
    page = seat(new_console)
    expect(page.locator("h1")).to_have_text("Welcome")
    page.get_by_role("link", name="Add a memory").click()
    page.fill("#f-domain", "Havlys")
    page.fill("#f-subject", "Tide_API")
    page.locator("textarea[name=fact]").first.fill("port=8410")
    page.select_option("#f-category", "tech")
    expect(page.locator("#preview")).to_contain_text("New. Nothing stored has this subject.")
    page.get_by_role("button", name="Add memory").click()

    expect(page.locator(".m-toast")).to_contain_text("Havlys:Tide_API")
    expect(page.locator("h1")).to_have_text("Havlys:Tide_API")
    go(page, "Memories")
    expect(page.locator("a.m-row__subject")).to_have_text(["Havlys:Tide_API"])

    page.get_by_role("link", name="Add a memory").click()
    page.fill("#f-domain", "Havlys")
    page.fill("#f-subject", "Tide_API")
    page.locator("textarea[name=fact]").first.fill("port=9000")
    page.select_option("#f-category", "tech")
    expect(page.locator("#preview")).to_contain_text("there port=8410")
