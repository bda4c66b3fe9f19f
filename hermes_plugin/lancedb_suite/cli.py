"""`hermes lancedb-suite …`: what the command line registers at every start, so it imports next to nothing."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any


def register_cli(subparser: Any) -> None:
    """Add the subcommands this installation has; called by Hermes for the selected provider."""
    if find_spec("hermes_plugin") is None:
        subparser.set_defaults(func=_package_is_missing)
        subparser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
        return
    from hermes_plugin.provider.command_line import add_subcommands

    add_subcommands(subparser)


def _package_is_missing(_: argparse.Namespace) -> None:
    from .missing_package import explanation

    print(explanation(), file=sys.stderr)
    sys.exit(1)
