"""Pictures of every page, to be looked at beside the mock: at 1,440 and 390 pixels, light and dark, over
nothing, the sample memories, and 20,000 made-up ones.

    python tests/browser/screenshots.py build/screenshots [--only memories] [--whole]
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[at]) for at in (1, 2)]

from browser.crowd import fill_crowd
from browser.driving import CHROMIUM, FLAGS, NARROW, WIDE, Served, Watched, serving
from browser.scenes import SCENES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

THEMES = ("light", "dark")
BESIDE_THE_RAIL = (
    "/welcome/",
    "/memories/add/",
    "/saved-filters/",
    "/memories/?q=tide&how=contains&tier=2",
    "/search-lab/?q=which+port+does+the+booking+API+use",
    "/search-lab/?q=phone+number+of+the+dentist",
    "/stale/?quality=0.5&days=60",
    "/review/?view=list",
    "/duplicates/?threshold=0.80",
    "/no/such/page",
)
"""Pages without a link in the rail; the login and a memory are added."""


@contextmanager
def consoles() -> Iterator[dict[str, Served]]:
    """A console over each of the three databases, by the name its pictures carry."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memsuite-screens-")))
        names = ("empty", "demo", "many")
        homes = {name: home / name for name in names}
        fill_crowd(homes["many"])
        commands = {"empty": (), "demo": (("demo_data",),), "many": (("demo_data", "--among-others"),)}
        yield {name: stack.enter_context(serving(homes[name], *commands[name])) for name in names}


def take(browser: Browser, served: Served, name: str, folder: Path, only: str, *, whole: bool) -> int:
    """All pictures of one console; how many."""
    taken = 0
    for size in (WIDE, NARROW):
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme="dark" if theme == "dark" else "light",
                reduced_motion="reduce",
            )
            watched = Watched(context.new_page(), served)
            for path in addresses(watched):
                if only not in path:
                    continue
                watched.open(path)
                watched.page.wait_for_load_state("networkidle")
                picture = folder / f"{file_name(path)}-{name}-{size[0]}-{theme}.png"
                photograph(watched, picture, whole=whole)
                taken += 1
            for scene, play in SCENES.items() if name == "demo" else ():
                if only in scene:
                    play(watched)
                    watched.page.wait_for_load_state("networkidle")
                    picture = folder / f"{scene}-{name}-{size[0]}-{theme}.png"
                    photograph(watched, picture, whole=whole)
                    taken += 1
            context.close()
    return taken


def photograph(watched: Watched, picture: Path, *, whole: bool) -> None:
    # A hidden caret would leave a style attribute behind, which the policy then refuses to copy.
    watched.page.screenshot(path=str(picture), full_page=whole, caret="initial")


def addresses(watched: Watched) -> Iterator[str]:
    """Every page: the login, then those of the rail and beside it, and the memory that is listed first."""
    yield "/login/"
    watched.log_in()
    watched.open("/welcome/")
    links = _links(watched, ".m-rail__item")
    watched.open("/memories/")
    yield from (*links, *BESIDE_THE_RAIL, *_links(watched, "a.m-row__subject")[:1])


def _links(watched: Watched, selector: str) -> list[str]:
    script = "all => all.map(a => a.getAttribute('href'))"
    found: list[str] = watched.page.eval_on_selector_all(selector, script)
    return found


def file_name(path: str) -> str:
    """The path as a name; of a memory without its id, which differs each time."""
    plain = re.sub(r"/memories/[^/?]{12,}/", "/memory/", path)
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="only pages with this in their address")
    parser.add_argument("--whole", action="store_true", help="the whole page, not the first screen of it")
    options = parser.parse_args()
    if CHROMIUM is None:
        parser.exit(1, "Chromium is needed; install your system's package.\n")
    from playwright.sync_api import sync_playwright

    options.folder.mkdir(parents=True, exist_ok=True)
    with consoles() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, console in served.items():
            taken = take(browser, console, name, options.folder, options.only, whole=options.whole)
            print(f"{taken} pictures of the {name} console in {options.folder}")
        browser.close()


if __name__ == "__main__":
    main()
