"""`python -m tools.site FOLDER`: docs/ as the site's builder wants it. The README is the home page.

Links that leave docs/ lead to the repository: `REPOSITORY_URL` is where it stands, such as
`https://github.com/NAME/agent-fox`. Unset, such a link is told by its text alone.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SETTINGS = ROOT / "mkdocs.yml"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)\s]+)\)")
"""`[settings](docs/configuration.md#retry)`; no picture, no address."""


def prepare(folder: Path, url: str | None) -> None:
    """Write docs/ and mkdocs.yml into the folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder / "docs")
    readme = led((ROOT / "README.md").read_text(encoding="utf-8"), ROOT, url)
    (folder / "docs" / "index.md").write_text(re.sub(r"\]\(docs/", "](", readme), encoding="utf-8")
    for path in DOCS.rglob("*.md"):
        page = led(path.read_text(encoding="utf-8"), path.parent, url)
        (folder / "docs" / path.relative_to(DOCS)).write_text(page, encoding="utf-8")
    shutil.copyfile(SETTINGS, folder / SETTINGS.name)


def led(markdown: str, place: Path, url: str | None) -> str:
    """The page with its links to what is not a page or picture of docs/ led to the repository."""

    def link(found: re.Match[str]) -> str:
        target = (place / found[2].split("#")[0]).resolve()
        is_of_site = target.is_relative_to(DOCS) and target.is_file()
        if is_of_site or not target.exists():
            return found[0]  # the builder says so of a link that leads nowhere
        return f"[{found[1]}]({url}/blob/main/{target.relative_to(ROOT)})" if url else found[1]

    return _LINK.sub(link, markdown)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), os.environ.get("REPOSITORY_URL"))
