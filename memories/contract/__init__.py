"""The write contract: what a memory is, and what may be written. Standard library only."""

from __future__ import annotations

from memories.contract.claim_values import ClaimKind
from memories.contract.claims import Claim, Clash, claims_of, clashes
from memories.contract.errors import ErrorCode, MemsuiteError
from memories.contract.fingerprint import fingerprint, subject_key
from memories.contract.memory import Category, MemoryForm, Relation, RelationType, Tier, WriteMode
from memories.contract.old_text import ParsedText, parse_canonical
from memories.contract.render import canonical_text
from memories.contract.validate import (
    AddRequest,
    UpdateRequest,
    validate_add,
    validate_patch,
    validate_update,
)

# Written into every answer; raised when an agent that learned the old rules would be misled by the new ones.
CONTRACT_VERSION = 3

__all__ = [
    "CONTRACT_VERSION",
    "AddRequest",
    "Category",
    "Claim",
    "ClaimKind",
    "Clash",
    "ErrorCode",
    "MemoryForm",
    "MemsuiteError",
    "ParsedText",
    "Relation",
    "RelationType",
    "Tier",
    "UpdateRequest",
    "WriteMode",
    "canonical_text",
    "claims_of",
    "clashes",
    "fingerprint",
    "parse_canonical",
    "subject_key",
    "validate_add",
    "validate_patch",
    "validate_update",
]
