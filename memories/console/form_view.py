"""The form of a memory as its template shows it: every field with its text, its problem and its help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.console.memory_form import Draft
from memories.console.parts import Notice
from memories.console.preview import Preview
from memories.console.relation_targets import RelationRow, relation_rows, targets
from memories.contract import Category, RelationType, Tier
from memories.contract.limits import FACTS_MAX, RELATIONS_MAX, TAGS_MAX
from memories.repository import MemoryRepository, StoredMemory
from memories.repository.results import MemoryDetail

PLACES = ("form", "domain", "subject", "facts", "tier", "category", "type", "quality", "tags", "relations")
"""Where a problem can be said, beside the rows of the facts."""

MOST_TAGS_OFFERED = 100
LINE_CHARACTERS = 84
"""About what a line of the fact field holds, for browsers that do not size it by its text."""

TIERS = {
    Tier.CRITICAL: "correction, safety rule, critical command, recurring failure",
    Tier.REUSABLE: "configuration, architecture, endpoint, workflow",
    Tier.BACKGROUND: "durable background",
}


@dataclass(frozen=True, slots=True)
class FactRow:
    """One row of the facts; ``lines`` is the height it starts with."""

    row: int
    text: str
    problem: str
    is_last: bool

    @property
    def number(self) -> int:
        return self.row + 1

    @property
    def lines(self) -> int:
        return min(1 + len(self.text) // LINE_CHARACTERS, 12)


@dataclass(frozen=True, slots=True)
class FormView:
    """``action`` is where the form posts to, ``preview_url`` what shows its preview meanwhile. The
    preview itself needs the draft and no more."""

    draft: Draft
    preview: Preview
    action: str = ""
    preview_url: str = ""
    relations: Sequence[RelationRow] = ()
    found: Sequence[StoredMemory] = ()
    known_tags: Sequence[str] = ()
    notices: Sequence[Notice] = ()
    focus: str = ""
    is_new: bool = False
    has_unsaved: bool = False
    categories: Sequence[str] = field(default=tuple(Category))
    relation_types: Sequence[str] = field(default=tuple(RelationType))
    tiers: Sequence[tuple[str, str]] = field(
        default=tuple((str(int(tier)), says) for tier, says in TIERS.items())
    )
    most_facts: int = FACTS_MAX
    most_tags: int = TAGS_MAX
    most_relations: int = RELATIONS_MAX

    @property
    def facts(self) -> list[FactRow]:
        last = len(self.draft.facts) - 1
        return [
            FactRow(row, text, self.problems.get(f"fact-{row}", ""), row == last)
            for row, text in enumerate(self.draft.facts)
        ]

    @property
    def problems(self) -> dict[str, str]:
        return self.preview.problems

    @property
    def spots(self) -> list[tuple[str, str]]:
        """Every place with what is said there now, "" where all is well."""
        rows = [f"fact-{row}" for row in range(len(self.draft.facts))]
        return [(place, self.problems.get(place, "")) for place in (*PLACES, *rows)]

    @property
    def fact_count(self) -> int:
        return len(self.draft.said)


def form_view(
    repository: MemoryRepository,
    draft: Draft,
    preview: Preview,
    *,
    action: str,
    preview_url: str,
    detail: MemoryDetail | None = None,
    relations: Sequence[RelationRow] | None = None,
    notices: Sequence[Notice] = (),
    focus: str = "",
) -> FormView:
    """The form with what it offers: targets for the relation being typed, tags for the tag. ``relations``
    are the draft's where they have been looked up already."""
    pointed = {relation.target_id for relation in draft.relations}
    own = {detail.memory.id} if detail else set()
    return FormView(
        draft=draft,
        preview=preview,
        action=action,
        preview_url=preview_url,
        relations=relation_rows(repository, draft, detail) if relations is None else relations,
        found=targets(repository, draft.new_relation, without=pointed | own),
        known_tags=known_tags(repository, draft),
        notices=notices,
        focus=focus,
        is_new=detail is None,
    )


def known_tags(repository: MemoryRepository, draft: Draft) -> list[str]:
    """Tags in use that go on with what is typed, most used first, without those the draft has."""
    typed = draft.new_tag.rpartition(",")[2].strip().casefold()
    has = {tag.casefold() for tag in draft.tags}
    used = repository.catalogue().counts("tags")
    offered = [tag for tag in used if typed in tag.casefold() and tag.casefold() not in has]
    return offered[:MOST_TAGS_OFFERED]
