#!/usr/bin/env python3
"""Run one of the suite's commands: ``python manage.py help`` lists them."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memsuite_site.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as missing:
        raise SystemExit(
            f"{missing}. Run `make install` first, and then .venv/bin/python manage.py"
        ) from None
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
