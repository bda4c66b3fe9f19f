"""Purging: what is erased is in no table, in no file that existed before, and in no backup."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, MemoryRepository, backup_check, schema
from memories.repository.integrity import verify
from memories.repository.purging import Copies, Purger
from memories.repository.upkeep import Maintenance
from memories.settings import Settings
from tests.repository.conftest import PayloadMaker
from tests.repository.damage import listing

CANARY = "zq7canary4xk9vermilion2walrus8"
FACT = f"the vault opens with {CANARY}"


@pytest.fixture(autouse=True)
def checked_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.repository.backup.check", backup_check.look)


@pytest.fixture(autouse=True)
def facts_uncompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts written as they are, so that a search through the files proves something."""
    plain = {"lance-encoding:compression": "none"}
    for name, made in (("memories", schema.memories), ("turns", schema.turns)):
        monkeypatch.setattr(schema, name, lambda dimension, made=made: _plain(made(dimension), plain))
    for name in ("CONFLICT_SCHEMA", "REVISION_SCHEMA", "QUARANTINE_SCHEMA", "EDGE_SCHEMA"):
        monkeypatch.setattr(schema, name, _plain(getattr(schema, name), plain))


def _plain(arrow_schema: pa.Schema, metadata: dict[str, str]) -> pa.Schema:
    return pa.schema([field.with_metadata(metadata) for field in arrow_schema])


