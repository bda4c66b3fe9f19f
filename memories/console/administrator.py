"""The first administrator: made once, with a password that is shown once or comes from the environment."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from memories.contract import ErrorCode, MemsuiteError

NAME = "admin"
PASSWORD_VARIABLE = "MEMSUITE_ADMIN_PASSWORD"
# 16 characters of 32 that are not mistaken for one another: 80 bits, and short enough to type.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789-"
_LENGTH = 16


def has_administrator() -> bool:
    """Whether someone can log in and let others in."""
    return User.objects.filter(is_superuser=True, is_active=True).exists()


def make_administrator(password: str) -> User:
    """The administrator with this password, made or given it anew.

    Raises MemsuiteError (``invalid_parameter``) when the password is too weak; it is never repeated.
    """
    user = User.objects.filter(username=NAME).first() or User(username=NAME)
    user.is_superuser = user.is_active = True
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise MemsuiteError(
            ErrorCode.INVALID_PARAMETER, PASSWORD_VARIABLE, " ".join(map(str, weak.messages))
        ) from None
    user.set_password(password)
    user.save()
    return user


def generated_password() -> str:
    """A password that passes the validators, from the system's source of randomness."""
    while True:
        found = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        if found.strip("-") == found:  # a dash at an end is lost when a line is copied
            return found
