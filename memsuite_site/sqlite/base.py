"""What Django loads as a database engine when a setting names ``memsuite_site.sqlite``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from memories.settings import private_directory


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, after making the directory (0700) and the file (0600) when they are not there.

        Done here and not when the settings load, so that only what needs the database makes one.
        """
        name = str(conn_params["database"])
        if name != ":memory:" and not name.startswith("file:"):
            file = Path(name)
            private_directory(file.parent)
            file.touch(mode=0o600)
        return super().get_new_connection(conn_params)
