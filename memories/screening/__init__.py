"""Screening: what must not be stored (secrets), and what must not be obeyed (text that recall pushes)."""

from __future__ import annotations

from memories.screening.answers import safe_answer
from memories.screening.fence import fence, neutralise
from memories.screening.instructions import InstructionFinding, find_instructions
from memories.screening.secrets import (
    SecretFinding,
    find_secrets,
    mask_secrets,
    refuse_secrets,
    suspect_secrets,
)

__all__ = [
    "InstructionFinding",
    "SecretFinding",
    "fence",
    "find_instructions",
    "find_secrets",
    "mask_secrets",
    "neutralise",
    "refuse_secrets",
    "safe_answer",
    "suspect_secrets",
]
