"""The rail: what exists, for whom, and where one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories.console import navigation
from memories.console.navigation import Page, Section, page_url, rail_pages, register

if TYPE_CHECKING:
    from console.people import ClientAs

    from memories.repository import MemoryRepository


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "_pages", {})


def page(name: str, **more: object) -> Page:
    return Page(Section.BROWSE, 10, name.title(), f"console:{name}", "memory", **more)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registered")
def test_pages_stand_in_the_order_of_the_sections_and_their_own() -> None:
    register(Page(Section.MANAGE, 1, "Users", "console:a", "user"))
    register(Page(Section.OVERVIEW, 20, "Second", "console:b", "user"))
    register(Page(Section.OVERVIEW, 10, "First", "console:c", "user"))

    assert [shown.title for shown in rail_pages()] == ["First", "Second", "Users"]


@pytest.mark.usefixtures("registered")
def test_two_pages_cannot_have_one_key() -> None:
    register(page("memories", key="m"))

    with pytest.raises(ValueError, match="both want the key g m"):
        register(page("map", key="m"))


def test_a_page_that_is_not_there_has_no_address() -> None:
    assert page_url("no-such-page") == ""
    assert page_url("welcome", q="a b", tag=["x", "y"], empty="", none=None) == "/welcome/?q=a+b&tag=x&tag=y"


@pytest.mark.django_db
@pytest.mark.usefixtures("registered")
def test_the_rail_holds_what_a_person_may_open_and_marks_where_they_are(client_as: ClientAs) -> None:
    register(page("welcome", count=lambda repository: 1204, due=True))
    register(page("no-such-page"))
    register(Page(Section.MANAGE, 10, "Users", "admin:auth_user_changelist", "user", "auth.view_user"))

    content = client_as("viewer").get("/welcome/").content.decode()
    assert 'href="/welcome/" title="Welcome" aria-current="page"' in content
    assert '<span class="m-rail__n m-rail__n--due" id="n-welcome">1,204</span>' in content
    assert "No-Such-Page" not in content
    assert "/manage/auth/user/" not in content
    assert "/manage/auth/user/" in client_as("administrator").get("/welcome/").content.decode()


@pytest.mark.django_db
@pytest.mark.usefixtures("registered")
def test_a_store_that_does_not_answer_costs_the_count_and_not_the_page(
    client_as: ClientAs, repository: MemoryRepository
) -> None:
    register(page("password_change", permission="view_memory", count=lambda served: served.count()))
    repository.path.mkdir(parents=True)
    (repository.path / "HEAD").write_text("not a head")

    answer = client_as("viewer").get("/password/")
    assert answer.status_code == 200
    assert "m-rail__n" not in answer.content.decode()
