"""Merging a group of duplicates as a form: which memory keeps its place, what becomes of each fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.http import QueryDict

from memories.analysis.duplicates import Group
from memories.analysis.likeness import fact_is_contained, facts_say_the_same
from memories.analysis.profile import FactProfile, profile_of
from memories.console.fact_diff import Words, word_changes
from memories.console.preview import listed
from memories.contract import MemoryForm, MemsuiteError, claims_of, validate_patch
from memories.contract.limits import FACTS_TOTAL_MAX
from memories.repository import MemoryRepository, StoredMemory, Usage
from memories.repository.edges import Edge
from memories.repository.write_context import retagged
from memories.screening import refuse_secrets
from memories.text.entities import tags as all_tags

LETTERS = "ABCDEFGHIJKL"


@dataclass(frozen=True, slots=True)
class Member:
    """A memory of the group under its letter. ``contained_in`` is the letter of one that says all it says."""

    letter: str
    memory: StoredMemory
    usage: Usage
    contained_in: str = ""


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact of the group: who states it, what is known of it, and whether it goes into the merged memory.
    ``words`` tell it from the fact that it is like, where it is like one."""

    number: int
    text: str
    holders: tuple[bool, ...]
    says: str
    keep: bool
    words: Words = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """The memory as it would be; ``problem`` is why it cannot be so, with its ``code``."""

    form: MemoryForm | None
    content: str
    tags: tuple[str, ...]
    characters: int
    most_characters: int
    repointed: int
    problem: str = ""
    code: str = ""

    @property
    def body(self) -> str:
        """The canonical text between the subject and the tier."""
        if self.form is None:
            return ""
        start, end = f"{self.form.domain}:{self.form.subject} ", f" [Tier={int(self.form.tier)}]"
        return self.content.removeprefix(start).removesuffix(end)


@dataclass(frozen=True, slots=True)
class MergeForm:
    """What the page shows and sends. ``chosen`` are the members to merge, the keeper among them."""

    members: tuple[Member, ...]
    keeper: str
    chosen: tuple[str, ...]
    facts: tuple[FactRow, ...]

    @property
    def kept_facts(self) -> tuple[str, ...]:
        return tuple(row.text for row in self.facts if row.keep)

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(name for name in self.chosen if name != self.keeper)

    @property
    def revisions(self) -> dict[str, int]:
        return {member.memory.id: member.memory.revision for member in self.members}


def merge_form(store: MemoryRepository, group: Group) -> MergeForm:
    """The form as proposed: the keeper by quality, then recalls, length and age; every fact once."""
    members = _members(store, group)
    keeper = max(members, key=_precedence).memory.id
    form = MergeForm(members, keeper, tuple(member.memory.id for member in members), ())
    return replace(form, facts=_fact_rows(form, group))


def as_sent(form: MergeForm, sent: QueryDict) -> MergeForm:
    """The form with a person's choices in place of the proposed ones."""
    ids = [member.memory.id for member in form.members]
    keeper = sent.get("keep", "") if sent.get("keep", "") in ids else form.keeper
    asked = sent.getlist("member")
    chosen = tuple(name for name in ids if name in asked or name == keeper)
    facts = tuple(
        replace(row, keep=sent.get(f"fact_{row.number}", "keep" if row.keep else "drop") == "keep")
        for row in form.facts
    )
    return replace(form, keeper=keeper, chosen=chosen, facts=facts)


def merged(store: MemoryRepository, form: MergeForm) -> Merged:
    """What the merge would store. Writes nothing and embeds nothing."""
    memories = {member.memory.id: member.memory for member in form.members}
    keeper = memories[form.keeper]
    edges = store.read(lambda snapshot: snapshot.edges_of(form.others))
    shown = Merged(
        form=None,
        content="",
        tags=(),
        characters=sum(map(len, form.kept_facts)),
        most_characters=FACTS_TOTAL_MAX,
        repointed=_repointed(edges, form.chosen),
    )
    try:
        patch: dict[str, object] = {"facts": list(form.kept_facts)}
        asked = validate_patch(patch, keeper.form()).form_over(keeper.form())
        refuse_secrets(asked, allowed=store.settings.allowed_secret_patterns)
    except MemsuiteError as error:
        return replace(shown, problem=error.message, code=error.code.value)
    tags = _united_tags(asked, [keeper, *(memories[name] for name in form.others)])
    return replace(shown, form=asked, content=asked.content, tags=tags)


