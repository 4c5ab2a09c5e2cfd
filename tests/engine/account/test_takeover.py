"""The hint how to take the work over, whatever the person did to their own branches meanwhile."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_fox.engine.account.overview import takeover
from tests.cli.program import repository


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=A Person", "-c", "user.email=person@example.org"]
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def with_work(tmp_path: Path) -> Path:
    root = repository(tmp_path)
    git(root, "switch", "-qc", "work")
    (root / "new.py").write_text("x = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "work")
    git(root, "switch", "-q", "-")
    return root


def test_what_is_ahead_is_told(tmp_path: Path) -> None:
    found = takeover(with_work(tmp_path), "work")
    assert found is not None
    assert (found.commits, "new.py" in found.diffstat) == (1, True)


def test_a_head_without_a_common_ancestor_is_no_trouble(tmp_path: Path) -> None:
    root = with_work(tmp_path)
    git(root, "checkout", "-q", "--orphan", "pages")
    git(root, "commit", "-qm", "pages")
    found = takeover(root, "work")
    assert found is not None
    assert "new.py" in found.diffstat


def test_a_head_without_a_commit_has_nothing_to_take_over(tmp_path: Path) -> None:
    root = with_work(tmp_path)
    git(root, "checkout", "-q", "--orphan", "pages")
    assert takeover(root, "work") is None
