"""Two people edited one memory: both versions side by side, for the second one to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memories.console.fact_diff import Words, aligned, word_changes
from memories.console.memory_form import Draft, hidden_fields, over_newer, stored_draft
from memories.console.memory_history import PLAIN, HistoryEntry, draft_at, history_of
from memories.repository.results import MemoryDetail
from memories.repository.revisions import Revision


@dataclass(frozen=True, slots=True)
class Row:
    """One fact or field in both versions, None where a version has none. ``words`` tells them apart,
    pieces of theirs as ``del`` and of mine as ``ins``."""

    label: str
    theirs: str | None
    mine: str | None
    words: Words = ()

    @property
    def same(self) -> bool:
        return self.theirs == self.mine


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """``mine`` stands over the newer revision: what I left alone is as they left it."""

    mine: Draft
    theirs: Draft
    latest: HistoryEntry | None
    facts: Sequence[Row]
    values: Sequence[Row]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        return hidden_fields(self.mine)

    @property
    def agrees(self) -> bool:
        """Whether both made the same change, so that there is nothing to decide."""
        return not self.mine.as_patch(self.theirs)


def version_choice(mine: Draft, detail: MemoryDetail, revisions: Sequence[Revision]) -> VersionChoice:
    """Put a draft over the revision that came in between. ``revisions`` newest first."""
    theirs = stored_draft(detail)
    kept = over_newer(mine, draft_at(revisions, mine.base_revision), theirs)
    return VersionChoice(
        mine=kept,
        theirs=theirs,
        latest=next(iter(history_of(detail, revisions)), None),
        facts=[_row("fact", *pair) for pair in aligned(theirs.facts, tuple(kept.value("facts")))],
        values=[row for row in _values(theirs, kept) if not row.same],
    )


def rebased(mine: Draft, theirs: Draft) -> Draft:
    """My draft as an edit of the revision that is stored now."""
    return replace(mine, base_revision=theirs.base_revision)


def adopted(mine: Draft, stored: Draft) -> Draft:
    """What was typed for a new memory as an edit of the one that has its subject.

    A fact like a stored one takes its place, the others come after; tags and relations are united.
    """
    facts = tuple(new if new is not None else old for old, new in aligned(stored.facts, mine.value("facts")))
    return replace(
        stored,
        facts=tuple(fact for fact in facts if fact is not None),
        tier=mine.tier,
        category=mine.category,
        type=mine.type or stored.type,
        tags=tuple(dict.fromkeys((*stored.tags, *mine.all_tags))),
        relations=tuple(dict.fromkeys((*stored.relations, *mine.relations))),
        new_relation=mine.new_relation,
        new_relation_type=mine.new_relation_type,
    )


def _values(theirs: Draft, mine: Draft) -> list[Row]:
    rows = [_row(name, getattr(theirs, name), getattr(mine, name).strip()) for name in PLAIN]
    rows.append(_row("tags", ", ".join(theirs.tags), ", ".join(mine.all_tags)))
    rows.append(_row("relations", _relations(theirs), _relations(mine)))
    return rows


def _relations(draft: Draft) -> str:
    return ", ".join(f"{row.type} {row.target or row.target_id}" for row in draft.relations)


def _row(label: str, theirs: str | None, mine: str | None) -> Row:
    differ = theirs is not None and mine is not None and theirs != mine
    return Row(label, theirs, mine, word_changes(theirs or "", mine or "") if differ else ())
