"""Real damage on disk: the database opens or says which file is at fault, nothing is made over it,
and a writer does not make it worse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memories.contract import ErrorCode, MemsuiteError
from memories.repository import Author, BulkChange, Filter, MemoryRepository, schema
from memories.repository.health import IndexState, examine
from memories.repository.manifest import Manifest, manifest_path
from tests.repository.conftest import PayloadMaker
from tests.repository.damage import cut, data_files, flip, head_version, listing, manifest_file, overwrite

if TYPE_CHECKING:
    from memories.embedding.base import Embedder
    from memories.settings import Settings

Reopen = Callable[[], MemoryRepository]
SUBJECTS = ("Gateway", "Proxy", "Lamp", "Rake", "Hoe")


@pytest.fixture
def root(repository: MemoryRepository, agent: Author, payload: PayloadMaker) -> Path:
    """Five memories in one fragment with a deletion, one updated, one in the trash."""
    results = repository.add_many([payload(subject) for subject in SUBJECTS], agent)
    ids = [result.memory_id for result in results if not isinstance(result, MemsuiteError)]
    repository.update(ids[0], payload("Gateway", "Gateway moved to the green proxy"), agent)
    repository.delete(ids[-1], agent)
    return repository.path


def _refused(work: Callable[[], object]) -> str:
    with pytest.raises(MemsuiteError) as refused:
        work()
    assert refused.value.code is ErrorCode.STORE_UNAVAILABLE
    return refused.value.message


# -- what cannot be done without -------------------------------------------------------

MANIFEST_DAMAGE: dict[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "cut short": lambda path: cut(path, 50),
    "empty": lambda path: cut(path, 0),
    "overwritten": lambda path: overwrite(path, 0, b"x" * path.stat().st_size),
}


@pytest.mark.parametrize("table", [schema.MEMORIES, schema.REVISIONS])
@pytest.mark.parametrize("damage", MANIFEST_DAMAGE)
def test_a_damaged_manifest_of_head_is_named_and_nobody_builds_on_what_is_left(
    root: Path,
    reopened: Reopen,
    repository: MemoryRepository,
    agent: Author,
    payload: PayloadMaker,
    table: str,
    damage: str,
) -> None:
    path = manifest_file(root, table)
    MANIFEST_DAMAGE[damage](path)
    before = listing(root)
    assert str(path) in _refused(reopened)
    # A process that had it open from before does not see the damage by itself.
    assert str(path) in _refused(lambda: repository.add(payload("New"), agent))
    assert listing(root) == before


def test_a_head_that_names_a_version_that_is_gone_is_refused_naming_it(root: Path, reopened: Reopen) -> None:
    head = root / "HEAD"
    state = json.loads(head.read_text())
    state["tables"][schema.MEMORIES] = 95
    head.write_text(json.dumps(state))
    message = _refused(reopened)
    assert "HEAD names version 95 of memories" in message
    assert str(manifest_path(root / "memories.lance", 95)) in message


@pytest.mark.parametrize("content", [b"", b"\0" * 421, b"\xff\xfe", b'{"generation":5}'])
def test_a_head_without_its_content_is_named_and_left_alone(
    root: Path, reopened: Reopen, repository: MemoryRepository, agent: Author, content: bytes
) -> None:
    (root / "HEAD").write_bytes(content)
    before = listing(root)
    assert str(root / "HEAD") in _refused(reopened)
    assert str(root / "HEAD") in _refused(lambda: repository.delete("any", agent))
    assert listing(root) == before


@pytest.mark.parametrize("damage", ["missing", "cut short"])
def test_a_damaged_data_file_is_named_and_no_writer_hides_it(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker, damage: str
) -> None:
    ids = [memory.id for memory in reopened().list_memories().rows]
    path = data_files(root)[0]
    path.unlink() if damage == "missing" else cut(path, 100)
    opened = reopened()
    # The engine leaves out the first slash of what it does not find.
    assert str(path).lstrip("/") in _refused(opened.list_memories)
    before = (root / "HEAD").read_text()
    for work in (
        lambda: opened.add(payload("New"), agent),
        lambda: opened.update(ids[1], payload("Proxy", "changed"), agent),
        lambda: opened.delete(ids[1], agent),
        lambda: opened.apply(BulkChange.of("add_tags", ["x"]), ids, agent),
    ):
        assert path.name in _refused(work)
    assert (root / "HEAD").read_text() == before


def test_missing_deletions_are_named(root: Path, reopened: Reopen) -> None:
    shutil.rmtree(root / "memories.lance" / "_deletions")
    assert "_deletions" in _refused(reopened().list_memories)


def test_an_assertion_inside_the_engine_is_an_error_of_ours(root: Path, reopened: Reopen) -> None:
    """The place where the message begins is far beyond the end: the engine itself panics at that."""
    path = manifest_file(root, schema.EDGES)
    content = path.read_bytes()
    inner = int.from_bytes(content[-16:-8], "little")
    path.write_bytes(content[:inner] + b"\xff\xff\xff\x7f" + content[inner + 4 :])
    opened = reopened()
    assert "memory_edges.lance" in _refused(opened.graph_summary)


# -- what can be done without ----------------------------------------------------------


def test_without_transaction_files_nothing_changes(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker
) -> None:
    for table in schema.TABLES:
        shutil.rmtree(root / f"{table}.lance" / "_transactions")
    opened = reopened()
    opened.add(payload("New"), agent)
    assert {memory.subject for memory in opened.list_memories().rows} == {*SUBJECTS[:-1], "New"}


def test_foreign_files_are_left_where_they_are(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker
) -> None:
    foreign = [root / "notes.txt", root / "x.lance", root / "memories.lance" / "data" / "z"]
    foreign += [root / "memories.lance" / "_versions" / "z", root / "memories.lance" / "z"]
    for path in foreign:
        path.write_text("not ours")
    (root / "other.lance").mkdir()
    reopened().add(payload("New"), agent)
    assert reopened().count() == 5
    assert {path.read_text() for path in foreign} == {"not ours"}
    assert list((root / "other.lance").iterdir()) == []


def test_without_its_side_folder_it_opens_and_a_write_brings_the_folder_back(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker
) -> None:
    shutil.rmtree(root / ".memsuite", ignore_errors=True)
    opened = reopened()
    opened.usage.record_recall([opened.list_memories().rows[0].id])
    assert opened.count() == 4
    opened.add(payload("New"), agent)
    assert (root / ".memsuite").is_dir()


def test_a_broken_usage_file_fails_nobody_and_is_said(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker, settings: Settings
) -> None:
    usage = root / ".memsuite" / "usage.db"
    usage.write_bytes(b"no database" * 1000)
    opened = reopened()
    opened.usage.record_recall([memory.id for memory in opened.list_memories().rows])
    opened.add(payload("New"), agent)
    assert opened.get(opened.list_memories().rows[0].id).usage.recalls == 0
    assert usage.read_bytes().startswith(b"no database")
    assert examine(root, settings.backups_dir).usage_fault


# -- what a writer that died has left --------------------------------------------------


def test_a_half_written_head_beside_head_is_ignored_and_removed_by_the_next_writer(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker
) -> None:
    leftover = root / "HEAD.999999.tmp"
    leftover.write_text('{"generation":')
    opened = reopened()
    assert opened.count() == 4
    assert leftover.exists()
    opened.add(payload("New"), agent)
    assert not leftover.exists()


@pytest.mark.parametrize("size", [0, 50])
def test_a_torn_manifest_past_head_hides_nothing(
    root: Path, reopened: Reopen, agent: Author, payload: PayloadMaker, size: int
) -> None:
    """What a power cut can leave: the engine, which looks at the newest one, would open nothing."""
    torn = manifest_path(root / "memories.lance", head_version(root, schema.MEMORIES) + 1)
    shutil.copy(manifest_file(root), torn)
    cut(torn, size)
    opened = reopened()
    assert opened.count() == 4
    opened.add(payload("New"), agent)
    assert reopened().count() == 5
    assert torn.with_name(torn.name + ".torn").stat().st_size == size


# -- indexes, which the rows can always make anew --------------------------------------


@pytest.fixture
def indexed(root: Path, repository: MemoryRepository) -> Path:
    """The same with every row in the text index."""
    table = repository._store._tables
    version = table.compact(schema.MEMORIES, fsync=False)
    head = json.loads((root / "HEAD").read_text())
    head["tables"][schema.MEMORIES] = version
    (root / "HEAD").write_text(json.dumps(head) + "\n")
    return root


def _index_files(root: Path) -> list[Path]:
    indexes = Manifest(root / "memories.lance", head_version(root, schema.MEMORIES)).indexes
    return [part.path for index in indexes for part in index.files]


def _each(root: Path, damage: Callable[[Path], None]) -> None:
    for path in _index_files(root):
        damage(path)


INDEX_DAMAGE: dict[str, Callable[[Path], None]] = {
    "directory missing": lambda root: shutil.rmtree(root / "memories.lance" / "_indices"),
    "one file missing": lambda root: _index_files(root)[0].unlink(),
    "cut short": lambda root: _each(root, lambda path: cut(path, 10)),
    "flipped": lambda root: _each(root, lambda path: flip(path, path.stat().st_size - 40, 16)),
}


@pytest.mark.parametrize("damage", INDEX_DAMAGE)
def test_a_search_goes_on_without_its_index_with_the_same_answer(
    indexed: Path, reopened: Reopen, damage: str
) -> None:
    words = "gateway proxy blue nowhere"
    before = reopened().read(lambda snapshot: snapshot.lexical(words, limit=10))
    INDEX_DAMAGE[damage](indexed)
    after = reopened().read(lambda snapshot: snapshot.lexical(words, limit=10))
    assert dict(after) == pytest.approx(dict(before), rel=1e-4)
    assert len(after) == 4


def test_a_search_without_its_index_keeps_to_its_filter_and_limit(indexed: Path, reopened: Reopen) -> None:
    shutil.rmtree(indexed / "memories.lance" / "_indices")
    opened = reopened()
    assert opened.snapshot().lexical("proxy", where=Filter(tag="no such tag"), limit=10) == []
    assert len(opened.snapshot().lexical("proxy", where=Filter(category="project"), limit=2)) == 2
    assert opened.snapshot().lexical("nowhere", limit=10) == []


@pytest.mark.parametrize("damage", INDEX_DAMAGE)
def test_the_next_write_makes_a_damaged_text_index_anew(
    indexed: Path, reopened: Reopen, agent: Author, payload: PayloadMaker, settings: Settings, damage: str
) -> None:
    INDEX_DAMAGE[damage](indexed)
    opened = reopened()
    opened.snapshot().lexical("proxy", limit=5)
    opened.add(payload("New"), agent)
    again = reopened().snapshot()
    assert len(again.lexical("proxy", limit=10)) == 5
    assert not again.text_index_failed
    assert examine(indexed, settings.backups_dir).text_index.state is IndexState.CURRENT


def test_a_damaged_index_of_a_column_is_made_anew_by_whoever_needs_it(
    indexed: Path, repository: MemoryRepository, reopened: Reopen
) -> None:
    tables = repository._store._tables
    with_index = tables.rebuild_indexes(schema.MEMORIES, ["id_idx"], fsync=False)
    head = json.loads((indexed / "HEAD").read_text())
    head["tables"][schema.MEMORIES] = with_index
    (indexed / "HEAD").write_text(json.dumps(head) + "\n")
    wanted = reopened().list_memories().rows[0].id
    shutil.rmtree(indexed / "memories.lance" / "_indices")
    assert reopened().get(wanted).memory.id == wanted


def test_a_damaged_index_that_cannot_be_made_anew_now_is_named(
    indexed: Path, repository: MemoryRepository, reopened: Reopen, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = repository._store._tables
    head = json.loads((indexed / "HEAD").read_text())
    head["tables"][schema.MEMORIES] = tables.rebuild_indexes(schema.MEMORIES, ["id_idx"], fsync=False)
    (indexed / "HEAD").write_text(json.dumps(head) + "\n")
    wanted = reopened().list_memories().rows[0].id
    shutil.rmtree(indexed / "memories.lance" / "_indices")
    monkeypatch.setattr("memories.repository.store.MEND_WAIT", 0.0)
    with repository._store._write_lock.held(0):
        assert "_indices" in _refused(lambda: reopened().get(wanted))


def test_nothing_damaged_ever_ends_in_anything_but_an_answer_or_an_error_of_ours(
    indexed: Path, fast_embedder: Embedder, agent: Author, payload: PayloadMaker, tmp_path: Path
) -> None:
    """Every file the state is made of, flipped in its middle and at its end, and cut in half."""
    from memories.settings import load_settings

    wanted = MemoryRepository(load_settings(db_path=indexed), fast_embedder).list_memories().rows[0].id
    parts = [manifest_file(indexed, table) for table in schema.TABLES]
    parts += [*data_files(indexed), *data_files(indexed, schema.REVISIONS), *_index_files(indexed)]
    for part in parts:
        for damage in ("middle", "end", "half"):
            copy = tmp_path / "copy"
            shutil.copytree(indexed, copy)
            path = copy / part.relative_to(indexed)
            size = path.stat().st_size
            if damage == "half":
                cut(path, size // 2)
            else:
                flip(path, size // 2 if damage == "middle" else size - 64, 64)
            opened = MemoryRepository(load_settings(db_path=copy), fast_embedder)
            for work in (
                opened.count,
                opened.list_memories,
                lambda opened=opened: opened.get(wanted),
                lambda opened=opened: opened.read(lambda snapshot: snapshot.lexical("proxy", limit=5)),
                opened.trash,
                lambda opened=opened: opened.add(payload("New"), agent),
                lambda opened=opened: opened.delete(wanted, agent),
            ):
                try:
                    work()
                except MemsuiteError as error:
                    assert error.code is ErrorCode.STORE_UNAVAILABLE, (part, damage)
            shutil.rmtree(copy)
