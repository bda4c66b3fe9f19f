"""Tokens of the JSON API. The token itself is shown once and stored nowhere; its hash finds it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

LONGEST_NAME = 80


class ApiToken(models.Model):
    """Lets a program act as its owner, with what the owner may do at that moment, until it expires."""

    digest = models.CharField(max_length=64, primary_key=True)
    start = models.CharField(max_length=12)
    name = models.CharField(max_length=LONGEST_NAME)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"
