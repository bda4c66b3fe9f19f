"""The wheel as it is really built: what travels in it, and what must not."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGES = ("memories", "maintenance", "hermes_plugin", "memsuite_site")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)],
        check=True,
        capture_output=True,
    )
    [file] = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def _metadata(wheel: zipfile.ZipFile, name: str) -> str:
    [inside] = [path for path in wheel.namelist() if path.endswith(f".dist-info/{name}")]
    return wheel.read(inside).decode()


def test_the_wheel_holds_our_four_packages_and_nothing_else_at_the_top(wheel: zipfile.ZipFile) -> None:
    tops = {path.split("/")[0] for path in wheel.namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_travels(wheel: zipfile.ZipFile, package: str) -> None:
    here = {
        path.relative_to(CHECKOUT).as_posix()
        for path in (CHECKOUT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert here - set(wheel.namelist()) == set()


def test_pages_travel_inside_the_site(wheel: zipfile.ZipFile) -> None:
    templates = CHECKOUT / "templates"
    pages = {p.relative_to(templates).as_posix() for p in templates.rglob("*") if p.is_file()}
    inside = {p.removeprefix("memsuite_site/templates/") for p in wheel.namelist() if "/templates/" in p}

    assert pages <= inside


def test_both_plugins_are_announced_to_hermes(wheel: zipfile.ZipFile) -> None:
    entries = ConfigParser()
    entries.read_string(_metadata(wheel, "entry_points.txt"))

    assert dict(entries["hermes_agent.memory_providers"]) == {"lancedb-suite": "hermes_plugin.lancedb_suite"}
    assert dict(entries["hermes_agent.plugins"]) == {"ram-first-context": "hermes_plugin.ram_first_context"}


def test_the_core_asks_for_no_web_framework(wheel: zipfile.ZipFile) -> None:
    needed = Parser().parsestr(_metadata(wheel, "METADATA")).get_all("Requires-Dist")
    always = {requirement for requirement in needed if "extra ==" not in requirement}

    assert "lancedb==0.40.0" in always
    assert not [requirement for requirement in always if requirement.lower().startswith("django")]


def test_the_licence_travels(wheel: zipfile.ZipFile) -> None:
    assert _metadata(wheel, "licenses/LICENSE").startswith("MIT License")
