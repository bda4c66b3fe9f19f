"""What every console test gets: a repository of its own behind the pages, and people in each role.

Django is not set up yet when pytest imports this, so what needs its models is imported late.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console.people import BACKEND

if TYPE_CHECKING:
    from console.people import ClientAs, Person
    from django.contrib.auth.models import User
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

    from memories.embedding.base import Embedder
    from memories.repository import MemoryRepository


@pytest.fixture(autouse=True)
def quick_hashing(settings: SettingsWrapper) -> None:
    """Passwords are hashed in a moment: the real way takes a third of a second on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def repository(tmp_path: Path, fast_embedder: Embedder) -> Iterator[MemoryRepository]:
    """An empty database that the pages of this test work on."""
    from memories.console.repository_access import using
    from memories.repository import MemoryRepository
    from memories.settings import load_settings

    settings = load_settings(hermes_home=tmp_path / "console-home")
    with using(MemoryRepository(settings, fast_embedder, lock_wait=1.0)) as served:
        yield served


@pytest.fixture
def person(db: None) -> Person:
    """``person("curator")``: the user in that role, made at the first call. Their password is unusable."""
    from django.contrib.auth.models import Group, User

    def named(role: str) -> User:
        user, made = User.objects.get_or_create(username=role, is_superuser=role == "administrator")
        if made and role in ("viewer", "curator", "operator"):
            user.groups.add(Group.objects.get(name=role.capitalize()))
        return user

    return named


@pytest.fixture
def client_as(person: Person, repository: MemoryRepository) -> ClientAs:
    """``client_as("viewer")``: a browser in which that role is logged in; anonymous is not."""
    from django.test import Client

    def opened(role: str) -> Client:
        client = Client(headers={"host": "localhost"}, raise_request_exception=False)
        if role != "anonymous":
            client.force_login(person(role), backend=BACKEND)
        return client

    return opened


@pytest.fixture
def jobs_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for as a job is queued and shown, and no process is started for it."""
    monkeypatch.setattr("memories.console.jobs.start_waiting", lambda: None)
