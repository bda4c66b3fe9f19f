"""What stands in for the provider while its package is missing from Hermes' environment.

Standard library only. It offers the same tool names, so that every call is answered with the command
that mends it instead of "unknown tool". Its texts live here because the package is what is missing.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TOOL_NAMES = (
    "lancedb_search",
    "lancedb_add",
    "lancedb_update",
    "lancedb_delete",
    "lancedb_get",
    "lancedb_list",
    "lancedb_graph",
    "lancedb_conflicts",
)
_CONTRACT_VERSION = 3


def install_command() -> str:
    """The one shell command that brings the package into the interpreter that runs this."""
    python, wanted = sys.executable or "python3", _requirement()
    if find_spec("pip") is None and shutil.which("uv"):
        return shlex.join(["uv", "pip", "install", "--python", python, wanted])
    return shlex.join([python, "-m", "pip", "install", wanted])


def explanation(reason: str = "") -> str:
    """One sentence on what is wrong, and the command."""
    cause = f" ({reason})" if reason else ""
    return (
        f"The lancedb-suite plugin is installed, but its package is missing from Hermes' environment{cause}. "
        f"Run: {install_command()}"
    )


def _requirement() -> str:
    """What to install: as install_plugin noted it beside this file, else the distribution's name."""
    try:
        note = json.loads(Path(__file__).with_name("installed.json").read_text(encoding="utf-8"))
        return str(note["requirement"])
    except (OSError, ValueError, KeyError, TypeError):
        return "hermes-memory-suite"


class MissingPackageProvider:
    """Every hook harmless, every tool answered with the command."""

    reason = ""

    @classmethod
    def because(cls, error: ImportError) -> type[MissingPackageProvider]:
        """The same stand-in, knowing which import failed."""
        return type(cls.__name__, (cls,), {"reason": str(error)})

    @property
    def name(self) -> str:
        return "lancedb-suite"

    def is_available(self) -> bool:
        """False only where the host then asks for the reason; older hosts would drop it in silence."""
        return not any(
            base.__name__ == "MemoryProvider" and hasattr(base, "unavailable_reason")
            for base in type(self).__mro__
        )

    def unavailable_reason(self) -> str:
        return explanation(self.reason)

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Nothing to bind."""

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Nothing to bind."""

    def system_prompt_block(self) -> str:
        return f"Long-term memory is not working. Tell the user once: {self.unavailable_reason()}"

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The names, each taking anything: their real schemas are in the missing package."""
        return [
            {
                "name": name,
                "description": "Long-term memory; unavailable until its package is installed.",
                "parameters": {"type": "object", "properties": {}},
            }
            for name in TOOL_NAMES
        ]

    def handle_tool_call(self, tool_name: str, args: object, **kwargs: Any) -> str:
        answer = {
            "success": False,
            "error": {
                "code": "store_unavailable",
                "field": "",
                "message": self.unavailable_reason(),
                "received": None,
                "expected": install_command(),
            },
            "retryable": True,
            "contract_version": _CONTRACT_VERSION,
        }
        return json.dumps(answer, ensure_ascii=False)

    def get_status_config(self, provider_config: object = None) -> dict[str, Any]:
        return {"problem": self.unavailable_reason()}

    def post_setup(self, hermes_home: str, config: dict[str, Any]) -> None:
        """Select the plugin all the same, and say what is missing; the host leaves both to this hook."""
        from hermes_cli.config import save_config

        memory = config.get("memory")
        config["memory"] = {**(memory if isinstance(memory, dict) else {}), "provider": self.name}
        save_config(config)
        print(f"\n  Memory provider: {self.name} (saved in config.yaml)\n  {self.unavailable_reason()}\n")

    def recall_status(self) -> None:
        """Nothing was recalled."""
