"""The README's first session, run as it stands in a shell of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def session() -> str:
    """The first block: the next one wants an agent's program and a key, and has a test among those of the agents."""
    return str(re.findall(r"```sh\n(.*?)```", README, re.DOTALL)[0])


def test_the_first_session_of_the_readme_is_true(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "120"}
    identity = {
        f"GIT_{who}_{what}": "reader@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["sh", "-e", "-c", session()],
        cwd=tmp_path,
        env=environment | identity,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout + done.stderr
    for word in ("01-REQ-1.E1", "Recode", "Accept", "greeting.py", "01_greeting:1"):
        assert word in told, (word, told)


def test_the_readmes_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_file_the_readme_links_to_is_there() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
