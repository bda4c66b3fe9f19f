"""The groups and what each may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import Group

from memories.console.groups import make_groups

if TYPE_CHECKING:
    from console.people import Person

pytestmark = pytest.mark.django_db

READS = {"memories.view_memory"}
CHANGES = READS | {
    "memories.add_memory",
    "memories.change_memory",
    "memories.delete_memory",
    "memories.merge_tags",
    "memories.resolve_conflict",
    "memories.approve_lesson",
}
MAINTAINS = CHANGES | {"memories.purge_memory", "maintenance.compact", "maintenance.restore"}


@pytest.mark.parametrize(
    ("role", "may"), [("stranger", set()), ("viewer", READS), ("curator", CHANGES), ("operator", MAINTAINS)]
)
def test_each_role_may_exactly_this(role: str, may: set[str], person: Person) -> None:
    assert person(role).get_all_permissions() == may


def test_migrating_again_gives_back_what_is_missing_and_takes_nothing() -> None:
    viewer = Group.objects.get(name="Viewer")
    curator = Group.objects.get(name="Curator")
    viewer.permissions.set(curator.permissions.filter(codename="approve_lesson"))
    make_groups()

    assert set(viewer.permissions.values_list("codename", flat=True)) == {"approve_lesson", "view_memory"}
