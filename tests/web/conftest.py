"""A real Chromium without a network, and pages in files. Where there is none, its tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from agent_fox.engine.account.run_document import RunDocument
from agent_fox.web.page import page as html_of
from tests.web.models import hundred

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "no Chromium here: install Debian's chromium, or name one in AGENT_FOX_TEST_BROWSER"

Open = Callable[..., Page]


def chromium() -> str | None:
    return os.environ.get("AGENT_FOX_TEST_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one module: while it is there, nothing else in this process can use asyncio."""
    path = chromium()
    if path is None:
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a document's page from a file; whatever it asks for beside that file, and what its console says, is kept
    in `page.asked` and `page.said`."""
    contexts: list[BrowserContext] = []

    def open_page(document: RunDocument | str, **options: object) -> Page:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(document if isinstance(document, str) else html_of(document), encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        return opened_in(context.new_page(), path.as_uri())

    yield open_page
    for context in contexts:
        context.close()


def opened_in(page: Page, address: str) -> Page:
    asked: list[str] = []
    said: list[str] = []

    def only_itself(route: Route) -> None:
        if route.request.url.partition("#")[0] == address:
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    page.route("**", only_itself)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    page.asked, page.said = asked, said  # type: ignore[attr-defined]
    return page


@pytest.fixture(scope="session")
def hundred_nodes() -> RunDocument:
    return hundred()
