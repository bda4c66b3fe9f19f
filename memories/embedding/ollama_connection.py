"""Requests to an Ollama server that end when they must."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from memories.contract.errors import MemsuiteError
from memories.embedding.failures import embedding_failed
from memories.embedding.ollama_host import OllamaHost

if TYPE_CHECKING:
    import httpx

_MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""A batch of 16 vectors of 4,096 numbers is about 1.5 MB of JSON."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OllamaLimits:
    """Seconds. `query_s` and `batch_s` bound a whole exchange, from looking up the name to the last byte."""

    connect_s: float = 2.0
    query_s: float = 10.0
    batch_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


class OllamaConnection:
    """One pool of connections, driven by one thread of its own, shared by all callers.

    An event loop can end an exchange at its deadline whatever the server does. A blocking client cannot: its
    read timeout starts anew with each byte, so a server that dribbles would hold the caller for ever.
    """

    def __init__(self, host: OllamaHost, limits: OllamaLimits) -> None:
        self._host = host
        self._limits = limits
        self._opening = threading.Lock()
        self._loop: _LoopThread | None = None
        self._client: httpx.AsyncClient | None = None

    def post(self, path: str, payload: dict[str, object], within_s: float) -> Answer:
        """The server's answer, whatever its status. Raises `embedding_failed` when there is none in time."""
        try:
            loop, client = self._open()
            return loop.run(self._exchange(client, path, payload, within_s))
        except MemsuiteError:
            raise
        except TimeoutError:
            raise embedding_failed(
                f"Ollama at {self._host.label} did not answer within {within_s:.3g} s"
            ) from None
        except CancelledError:
            raise embedding_failed("the connection to Ollama was closed while it was in use") from None
        except Exception as error:
            raise embedding_failed(_reason(error, self._host.label, self._limits)) from error

    def close(self) -> None:
        """End running exchanges, connections and thread. A later request opens them again."""
        with self._opening:
            loop, client = self._loop, self._client
            self._loop = self._client = None
        if loop is not None and client is not None and loop.is_ours:
            loop.stop(client.aclose())

    def _open(self) -> tuple[_LoopThread, httpx.AsyncClient]:
        with self._opening:
            if self._loop is None or self._client is None or not self._loop.is_ours:
                self._client = self._new_client()
                self._loop = _LoopThread()
            return self._loop, self._client

    def _new_client(self) -> httpx.AsyncClient:
        import httpx

        # Proxies are for elsewhere: this machine's own server is always reached directly.
        return httpx.AsyncClient(base_url=self._host.url, trust_env=not self._host.is_loopback)

    async def _exchange(
        self, client: httpx.AsyncClient, path: str, payload: dict[str, object], within_s: float
    ) -> Answer:
        import httpx

        timeout = httpx.Timeout(within_s, connect=min(self._limits.connect_s, within_s))
        async with (
            asyncio.timeout(within_s),
            client.stream("POST", path, json=payload, timeout=timeout) as response,
        ):
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _MAX_ANSWER_BYTES:
                    raise embedding_failed("Ollama sent an answer that is too large")
            return Answer(response.status_code, bytes(body))


class _LoopThread:
    """An event loop in a daemon thread, so that a caller who forgets `close` can still leave."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memsuite-ollama", daemon=True)
        self._pid = os.getpid()
        self._submitting = threading.Lock()
        self._stopping = False
        self._thread.start()

    @property
    def is_ours(self) -> bool:
        """False in a forked child, which has the object but not the thread."""
        return self._pid == os.getpid()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; CancelledError when the loop is stopped before there is one."""
        with self._submitting:  # so all there is was submitted before `stop` cancels what is running
            if self._stopping:
                work.close()
                raise CancelledError
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result()

    def stop(self, farewell: Coroutine[Any, Any, None]) -> None:
        with self._submitting:
            self._stopping = True
        asyncio.run_coroutine_threadsafe(self._cancel_all_then(farewell), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel_all_then(self, farewell: Coroutine[Any, Any, None]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await farewell


def _reason(error: Exception, label: str, limits: OllamaLimits) -> str:
    import httpx

    match error:
        case httpx.ConnectTimeout():
            return f"Ollama at {label} did not accept a connection within {limits.connect_s:g} s"
        case httpx.ConnectError():
            return f"Ollama at {label} cannot be reached; is it running?"
        case httpx.TimeoutException():
            return f"Ollama at {label} did not answer in time"
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return f"Ollama at {label} broke the connection off"
        case _:
            return f"the request to Ollama at {label} failed: {type(error).__name__}"
