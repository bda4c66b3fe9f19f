"""Tags and entities with what is known of each: how many memories, in which domains, when last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

DOMAINS_NAMED = 2


class Order(StrEnum):
    COUNT = "count"
    NAME = "name"
    USED = "used"


@dataclass(frozen=True, slots=True)
class Label:
    """One tag or entity. ``memories`` hold it, ``used`` is when the last of them was changed;
    ``domains`` are those with most of them."""

    name: str
    memories: int
    used: datetime
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one list column of the catalogue, each with its count, in an order."""

    rows: pa.Table
    pairs: pa.Table
    """One row for each label of each memory: ``name``, ``domain``, ``at``."""
    memories: int
    """How many memories have at least one."""

    @classmethod
    def of(cls, catalogue: pa.Table, column: str) -> Labels:
        lists = catalogue[column].combine_chunks()
        parents = pc.list_parent_indices(lists)
        pairs = pa.table(
            {
                "name": pc.list_flatten(lists),
                "domain": catalogue["domain"].take(parents),
                "at": catalogue["updated_at"].take(parents),
            }
        )
        counted = pairs.group_by("name").aggregate([("name", "count"), ("at", "max")])
        holders = pc.sum(pc.greater(pc.list_value_length(lists), 0).cast(pa.int64())).as_py() or 0
        return cls(counted.rename_columns(["name", "count", "used"]), pairs, holders)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def search(self, text: str) -> Labels:
        """Those whose name holds a text, case apart."""
        kept = pc.match_substring(pc.utf8_lower(self.rows["name"]), text.lower())
        return Labels(self.rows.filter(kept), self.pairs, self.memories)

    def page(self, order: Order, offset: int, size: int) -> list[Label]:
        """A part of the list; ties by name."""
        ranked = pc.sort_indices(self.rows, sort_keys=_KEYS[order])
        rows = self.rows.take(ranked.slice(offset, size)).to_pylist()
        domains = self._domains([row["name"] for row in rows])
        return [
            Label(row["name"], row["count"], row["used"], tuple(domains.get(row["name"], ()))) for row in rows
        ]

    def counts(self) -> dict[str, int]:
        names, numbers = self.rows["name"].to_pylist(), self.rows["count"].to_pylist()
        return dict(zip(names, numbers, strict=True))

    def most(self) -> int:
        """The highest count, 0 where there is no label."""
        return pc.max(self.rows["count"]).as_py() or 0

    def _domains(self, names: Sequence[str]) -> dict[str, list[str]]:
        mine = self.pairs.filter(pc.is_in(self.pairs["name"], value_set=pa.array(names, pa.string())))
        counted = mine.group_by(["name", "domain"]).aggregate([("domain", "count")])
        found: dict[str, list[str]] = {}
        keys = [("domain_count", "descending"), ("domain", "ascending")]
        for row in counted.take(pc.sort_indices(counted, sort_keys=keys)).to_pylist():
            known = found.setdefault(row["name"], [])
            if len(known) < DOMAINS_NAMED:
                known.append(row["domain"])
        return found


_KEYS = {
    Order.COUNT: [("count", "descending"), ("name", "ascending")],
    Order.NAME: [("name", "ascending")],
    Order.USED: [("used", "descending"), ("name", "ascending")],
}
