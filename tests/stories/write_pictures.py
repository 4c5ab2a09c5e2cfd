"""Pictures for docs/operating.md of a real run of a hundred nodes with three failures, on four first screens.

`python -m tests.stories.write_pictures` writes docs/pictures. The run's agents are scripted; GitHub is our stand-in.
"""

from __future__ import annotations

import re
import tempfile
from io import StringIO
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from tests.stories.github_scene import github
from tests.stories.scene import NOT_PROVEN
from tests.stories.test_four_questions import COLUMNS, LINES, SETTINGS, Morning, world
from tests.stories.test_on_github import Hub
from tests.web.conftest import chromium

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SIZES = {"page": (1440, 900), "page-phone": (375, 812)}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, github(Path(folder)) as scene:
        hub = Hub(scene)
        root = hub.build_world(world(), SETTINGS)
        hub.run(root, NOT_PROVEN)
        report = scene.folder / "report.html"
        scene.cli(root, "report", "--output", str(report))
        morning = Morning(root, hub, report)
        issue = next(body for body in morning.issues.values() if "07-REQ-1.1" in body)
        draw("status", scene.cli(root, "status").stdout)
        draw("issue", without_marks(issue))
        draw("pull-request", without_marks(hub.pull_body))
        photograph(report)


def without_marks(text: str) -> str:
    """Markdown as its reader sees it: without the comments that are ours."""
    return re.sub(r"<!--.*?-->\n?|\u200b", "", text)


def draw(name: str, text: str) -> None:
    """The first screen of a text as SVG, which loads no font."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in text.splitlines()[:LINES]:
        console.print(Text(line), soft_wrap=False)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", console.export_svg(title=name), flags=re.DOTALL)
    (PICTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def photograph(report: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(report.as_uri())
            page.screenshot(path=PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
