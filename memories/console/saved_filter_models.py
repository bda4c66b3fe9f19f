"""The filters that people keep for themselves."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

LONGEST_NAME = 60


class SavedFilter(models.Model):
    """A filter of the list of memories under a name of one person's; ``query`` is its canonical query."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.TextField(blank=True)

    objects: ClassVar[models.Manager[SavedFilter]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()
        ordering: ClassVar = ("name", "pk")
        constraints: ClassVar = (
            models.UniqueConstraint(fields=("owner", "name"), name="saved_filter_name_once_a_person"),
        )

    def __str__(self) -> str:
        return self.name
