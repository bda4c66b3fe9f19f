"""Clusters of memories: peaks of density in the neighbour graph, with what leads up to each.

Memories are taken from the densest place down. Each joins the cluster of a denser neighbour; where two
clusters meet, the lower one goes into the higher unless it stands out by itself (the ToMATo scheme of
persistent peaks). No chance is in it, so that a state has one answer, and what is decided about a memory
depends on its neighbourhood alone, so that one more memory changes little elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from memories.analysis.indexed_words import IndexedWords
from memories.analysis.join import Matrix
from memories.analysis.neighbours import NeighbourGraph, neighbour_graph
from memories.repository import MemoryRepository, Snapshot
from memories.repository.snapshot import State
from memories.text.languages import languages_of_stop_word, noise_words
from memories.text.stems import MARK

Labels = npt.NDArray[np.int64]

LEAST_COSINE = 0.40
"""Neighbours below this are near only because nothing is nearer."""

DENSE_WITH = 8
"""The nearest that tell how dense a place is."""

STANDS_OUT = 0.06
"""By how much a peak must rise above the saddle to a higher one to stay a cluster of its own."""

LEAST_MEMBERS = 3
WORDS = 3

TOO_MUCH_IN_ONE = 0.5
"""From this share of all clustered memories in one cluster on, the vectors tell little apart."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """``key`` is the id of its densest memory, ``words`` what tells it from others, most telling first;
    ``cohesion`` the mean cosine between neighbours within it."""

    key: str
    words: tuple[str, ...]
    ids: tuple[str, ...]
    cohesion: float

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        return " · ".join(self.words) or "unnamed"


@dataclass(frozen=True)
class Clusters:
    """``clusters`` largest first; ``isolated`` are memories in none, ``without_vector`` those that have no
    usable vector."""

    state: State
    clusters: tuple[Cluster, ...]
    isolated: tuple[str, ...]
    without_vector: int

    @property
    def coverage(self) -> float:
        """The share of all memories that are in a cluster."""
        inside = sum(map(len, self.clusters))
        total = inside + len(self.isolated) + self.without_vector
        return inside / total if total else 0.0

    @property
    def tells_little(self) -> bool:
        """Whether most memories fall into one cluster, so that the clusters say little."""
        inside = sum(map(len, self.clusters))
        return len(self.clusters) > 0 and len(self.clusters[0]) > max(TOO_MUCH_IN_ONE * inside, 20)

    def with_key(self, key: str) -> Cluster | None:
        return next((cluster for cluster in self.clusters if cluster.key == key), None)


def clusters(repository: MemoryRepository) -> Clusters:
    """The clusters of the newest state. Raises what ``neighbour_graph`` raises."""
    graph = neighbour_graph(repository)
    with _registry_lock:
        latest = _registry.setdefault(repository, _Latest())
    return latest.at(graph, repository)


class _Latest:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Clusters | None = None

    def at(self, graph: NeighbourGraph, repository: MemoryRepository) -> Clusters:
        with self._lock:
            if self._found is None or self._found.state != graph.state:
                self._found = repository.read(lambda snapshot: _clustered(graph, snapshot))
            return self._found


_registry: WeakKeyDictionary[MemoryRepository, _Latest] = WeakKeyDictionary()
_registry_lock = threading.Lock()


def _clustered(graph: NeighbourGraph, snapshot: Snapshot) -> Clusters:
    labels = communities(graph)
    words = _telling_words(graph, labels, snapshot)
    cohesion = _cohesion(graph, labels)
    members: dict[int, list[str]] = {}
    isolated = []
    for name, label in zip(graph.ids, labels.tolist(), strict=True):
        if label >= 0:
            members.setdefault(label, []).append(name)
        else:
            isolated.append(name)
    found = [
        Cluster(graph.ids[peak], words.get(peak, ()), tuple(names), cohesion.get(peak, 0.0))
        for peak, names in members.items()
    ]
    found.sort(key=lambda cluster: (-len(cluster), cluster.key))
    return Clusters(graph.state, tuple(found), tuple(isolated), max(0, snapshot.count - len(graph)))


# --- communities ------------------------------------------------------------------------


def communities(graph: NeighbourGraph) -> Labels:
    """For each row the row of its cluster's peak, -1 for what is in none."""
    near, cosines = graph.lists.near, graph.lists.cosines
    if not len(graph):
        return np.zeros(0, dtype=np.int64)
    linked = (near >= 0) & (cosines >= LEAST_COSINE)
    has_link: npt.NDArray[np.bool_] = np.asarray(linked.any(axis=1))
    density = _density(cosines, linked)
    # Equal densities by row, so that the order is one for every run.
    order = np.lexsort((np.arange(len(graph)), -density))
    rank = np.empty(len(graph), dtype=np.int64)
    rank[order] = np.arange(len(graph))
    joined = _Peaks(density)
    denser = linked & (rank[near] < rank[:, None])
    for row in order[has_link[order]].tolist():
        places = np.flatnonzero(denser[row])
        if len(places):
            joined.join(row, near[row, places].tolist())
    return joined.labels(has_link)


