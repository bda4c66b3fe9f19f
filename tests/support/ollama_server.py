"""A server that speaks Ollama's protocol over real HTTP, backed by the real MiniLM, and can misbehave."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from memories.embedding.base import Embedder
from memories.embedding.minilm import minilm_embedder

MODEL = "nomic-embed-text:latest"
DIMENSION = 384


class Fault(Enum):
    """What a request can meet instead of an answer."""

    HANGS = "hangs"
    DRIBBLES_HEADERS = "dribbles headers"
    DRIBBLES_BODY = "dribbles body"
    SERVER_ERROR = "500"
    REDIRECTS = "redirects"
    CLOSES_HALF_WAY = "closes half-way"
    NO_JSON = "no json"
    NO_EMBEDDINGS = "no embeddings"
    EMPTY_LIST = "empty list"
    ONE_TOO_MANY = "one too many"
    WRONG_DIMENSION = "wrong dimension"
    UNEVEN = "uneven"
    NAN = "nan"
    NULL = "null"
    INFINITE = "infinite"
    TEXT_FOR_NUMBER = "text for number"
    ZERO_VECTOR = "zero vector"
    NO_SUCH_MODEL = "no such model"
    NO_SUCH_PATH = "no such path"


Rows = list[list[Any]]

SPOILED: dict[Fault, Callable[[Rows], object]] = {
    Fault.EMPTY_LIST: lambda rows: [],
    Fault.ONE_TOO_MANY: lambda rows: [*rows, rows[0]],
    Fault.WRONG_DIMENSION: lambda rows: [row[:-1] for row in rows],
    Fault.UNEVEN: lambda rows: [*rows[:-1], rows[-1][:-1], rows[-1]],
    Fault.NAN: lambda rows: [[float("nan"), *row[1:]] for row in rows],
    Fault.NULL: lambda rows: [[None, *row[1:]] for row in rows],
    Fault.INFINITE: lambda rows: [[1e300, *row[1:]] for row in rows],
    Fault.TEXT_FOR_NUMBER: lambda rows: [[str(number) for number in row] for row in rows],
    Fault.ZERO_VECTOR: lambda rows: [[0.0] * len(row) for row in rows],
}


class OllamaServer:
    """Use as a context manager. `fault` holds for every request; `next_faults` are used up first.

    `context_words` makes the server refuse longer texts as Ollama 0.13.5 and newer do, `truncate` or not.
    `requests` are the payloads of /api/embed in the order of arrival.
    """

    def __init__(self, *, models: Sequence[str] = (MODEL,), embedder: Embedder | None = None) -> None:
        self.models = tuple(models)
        self.fault: Fault | None = None
        self.next_faults: deque[Fault | None] = deque()
        self.context_words: int | None = None
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self._embedder = embedder or minilm_embedder()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def host(self) -> str:
        """As people write OLLAMA_HOST."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> OllamaServer:
        self._embedder.warm_up()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take_fault(self) -> Fault | None:
        return self.next_faults.popleft() if self.next_faults else self.fault

    def has(self, model: object) -> bool:
        return model in self.models or f"{model}:latest" in self.models

    def rows(self, texts: Sequence[str]) -> Rows:
        rows: Rows = self._embedder.embed_documents(texts).tolist()
        return rows


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: OllamaServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has left in the middle is what several tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; else each answer waits 40 ms
    server: _Http

    def do_GET(self) -> None:
        match urlsplit(self.path).path:
            case "/api/version":
                self._send(200, {"version": "0.15.6"})
            case "/api/tags":
                names = self.server.owner.models
                self._send(200, {"models": [{"name": name, "model": name} for name in names]})
            case _:
                self._send_text(404, "404 page not found")

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if urlsplit(self.path).path != "/api/embed":  # through a proxy the path is a whole address
            self._send_text(404, "404 page not found")
            return
        self.server.owner.requests.append(payload)
        fault = self.server.owner.take_fault()
        if not self._misbehave(fault):
            self._answer(payload, fault)

    def _misbehave(self, fault: Fault | None) -> bool:
        """True when the fault left nothing to answer."""
        match fault:
            case Fault.HANGS:
                self.server.owner.released.wait()
                self.close_connection = True
            case Fault.DRIBBLES_HEADERS:
                self._dribble(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
            case Fault.DRIBBLES_BODY:
                self._dribble(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" ")
            case Fault.CLOSES_HALF_WAY:
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{"embeddings":[[0.1,')
                self.close_connection = True
            case Fault.SERVER_ERROR:
                self._send(500, {"error": "llama runner process has terminated"})
            case Fault.REDIRECTS:
                self._send_text(307, "", Location="http://elsewhere.invalid/api/embed")
            case Fault.NO_JSON:
                self._send_text(200, "<html>hello</html>")
            case Fault.NO_EMBEDDINGS:
                self._send(200, {"model": MODEL})
            case Fault.NO_SUCH_PATH:
                self._send_text(404, "404 page not found")
            case _:
                return False
        return True

    def _answer(self, payload: dict[str, Any], fault: Fault | None) -> None:
        owner, model = self.server.owner, payload["model"]
        if fault is Fault.NO_SUCH_MODEL or not owner.has(model):
            self._send(404, {"error": f'model "{model}" not found, try pulling it first'})
            return
        texts = [payload["input"]] if isinstance(payload["input"], str) else payload["input"]
        if owner.context_words and any(len(text.split()) > owner.context_words for text in texts):
            self._send(400, {"error": "the input length exceeds the context length"})
            return
        rows = owner.rows(texts)
        self._send(200, {"model": model, "embeddings": SPOILED[fault](rows) if fault else rows})

    def _dribble(self, start: bytes, drop: bytes) -> None:
        self.close_connection = True
        self.wfile.write(start)
        while not self.server.owner.released.wait(0.02):
            self.wfile.write(drop)

    def _send(self, status: int, body: object) -> None:
        self._send_text(status, json.dumps(body), "application/json")

    def _send_text(self, status: int, text: str, kind: str = "text/plain", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""
