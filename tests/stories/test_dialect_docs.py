"""The stories of docs/stories.md, each run as it stands: from a repository's files to a proven run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "stories.md").read_text(encoding="utf-8")
BEGINNING, *STORIES = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
DIALECTS = ("kiro", "spec-kit", "openspec", "plain")


def played(folder: Path, story: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "120"}
    identity = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["sh", "-e", "-c", BEGINNING + story],
        cwd=folder,
        env=environment | identity,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_a_story_for_each_dialect() -> None:
    assert len(STORIES) == len(DIALECTS)


@pytest.mark.parametrize(("dialect", "story"), list(zip(DIALECTS, STORIES, strict=True)), ids=DIALECTS)
def test_a_story_ends_proven_after_a_fail_that_went_back(dialect: str, story: str, tmp_path: Path) -> None:
    told = played(tmp_path, story)
    assert f"({dialect}): 1 requirement, 2 to prove" in told or "2 requirements, 2 to prove" in told
    assert "0 errors, 0 warnings" in told
    assert "Recode" in told
    assert "PROVEN  2 of 2 proven" in told
