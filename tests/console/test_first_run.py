"""The first page: empty, older suite, unreadable, embedder well or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from console.samples import AUTHOR, payload

from memories.console.repository_access import using
from memories.repository import MemoryRepository
from memories.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

    from console.people import ClientAs

pytestmark = pytest.mark.django_db


def welcome(client_as: ClientAs) -> str:
    return client_as("viewer").get("/", follow=True).content.decode()


def test_an_empty_place_leads_to_the_first_page(client_as: ClientAs) -> None:
    content = welcome(client_as)

    assert "Empty. The first memory makes it." in content
    assert "manage.py install_plugin" in content


def test_with_memories_the_first_page_is_no_longer_in_the_way(
    client_as: ClientAs, repository: MemoryRepository
) -> None:
    from memories.console.first_run import look_around

    repository.add(payload(), AUTHOR)

    assert not look_around().is_new
    assert "Open, 1 memory." in client_as("viewer").get("/welcome/").content.decode()


def test_an_older_suites_database_is_named_and_left_alone(
    client_as: ClientAs, repository: MemoryRepository
) -> None:
    import lancedb
    import pyarrow as pa

    columns = {"id": ["1"], "content": ["x"], "links": ["[]"], "access_count": [0]}
    lancedb.connect(repository.path).create_table("memories", pa.table(columns))
    table = repository.path / "memories.lance"
    before = {file: file.read_bytes() for file in table.rglob("*") if file.is_file()}

    content = welcome(client_as)
    assert "A database of the older suite is at" in content
    assert "store_unavailable" in content
    assert {file: file.read_bytes() for file in table.rglob("*") if file.is_file()} == before


def test_a_database_that_cannot_be_read_says_so(client_as: ClientAs, repository: MemoryRepository) -> None:
    repository.path.mkdir(parents=True)
    (repository.path / "HEAD").write_text("not a head")

    content = client_as("viewer").get("/welcome/").content.decode()
    assert "The database cannot be opened." in content
    assert "Not open." in content


def test_an_embedder_that_does_not_work_is_named(client_as: ClientAs, tmp_path: Path) -> None:
    from memories.embedding.factory import create_embedder

    settings = load_settings(hermes_home=tmp_path / "other", embed_model="builtin:no-such-model")
    with using(MemoryRepository(settings, create_embedder(settings))):
        content = client_as("viewer").get("/welcome/").content.decode()

    assert "there is no such in-process model" in content
    assert "m-dot--warn" in content


def test_who_may_nothing_is_told_whom_to_ask(client_as: ClientAs) -> None:
    assert "Your account has no rights yet." in client_as("stranger").get("/").content.decode()