@pytest.fixture
def ids(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> list[str]:
    """A memory with a history, relations both ways, a disagreement and counts of use, and three others."""
    other = repository.add(payload("Other", "code=1111"), agent).memory_id
    relations = [{"type": "uses", "target_id": other}]
    secret = repository.add(payload("Vault", FACT, relations=relations), agent).memory_id
    pointing = payload("Pointing", relations=[{"type": "depends", "target_id": secret}])
    pointing_id = repository.add(pointing, agent).memory_id
    repository.update(secret, {"facts": [FACT, f"code={CANARY}"]}, agent, patch=True)
    repository.update(other, {"subject": "Vault"}, agent, patch=True)
    repository.update(other, {"quality": 0.7}, agent, patch=True)
    bystander = repository.add(payload("Bystander"), agent).memory_id
    repository.usage.record_recall([secret, other])
    assert repository.conflicts(status="open")
    return [secret, other, pointing_id, bystander]


def _files_with(root: Path, text: str) -> list[str]:
    return [name for name, content in listing(root).items() if text.encode() in content]


def _purge(settings: Settings, ids: list[str], copies: Copies = Copies.REWRITE) -> Any:
    return Purger(settings).purge(ids, copies)


def test_no_file_that_existed_before_is_left_and_none_holds_the_words(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    repository.snapshot().lexical("vermilion", limit=1)
    before = {name for name in listing(repository.path) if ".lance/" in name}
    assert any(name.startswith("memories.lance/data") for name in _files_with(repository.path, CANARY))
    assert any(name.startswith("memory_revisions.lance") for name in _files_with(repository.path, CANARY))

    _purge(settings, ids[:1])

    assert before & listing(repository.path).keys() == set()
    assert _files_with(repository.path, CANARY) == []
    assert _files_with(repository.path, ids[0]) == []


def test_what_stays_is_whole_and_goes_on(
    repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
) -> None:
    result = _purge(settings, ids[:1])
    assert result.rows[schema.MEMORIES] == 1
    assert repository.count() == 3
    assert verify(repository.path, lambda done, total: None).sound
    assert repository.conflicts() == []
    assert repository.snapshot().edges_of(ids) == []
    assert repository.snapshot().lexical("bystander", limit=3)[0][0] == ids[3]
    repository.restore(ids[1], agent, revision=1)
    assert repository.get(ids[1]).memory.subject == "Other"
    for number in range(3):
        repository.update(ids[3], {"facts": [f"later {number}"]}, agent, patch=True)
    assert verify(repository.path, lambda done, total: None).sound


def test_handles_and_caches_open_before_no_longer_know_it(
    repository: MemoryRepository, ids: list[str], settings: Settings, reopened: Callable[[], MemoryRepository]
) -> None:
    vector = repository.embedder.embed_query(FACT)
    assert repository.snapshot().nearest(vector, limit=1)[0][0] == ids[0]
    assert len(repository.catalogue()) == 4
    _purge(settings, ids[:1])
    for handle in (repository, reopened()):
        with pytest.raises(MemsuiteError):
            handle.get(ids[0])
        assert ids[0] not in dict(handle.snapshot().nearest(vector, limit=10))
        assert len(handle.catalogue()) == 3
        assert handle.revisions(ids[0]) == []


def test_a_memory_in_the_trash_is_erased_from_there(
    repository: MemoryRepository, ids: list[str], settings: Settings, agent: Author
) -> None:
    repository.delete(ids[0], agent)
    _purge(settings, ids[:1])
    assert repository.trash()[0] == 0
    assert _files_with(repository.path, CANARY) == []


def test_counts_of_use_go_with_their_pages(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    _purge(settings, ids[:1])
    with closing(sqlite3.connect(repository.path / ".memsuite" / "usage.db")) as connection:
        left = connection.execute("SELECT DISTINCT memory_id FROM usage").fetchall()
    assert left == [(ids[1],)]
    assert not [name for name in _files_with(repository.path / ".memsuite", ids[0]) if "usage" in name]


def test_what_quotes_it_elsewhere_goes_too(
    repository: MemoryRepository, ids: list[str], settings: Settings, person: Author
) -> None:
    quoting, other = f"somebody said: {FACT.upper()}", "somebody said hello"
    vector = repository.embedder.embed_query(other)
    with repository._store.transaction(person, "import", wait=5) as transaction:
        for name, text in (("quotes", quoting), ("other", other)):
            raw = json.dumps({"row": {"content": text}})
            transaction.add(schema.QUARANTINE, {"id": name, "source": "old", "reason": "x", "raw": raw})
            transaction.add(schema.LESSONS, {"id": name, "rule": "r", "evidence": raw, "memory_id": ""})
            turn = {"id": name, "text": text, "search_text": "", "vector": vector, "context_vector": vector}
            transaction.add(schema.TURNS, turn)
    spool = repository.path / ".memsuite" / "spool"
    spool.mkdir()
    lines = [json.dumps({"id": "1", "user": quoting}), json.dumps({"id": "2", "user": other})]
    (spool / "7.jsonl").write_text("".join(f"{line}\n" for line in lines))

    result = _purge(settings, ids[:1])

    assert result.spool_lines == 1
    assert (spool / "7.jsonl").read_text() == " " * len(lines[0]) + f"\n{lines[1]}\n"
    for table in (schema.QUARANTINE, schema.LESSONS, schema.TURNS):
        assert result.rows[table] == 1
        assert [row["id"] for row in repository.snapshot().rows(table)] == ["other"]


def test_a_lesson_that_became_the_memory_goes(
    repository: MemoryRepository, ids: list[str], settings: Settings, person: Author
) -> None:
    with repository._store.transaction(person, "lesson", wait=5) as transaction:
        transaction.add(schema.LESSONS, {"id": "l1", "rule": "keep it shut", "memory_id": ids[0]})
    assert _purge(settings, ids[:1]).rows[schema.LESSONS] == 1


def test_backups_are_rewritten_and_prove_whole(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    backup = Maintenance(settings).back_up()
    assert _files_with(settings.backups_dir, CANARY)
    result = _purge(settings, ids[:1])
    assert result.backups == {backup.name: "rewritten"}
    assert _files_with(settings.backups_dir, CANARY) == []
    (kept,) = Maintenance(settings).backups.list()
    assert (kept.verified, kept.memories) == (True, 3)
    found = backup_check.look(kept.path)
    assert found.sound
    assert found.contents[schema.MEMORIES]["rows"] == 3


def test_backups_can_be_dropped_instead(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    backup = Maintenance(settings).back_up()
    assert _purge(settings, ids[:1], Copies.DROP).backups == {backup.name: "dropped"}
    assert list(settings.backups_dir.iterdir()) == []


def test_a_backup_that_cannot_be_rewritten_is_named_and_the_purge_stays_unfinished(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    backup = Maintenance(settings).back_up()
    for manifest in (backup.path / "memories.lance" / "_versions").iterdir():
        manifest.write_bytes(b"")
    with pytest.raises(MemsuiteError) as refused:
        _purge(settings, ids[:1])
    assert refused.value.received == backup.name
    assert Purger(settings).unfinished == (ids[0],)
    # The memory itself is gone; with the backups dropped nothing is left of it.
    assert _purge(settings, [], Copies.DROP).backups == {backup.name: "dropped"}
    assert Purger(settings).unfinished == ()


def test_a_purge_that_was_stopped_half_way_is_finished_by_the_next(
    repository: MemoryRepository, ids: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as stopped:
        stopped.setattr("memories.repository.erasing.settle", _stop)
        with pytest.raises(KeyboardInterrupt):
            _purge(settings, ids[:1])
    assert repository.count() == 3
    assert _files_with(repository.path, CANARY) != []
    assert Purger(settings).unfinished == (ids[0],)
    assert _purge(settings, []).memory_ids == (ids[0],)
    assert _files_with(repository.path, CANARY) == []
    assert Purger(settings).unfinished == ()


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_what_a_door_keeps_is_erased_before_it_counts_as_done(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    told: list[tuple[str, ...]] = []
    purger = Purger(settings)

    def elsewhere(purged: Any) -> None:
        assert purger.unfinished == (ids[0],)
        told.append(tuple(purged))

    purger.purge(ids[:1], elsewhere=elsewhere)
    assert told == [(ids[0],)]


def test_a_mistyped_id_erases_nothing(
    repository: MemoryRepository, ids: list[str], settings: Settings
) -> None:
    before = listing(repository.path)
    with pytest.raises(MemsuiteError) as refused:
        _purge(settings, [ids[0], "nobody"])
    assert refused.value.code is ErrorCode.MEMORY_NOT_FOUND
    assert listing(repository.path)["HEAD"] == before["HEAD"]
    assert repository.count() == 4


def test_caches_go(repository: MemoryRepository, ids: list[str], settings: Settings) -> None:
    settings.cache_dir.mkdir(parents=True)
    (settings.cache_dir / "clusters.json").write_text(CANARY)
    _purge(settings, ids[:1])
    assert not settings.cache_dir.exists()
