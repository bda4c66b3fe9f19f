"""Where Ollama listens, from the many ways people write OLLAMA_HOST."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from memories.embedding.failures import embedding_failed

DEFAULT_PORT = 11434
_HTTPS_PORT = 443


@dataclass(frozen=True, slots=True)
class OllamaHost:
    """`url` is what requests start with, without a closing slash; `label` is for messages: no password."""

    url: str
    label: str
    is_loopback: bool


def parse_ollama_host(text: str) -> OllamaHost:
    """Accepts `host`, `host:port`, `:port`, `::1`, `[::1]:port` and whole http(s) addresses, path or none.

    Without a port it is 11434 (443 for https). Servers are given the same variable, so it may be an address
    to listen on everywhere (0.0.0.0, ::): that is reached by loopback. Raises `embedding_failed` when
    it is no address.
    """
    parts, port = _split(text.strip())
    if parts.scheme not in ("http", "https"):
        raise _unusable(text)
    host = _reachable(parts.hostname or "")
    port = port or (_HTTPS_PORT if parts.scheme == "https" else DEFAULT_PORT)
    label = f"{f'[{host}]' if ':' in host else host}:{port}"
    user, at, _ = parts.netloc.rpartition("@")
    url = f"{parts.scheme}://{user}{at}{label}{parts.path.rstrip('/')}"
    return OllamaHost(url=url, label=label, is_loopback=_is_loopback(host))


def _split(text: str) -> tuple[SplitResult, int | None]:
    try:
        if _address(text.strip("[]")) is not None and ":" in text:
            text = f"[{text.strip('[]')}]"
        parts = urlsplit(text if "://" in text else f"http://{text}")
        return parts, parts.port
    except ValueError:
        raise _unusable(text) from None


def _reachable(host: str) -> str:
    address = _address(host)
    if address is None:
        return host or "127.0.0.1"
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return host


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _unusable(text: str) -> Exception:
    return embedding_failed(
        "the Ollama host cannot be understood",
        received=text.rpartition("@")[2],
        expected="host:port or http://host:port",
    )
