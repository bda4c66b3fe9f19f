"""`run_job`: the process in which the console does what is too long for one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.settings import Settings


class Command(SuiteCommand):
    help = "Do a job of the console, then those that wait. The console starts this by itself."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", help="the job, as its page's address names it")

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        from memories.console import jobs
        from memories.console.job_kinds import KINDS
        from memories.console.job_work import run
        from memories.console.repository_access import close_repository, repository

        key: str | None = options["job"]
        try:
            while key is not None:
                run(key, repository(), KINDS)
                key = jobs.claim()
        finally:
            close_repository()
        return Exit.DONE
