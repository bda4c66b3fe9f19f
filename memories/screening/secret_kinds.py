"""The kinds of secrets that can be told by their form alone, each with the reason it is certain enough.

A kind is here only if its issuer gives it a prefix, a fixed length or a frame that ordinary text does not
have. Values that merely look random (hashes, UUIDs) or weak (`password=hunter2`) are no matter for this
table.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

# A value next to which a letter or digit stands is part of a longer word (a hash, base64 data), not a token.
_LEFT, _RIGHT = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"

# Words by which documentation marks a value as invented.
_MADE_UP = re.compile(
    r"example|placeholder|redacted|changeme|dummy|your|xxxx|0000|1234567890|\.\.\.|…|\*\*\*", re.I
)
# Random text of 16 characters or more uses at least this many different ones; `aaaa…` and `abababab…` do not.
_DISTINCT_MIN = 7

_PASSWORD_WORDS = frozenset(
    {
        *("password", "passwd", "pass", "passphrase", "pwd", "pw", "secret", "token", "key", "credentials"),
        *("api_key", "apikey", "mypassword", "my_password", "yourpassword", "changeme", "redacted", "hidden"),
        *("placeholder", "passord", "passwort", "motdepasse", "contraseña", "x", "p"),
    }
)
_PASSWORD_SLOT = re.compile(
    r"\$\{.*\}?|\$\(.*|\$[A-Za-z_]\w*|%\w+%|%\(\w+\)s|%s|\{.*\}|<.*>|\[.*\]|[*•.…xX_#-]+|:\w+"
    r"|env[:.].*|.*(?:example|placeholder|redacted|changeme|your[_-]).*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SecretKind:
    """`pattern` finds candidates, its group `value` is the secret; `is_real` tells them from look-alikes."""

    name: str
    reason: str
    pattern: re.Pattern[str]
    is_real: Callable[[str], bool]


def _looks_random(value: str) -> bool:
    return len(set(value)) >= _DISTINCT_MIN and not _MADE_UP.search(value)


def _is_key_material(value: str) -> bool:
    """Base64 of a key mixes cases and digits; a path or a word of that length does not.

    Keys are long enough to hold a short made-up word by chance, so only the makers' own mark counts here.
    """
    mixed = all(re.search(some, value) for some in ("[a-z]", "[A-Z]", "[0-9]"))
    return mixed and len(set(value)) >= _DISTINCT_MIN and "example" not in value.casefold()


def _is_signed_token(value: str) -> bool:
    header = value.split(".", 1)[0]
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return False
    return isinstance(decoded, dict) and "alg" in decoded


def is_placeholder(value: str) -> bool:
    """Whether `value` stands where a secret would, and says so: a slot to fill in, a word for one, dots."""
    return not _is_password(value) or bool(_MADE_UP.search(value))


def _is_password(value: str) -> bool:
    return value.casefold() not in _PASSWORD_WORDS and not _PASSWORD_SLOT.fullmatch(value)


def _token(name: str, reason: str, body: str, is_real: Callable[[str], bool] = _looks_random) -> SecretKind:
    """A token of one word. `body` may hold a group `value` where only a part of it is random."""
    value = body if "(?P<value>" in body else f"(?P<value>{body})"
    return SecretKind(name, reason, re.compile(f"{_LEFT}(?:{value}){_RIGHT}"), is_real)


# The lines of a key after the first, a shorter last one, and what closes the block: they go with it.
_MORE_LINES = (
    r"(?:(?:\s|\\[nrt])+[A-Za-z0-9+/=]{16,}+(?![^\s\\]))*+"
    r"(?:(?:\s|\\[nrt])*[A-Za-z0-9+/=]{0,64}(?:\s|\\[nrt])*-----END[ A-Z0-9]{1,60}-----)?"
)

SECRET_KINDS: tuple[SecretKind, ...] = (
    SecretKind(
        "private key",
        "A PEM or PGP header followed by base64 is the key itself; the header alone may be talked about.",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            # Line ends, real or escaped, and the headers of PEM and PGP; prose in between is talk about keys.
            # Possessive, so that a text made of headers cannot make the search slow.
            r"(?:\s|\\[nrt]|(?:Proc-Type|DEK-Info|Version|Comment|Hash):"
            r"(?:\s(?:[A-Z0-9-]{1,20},[0-9A-F]{1,64}|\S{1,39})(?!\S))++){0,20}+"
            rf"(?P<value>[A-Za-z0-9+/=]{{40,}}){_MORE_LINES}"
        ),
        _is_key_material,
    ),
    SecretKind(
        "private key",
        "PuTTY announces the lines of its private part.",
        re.compile(rf"Private-Lines: ?[0-9]{{1,4}}\s+(?P<value>[A-Za-z0-9+/=]{{40,}}){_MORE_LINES}"),
        _is_key_material,
    ),
    _token("age key", "Bech32 with age's own prefix.", r"AGE-SECRET-KEY-1(?P<value>[0-9A-Z]{58})"),
    _token(
        "AWS access key",
        "Four fixed letters and 16 of base32: the form AWS documents for key ids.",
        r"(?:AKIA|ASIA|ABIA|ACCA)(?P<value>[A-Z2-7]{16})",
    ),
    SecretKind(
        "AWS secret key",
        "40 characters of base64 named as AWS names them.",
        re.compile(
            r"(?i:aws_?secret(?:_?access)?_?key)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
            r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        _is_key_material,
    ),
    _token("Google API key", "Google's prefix and fixed length.", r"AIza(?P<value>[0-9A-Za-z_-]{35})"),
    _token("Google OAuth token", "Google's prefix.", r"ya29\.(?P<value>[0-9A-Za-z_-]{20,})"),
    _token(
        "Google OAuth secret", "Google's prefix and fixed length.", r"GOCSPX-(?P<value>[0-9A-Za-z_-]{28})"
    ),
    _token(
        "Azure storage key",
        "512 bits of base64 under the name Azure's connection strings use.",
        r"(?i:accountkey)\s?=\s?(?P<value>[A-Za-z0-9+/]{86}==)",
        _is_key_material,
    ),
    _token(
        "GitHub token",
        "GitHub's prefix and fixed length; the prefixes exist for scanners.",
        r"gh[pousr]_(?P<value>[A-Za-z0-9]{36,255})",
    ),
    _token("GitHub token", "Fine-grained tokens.", r"github_pat_(?P<value>[A-Za-z0-9]{22}_[A-Za-z0-9]{40,})"),
    _token(
        "GitLab token",
        "GitLab's prefixes for personal, deploy, runner, job, trigger, feed and agent tokens.",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-(?P<value>[0-9A-Za-z_-]{20,})",
    ),
    _token(
        "Slack token",
        "Slack's prefix, numeric ids and a random tail.",
        r"xox[abeoprs]-(?:[0-9]{1,14}-){1,3}(?P<value>[A-Za-z0-9-]{16,})",
    ),
    _token("Slack token", "App-level tokens.", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-(?P<value>[a-f0-9]{32,})"),
    _token(
        "Slack webhook",
        "Whoever knows the address may post.",
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,}/[AB][A-Z0-9]{6,}/(?P<value>[A-Za-z0-9/]{20,})",
    ),
    _token(
        "Discord webhook",
        "Whoever knows the address may post.",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/(?P<value>[A-Za-z0-9_-]{60,})",
    ),
    _token(
        "Discord bot token",
        "A base64 id, a time stamp and a signature of fixed lengths.",
        r"(?P<value>[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})",
        _is_key_material,
    ),
    _token(
        "Telegram bot token",
        "A numeric id, then AA and 33 characters.",
        r"[0-9]{8,10}:AA(?P<value>[A-Za-z0-9_-]{33})",
    ),
    _token(
        "Anthropic API key",
        "Anthropic's prefix with its version.",
        r"sk-ant-[a-z]{3,6}[0-9]{2}-(?P<value>[A-Za-z0-9_-]{40,})",
    ),
    _token(
        "OpenAI API key",
        "OpenAI's prefixes for project, service account and admin keys.",
        r"sk-(?:proj|svcacct|admin|None)-(?P<value>[A-Za-z0-9_-]{40,})",
        _is_key_material,
    ),
    _token(
        "API key",
        "`sk-` and 32 random characters or more: OpenAI's first form, which other model hosts took over.",
        r"sk-(?:or-v1-|lf-)?(?P<value>(?=[A-Za-z]*[0-9])[A-Za-z0-9]{32,})",
    ),
    _token("Hugging Face token", "Prefix and length.", r"hf_(?P<value>[A-Za-z0-9]{34,40})"),
    _token("Groq API key", "Prefix and fixed length.", r"gsk_(?P<value>[A-Za-z0-9]{52})"),
    _token("xAI API key", "Prefix and fixed length.", r"xai-(?P<value>[A-Za-z0-9]{70,90})"),
    _token("Perplexity API key", "Prefix and fixed length.", r"pplx-(?P<value>[A-Za-z0-9]{48,56})"),
    _token("Replicate token", "Prefix and fixed length.", r"r8_(?P<value>[A-Za-z0-9]{37})"),
    _token("npm token", "Prefix and fixed length, made for scanners.", r"npm_(?P<value>[A-Za-z0-9]{36})"),
    _token(
        "PyPI token",
        "A macaroon: its location makes every token begin alike.",
        r"pypi-AgE(?P<value>[A-Za-z0-9_-]{50,})",
    ),
    _token(
        "Stripe key",
        "Stripe's secret and restricted keys; publishable ones (pk_) are meant to be seen.",
        r"(?:sk|rk)_(?:live|test)_(?P<value>[A-Za-z0-9]{16,})",
    ),
    _token("Stripe webhook secret", "Prefix and length.", r"whsec_(?P<value>[A-Za-z0-9+/]{32,})"),
    _token("SendGrid API key", "Two parts of fixed length.", r"SG\.(?P<value>[\w-]{22}\.[\w-]{43})"),
    _token("Twilio API key", "Prefix and 32 hexadecimal digits.", r"SK(?P<value>[0-9a-f]{32})"),
    _token("Mailchimp API key", "Hexadecimal with a data centre.", r"(?P<value>[0-9a-f]{32})-us[0-9]{1,2}"),
    _token("DigitalOcean token", "Prefix and fixed length.", r"do[opr]_v1_(?P<value>[a-f0-9]{64})"),
    _token("Shopify token", "Prefix and fixed length.", r"shp(?:at|ca|pa|ss)_(?P<value>[a-fA-F0-9]{32})"),
    _token("Atlassian token", "Prefix and length.", r"ATATT3(?P<value>[A-Za-z0-9_=-]{50,})"),
    _token("Docker Hub token", "Prefix and length.", r"dckr_(?:pat|oat)_(?P<value>[A-Za-z0-9_-]{27,})"),
    _token("Vault token", "Prefix and length.", r"hv[sb]\.(?P<value>[A-Za-z0-9_-]{24,})"),
    _token("Databricks token", "Prefix and fixed length.", r"dapi(?P<value>[a-f0-9]{32})(?:-[0-9])?"),
    _token(
        "Grafana token", "Prefix, fixed length, checksum.", r"glsa_(?P<value>[A-Za-z0-9]{32}_[a-f0-9]{8})"
    ),
    _token("Linear API key", "Prefix and fixed length.", r"lin_api_(?P<value>[A-Za-z0-9]{40})"),
    _token("Notion token", "Prefix and length.", r"(?:ntn|secret)_(?P<value>[A-Za-z0-9]{43,50})"),
    _token("Supabase token", "Prefix and fixed length.", r"sbp_(?P<value>[a-f0-9]{40})"),
    _token(
        "Tailscale key", "Prefix, id and secret.", r"tskey-[a-z]+-[A-Za-z0-9]+-(?P<value>[A-Za-z0-9]{20,})"
    ),
    _token(
        "JSON web token",
        "Three base64 parts whose first decodes to a header with an algorithm.",
        r"(?P<value>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,})",
        _is_signed_token,
    ),
    SecretKind(
        "password in a URL",
        "scheme://user:password@host, unless the password is a slot to fill in.",
        re.compile(
            r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/?#@:]{0,100}:"
            r"(?P<value>[^\s/?#]{1,200})@(?=[A-Za-z0-9\[$\{<_])"
        ),
        _is_password,
    ),
)
