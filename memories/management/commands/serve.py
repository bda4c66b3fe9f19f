"""`serve`: the web console, one process with a few threads."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from django.conf import settings as django_settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from memories.commands.base import SuiteCommand
from memories.commands.exits import Exit
from memories.console.uploads import UPLOAD_MAX
from memories.contract import ErrorCode, MemsuiteError
from memories.settings import Settings

HOST, PORT = "127.0.0.1", 7777
# Pages wait for the store, not for the processor; more threads than this would only queue at its lock.
THREADS = 8
# The server itself refuses a body beyond this; pages refuse theirs far earlier, and with a page of ours.
LARGEST_BODY = UPLOAD_MAX + 2**20


class Command(SuiteCommand):
    help = "Serve the web console on this machine."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=HOST, help=f"the address to listen on ({HOST})")
        parser.add_argument("--port", type=int, default=PORT, help=f"the port ({PORT})")
        parser.add_argument(
            "--allow-public", action="store_true", help="listen on an address that other machines reach"
        )
        parser.add_argument(
            "--first-run",
            action="store_true",
            help="make an administrator if there is none, and print a password once",
        )
        parser.add_argument(
            "--fresh-login", action="store_true", help="give the administrator a new password and print it"
        )

    def work(self, settings: Settings, options: Mapping[str, Any]) -> Exit:
        from memories.console.listening import require_allowed

        _start_over_where_needed(settings)
        require_allowed(options["host"], settings, allow_public=options["allow_public"])
        os.umask(0o077)
        _require_secret()
        call_command("migrate", verbosity=0, skip_checks=True)
        _take_up()
        self._administrator(options)
        self._serve(settings, options["host"], options["port"])
        return Exit.DONE

    def _administrator(self, options: Mapping[str, Any]) -> None:
        from memories.console import administrator as who

        given = os.environ.get(who.PASSWORD_VARIABLE, "")
        there = who.has_administrator()
        if given and not there:
            who.make_administrator(given)
            self.say(f"Administrator {who.NAME}, with the password of {who.PASSWORD_VARIABLE}.")
        elif options["fresh_login"] or (options["first_run"] and not there):
            password = who.generated_password()
            who.make_administrator(password)
            self._show_login(who.NAME, password)
        elif not there:
            self.say("Nobody can log in yet. Say --first-run, and an administrator is made.")

    def _show_login(self, name: str, password: str) -> None:
        if self.json:
            self.answer({"success": True, "name": name, "password": password})
        self.say(
            "",
            f"  Name      {name}",
            f"  Password  {password}",
            "",
            "Shown this once. Change it in the console.",
        )

    def _serve(self, settings: Settings, host: str, port: int) -> None:
        import waitress
        from django.core.wsgi import get_wsgi_application

        from memories.console.repository_access import close_repository
        from memories.console.static_files import collect

        collect(django_settings.STATIC_ROOT)
        try:
            server = waitress.create_server(
                get_wsgi_application(),
                host=host,
                port=port,
                threads=THREADS,
                ident=None,
                max_request_body_size=LARGEST_BODY,
                clear_untrusted_proxy_headers=True,
                **_behind_tls(settings),
            )
        except OSError as problem:
            raise MemsuiteError(
                ErrorCode.INVALID_PARAMETER,
                "port",
                f"Nothing can listen on {host}:{port} ({problem.strerror}). Choose another --port.",
                received=port,
            ) from None
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
        try:
            self.say(
                f"Memory console on http://{_shown(host)}:{port}, over {settings.db_path}. Ctrl-C ends it."
            )
            self.stdout.flush()
            server.run()
        except SystemExit:
            pass  # told to end before the server could take it
        close_repository()
        _end()


def _start_over_where_needed(settings: Settings) -> None:
    """Django read its own settings before the options were: with other paths, once more with those."""
    ours: Settings = django_settings.SUITE
    if (ours.hermes_home, ours.db_path) == (settings.hermes_home, settings.db_path):
        return
    paths = {"HERMES_HOME": str(settings.hermes_home), "MEMSUITE_DB_PATH": str(settings.db_path)}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **paths})


def _end() -> NoReturn:
    """End the process here. Python would take its threads down first, and one inside the engine's or the
    model's own code then aborts the process. All that is stored was stored when it was acknowledged."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _require_secret() -> None:
    """Make the installation's secret now rather than at the first login, or say what is wrong with it."""
    try:
        str(django_settings.SECRET_KEY)
    except RuntimeError as problem:
        raise MemsuiteError(ErrorCode.INVALID_PARAMETER, "secret", str(problem)) from None


def _behind_tls(settings: Settings) -> dict[str, Any]:
    """Believe the proxy on this machine about TLS, and nobody else about anything."""
    if not settings.console_https:
        return {}
    return {"trusted_proxy": "127.0.0.1", "trusted_proxy_headers": {"x-forwarded-proto", "x-forwarded-for"}}


def _take_up() -> None:
    """Go on with what an earlier server left: events without an end, and jobs that waited."""
    from memories.console.audit_reconcile import reconcile
    from memories.console.jobs import start_waiting

    try:
        reconcile()
        start_waiting()
    except MemsuiteError as problem:
        # The console must come up over a store that cannot be read: it is where a person sees why.
        sys.stderr.write(f"Not looked after now: {problem}\n")


def _warm_up() -> None:
    """Load the model and the catalogue beside the first pages; a failure shows where it is met."""
    from memories.console.repository_access import repository

    try:
        shared = repository()
        shared.catalogue()
        shared.embedder.warm_up()
    except MemsuiteError:
        return


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
