"""The repository against a dictionary: whatever is done in whatever order, restarts included."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from memories.contract import MemsuiteError
from memories.embedding.static import static_embedder
from memories.repository import Author, BulkChange, MemoryRepository
from memories.settings import load_settings

AGENT = Author("agent")
SUBJECTS = st.sampled_from([f"S{number}" for number in range(6)])
PORTS = st.integers(1, 3)


class Model(RuleBasedStateMachine):
    """``stored`` maps ids to (subject, facts, tags); ``trash`` the same for what was deleted."""

    ids = Bundle("ids")
    operations = Bundle("operations")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memsuite-model-"))
        self.stored: dict[str, tuple[str, tuple[str, ...], frozenset[str]]] = {}
        self.trash: dict[str, tuple[str, tuple[str, ...], frozenset[str]]] = {}
        self._open()

    def _open(self) -> None:
        self.repository = MemoryRepository.open(
            load_settings(db_path=self.folder / "db", environ={"MEMSUITE_FSYNC": "off"}), static_embedder()
        )

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remember(self, memory_id: str) -> None:
        memory = self.repository.get(memory_id).memory
        self.stored[memory_id] = (memory.subject, memory.facts, frozenset(memory.tags))

    @rule(target=ids, subject=SUBJECTS, port=PORTS)
    def add(self, subject: str, port: int) -> str:
        same = {name: facts for name, (other, facts, _) in self.stored.items() if other == subject}
        payload = {
            "domain": "Orchard",
            "subject": subject,
            "facts": [f"port={port}"],
            "tier": 2,
            "category": "project",
        }
        try:
            result = self.repository.add(payload, AGENT)
        except MemsuiteError as error:
            assert str(error.code) == "conflicting_claims"
            assert any(facts != (f"port={port}",) for facts in same.values())
            return next(iter(same))
        if result.status == "created":
            assert not same
            self._remember(result.memory_id)
            assert self.stored[result.memory_id][:2] == (subject, (f"port={port}",))
        else:
            assert result.memory_id in same
        return result.memory_id

    @rule(target=operations, memory_id=ids, subject=SUBJECTS, port=PORTS)
    def update(self, memory_id: str, subject: str, port: int) -> str:
        patch = {"subject": subject, "facts": [f"port={port}", f"once {memory_id}"]}
        try:
            result = self.repository.update(memory_id, patch, AGENT, patch=True)
        except MemsuiteError as error:
            assert str(error.code) == "memory_not_found"
            assert memory_id not in self.stored
            return ""
        self._remember(memory_id)
        assert self.stored[memory_id][:2] == (subject, (f"port={port}", f"once {memory_id}"))
        return result.operation_id

    @rule(target=operations, memory_ids=st.lists(ids, min_size=1, max_size=4), tag=st.sampled_from("abc"))
    def tag(self, memory_ids: list[str], tag: str) -> str:
        result = self.repository.apply(BulkChange.of("add_tags", [tag]), memory_ids, AGENT)
        assert set(result.refused) == set(memory_ids) - self.stored.keys()
        for name in result.changed:
            subject, facts, tags = self.stored[name]
            self.stored[name] = (subject, facts, tags | {tag})
        return result.operation_id

    @rule(target=operations, memory_id=ids)
    def delete(self, memory_id: str) -> str:
        try:
            result = self.repository.delete(memory_id, AGENT)
        except MemsuiteError:
            assert memory_id not in self.stored
            return ""
        self.trash[memory_id] = self.stored.pop(memory_id)
        return result.operation_id

    @rule(memory_id=ids)
    def restore(self, memory_id: str) -> None:
        try:
            self.repository.restore(memory_id, AGENT)
        except MemsuiteError:
            assert memory_id not in self.trash
            return
        self.stored[memory_id] = self.trash.pop(memory_id)

    @rule(operation=consumes(operations))
    def undo(self, operation: str) -> None:
        """What an undo gives back is what the history says was there before."""
        if not operation:
            return
        result = self.repository.undo(operation, AGENT)
        for name in result.undone:
            kept = self.repository.revisions(name, limit=2)[0]
            if kept.removed:
                self.trash[name] = self.stored.pop(name)
                continue
            self.trash.pop(name, None)
            self._remember(name)

    @rule()
    def restart(self) -> None:
        self._open()

    @invariant()
    def equal(self) -> None:
        rows = self.repository.list_memories(limit=200).rows
        found = {memory.id: (memory.subject, memory.facts, frozenset(memory.tags)) for memory in rows}
        assert found == self.stored
        assert {entry.memory_id for entry in self.repository.trash(limit=500)[1]} == set(self.trash)

    @invariant()
    def ledger_says_who_disagrees(self) -> None:
        ports = {
            name: (subject, next(fact for fact in facts if fact.startswith("port=")))
            for name, (subject, facts, _) in self.stored.items()
        }
        clashing = {
            frozenset((one, other))
            for one, (subject, port) in ports.items()
            for other, (same, value) in ports.items()
            if one < other and subject == same and port != value
        }
        open_rows = self.repository.conflicts(status="open", limit=500)
        assert {frozenset((row.memory_a_id, row.memory_b_id)) for row in open_rows} == clashing


Model.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestModel = Model.TestCase
