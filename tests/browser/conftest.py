"""Debian's Chromium, driven by Playwright, over consoles that are served for real.

Without Chromium these tests are skipped: a checkout on a machine without a browser can run all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.crowd import fill_crowd
from browser.driving import CHROMIUM, FLAGS, PEOPLE, WIDE, Served, Watched, listen, serving

if TYPE_CHECKING:
    from browser.driving import Open
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def empty_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A console over nothing, as on its first day."""
    with serving(tmp_path_factory.mktemp("empty")) as served:
        yield served


@pytest.fixture(scope="session")
def demo_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A console over the invented memories of ``demo_data``."""
    with serving(tmp_path_factory.mktemp("demo"), ("demo_data",)) as served:
        yield served


@pytest.fixture(scope="session")
def team_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The invented memories again, to be changed: with a viewer, a curator and an operator."""
    with serving(tmp_path_factory.mktemp("team"), *PEOPLE, ("demo_data",)) as served:
        yield served


@pytest.fixture(scope="session")
def crowd_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """20,000 made-up memories, and the same people."""
    home = tmp_path_factory.mktemp("crowd")
    fill_crowd(home)
    with serving(home, *PEOPLE) as served:
        yield served


@pytest.fixture
def new_console(tmp_path: Path) -> Iterator[Served]:
    """An empty one of this test alone."""
    with serving(tmp_path / "new-home") as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: while Playwright runs, its event loop keeps Django from its database."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def watch(browser: Browser) -> Iterator[Open]:
    """``watch(server, size=WIDE, theme="light")``: a page in a browser profile of its own."""
    contexts = []

    def opened(
        server: Served, size: tuple[int, int] = WIDE, theme: str = "light", script: bool = True
    ) -> Watched:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        watched = Watched(context.new_page(), server)
        listen(watched)
        return watched

    yield opened
    for context in contexts:
        context.close()
