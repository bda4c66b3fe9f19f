"""The processes of the crash benchmark, as their parent sees them."""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import maintenance

Said = tuple[str, Any]
"""One line of a worker: its name and its value."""

PATIENCE = 120.0
"""Seconds that a worker may take to answer before the run is given up."""


class WorkerLostError(Exception):
    """A worker ended, or said nothing for too long, where an answer was due."""


class Worker:
    """One process of ``crash_worker``. It loads while others work: ``order`` starts its part."""

    def __init__(self, role: str, directory: Path) -> None:
        self.role = role
        self._process = subprocess.Popen(
            [sys.executable, "-m", "maintenance.bench.crash_worker", role, str(directory)],
            cwd=Path(maintenance.__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._rest = b""

    def order(self, **orders: Any) -> None:
        """Send the worker its orders once it is ready."""
        self.expect("ready")
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps(orders).encode() + b"\n")
        stdin.flush()

    def expect(self, name: str) -> Any:
        """The value of the next line, which must be of this name."""
        for said, value in self.lines(PATIENCE):
            if said == name:
                return value
            raise WorkerLostError(f"the {self.role} said {said} ({value}) instead of {name}")
        raise WorkerLostError(f"the {self.role} said nothing where {name} was due")

    def lines(self, seconds: float) -> Iterator[Said]:
        """What it says until the time is up, or until it ends."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._out, selectors.EVENT_READ)
            while True:
                while b"\n" in self._rest:
                    first, self._rest = self._rest.split(b"\n", 1)
                    yield _said(first)
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return
                read = self._out.read1(1 << 16)  # type: ignore[attr-defined]
                if not read:
                    return
                self._rest += read

    def kill(self) -> list[Said]:
        """End it at once, as the system would; returns what it had still said. Half a line, cut by
        the kill, is left out: it was not acknowledged."""
        self._process.kill()
        rest = self._rest + self._out.read()
        self._process.wait()
        self._close()
        return [_said(each) for each in rest.split(b"\n")[:-1]]

    def finish(self) -> list[Said]:
        """Close its standard input, wait for its end, and return what it said last."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        last = list(self.lines(PATIENCE))
        self._process.wait(timeout=PATIENCE)
        self._close()
        return last

    def discard(self) -> None:
        """End it whatever it does, where nobody needs its answer."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._close()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                stream.close()

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def _said(text: bytes) -> Said:
    entry: Mapping[str, Any] = json.loads(text)
    ((name, value),) = entry.items()
    return name, value
