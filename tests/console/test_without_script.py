"""One person's way through the console without a script: links that are shown, forms as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.pages_read import Page, press
from console.pages_seen import seen
from console.samples import AUTHOR, payload
from django.contrib.auth.models import Group, User
from django.http import HttpResponse
from django.test import Client

from memories.repository import MemoryRepository

if TYPE_CHECKING:
    from console.people import ClientAs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("jobs_wait")]

PASSWORD, NEW_PASSWORD = "tide-tables-per-harbour", "codes-are-four-letters"


@pytest.fixture
def stored(repository: MemoryRepository) -> list[str]:
    subjects = {"Tide_API": ["api", "tide"], "Pilot_List": ["pilots"], "Berth_Plan": ["api", "APIs"]}
    return [
        repository.add(payload(name, tags=tags, facts=[f"The {name} of the harbour"]), AUTHOR).memory_id
        for name, tags in subjects.items()
    ]


@pytest.fixture
def browser(stored: list[str]) -> Client:
    """A curator's browser that must prove its forms: a form without its token gets nowhere."""
    User.objects.create_user("ingrid", password=PASSWORD).groups.add(Group.objects.get(name="Curator"))
    client = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    login = Page(client.get("/dashboard/", follow=True))
    landed = press(client, login, "Log in", username="ingrid", password=PASSWORD)
    assert landed.redirect_chain[-1] == ("/dashboard/", 302)
    return client


def ids_shown(answer: HttpResponse) -> list[str]:
    return [row.attributes["id"].removeprefix("m-") for row in seen(answer.content).all("li", "m-row")]


def form_with(page: Page, field: str) -> dict[str, str]:
    """What the first form with this field would send untouched."""
    return next(dict(form.fields) for form in page.forms if field in dict(form.fields))


def test_the_list_is_searched_filtered_and_ordered_by_its_form(browser: Client, stored: list[str]) -> None:
    fields = form_with(Page(browser.get("/memories/")), "tier")

    found = browser.get("/memories/", fields | {"q": "Pilot", "how": "contains"}, follow=True)
    assert ids_shown(found) == [stored[1]]
    fields = form_with(Page(found), "tier")
    assert fields["q"] == "Pilot"
    tagged = browser.get("/memories/", fields | {"q": "", "tag": "api"}, follow=True)
    assert set(ids_shown(tagged)) == {stored[0], stored[2]}


def test_a_filter_is_kept_under_a_name_and_found_again(browser: Client, stored: list[str]) -> None:
    listed = browser.get("/memories/?tag=api")
    # The field stands in the bar and belongs to the form by its id.
    name = seen(listed.content).one("input", name="name")
    form = next(f for f in Page(listed).forms if f.action == "/saved-filters/")
    assert name.attributes["form"] == "save-filter"

    back = browser.post(form.action, dict(form.fields) | {"name": "With API"} | token(browser), follow=True)

    assert back.redirect_chain[-1][0] == "/memories/?tag=api"
    kept = seen(browser.get("/saved-filters/").content).all("a", href="/memories/?tag=api")
    assert [link.text.strip() for link in kept] == ["2 memories"]
    assert set(ids_shown(browser.get(kept[0].attributes["href"]))) == {stored[0], stored[2]}


def token(browser: Client) -> dict[str, str]:
    return {"csrfmiddlewaretoken": browser.cookies["memsuite_csrf"].value}


def test_an_earlier_revision_is_brought_back_and_that_undone(
    browser: Client, stored: list[str], repository: MemoryRepository
) -> None:
    repository.update(stored[0], {"facts": ["Something else"]}, AUTHOR, patch=True)
    page = Page(browser.get(f"/memories/{stored[0]}/"))

    back = press(browser, page, "Restore this state")
    assert repository.get(stored[0]).memory.facts == ("The Tide_API of the harbour",)
    press(browser, Page(back), "Undo")
    assert repository.get(stored[0]).memory.facts == ("Something else",)


def test_a_memory_goes_to_the_trash_and_comes_back(
    browser: Client, stored: list[str], repository: MemoryRepository
) -> None:
    gone = press(browser, Page(browser.get(f"/memories/{stored[1]}/")), "Move to trash")
    assert stored[1] not in ids_shown(gone)

    trash = browser.get("/trash/")
    chosen = press(browser, Page(trash), "Restore", id=[stored[1]])
    press(browser, Page(chosen), "Restore 1 memory")
    assert repository.get(stored[1]).memory.subject == "Pilot_List"


def test_the_history_is_filtered_by_its_form_and_taken_along(browser: Client, stored: list[str]) -> None:
    press(browser, Page(browser.get(f"/memories/{stored[1]}/")), "Move to trash")
    fields = form_with(Page(browser.get("/audit/")), "who")

    narrowed = browser.get("/audit/", fields | {"who": "console:ingrid"})
    export = seen(narrowed.content).link("Export CSV")
    assert "who=console%3Aingrid" in export
    answer = browser.get(export)
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()
    assert len(lines) == 2
    assert "console:ingrid" in lines[1]


def test_the_password_is_changed_by_its_form(browser: Client) -> None:
    typed = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}

    press(browser, Page(browser.get("/password/")), "Change password", **typed)
    press(browser, Page(browser.get("/password/")), "Log out")

    assert browser.get("/password/").status_code == 302
    again = Page(browser.get("/login/"))
    assert press(browser, again, "Log in", username="ingrid", password=NEW_PASSWORD).redirect_chain
    assert browser.get("/password/").status_code == 200


@pytest.mark.parametrize("role", ["curator", "administrator"])
def test_every_button_that_posts_is_in_a_form_with_its_token(
    role: str, client_as: ClientAs, stored: list[str]
) -> None:
    client = client_as(role)
    paths = ["/memories/", "/memories/add/", f"/memories/{stored[0]}/", "/tags/", "/trash/", "/audit/"]
    for path in [*paths, "/jobs/", "/saved-filters/", "/dashboard/", "/welcome/", "/password/"]:
        page = Page(client.get(path))
        for form in page.forms:
            if form.method == "post":
                assert "csrfmiddlewaretoken" in dict(form.fields), (path, form.action)
            else:
                assert "csrfmiddlewaretoken" not in dict(form.fields), (path, form.action)
