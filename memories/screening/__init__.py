"""Screening: what must not be stored (secrets), and what must not be obeyed (text that recall pushes)."""

from __future__ import annotations

from memories.screening.fence import fence, neutralise
from memories.screening.secrets import SecretFinding, find_secrets, refuse_secrets

__all__ = ["SecretFinding", "fence", "find_secrets", "neutralise", "refuse_secrets"]
