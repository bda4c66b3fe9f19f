"""Users in the admin: one form makes a person with their rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import Group, User

if TYPE_CHECKING:
    from console.people import ClientAs

ADD = "/manage/auth/user/add/"


def test_a_person_is_made_with_a_password_and_a_group_at_once(client_as: ClientAs) -> None:
    curator = Group.objects.get(name="Curator")
    password = "tide-tables-per-harbour"

    answer = client_as("administrator").post(
        ADD, {"username": "kari", "password1": password, "password2": password, "groups": [curator.pk]}
    )

    made = User.objects.get(username="kari")
    assert answer.status_code == 302
    assert made.check_password(password)
    assert [group.name for group in made.groups.all()] == ["Curator"]
    assert not made.is_superuser


def test_the_form_asks_for_nothing_a_console_has_no_use_for(client_as: ClientAs) -> None:
    content = client_as("administrator").get(ADD).content.decode()

    assert "usable_password" not in content
    assert "Curator" in content
