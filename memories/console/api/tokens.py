"""Making, finding and revoking the API's tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from memories.console.api.token_models import LONGEST_NAME, ApiToken
from memories.contract import ErrorCode, MemsuiteError

PREFIX = "memsuite_"
"""Says what a token that turns up somewhere is for, so that scanners and people can tell."""

RANDOM_BYTES = 32
START = len(PREFIX) + 3
"""Characters kept readable, so that a person knows which token is which."""

DAYS_MAX, DAYS_USUAL = 366, 90
TOKENS_MAX = 20
"""Tokens one account may hold; more are no longer looked after by anybody."""


def create(owner: User, name: str, days: int) -> tuple[str, ApiToken]:
    """A new token, to be shown once, and its row. Raises ``invalid_parameter``."""
    label = " ".join(name.split())
    if not label or len(label) > LONGEST_NAME or not label.isprintable():
        raise _refused("name", f"Give the token a name of at most {LONGEST_NAME} characters.")
    if not 1 <= days <= DAYS_MAX:
        raise _refused("days", f"A token lasts from 1 to {DAYS_MAX} days.")
    if ApiToken.objects.filter(owner=owner).count() >= TOKENS_MAX:
        raise _refused("name", f"You have {TOKENS_MAX} tokens. Revoke one that is no longer needed.")
    token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    now = timezone.now()
    row = ApiToken.objects.create(
        digest=digest_of(token),
        start=token[:START],
        name=label,
        owner=owner,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return token, row


def owner_of(token: str) -> User | None:
    """Whose valid token this is; None for an unknown or expired one, and while the account is off."""
    found = (
        ApiToken.objects.select_related("owner")
        .filter(digest=digest_of(token), expires_at__gt=timezone.now(), owner__is_active=True)
        .first()
    )
    return found.owner if found is not None else None


def digest_of(token: str) -> str:
    # Not a slow hash: a token is 256 random bits, which nobody guesses however fast the hash is.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(field: str, says: str) -> MemsuiteError:
    return MemsuiteError(ErrorCode.INVALID_PARAMETER, field, says)
