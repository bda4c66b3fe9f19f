"""Memories that say the same, by the neighbour graph: the one algorithm of every door that shows them.

Pairs are judged once; in a later state only those that changed since. Groups are put together from pairs for
the threshold that is asked for, and no group holds two memories that are apart.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from memories.analysis.join import Matrix, Rows
from memories.analysis.likeness import (
    LEAST,
    LEAST_COSINE,
    Relation,
    are_apart,
    least_shared,
    likeness,
)
from memories.analysis.neighbours import NeighbourGraph, neighbour_graph
from memories.analysis.overlap import most_shared, signatures
from memories.analysis.profile import Profile, profile_of
from memories.contract import claims_of
from memories.repository import MemoryRepository, Snapshot, schema
from memories.repository.engine import is_in
from memories.repository.snapshot import State, batches
from memories.text.folding import fold

DEFAULT_THRESHOLD, MOST_THRESHOLD = 0.92, 0.99
LEAST_THRESHOLD = LEAST

MOST_IN_GROUP = 12
"""Members of one group: as many facts as a memory may have. Further ones come up again after the merge."""

_READ_ALL = 0.2
"""From this share of the memories on reading all of them is the shorter way."""

_MANY = 5_000
"""Pairs above which those that cannot be alike are sorted out together first."""

_COLUMNS = ["id", "domain", "subject", "facts"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that say the same, ``one`` with the smaller id."""

    one: str
    other: str
    value: float
    relation: Relation

    @property
    def ids(self) -> tuple[str, str]:
        return self.one, self.other


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that say the same: ``ids`` ascending, ``pairs`` those of them that are alike at the
    threshold, ``value`` the likeness of the weakest link between them."""

    ids: tuple[str, ...]
    pairs: tuple[Pair, ...]
    value: float

    @property
    def key(self) -> str:
        """Names the group as long as its first memory leads it."""
        return self.ids[0]

    def container_of(self, memory_id: str) -> str:
        """A memory of the group that says all that this one says, and more; "" where none does."""
        for pair in self.pairs:
            if pair.one == memory_id and pair.relation is Relation.CONTAINED:
                return pair.other
            if pair.other == memory_id and pair.relation is Relation.CONTAINS:
                return pair.one
        return ""


@dataclass(frozen=True)
class Duplicates:
    """Every pair of one state that is alike by ``LEAST_THRESHOLD`` at least, most alike first."""

    state: State
    pairs: tuple[Pair, ...]
    _profiles: Mapping[str, Profile] = field(repr=False)
    _graph: NeighbourGraph = field(repr=False)

    def groups(
        self, threshold: float = DEFAULT_THRESHOLD, apart: Collection[tuple[str, str]] = frozenset()
    ) -> list[Group]:
        """The groups at a threshold, most alike first. ``apart`` are pairs of ids, the smaller one first,
        of which a person has said that they are no duplicates."""
        joined = _Joined(self._profiles, apart)
        for pair in self.pairs:
            if pair.value >= threshold:
                joined.join(pair)
        groups = joined.groups()
        return sorted(groups, key=lambda group: (-group.value, group.key))


def duplicates(repository: MemoryRepository) -> Duplicates:
    """The duplicates of the newest state. Raises what ``neighbour_graph`` raises."""
    graph = neighbour_graph(repository)
    with _registry_lock:
        latest = _registry.setdefault(repository, _Latest())
    return latest.at(graph, repository)


class _Latest:
    """What was last found in one repository."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Duplicates | None = None

    def at(self, graph: NeighbourGraph, repository: MemoryRepository) -> Duplicates:
        with self._lock:
            found = self._found
            if found is None or found.state != graph.state:
                self._found = found = repository.read(lambda snapshot: _found(graph, snapshot, found))
            return found


_registry: WeakKeyDictionary[MemoryRepository, _Latest] = WeakKeyDictionary()
_registry_lock = threading.Lock()


# --- pairs ----------------------------------------------------------------------------


def _found(graph: NeighbourGraph, snapshot: Snapshot, earlier: Duplicates | None) -> Duplicates:
    one, other, cosines = graph.pairs(LEAST_COSINE)
    kept, fresh = _told_apart(graph, snapshot, earlier, one, other)
    if len(fresh) > _MANY:
        fresh = fresh[_of_one_domain(graph, snapshot, one[fresh], other[fresh])]
        fresh = fresh[_worth_reading(graph, snapshot, one[fresh], other[fresh], cosines[fresh])]
    profiles = dict(earlier._profiles) if earlier is not None else {}
    # Memories of pairs that stay have their profile; those of others are read.
    wanted = {graph.ids[row] for row in np.unique(np.concatenate([one[fresh], other[fresh]])).tolist()}
    profiles |= _profiles(snapshot, wanted)
    pairs = [*kept, *_judged(graph, one[fresh], other[fresh], cosines[fresh], profiles)]
    pairs.sort(key=lambda pair: (-pair.value, pair.ids))
    named = {name for pair in pairs for name in pair.ids}
    return Duplicates(
        graph.state, tuple(pairs), {name: profiles[name] for name in named if name in profiles}, graph
    )