def _density(cosines: Matrix, linked: npt.NDArray[np.bool_]) -> Matrix:
    counted = np.where(linked, cosines, np.float32(0))[:, :DENSE_WITH]
    density: Matrix = counted.mean(axis=1)
    return density


class _Peaks:
    """Clusters as they grow, by the row of their peak."""

    def __init__(self, density: Matrix) -> None:
        self._density = density.tolist()
        self._above = list(range(len(self._density)))

    def join(self, row: int, denser: Sequence[int]) -> None:
        """Put a row into the cluster of its nearest denser neighbour, and let the clusters that meet here
        become one where the lower does not stand out."""
        self._above[row] = home = self._peak(denser[0])
        here = self._density[row]
        for other in denser[1:]:
            peak = self._peak(other)
            if peak == home:
                continue
            high, low = (home, peak) if self._is_higher(home, peak) else (peak, home)
            if self._density[low] - here < STANDS_OUT:
                self._above[low] = home = high

    def _is_higher(self, one: int, other: int) -> bool:
        return (self._density[one], -one) > (self._density[other], -other)

    def _peak(self, row: int) -> int:
        above = self._above
        while above[row] != row:
            above[row] = above[above[row]]
            row = above[row]
        return row

    def labels(self, linked: npt.NDArray[np.bool_]) -> Labels:
        peaks = np.array([self._peak(row) for row in range(len(self._above))], dtype=np.int64)
        peaks[~linked] = -1
        sizes = np.bincount(peaks[peaks >= 0], minlength=len(peaks))
        too_small = (peaks >= 0) & (sizes[peaks] < LEAST_MEMBERS)
        return np.where(too_small, -1, peaks)


# --- what a cluster is like -----------------------------------------------------------------


def _cohesion(graph: NeighbourGraph, labels: Labels) -> dict[int, float]:
    """The mean cosine between neighbours of one cluster, by its peak."""
    near, cosines = graph.lists.near, graph.lists.cosines
    inside = (near >= 0) & (labels[near] == labels[:, None]) & (labels[:, None] >= 0)
    rows, _ = np.nonzero(inside)
    if not len(rows):
        return {}
    sums = np.bincount(labels[rows], weights=cosines[inside])
    counts = np.bincount(labels[rows])
    return {int(peak): float(sums[peak] / counts[peak]) for peak in np.flatnonzero(counts)}


def _telling_words(
    graph: NeighbourGraph, labels: Labels, snapshot: Snapshot
) -> Mapping[int, tuple[str, ...]]:
    """The words that many memories of a cluster have and few others, by its peak."""
    label_of = dict(zip(graph.ids, labels.tolist(), strict=True))
    known = IndexedWords()
    tells = np.zeros(0, dtype=np.bool_)
    of_memory: list[int] = []
    memories, words = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for stretch in known.of(snapshot):
        tells = np.concatenate(
            [tells, np.array([*map(_may_name, known.spelled[len(tells) :])], dtype=np.bool_)]
        )
        telling = tells[stretch.words]
        memories.append(stretch.places[telling] + len(of_memory))
        words.append(stretch.words[telling])
        of_memory += [label_of.get(name, -1) for name in stretch.ids]
    if not of_memory or max(of_memory) < 0:
        return {}
    return _best_words(np.concatenate(memories), np.concatenate(words), np.array(of_memory), known.spelled)


def _best_words(
    memories: Labels, words: Labels, of_memory: Labels, spelled: Sequence[str]
) -> Mapping[int, tuple[str, ...]]:
    size = max(1, len(spelled))
    ordered = np.sort(memories * size + words)
    memories, words = np.divmod(ordered[np.flatnonzero(np.diff(ordered, prepend=-1))], size)
    everywhere = np.bincount(words, minlength=size)
    inside = of_memory[memories] >= 0
    pairs, counts = np.unique(of_memory[memories[inside]] * size + words[inside], return_counts=True)
    peaks, named = np.divmod(pairs, size)
    sizes = np.bincount(of_memory[of_memory >= 0])
    telling = counts / sizes[peaks] * np.log((1 + len(of_memory)) / everywhere[named])
    telling[counts < 2] = -1
    # By the alphabet where two tell as much: no two runs may name a cluster otherwise.
    alphabet = np.argsort(np.argsort(np.array(spelled)))
    order = np.lexsort((alphabet[named], -telling, peaks))
    best: dict[int, tuple[str, ...]] = {}
    for peak, start in zip(*np.unique(peaks[order], return_index=True), strict=True):
        first = [at for at in order[start : start + WORDS] if peaks[at] == peak and telling[at] > 0]
        best[int(peak)] = tuple(spelled[int(named[at])] for at in first)
    return best


def _may_name(word: str) -> bool:
    """Whether a cluster may be named by an indexed word: no stem, no number, no function word."""
    return (
        len(word) >= 3
        and MARK not in word
        and word.isalpha()
        and word not in languages_of_stop_word()
        and word not in noise_words()
    )
