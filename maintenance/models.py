"""Who may maintain the store, as permissions of a table that does not exist."""

from __future__ import annotations

from django.db import models


class Maintenance(models.Model):
    """Carries the permissions on upkeep. Never read or written."""

    class Meta:
        app_label = "maintenance"
        managed = False
        default_permissions = ()
        permissions = (
            ("compact", "Can compact and reclaim the store"),
            ("restore", "Can restore a backup over the store"),
        )
