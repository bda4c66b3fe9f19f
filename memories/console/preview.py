"""What would become of a draft: its canonical text, what is wrong with it, and what it would meet in the
store. Computed without writing and without the embedder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memories.console.fact_diff import Words, aligned, word_changes
from memories.console.form_checks import place_of, problems_of
from memories.console.memory_form import Draft, stored_draft
from memories.contract import (
    Clash,
    MemoryForm,
    MemsuiteError,
    Relation,
    RelationType,
    WriteMode,
    canonical_text,
    clashes,
    validate_add,
    validate_patch,
)
from memories.contract.limits import FACTS_TOTAL_MAX
from memories.repository import MemoryRepository, StoredMemory
from memories.repository.ledger import accepted
from memories.repository.preflight import AddStatus, decide, standing_decisions
from memories.repository.results import MemoryDetail
from memories.repository.snapshot import Snapshot
from memories.repository.write_context import refuse_unknown_targets, stored_targets
from memories.screening import refuse_secrets


class Verdict(StrEnum):
    """What the store would make of a draft."""

    UNCHECKED = "unchecked"
    NEW = "new"
    REPEAT = "repeat"
    SAME_SUBJECT = "same_subject"
    CONFLICTING = "conflicting"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Another memory of the subject that states another value of a key."""

    memory: StoredMemory
    key: str
    theirs: str
    ours: str


@dataclass(frozen=True, slots=True)
class Text:
    """The canonical text as words: each piece in both versions (""), only new or only stored."""

    name: Words
    body: Words
    tier: Words


