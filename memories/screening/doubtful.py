"""Values that may well be secrets, told by the name beside them: for a person to look at, not to refuse.

`password: Sommer-2024!` has no form of its own; what gives it away is the word before it. Such a word also
stands before harmless values (`token=${TOKEN}`, `password=<yours>`, `secret_file=/run/secrets/db`), so these
findings are only shown for review, and masked where text is raw material anyway.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memories.screening.secret_kinds import is_placeholder

# Names whose value is chosen by a person: short and memorable. A name may carry a prefix: DB_PASSWORD.
_PASSWORD_NAMES = r"(?:pass(?:word|wd|phrase|code)|pwd|passord|passordet|lösenord|passwort|contraseña|pass)"
# Names whose value a machine made: long and random.
_TOKEN_NAMES = (
    r"(?:(?:api|access|auth|secret|signing|encryption|private|shared|master|account|service|deploy|webhook|"
    r"license|session)[\s_-]?(?:key|token|secret)|apikey|client[\s_-]?secret|secret|token|bearer|credentials?|"
    r"nøkkel|api-nøkkel|api-nøkkelen|[a-z0-9]{2,20}[_-](?:key|token|secret))"
)
_PREFIX = r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,40}[_.-]){0,4}"
# `=`, `:`, `=>`, or the word by which one says it: `the password is …`, `passordet er …`.
_SEPARATOR = (
    r"[\"'`]?(?:\s{0,3}(?:=>|:=|==|[=:])\s{0,3}|\s(?:is|er|war|ist|es|est|was|now)\s{1,3}(?:now\s|nå\s)?)"
)
_VALUE = (
    r"(?:\"(?P<double>[^\"\n]{6,200})\"|'(?P<single>[^'\n]{6,200})'|`(?P<tick>[^`\n]{6,200})`"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]]{6,200}))"
)

_PASSWORD = re.compile(rf"{_PREFIX}{_PASSWORD_NAMES}{_SEPARATOR}{_VALUE}", re.IGNORECASE)
_TOKEN = re.compile(rf"{_PREFIX}{_TOKEN_NAMES}{_SEPARATOR}{_VALUE}", re.IGNORECASE)
_OPTION = re.compile(
    r"(?<!\S)--?(?:password|passwd|pass|token|api-key|secret)[\s=]{1,3}"
    r"(?P<bare>[^\s\"'`,;<>\[-][^\s\"'`,;<>]{5,200})"
)
_HEADER = re.compile(r"\b(?:Bearer|Basic|Token)\s{1,3}(?P<bare>[A-Za-z0-9+/_.=~-]{16,400})")
_LOGIN = re.compile(
    r"\bcurl\b[^\n]{0,200}?\s-u\s{0,3}[\"']?[^\s:\"']{1,60}:(?P<bare>[^\s\"'\[][^\s\"']{5,99})"
)

# Bits per character: random base64 of 20 characters has about 4, random hexadecimal 3.3, words 2.5 to 3.
_RANDOM_BITS = 3.0
_TOKEN_LENGTH = 16

# What stands in the place of a secret: where it is kept, how it is fetched, or a plain word, date or number.
_REFERENCE = re.compile(
    "|".join(
        (
            r"[/~.\\]{1,3}\w.*|[a-z][a-z0-9+.-]*://.*|[\w.-]+/[\w./-]+",  # paths and addresses
            r"\$.*|%.*%|os\.environ.*|process\.env.*|env[:.].*|secrets?[.:].*|vault[:/].*",
            r"[\w.-]+\([^)]*\)?.*|[\w-]+@[\w.-]+",  # calls, mail addresses
            r"[A-Z][A-Z0-9_]+|(?:[a-z]+_)+[a-z]+|[a-z]+(?:-[a-z]+)+|[a-z.]+",  # names and words
            r"\d{4}-\d{2}-\d{2}.*|[\d.,:%]+[a-zA-Z]{0,3}",
        )
    )
)


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    pattern: re.Pattern[str]
    is_real: Callable[[str], bool]


def doubtful_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each value that may be a secret, in no particular order."""
    for kind in _KINDS:
        for match in kind.pattern.finditer(text):
            name = match.lastgroup or "bare"
            value = match[name].rstrip(".!?:")
            if kind.is_real(value):
                yield kind.name, match.start(name), match.start(name) + len(value)


def bits_per_character(value: str) -> float:
    """Shannon entropy of the characters of `value`."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _is_password(value: str) -> bool:
    """A chosen password mixes kinds of characters; a word, a number or a reference is no password."""
    if _REFERENCE.fullmatch(value) or is_placeholder(value) or " " in value:
        return False
    kinds = sum(bool(re.search(some, value)) for some in ("[a-zæøå]", "[A-ZÆØÅ]", "[0-9]", r"[^\w\s]"))
    return kinds >= 2 and len(set(value)) >= 5


def _is_token(value: str) -> bool:
    if len(value) < _TOKEN_LENGTH or _REFERENCE.fullmatch(value) or is_placeholder(value) or " " in value:
        return False
    mixed = re.search("[A-Za-z]", value) and re.search("[0-9]", value)
    return bool(mixed) and bits_per_character(value) >= _RANDOM_BITS


_KINDS = (
    _Kind("password", _PASSWORD, _is_password),
    _Kind("key or token", _TOKEN, _is_token),
    _Kind("password or token of a command", _OPTION, _is_password),
    _Kind("authorization header", _HEADER, _is_token),
    _Kind("password of a command", _LOGIN, _is_password),
)
