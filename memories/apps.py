"""Tells Django that this package is an app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from memories.console.groups import make_groups


class MemoriesConfig(AppConfig):
    name = "memories"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(make_groups, dispatch_uid="memories.console.groups")