@dataclass(frozen=True, slots=True)
class Preview:
    """``problems`` by place in the form; ``met`` are the memories that the verdict is about;
    ``warnings`` by place as well, of what is accepted all the same."""

    text: Text
    characters: int
    problems: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)
    tidied: tuple[str, ...] = ()
    verdict: Verdict = Verdict.UNCHECKED
    met: tuple[StoredMemory, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    most_characters: int = FACTS_TOTAL_MAX

    @property
    def says(self) -> str:
        """The state of the form in one sentence, for who cannot see its marks."""
        if self.problems:
            count = len(self.problems)
            return f"{count} {'thing' if count == 1 else 'things'} to correct before it can be saved."
        return _SAYS[self.verdict]

    @property
    def disputed(self) -> str:
        """The keys that memories disagree about, as a person lists them."""
        return listed(dict.fromkeys(clash.key for clash in self.disagreements))


_SAYS = {
    Verdict.UNCHECKED: "",
    Verdict.NEW: "Ready to save as a new memory.",
    Verdict.REPEAT: "Exactly this is stored already.",
    Verdict.SAME_SUBJECT: "This subject is stored already.",
    Verdict.CONFLICTING: "Another memory of this subject states other values.",
    Verdict.CHANGED: "Ready to save.",
    Verdict.UNCHANGED: "No changes yet.",
}


def preview_of_add(repository: MemoryRepository, draft: Draft, *, blank_is_fine: bool = False) -> Preview:
    """What adding the draft would do. ``blank_is_fine`` while it is being typed."""
    payload = draft.as_add()
    text = Preview(_text(draft, None), _characters(draft))
    problems = problems_of(draft, payload, blank_is_fine=blank_is_fine)
    if problems:
        return replace(text, problems=problems)
    try:
        request = validate_add(payload)
        refuse_secrets(request.form, allowed=repository.settings.allowed_secret_patterns)
    except MemsuiteError as error:
        place = place_of(error, draft)
        unfinished = blank_is_fine and error.code.value == "required_field"
        return text if unfinished else replace(text, problems={place.name: place.says})
    said = replace(text, warnings=_warnings(request.warnings), tidied=request.normalized_fields)
    return repository.read(lambda snapshot: _against_store(snapshot, said, request.form))


def preview_of_update(repository: MemoryRepository, draft: Draft, detail: MemoryDetail) -> Preview:
    """What saving the draft over a stored memory would do."""
    stored = stored_draft(detail)
    payload = draft.as_patch(stored)
    text = Preview(_text(draft, stored), _characters(draft))
    if not payload:
        return replace(text, verdict=Verdict.UNCHANGED)
    problems = problems_of(draft, payload, blank_is_fine=True)
    if problems:
        return replace(text, problems=problems)
    before = detail.memory.form(_declared(stored))
    try:
        request = validate_patch(payload, before)
        form = request.form_over(before)
        refuse_secrets(form, allowed=repository.settings.allowed_secret_patterns)
    except MemsuiteError as error:
        place = place_of(error, draft)
        return replace(text, problems={place.name: place.says})
    said = replace(text, warnings=_warnings(request.warnings), tidied=request.normalized_fields)
    return repository.read(lambda snapshot: _against_others(snapshot, said, form, detail.memory))


def listed(names: Iterable[str]) -> str:
    """``port``, ``port and host``, ``port, host and path``."""
    *most, last = list(names) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _against_store(snapshot: Snapshot, said: Preview, form: MemoryForm) -> Preview:
    if unknown := _unknown_target(snapshot, form):
        return replace(said, problems=unknown)
    key = form.subject_key
    same = snapshot.same_subject([key]).get(key, [])
    decisions = standing_decisions(snapshot, [key])
    try:
        decision = decide(form, WriteMode.CREATE, same, decisions)
    except MemsuiteError:
        found = _disagreements(snapshot, form, same)
        return replace(said, verdict=Verdict.CONFLICTING, met=_of(found), disagreements=found)
    if decision.status is AddStatus.CREATED:
        return replace(said, verdict=Verdict.NEW)
    repeat = decision.status is AddStatus.IDEMPOTENT
    met = (decision.existing,) if repeat and decision.existing is not None else tuple(same)
    return replace(said, verdict=Verdict.REPEAT if repeat else Verdict.SAME_SUBJECT, met=met)


def _against_others(snapshot: Snapshot, said: Preview, form: MemoryForm, stored: StoredMemory) -> Preview:
    if unknown := _unknown_target(snapshot, form, stored.id):
        return replace(said, problems=unknown)
    key = form.subject_key
    others = [memory for memory in snapshot.same_subject([key]).get(key, []) if memory.id != stored.id]
    repeated = [memory for memory in others if memory.fingerprint == form.fingerprint]
    if repeated and form.fingerprint != stored.fingerprint:
        return replace(said, verdict=Verdict.REPEAT, met=tuple(repeated[:1]))
    found = _disagreements(snapshot, form, others)
    return replace(said, verdict=Verdict.CHANGED, met=_of(found), disagreements=found)


def _unknown_target(snapshot: Snapshot, form: MemoryForm, own_id: str = "") -> dict[str, str]:
    """What is wrong with an id that a relation points at, as the store would say it."""
    try:
        refuse_unknown_targets(form, stored_targets(snapshot, [form]), own_id)
    except MemsuiteError as error:
        row = int(error.field.partition("[")[2].partition("]")[0]) + 1
        return {"relations": f"Relation {row}: {error.message}"}
    return {}


def _declared(stored: Draft) -> list[Relation]:
    return [
        Relation(RelationType(relation.type), relation.target_id, relation.target)
        for relation in stored.relations
    ]


def _disagreements(
    snapshot: Snapshot, form: MemoryForm, others: Sequence[StoredMemory]
) -> tuple[Disagreement, ...]:
    decisions = standing_decisions(snapshot, [form.subject_key])
    found: list[tuple[StoredMemory, Clash]] = [
        (memory, clash) for memory in others for clash in clashes(memory.claims, form.claims)
    ]
    return tuple(
        Disagreement(memory, clash.key, clash.value_a, clash.value_b)
        for memory, clash in found
        if not accepted(clash, decisions)
    )


def _of(found: Sequence[Disagreement]) -> tuple[StoredMemory, ...]:
    return tuple({clash.memory.id: clash.memory for clash in found}.values())


def _text(draft: Draft, stored: Draft | None) -> Text:
    """As it will be stored; typed text stands for itself where it has no normal form."""
    old = stored if stored is not None else draft
    return Text(
        word_changes(_name(old), _name(draft)),
        _body(_sentences(old), _sentences(draft)),
        word_changes(_marker(old), _marker(draft)),
    )


def _body(before: Sequence[str], after: Sequence[str]) -> Words:
    """The facts one after the other, words told apart only within a fact that was edited."""
    pieces: list[tuple[str, str]] = []
    for old, new in aligned(before, after):
        if old is None or new is None:
            pieces.append(("del", old or "") if new is None else ("ins", new))
        else:
            pieces += word_changes(old, new)
        pieces.append(("", " "))
    return tuple(pieces)


def _sentences(draft: Draft) -> list[str]:
    """Each fact as it stands in the canonical text, closed."""
    facts = (" ".join(fact.split()) for _, fact in draft.said)
    return [canonical_text("", "", [fact], 0).removeprefix(": ").removesuffix(" [Tier=0]") for fact in facts]


def _name(draft: Draft) -> str:
    return f"{'_'.join(draft.domain.split())}:{'_'.join(draft.subject.split())}"


def _marker(draft: Draft) -> str:
    tier = draft.value("tier")
    return f"[Tier={tier}]" if isinstance(tier, int) else ""


def _characters(draft: Draft) -> int:
    return sum(len(" ".join(fact.split())) for _, fact in draft.said)


def _warnings(given: Sequence[dict[str, str]]) -> dict[str, str]:
    return {warning["field"]: warning["message"] for warning in given}
