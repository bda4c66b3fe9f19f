"""Random changes that can be made to what is there: some single, some of many, some in conflict."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from maintenance.bench.operation import Kind, Operation

FEWEST = 12
"""Below this many memories only adds are made: other changes want something to work on."""

MOST = 300
"""Beyond this many, memories are moved to the trash: states stay quick to check."""

MANY = 24
"""Memories of one change of many."""

REMEMBERED = 12
"""Operations of late that an undo picks from."""


@dataclass
class Known:
    """What a writer knows to be there: domain and subject by id, ids in the trash, and operations
    of late, the newest last."""

    stored: dict[str, tuple[str, str]] = field(default_factory=dict)
    removed: Sequence[str] = ()
    operations: Sequence[str] = ()


class Workload:
    """A seeded source of operations. ``name`` goes into every subject and fact, so that no two
    writers, and no two runs of one, ever mean the same memory."""

    def __init__(self, seed: int, name: str) -> None:
        self._chance = random.Random(seed)
        self._name = name
        self._made = 0
        self._kinds: dict[Callable[[Known], Operation], int] = {
            self._add: 24,
            self._add_many: 4,
            self._update: 22,
            self._contradict: 10,
            self._set_quality: 8,
            self._delete: 7,
            self._restore: 7,
            self._tag: 6,
            self._untag: 3,
            self._trash: 2,
            self._restore_many: 2,
            self._undo: 9,
        }

    def next(self, known: Known) -> Operation:
        """The next change of what is known."""
        if len(known.stored) < FEWEST:
            return self._add(known)
        if len(known.stored) > MOST:
            return self._trash(known)
        makes = list(self._kinds)
        (make,) = self._chance.choices(makes, list(self._kinds.values()))
        return make(known)

    # -- single ---------------------------------------------------------------------------

    def _add(self, known: Known) -> Operation:
        return Operation(Kind.ADD, payloads=(self._payload(known),))

    def _update(self, known: Known) -> Operation:
        patch: dict[str, Any] = {"facts": self._facts()}
        if self._chance.random() < 0.3:
            patch["relations"] = self._labels(known)
        return Operation(Kind.UPDATE, (self._one(known),), patch=patch)

    def _contradict(self, known: Known) -> Operation:
        """Give a memory another one's subject, with a port of its own: often a clash."""
        one, other = self._chance.sample(list(known.stored), 2)
        domain, subject = known.stored[other]
        patch = {"domain": domain, "subject": subject, "facts": self._facts()}
        return Operation(Kind.UPDATE, (one,), patch=patch)

    def _set_quality(self, known: Known) -> Operation:
        """An update that asks the embedder for nothing. The value is never one it had before."""
        quality = round(self._chance.random(), 12)
        patch = {"quality": quality, "tags": [f"tag {self._chance.randrange(6)}"]}
        return Operation(Kind.UPDATE, (self._one(known),), patch=patch)

    def _delete(self, known: Known) -> Operation:
        return Operation(Kind.DELETE, (self._one(known),))

    def _restore(self, known: Known) -> Operation:
        if not known.removed:
            return self._delete(known)
        return Operation(Kind.RESTORE, (self._chance.choice(known.removed),))

    def _undo(self, known: Known) -> Operation:
        if not known.operations:
            return self._update(known)
        return Operation(Kind.UNDO, undone=self._chance.choice(known.operations[-REMEMBERED:]))

    # -- of many --------------------------------------------------------------------------

    def _add_many(self, known: Known) -> Operation:
        return Operation(Kind.ADD, payloads=tuple(self._payload(known) for _ in range(MANY)))

    def _tag(self, known: Known) -> Operation:
        return Operation(Kind.ADD_TAGS, self._several(known), tag=f"tag {self._chance.randrange(6)}")

    def _untag(self, known: Known) -> Operation:
        return Operation(Kind.REMOVE_TAGS, self._several(known), tag=f"tag {self._chance.randrange(6)}")

    def _trash(self, known: Known) -> Operation:
        return Operation(Kind.TRASH, self._several(known))

    def _restore_many(self, known: Known) -> Operation:
        if not known.removed:
            return self._trash(known)
        ids = self._chance.sample(known.removed, min(MANY, len(known.removed)))
        return Operation(Kind.RESTORE_MANY, tuple(ids))

    # -- parts ----------------------------------------------------------------------------

    def _payload(self, known: Known) -> dict[str, Any]:
        self._made += 1
        return {
            "domain": f"Bench_{self._chance.randrange(8)}",
            "subject": f"{self._name}_{self._made}",
            "facts": self._facts(),
            "tier": self._chance.randint(2, 3),
            "category": self._chance.choice(("project", "tech", "decision")),
            "quality": round(self._chance.random(), 3),
            "tags": [f"tag {self._chance.randrange(6)}"],
            "relations": [*self._labels(known), *self._links(known)],
        }

    def _facts(self) -> list[str]:
        self._made += 1
        return [f"port={self._chance.randint(1, 3)}", f"written as number {self._made} by {self._name}"]

    def _labels(self, known: Known) -> list[dict[str, str]]:
        """Relations by label: most name a memory, some nothing yet."""
        if not known.stored or self._chance.random() < 0.4:
            return []
        domain, subject = self._chance.choice(list(known.stored.values()))
        if self._chance.random() < 0.2:
            subject = f"{self._name}_{self._made + 3}"
        return [{"type": self._chance.choice(("depends", "uses")), "target": f"{domain}:{subject}"}]

    def _links(self, known: Known) -> list[dict[str, str]]:
        """A relation by id."""
        if not known.stored or self._chance.random() < 0.7:
            return []
        return [{"type": "part_of", "target_id": self._one(known)}]

    def _one(self, known: Known) -> str:
        return self._chance.choice(list(known.stored))

    def _several(self, known: Known) -> tuple[str, ...]:
        return tuple(self._chance.sample(list(known.stored), min(MANY, len(known.stored))))
