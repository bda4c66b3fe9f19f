"""What people may do, as permissions of a table that does not exist: memories live in LanceDB."""

from __future__ import annotations

from django.db import models


class Memory(models.Model):
    """Carries the permissions on memories. Never read or written."""

    class Meta:
        app_label = "memories"
        managed = False
        default_permissions = ("view", "add", "change", "delete")
        permissions = (
            ("purge_memory", "Can purge memories for good"),
            ("merge_tags", "Can rename, merge and delete tags"),
            ("resolve_conflict", "Can resolve conflicts"),
            ("approve_lesson", "Can approve lessons"),
        )
        verbose_name = "memory"
        verbose_name_plural = "memories"
