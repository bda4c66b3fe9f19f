from __future__ import annotations

from tests.commands.conftest import run

__all__ = ["run"]
