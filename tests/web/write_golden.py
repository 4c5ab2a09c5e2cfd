"""Writes what the first screen looks like, coarsely: `python -m tests.web.write_golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agent_fox.web.page import page as html_of
from tests.web.conftest import chromium
from tests.web.models import hundred
from tests.web.test_page import GOLDEN, small


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(html_of(hundred()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for width in (375, 768, 1440):
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page = context.new_page()
                page.goto(path.as_uri())
                small(page.screenshot()).save(GOLDEN / f"{width}-{scheme}.png", optimize=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
