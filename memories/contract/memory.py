"""What a memory is: its closed vocabularies and its form, as written and as stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from memories.contract.claims import Claim, claims_of
from memories.contract.fingerprint import fingerprint, subject_key
from memories.contract.limits import QUALITY_DEFAULT
from memories.contract.render import canonical_text


class Category(StrEnum):
    """The ten kinds of memory; an unknown one is refused, never coerced."""

    PROJECT = "project"
    TECH = "tech"
    FACT = "fact"
    CORRECTION = "correction"
    USER_PREF = "user_pref"
    DECISION = "decision"
    INSIGHT = "insight"
    REFERENCE = "reference"
    PATTERN = "pattern"
    QUESTION = "question"


class RelationType(StrEnum):
    """What a person may declare between two memories, read from the source to the target."""

    PART_OF = "part_of"
    DEPENDS = "depends"
    REQUIRES = "requires"
    RUNS_ON = "runs_on"
    CONNECTS_TO = "connects_to"
    USES = "uses"
    EXTENDS = "extends"
    SUPERSEDES = "supersedes"
    INVALIDATES = "invalidates"
    CONTRADICTS = "contradicts"


class Tier(IntEnum):
    """How much it costs to forget a memory; 1 is the costliest."""

    CRITICAL = 1  # correction, safety rule, critical command, recurring failure
    REUSABLE = 2  # configuration, architecture, endpoint, workflow
    BACKGROUND = 3  # durable background


class WriteMode(StrEnum):
    """What an add does when the subject is already known."""

    CREATE = "create"
    UPSERT_SUBJECT = "upsert_subject"


@dataclass(frozen=True, slots=True)
class Relation:
    """One declared relation: to a memory by `target_id`, or to a label by `target`; exactly one is set."""

    type: RelationType
    target_id: str = ""
    target: str = ""

    def as_dict(self) -> dict[str, str]:
        """`{"type", "target_id"}` or `{"type", "target"}`."""
        if self.target_id:
            return {"type": self.type.value, "target_id": self.target_id}
        return {"type": self.type.value, "target": self.target}


@dataclass(frozen=True, slots=True)
class MemoryForm:
    """The fields a person or agent decides. Validated by `validate`; a stored row may be over today's limits.

    An empty `type` becomes the category.
    """

    domain: str
    subject: str
    facts: tuple[str, ...]
    tier: Tier
    category: Category
    relations: tuple[Relation, ...] = ()
    tags: tuple[str, ...] = ()
    quality: float = QUALITY_DEFAULT
    type: str = ""

    def __post_init__(self) -> None:
        if not self.type:
            object.__setattr__(self, "type", str(self.category))

    @property
    def content(self) -> str:
        """The canonical text, derived."""
        return canonical_text(self.domain, self.subject, self.facts, self.tier)

    @property
    def subject_key(self) -> str:
        return subject_key(self.domain, self.subject)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.category, self.content, self.relations)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return claims_of(self.facts)
