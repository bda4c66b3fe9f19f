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
from memories.repository import Author, BulkChange, Decision, MemoryRepository
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

    @rule(target=operations, memory_ids=st.lists(ids, min_size=2, max_size=3, unique=True), port=PORTS)
    def merge(self, memory_ids: list[str], port: int) -> str:
        keeper, *others = memory_ids
        facts = (f"port={port}",)
        try:
            result = self.repository.merge(keeper, others, {"facts": list(facts)}, AGENT)
        except MemsuiteError as error:
            if str(error.code) == "memory_not_found":
                assert not set(memory_ids) <= self.stored.keys()
            else:
                assert str(error.code) == "duplicate_memory"
                subject = self.stored[keeper][0]
                assert self.stored[error.received][:2] == (subject, facts)
                assert error.received not in memory_ids
            return ""
        tags = frozenset().union(*(self.stored[name][2] for name in memory_ids)) & {"a", "b", "c"}
        subject = self.stored[keeper][0]
        for name in others:
            self.trash[name] = self.stored.pop(name)
        self._remember(keeper)
        assert self.stored[keeper][:2] == (subject, facts)
        assert tags <= self.stored[keeper][2]
        return result.operation_id

    @rule(target=operations, memory_ids=st.lists(ids, min_size=1, max_size=3), by=ids)
    def supersede(self, memory_ids: list[str], by: str) -> str:
        try:
            result = self.repository.apply(BulkChange.of("supersede", by), memory_ids, AGENT)
        except MemsuiteError as error:
            assert str(error.code) == "memory_not_found"
            assert by not in self.stored
            return ""
        edges = {
            (edge.relation_type, edge.target_id)
            for edge in self.repository.snapshot().edges_of([by])
            if edge.source_id == by
        }
        done = (*result.changed, *result.unchanged)
        assert {("supersedes", name) for name in done} <= edges
        return result.operation_id

    @rule(
        target=operations,
        number=st.integers(0, 20),
        resolution=st.sampled_from(["keep_a", "keep_b", "both_stand"]),
        loser=st.sampled_from(["corrected", "superseded"]),
    )
    def resolve(self, number: int, resolution: str, loser: str) -> str:
        rows = self.repository.conflicts(status="open", limit=500)
        if not rows:
            return ""
        row = rows[number % len(rows)]
        decision = Decision.of(resolution, "because", loser=loser)
        try:
            result = self.repository.resolve_conflict(row.id, decision, AGENT)
        except MemsuiteError as error:
            assert str(error.code) in ("duplicate_memory", "invalid_relation_target")
            return ""
        for name in result.changed:
            before = self.stored[name]
            self._remember(name)
            assert resolution != "both_stand" or self.stored[name] == before
        if resolution != "both_stand" and loser == "corrected":
            assert len({_port(self.stored[name]) for name in result.changed}) == 1
        return result.operation_id

    @rule(target=operations, number=st.integers(0, 20))
    def reopen(self, number: int) -> str:
        rows = self.repository.conflicts(status="resolved", limit=500)
        if not rows:
            return ""
        row = rows[number % len(rows)]
        pair = (row.memory_a_id, row.memory_b_id)
        try:
            return self.repository.reopen_conflict(row.id, AGENT, note="because").operation_id
        except MemsuiteError:
            assert frozenset(pair) not in self._clashing()
            return ""

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
        """Every disagreement is open, or a person has let just these values stand."""
        clashing = self._clashing()
        rows = {
            frozenset((row.memory_a_id, row.memory_b_id)): row for row in self.repository.conflicts(limit=500)
        }
        open_pairs = {pair for pair, row in rows.items() if row.is_open}
        assert open_pairs <= clashing.keys()
        stand = [
            (row.subject, {row.value_a, row.value_b})
            for row in rows.values()
            if row.resolution == "both_stand"
        ]
        for pair in clashing.keys() - open_pairs:
            subject, ports = clashing[pair]
            if pair in rows:
                assert rows[pair].is_human
                assert {rows[pair].value_a, rows[pair].value_b} == ports
            else:
                assert (f"orchard:{subject.lower()}", ports) in stand
        for pair in open_pairs:
            assert {rows[pair].value_a, rows[pair].value_b} == clashing[pair][1]

    def _clashing(self) -> dict[frozenset[str], tuple[str, set[str]]]:
        """Pairs of one subject that state different ports, with the subject and both ports."""
        return {
            frozenset((one, other)): (
                self.stored[one][0],
                {_port(self.stored[one]), _port(self.stored[other])},
            )
            for one, mine in self.stored.items()
            for other in self.stored
            if one < other and mine[0] == self.stored[other][0] and _port(mine) != _port(self.stored[other])
        }

    @invariant()
    def edges_lead_from_one_stored_memory_to_another(self) -> None:
        edges = self.repository.snapshot().edges_of(list(self.stored))
        assert all({edge.source_id, edge.target_id} <= self.stored.keys() for edge in edges)
        assert all(edge.source_id != edge.target_id for edge in edges)
        assert len({(edge.source_id, edge.relation_type, edge.target_id) for edge in edges}) == len(edges)


def _port(stored: tuple[str, tuple[str, ...], frozenset[str]]) -> str:
    return next(fact for fact in stored[1] if fact.startswith("port=")).removeprefix("port=")


Model.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestModel = Model.TestCase
