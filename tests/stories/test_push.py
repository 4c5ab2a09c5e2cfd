"""What a run pushes at its end, and what it says where it could not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git
from tests.stories.scene import PROVEN, REFUSED, run

WORLD = {"01_calc": [Req("01-REQ-1.1", 1)]}
BRANCH = "agent-fox/integration"


def build(folder: Path, settings: str) -> Path:
    root = World(WORLD, settings=settings).build(folder)
    git(folder, "init", "-q", "--bare", "-b", "main", "remote.git")
    git(root, "remote", "add", "origin", str(folder / "remote.git"))
    return root


def there(root: Path) -> dict[str, str]:
    lines = git(root.parent / "remote.git", "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def test_a_run_pushes_nothing_by_itself(tmp_path: Path) -> None:
    root = build(tmp_path, "")
    run(root, ends=PROVEN)
    assert there(root) == {}


def test_with_a_remote_named_the_proven_work_is_there_at_the_end(tmp_path: Path) -> None:
    root = build(tmp_path, '[git]\npush = "origin"\n')
    done = run(root, ends=PROVEN)
    assert there(root) == {f"refs/heads/{BRANCH}": git(root, "rev-parse", BRANCH)}
    assert f"pushed {BRANCH} to origin" in done.stdout


def test_a_push_that_fails_changes_no_exit_code_and_is_told_with_the_remedy(tmp_path: Path) -> None:
    root = build(tmp_path, '[git]\npush = "origin"\n')
    git(root, "remote", "set-url", "origin", str(tmp_path / "nowhere.git"))
    done = run(root, "--json", ends=PROVEN)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["reason"].startswith("everything in scope is proven; not pushed to origin: ")
    assert f"git push origin {BRANCH}" in summary["reason"]


@pytest.mark.parametrize("branch", ["master", "release/7"])
def test_a_protected_branch_is_refused_at_the_start(tmp_path: Path, branch: str) -> None:
    root = build(tmp_path, f'[git]\npush = "origin"\nintegration_branch = "{branch}"\n')
    done = run(root, ends=REFUSED)
    assert f"{branch} is protected" in done.stderr
    assert there(root) == {}
