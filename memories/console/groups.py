"""The three groups. Made after migrations, which is when their permissions exist."""

from __future__ import annotations

from typing import Any

VIEWER = ("memories.view_memory",)
CURATOR = (
    *VIEWER,
    "memories.add_memory",
    "memories.change_memory",
    "memories.delete_memory",
    "memories.merge_tags",
    "memories.resolve_conflict",
    "memories.approve_lesson",
)
OPERATOR = (*CURATOR, "memories.purge_memory", "maintenance.compact", "maintenance.restore")

GROUPS = {"Viewer": VIEWER, "Curator": CURATOR, "Operator": OPERATOR}


def make_groups(**_: Any) -> None:
    """Make each group, and give it the permissions of its list that exist by now.

    Called after each app's migrations, so the lists fill as the apps come. Nothing is taken away: what an
    administrator added to a group stays.
    """
    from django.contrib.auth.models import Group, Permission

    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type").filter(
            content_type__app_label__in=("memories", "maintenance")
        )
    }
    for name, permissions in GROUPS.items():
        group, _made = Group.objects.get_or_create(name=name)
        group.permissions.add(*(known[permission] for permission in permissions if permission in known))