def _members(store: MemoryRepository, group: Group) -> tuple[Member, ...]:
    stored = store.read(lambda snapshot: snapshot.memories(group.ids))
    usage = store.usage.of(group.ids)
    names = [name for name in group.ids if name in stored]
    letters = dict(zip(names, LETTERS, strict=False))
    return tuple(
        Member(
            letters[name],
            stored[name],
            usage.get(name, Usage()),
            letters.get(group.container_of(name), ""),
        )
        for name in names
    )


def _precedence(member: Member) -> tuple[bool, float, int, int, float]:
    memory = member.memory
    age = -memory.created_at.timestamp()
    return not member.contained_in, memory.quality, member.usage.recalls, len(memory.content), age


# --- facts ----------------------------------------------------------------------------


@dataclass
class _Told:
    """One fact of the group while the table is made."""

    text: str
    profile: FactProfile
    holders: list[str] = field(default_factory=list)


def _fact_rows(form: MergeForm, group: Group) -> tuple[FactRow, ...]:
    """Every fact of the group once, the keeper's first; to be dropped what another one says too."""
    ordered = sorted(form.members, key=lambda member: member.memory.id != form.keeper)
    told: dict[str, _Told] = {}
    for member in ordered:
        for text in member.memory.facts:
            known = told.setdefault(_plain(text), _Told(text, _profile(text)))
            known.holders.append(member.letter)
    facts = list(told.values())
    single = {member.letter for member in form.members if len(member.memory.facts) == 1}
    return tuple(_row(number, facts, form.members, single) for number in range(len(facts)))


def _row(number: int, facts: Sequence[_Told], members: Sequence[Member], single: set[str]) -> FactRow:
    fact = facts[number]
    holders = tuple(member.letter in fact.holders for member in members)
    within = next(
        (at for at, other in enumerate(facts) if at != number and _is_within(number, at, facts)), None
    )
    if within is not None:
        says = f"Contained in fact {within + 1}"
        return FactRow(
            number + 1, fact.text, holders, says, False, word_changes(facts[within].text, fact.text)
        )
    like = next((at for at in range(number) if _says_the_same(fact, facts[at], single)), None)
    if like is not None:
        says = f"Says what fact {like + 1} says"
        return FactRow(number + 1, fact.text, holders, says, False, word_changes(facts[like].text, fact.text))
    told = listed(fact.holders)
    says = f"Same in {told}" if len(fact.holders) > 1 else f"Only in {told}"
    return FactRow(number + 1, fact.text, holders, says, True)


def _is_within(number: int, at: int, facts: Sequence[_Told]) -> bool:
    """Whether one fact says nothing that another does not say; of two that say the same the later one."""
    ours, theirs = facts[number].profile, facts[at].profile
    if not fact_is_contained(ours, theirs):
        return False
    return at < number or not fact_is_contained(theirs, ours)


def _says_the_same(fact: _Told, other: _Told, single: set[str]) -> bool:
    whole = bool(single.intersection(fact.holders)) and bool(single.intersection(other.holders))
    return whole or facts_say_the_same(fact.profile, other.profile)


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _profile(text: str) -> FactProfile:
    return profile_of("", "", (text,), claims_of((text,))).facts[0]


# --- tags and edges ---------------------------------------------------------------------


def _united_tags(merged: MemoryForm, memories: Sequence[StoredMemory]) -> tuple[str, ...]:
    """The tags as the merge unites them: those given to any, and those found in the words that stay, unless
    a person has set some."""
    by_hand = any(memory.tags_manual for memory in memories)
    kept: dict[str, str] = {}
    for memory in memories:
        for tag in retagged(memory.form(), memory.form(), by_hand).tags:
            kept.setdefault(tag.casefold(), tag)
    given = tuple(kept.values())
    return given if by_hand else all_tags(replace(merged, tags=given))


def _repointed(edges: Sequence[Edge], chosen: Sequence[str]) -> int:
    """Relations that lead to a merged memory or away from it, those within the group left out."""
    group = set(chosen)
    return sum(not (edge.source_id in group and edge.target_id in group) for edge in edges)
