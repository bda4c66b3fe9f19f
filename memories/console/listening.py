"""Where the console may listen, and what a public address asks for first."""

from __future__ import annotations

import ipaddress

from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

SHORTEST_SECRET = 50


def require_allowed(host: str, settings: Settings, *, allow_public: bool) -> None:
    """Raises ``confirmation_required`` for a public address without all that it takes.

    Only an address of this machine alone needs nothing. For any other: the flag, names to be called by
    (``console_hosts``, since every other Host is refused), and a secret that was there before, so that the
    installation has been looked at locally first.
    """
    if is_loopback(host):
        return
    missing = []
    if not allow_public:
        missing.append("say --allow-public")
    if not settings.console_hosts:
        missing.append("name the hosts it is reached by in MEMSUITE_CONSOLE_HOSTS")
    if not has_secret(settings):
        missing.append("start it once on 127.0.0.1, which makes the installation's secret")
    if missing:
        raise MemsuiteError(
            ErrorCode.CONFIRMATION_REQUIRED,
            "host",
            f"{host} can be reached from other machines. To serve there, {', and '.join(missing)}.",
            received=host,
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def has_secret(settings: Settings) -> bool:
    try:
        found = settings.secret_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return len(found.strip()) >= SHORTEST_SECRET
