"""The vendored script, the hashed files, the colours."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import override_settings

from memories.console.static_files import HashedFiles, collect

# htmx.org 2.0.11 from its npm package, dist/htmx.min.js.
HTMX = "console/vendor/htmx-2.0.11.min.js"
HTMX_SHA256 = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"


def static(name: str) -> Path:
    found = finders.find(name)
    assert isinstance(found, str)
    return Path(found)


def test_htmx_is_the_file_that_was_published() -> None:
    assert hashlib.sha256(static(HTMX).read_bytes()).hexdigest() == HTMX_SHA256


def test_htmx_evaluates_nothing_and_injects_no_style() -> None:
    class Meta(HTMLParser):
        content = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if dict(attrs).get("name") == "htmx-config":
                self.content = dict(attrs)["content"] or ""

    meta = Meta()
    meta.feed(render_to_string("console/parts/htmx_config.html"))
    config = json.loads(meta.content)

    assert config["allowEval"] is False
    assert config["includeIndicatorStyles"] is False
    assert config["allowScriptTags"] is False
    assert config["selfRequestsOnly"] is True
    assert config["historyCacheSize"] == 0  # else pages with memory text lie in the browser's storage


def test_collected_files_carry_their_hash_and_are_collected_once(tmp_path: Path) -> None:
    with override_settings(STATIC_ROOT=tmp_path / "static"):
        collect(tmp_path / "static")
        files = HashedFiles(location=tmp_path / "static", base_url="/static/")
        address = files.url("console/frame.css")
        stamps = {file: file.stat().st_mtime_ns for file in (tmp_path / "static").rglob("*")}
        collect(tmp_path / "static")

    assert re.fullmatch(r"/static/console/frame\.[0-9a-f]{12}\.css", address)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "static").rglob("*")} == stamps


def tokens(theme: str) -> dict[str, str]:
    """The custom properties of one block of tokens.css: light, dark (chosen) or auto (dark by system)."""
    css = re.sub(r"/\*.*?\*/", "", static("console/tokens.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    opening = {
        "light": r'html\[data-theme="light"\] \{',
        "dark": r'\nhtml\[data-theme="dark"\] \{',
        "auto": r"prefers-color-scheme: dark\) \{\s*:root \{",
    }[theme]
    block = re.search(opening + r"(.*?)\}", css, re.DOTALL)
    assert block is not None
    return {name: value.strip() for name, value in re.findall(r"--m-([\w-]+):\s*([^;]+);", block[1])}


def test_dark_is_dark_whether_chosen_or_by_system() -> None:
    assert tokens("dark") == tokens("auto")


GROUNDS = ("bg", "sunk", "hover", "float")
TEXT = [
    *((text, ground) for text in ("fg", "fg-2", "fg-3", "accent") for ground in (*GROUNDS, "accent-soft")),
    *((state, ground) for state in ("ok", "warn", "bad") for ground in (*GROUNDS, f"{state}-soft")),
    *((text, f"{state}-soft") for text in ("fg", "fg-2") for state in ("ok", "warn", "bad")),
    ("accent-fg", "accent"),
    ("accent-fg", "accent-hover"),
    ("fg", "ins"),
    ("fg", "del"),
]
MARKS = [("line-3", ground) for ground in ("bg", "sunk", "float")]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("needed", "pairs"), [(4.5, TEXT), (3.0, MARKS)])
def test_contrast_is_that_of_aa(theme: str, needed: float, pairs: list[tuple[str, str]]) -> None:
    colours = tokens(theme)
    low = {pair: ratio for pair in pairs if (ratio := contrast(colours[pair[0]], colours[pair[1]])) < needed}

    assert low == {}


def contrast(one: str, other: str) -> float:
    """WCAG 2: the ratio of the relative luminances, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
