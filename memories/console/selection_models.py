"""What a person has selected, kept on the server until it is applied or an hour old."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from memories.console.keys import KEY_LENGTH, unguessable


class Selection(models.Model):
    """The ids at the moment of selecting, and what would select them again (``kind`` and ``query``, see
    ``memories.console.selection``). ``used_at`` is set when a change of it has been confirmed."""

    key = models.CharField(max_length=KEY_LENGTH, primary_key=True, default=unguessable, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16)
    query = models.TextField(blank=True)
    ids = models.TextField()
    count = models.PositiveIntegerField()
    back = models.TextField()
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Selection]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()

    @property
    def memory_ids(self) -> list[str]:
        return self.ids.split("\n") if self.ids else []
