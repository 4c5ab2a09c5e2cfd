"""The demonstration of an issue's life is itself a story: real runs, against the stand-in for GitHub over loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing import life
from agent_fox.testing.github import GitHubFake, serve

ROOT = Path(__file__).resolve().parents[2]


def test_an_issue_is_filed_commented_repaired_in_part_and_closed_with_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = life.make_life(tmp_path / "demo", ROOT / "fixtures" / "demo")
    fake = GitHubFake(repository=life.REPOSITORY, token=life.TOKEN)
    with serve(fake) as url:
        assert life.tell(root, fake, life.surroundings(url)) == []
    (issue,) = fake.issues
    again, repaired, proven = (comment.body for comment in issue.comments)
    assert ("**Still failing**" in again, "Fixed" in again) == (True, False)
    assert "Fixed since the last update: 03-REQ-1.E1" in repaired
    assert "Proven: all 5 requirements of 03_split pass on commit" in proven
    assert (issue.face.reason, fake.violations, fake.notices) == ("completed", (), ())
    assert "issue closed: 03_split is proven" in capfd.readouterr().out


def test_an_issue_that_lives_otherwise_is_told(tmp_path: Path) -> None:
    fake = GitHubFake(repository=life.REPOSITORY, token=life.TOKEN)
    first = life.CHAPTERS[0]
    assert life.complaints(1, first, 0, fake) == [
        "run 1 exited with 0, not 2", "after run 1 the issues (open, comments) are []",
    ]  # fmt: skip