def _of_one_domain(
    graph: NeighbourGraph, snapshot: Snapshot, one: Rows, other: Rows
) -> npt.NDArray[np.bool_]:
    """Which of many pairs are of one domain; those of two are told apart without looking at their text."""
    table = snapshot.arrow(schema.MEMORIES, columns=["id", "domain"])
    if table is None:
        return np.zeros(len(one), dtype=np.bool_)
    folded: dict[str, int] = {}
    found = table["domain"].unique().to_pylist()
    numbers = {domain: folded.setdefault(fold(domain), len(folded)) for domain in found}
    domains = dict(zip(table["id"].to_pylist(), table["domain"].to_pylist(), strict=True))
    of_row = np.array([numbers.get(domains.get(name, ""), -1) for name in graph.ids], dtype=np.int64)
    same: npt.NDArray[np.bool_] = of_row[one] == of_row[other]
    return same


def _worth_reading(
    graph: NeighbourGraph, snapshot: Snapshot, one: Rows, other: Rows, cosines: Matrix
) -> npt.NDArray[np.bool_]:
    """Which of many pairs may share enough words: most that are only of one topic do not, and are found out
    here without looking at their text one by one."""
    rows = {name: row for row, name in enumerate(graph.ids)}
    shared = most_shared(signatures(snapshot, rows), one, other)
    worth: npt.NDArray[np.bool_] = shared >= least_shared(cosines)
    return worth


def _told_apart(
    graph: NeighbourGraph, snapshot: Snapshot, earlier: Duplicates | None, one: Rows, other: Rows
) -> tuple[list[Pair], Rows]:
    """Pairs found earlier that still hold, and the places of the candidates that are to be judged."""
    if earlier is None or not earlier._graph.state.reaches(graph.state):
        return [], np.arange(len(one))
    before = earlier._graph
    written = snapshot.changes_since(before.state.generation).written
    places = graph.rows_in(before)
    places[[row for name in written if (row := graph.row_of(name)) is not None]] = -1
    size = len(before) + 1
    known_one, known_other, _ = before.pairs(LEAST_COSINE)
    then = np.where((places[one] >= 0) & (places[other] >= 0), places[one] * size + places[other], -1)
    known = np.isin(then, known_one * size + known_other)
    rows = [(before.row_of(pair.one), before.row_of(pair.other)) for pair in earlier.pairs]
    keys = np.array([(a or 0) * size + (b or 0) for a, b in rows], dtype=np.int64)
    holds = np.isin(keys, then[known])
    kept = [pair for pair, still in zip(earlier.pairs, holds.tolist(), strict=True) if still]
    return kept, np.flatnonzero(~known)


def _judged(
    graph: NeighbourGraph, one: Rows, other: Rows, cosines: Matrix, profiles: Mapping[str, Profile]
) -> Iterator[Pair]:
    for a, b, cosine in zip(one.tolist(), other.tolist(), cosines.tolist(), strict=True):
        first, second = graph.ids[a], graph.ids[b]
        if first not in profiles or second not in profiles:
            continue  # gone since the graph was made
        found = likeness(profiles[first], profiles[second], cosine)
        if found is not None:
            yield Pair(first, second, found.value, found.relation)


def _profiles(snapshot: Snapshot, wanted: set[str]) -> dict[str, Profile]:
    if len(wanted) > _READ_ALL * snapshot.count:
        parts = [""]
    else:
        parts = [is_in("id", batch) for batch in batches(sorted(wanted))]
    return {
        row["id"]: profile_of(row["domain"], row["subject"], row["facts"], claims_of(row["facts"]))
        for where in parts
        for row in snapshot.rows(schema.MEMORIES, where, _COLUMNS)
        if row["id"] in wanted
    }


# --- groups ---------------------------------------------------------------------------


@dataclass
class _Joined:
    """Groups as they grow, most alike pairs first."""

    profiles: Mapping[str, Profile]
    apart: Collection[tuple[str, str]]
    _members: dict[str, list[str]] = field(default_factory=dict)
    _values: dict[str, float] = field(default_factory=dict)
    _leader: dict[str, str] = field(default_factory=dict)
    _pairs: list[Pair] = field(default_factory=list)

    def join(self, pair: Pair) -> None:
        """Bring the groups of two memories together, unless two of their members are apart."""
        if pair.ids in self.apart:
            return
        self._pairs.append(pair)
        one, other = (self._leader.get(name, name) for name in pair.ids)
        if one == other:
            return
        ours, theirs = self._members.get(one, [one]), self._members.get(other, [other])
        if len(ours) + len(theirs) > MOST_IN_GROUP or self._any_apart(ours, theirs, pair):
            return
        self._members[one] = [*ours, *theirs]
        self._values[one] = min(pair.value, self._values.get(one, 1.0), self._values.pop(other, 1.0))
        self._members.pop(other, None)
        for name in (one, *theirs):
            self._leader[name] = one

    def _any_apart(self, ours: Iterable[str], theirs: Iterable[str], judged: Pair) -> bool:
        theirs = list(theirs)
        for one in ours:
            for other in theirs:
                pair = (one, other) if one < other else (other, one)
                if pair == judged.ids:
                    continue
                if pair in self.apart or are_apart(self.profiles[one], self.profiles[other]):
                    return True
        return False

    def groups(self) -> Iterator[Group]:
        of_group: dict[str, list[Pair]] = {leader: [] for leader in self._members}
        for pair in self._pairs:
            leader = self._leader.get(pair.one)
            if leader is not None and leader == self._leader.get(pair.other):
                of_group[leader].append(pair)
        for leader, members in self._members.items():
            yield Group(tuple(sorted(members)), tuple(of_group[leader]), self._values[leader])
