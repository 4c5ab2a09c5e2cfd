"""The README's first session, run as it stands in a shell of its own, and the picture of it."""

from __future__ import annotations

import re
from pathlib import Path

from tools.picture import PICTURE, drawn, printed

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LONGEST = 900
LONGEST_SESSION = 15


def test_the_first_session_of_the_readme_is_true_and_so_is_its_picture(tmp_path: Path) -> None:
    outputs = printed(tmp_path)
    assert len(outputs) <= LONGEST_SESSION
    told = "".join(outputs.values())
    for word in ("01-REQ-1.E1", "Recode", "Accept", "greeting.py", "01_greeting:1", "2 red without"):
        assert word in told, (word, told)
    assert drawn(outputs) == PICTURE.read_text(encoding="utf-8"), "draw it again: python -m tools.picture"


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.split()) <= LONGEST


def test_the_readmes_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_file_the_readme_links_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
