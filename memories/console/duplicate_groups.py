"""The groups of duplicates as people have left them: pairs that somebody said are none stay apart, as long as
both memories say what they said then."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from itertools import combinations

from django.db.models import Count, Max
from django.utils import timezone

from memories.analysis.duplicates import (
    DEFAULT_THRESHOLD,
    LEAST_THRESHOLD,
    MOST_THRESHOLD,
    Duplicates,
    Group,
    duplicates,
)
from memories.console.curation_models import NotDuplicates
from memories.console.slowly import PATIENCE, Slowly
from memories.contract import ErrorCode, MemsuiteError
from memories.repository import MemoryRepository, StoredMemory

found_duplicates: Slowly[Duplicates] = Slowly(duplicates)


def threshold_of(text: str) -> float:
    """A threshold as an address says it; what cannot be read counts as not said."""
    try:
        wanted = float(text.replace(",", "."))
    except ValueError:
        return DEFAULT_THRESHOLD
    return round(wanted, 2) if LEAST_THRESHOLD <= wanted <= MOST_THRESHOLD else DEFAULT_THRESHOLD


def groups(
    store: MemoryRepository, threshold: float = DEFAULT_THRESHOLD, patience: float = PATIENCE
) -> list[Group]:
    """The groups at a threshold, most alike first. Raises ``heavy_work_busy`` where comparing the memories
    takes longer than ``patience`` seconds."""
    found = found_duplicates.of(store, patience)
    return _grouped.of(store, found, threshold)


def set_apart(store: MemoryRepository, ids: Sequence[str], actor: str) -> list[int]:
    """Remember that no two of these memories are duplicates; the keys of what was remembered. Raises
    ``memory_not_found``."""
    stored = store.read(lambda snapshot: snapshot.memories(ids))
    for name in ids:
        if name not in stored:
            raise MemsuiteError(
                ErrorCode.MEMORY_NOT_FOUND, "ids", "A memory of the group is no longer stored.", received=name
            )
    kept = []
    for one, other in combinations(sorted(set(ids)), 2):
        row, _ = NotDuplicates.objects.update_or_create(
            one=one,
            other=other,
            defaults={
                "one_content": what_it_says(stored[one]),
                "other_content": what_it_says(stored[other]),
                "actor": actor,
                "at": timezone.now(),
            },
        )
        kept.append(row.pk)
    _grouped.forget()
    return kept


def take_back(keys: Sequence[int]) -> int:
    """Forget some of what was remembered; how much there was of it."""
    deleted, _ = NotDuplicates.objects.filter(pk__in=keys).delete()
    _grouped.forget()
    return deleted


def what_it_says(memory: StoredMemory) -> str:
    """A digest of a memory's subject and facts: tags, tier and the like are no reason to ask again."""
    text = json.dumps([memory.domain, memory.subject, memory.facts], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class _Grouped:
    """The groups last asked for, by threshold, as long as neither the pairs nor the decisions change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[Duplicates, tuple[int, int]] | None = None
        self._groups: dict[float, list[Group]] = {}
        self._apart: frozenset[tuple[str, str]] = frozenset()

    def of(self, store: MemoryRepository, found: Duplicates, threshold: float) -> list[Group]:
        decided = NotDuplicates.objects.aggregate(count=Count("pk"), last=Max("pk"))
        mark = (int(decided["count"]), int(decided["last"] or 0))
        with self._lock:
            if self._of is None or self._of[0] is not found or self._of[1] != mark:
                self._of, self._groups = (found, mark), {}
                self._apart = _apart(store)
            if threshold not in self._groups:
                self._groups[threshold] = found.groups(threshold, self._apart)
            return self._groups[threshold]

    def forget(self) -> None:
        with self._lock:
            self._of = None


_grouped = _Grouped()


def _apart(store: MemoryRepository) -> frozenset[tuple[str, str]]:
    """The pairs of which both memories still say what they said when somebody decided."""
    rows = list(NotDuplicates.objects.all())
    if not rows:
        return frozenset()
    ids = {name for row in rows for name in (row.one, row.other)}
    says = {
        name: what_it_says(memory)
        for name, memory in store.read(lambda snapshot: snapshot.memories(ids)).items()
    }
    return frozenset(
        (row.one, row.other)
        for row in rows
        if says.get(row.one) == row.one_content and says.get(row.other) == row.other_content
    )
