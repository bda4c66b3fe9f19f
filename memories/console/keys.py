"""Keys in addresses: nobody guesses one, and they say nothing."""

from __future__ import annotations

import secrets

KEY_LENGTH = 32


def unguessable() -> str:
    """128 random bits as ``KEY_LENGTH`` hexadecimal digits."""
    return secrets.token_hex(KEY_LENGTH // 2)
