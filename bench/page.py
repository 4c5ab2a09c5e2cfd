"""How long the page of a run is made, beside writing the same document as JSON, how large it is, and how long a browser
takes to open it, beside the same document without scripts and styles.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from agent_fox.engine.account.run_document import RunDocument, cut
from agent_fox.web.page import MOST_TEXT, page
from bench.figures import Aim, Figure, best
from bench.worlds import temporary_folder
from tests.web.conftest import MISSING, chromium
from tests.web.models import of_size

MB = 1_000_000
MAIL = 3.0
"""Megabytes that the page of a hundred nodes may have."""
RATIO = 15.0
"""How many times as long as the document alone the page may take: it is cleaned, masked and put into templates."""

PARTS = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
"""`<style>p { color: red }</style>`; no `<p>style</p>`."""
SHORT = "/tmp"
"""Where the browser puts its socket, whose path may have a hundred characters."""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
READY = "() => performance.getEntriesByType('navigation')[0].domInteractive"
OPENED = {"100 nodes": (Aim(2.5, 0.5), Aim(5.0, 1.0))}
"""Until something is painted, beside the bare document; until the document stands; larger ones may take half again."""


def measure(requirements: int, rounds: int) -> Iterator[Figure]:
    """A run of a hundred nodes, and one of so many requirements."""
    hundred, large = cut(of_size(25, 6, 3), MOST_TEXT), cut(of_size(max(requirements // 50, 1), 50, 1), MOST_TEXT)
    yield Figure("page of 100 nodes, size", len(page(hundred).encode()) / MB, 0, "", Aim(limit=MAIL), "MB")
    for name, document in (("100 nodes", hundred), (f"{len(large.requirements):,} requirements", large)):
        floor, took = best(rounds, partial(written, document), partial(page, document))
        yield Figure(f"page of {name}, made", took, floor, "its document as JSON", Aim(ratio=RATIO))
    yield from opened({"100 nodes": page(hundred), f"{len(large.requirements):,} requirements": page(large)}, rounds)


def opened(pages: dict[str, str], rounds: int) -> Iterator[Figure]:
    """Each page in a real Chromium, the best of some openings; nothing where there is none."""
    path = chromium()
    if path is None:
        print(f"pages are not opened: {MISSING}")
        return
    with temporary_folder() as folder, sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {**os.environ, "TMPDIR": SHORT}
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], env=environment)
        for name, whole in pages.items():
            tries = [opening(browser, folder, whole) for _ in range(rounds)]
            floor = min(opening(browser, folder, PARTS.sub("", whole))[1] for _ in range(rounds))
            painted, stood = OPENED.get(name, (Aim(1.5), Aim(1.5)))
            beside = "without scripts and styles"
            yield Figure(f"page of {name}, opened: painted", min(one for one, _ in tries), floor, beside, painted)
            yield Figure(f"page of {name}, opened: stands", min(one for _, one in tries), floor, beside, stood)
        browser.close()


def opening(browser: Browser, folder: Path, whole: str) -> tuple[float, float]:
    """Seconds until something is painted, and until the document stands."""
    (folder / "page.html").write_text(whole, encoding="utf-8")
    tab = browser.new_page()
    tab.goto((folder / "page.html").as_uri())
    tab.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    took = tab.evaluate(PAINT) / 1000, tab.evaluate(READY) / 1000
    tab.close()
    return took


def written(document: RunDocument) -> str:
    """The document alone, as `report --json` prints it."""
    return json.dumps(document.document())
