"""The roles that tests walk through."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    ClientAs: TypeAlias = Callable[[str], Client]
    Person: TypeAlias = Callable[[str], User]

ROLES = ("anonymous", "stranger", "viewer", "curator", "operator", "administrator")
BACKEND = "django.contrib.auth.backends.ModelBackend"
