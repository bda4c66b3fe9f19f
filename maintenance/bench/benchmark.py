"""What a benchmark is, and how ``manage.py bench`` finds those there are."""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import maintenance.bench
from maintenance.bench.results import Result


class Shows(Protocol):
    """A progress line."""

    def show(self, done: int) -> None: ...


Progress = Callable[[str, int], AbstractContextManager[Shows]]
"""Given what is done and how many there are, a progress line for the time of a ``with`` block."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its options by name, an empty directory of its own that is removed afterwards, and
    the command as it was given, for the result."""

    options: Mapping[str, Any]
    directory: Path
    progress: Progress
    command: str = ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A sub-command of ``bench``. A module of this package that has one as ``BENCHMARK`` is found by
    it; such a module imports what is heavy in ``run`` only, since all are imported for ``--help``."""

    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Run], Result]


def discovered() -> dict[str, Benchmark]:
    """The benchmarks of this package by name."""
    found: dict[str, Benchmark] = {}
    for module in pkgutil.iter_modules(maintenance.bench.__path__, "maintenance.bench."):
        benchmark = None if module.ispkg else getattr(import_module(module.name), "BENCHMARK", None)
        if isinstance(benchmark, Benchmark):
            found[benchmark.name] = benchmark
    return found
