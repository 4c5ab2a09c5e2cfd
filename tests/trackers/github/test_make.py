"""A tracker is made of settings and surroundings, and asks nothing; what is missing is told when it is used."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import TrackerSettings
from agent_fox.testing.github import GitHubFake, mounted
from agent_fox.trackers.github.make import Unready, github_tracker, is_pushed, style_of
from agent_fox.trackers.github.tracker import GitHubTracker
from agent_fox.trackers.protocol import Effect, EffectKind, Held, Tracker
from agent_fox.trackers.upkeep import KeepsOrder, Seeing
from tests.trackers.github.test_credentials import NOTHING

EFFECT = Effect("id", EffectKind.FILE, "fp", "title", "body")


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose `origin` is called as one on GitHub, and lies beside it."""
    (tmp_path / "far").mkdir()
    git(tmp_path / "far", "init", "-q", "--bare")
    (tmp_path / "here").mkdir()
    git(tmp_path / "here", "init", "-q", "-b", "main")
    git(tmp_path / "here", "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path / "here", "remote", "add", "origin", str(tmp_path / "far"))
    git(tmp_path / "here", "push", "-q", "origin", "main")
    git(tmp_path / "here", "remote", "set-url", "origin", "git@github.com:octo/project.git")
    return tmp_path / "here"


def environ(root: Path, **more: str) -> dict[str, str]:
    return {**NOTHING, "XDG_STATE_HOME": str(root.parent / "state"), **more}


def test_what_is_set_up_makes_a_tracker_and_asks_nobody(root: Path) -> None:
    with mounted(GitHubFake()) as fake:
        tracker = github_tracker(TrackerSettings(), root, environ(root, GH_TOKEN="ghp_secret"))
    assert isinstance(tracker, GitHubTracker)
    assert (tracker.name, tracker.place) == ("github", "github.com/octo/project")
    assert fake.exchanges == []
    assert "secret" not in repr(tracker)


@pytest.mark.parametrize(
    ("settings", "token", "reason"),
    [
        ({}, "", "no token for github.com"),
        ({}, "a b", "the token from GH_TOKEN"),
        ({"remote": "upstream"}, "t", "no git remote `upstream`"),
        ({"base_url": "http://ghe.example.com"}, "t", "not https"),
        ({"app_id": 7}, "t", "a GitHub App needs"),
        ({"template": "missing.md"}, "t", "missing.md"),
    ],
)
def test_what_is_missing_holds_everything_with_the_remedy(
    root: Path, settings: dict[str, str | int], token: str, reason: str
) -> None:
    tracker = github_tracker(TrackerSettings.model_validate(settings), root, environ(root, GH_TOKEN=token))
    assert isinstance(tracker, Unready)
    assert isinstance(tracker, Tracker)
    assert isinstance(tracker, KeepsOrder)
    held = tracker.deliver(EFFECT)
    assert isinstance(held, Held)
    assert held.is_general
    assert reason in held.reason
    assert "agent-fox issues sync" in held.remedy
    assert tracker.newest() == ""
    assert tracker.place == ("" if "remote" in settings or "base_url" in settings else "github.com/octo/project")
    assert tracker.look([]) == tracker.sweep() == Seeing(trouble=held)
    assert tracker.adopt(1, "fp") == held


def test_a_key_that_is_none_holds_everything(root: Path) -> None:
    told = environ(root, GH_TOKEN="t", AGENT_FOX_TRACKER_KEY="short")
    assert isinstance(github_tracker(TrackerSettings(), root, told), Unready)


def test_a_commit_that_is_not_pushed_is_not_linked(root: Path) -> None:
    pushed = git(root, "rev-parse", "HEAD")
    git(root, "commit", "-q", "--allow-empty", "-m", "two")
    ours = git(root, "rev-parse", "HEAD")
    assert is_pushed(root, "origin", pushed)
    assert [is_pushed(root, "origin", sha) for sha in (ours, "0" * 40, "--all", "")] == [False] * 4
    assert not is_pushed(root, "upstream", pushed)
    tracker = github_tracker(TrackerSettings(), root, environ(root, GH_TOKEN="t"))
    assert isinstance(tracker, GitHubTracker)
    style = style_of(TrackerSettings(), root, (), tracker.door)
    assert style.commit_url is not None
    assert style.blob_url is not None
    assert (style.commit_url(pushed), style.commit_url(ours)) == (
        f"https://github.com/octo/project/commit/{pushed}",
        "",
    )
    assert style.blob_url(pushed, "a.py", 3) == f"https://github.com/octo/project/blob/{pushed}/a.py#L3"
    assert style.blob_url(ours, "a.py", 3) == ""


def test_secrets_of_the_surroundings_and_the_token_itself_are_masked(root: Path) -> None:
    gh = root.parent / "gh"
    gh.write_text("#!/bin/sh\necho plain-looking-token\n")
    gh.chmod(0o755)
    told = environ(root, PATH=f"{root.parent}:/usr/bin:/bin", DB_PASSWORD="correct-horse-battery")
    tracker = github_tracker(TrackerSettings(), root, told)
    assert isinstance(tracker, GitHubTracker)
    text = tracker.write(replace(EFFECT, body="it said correct-horse-battery and plain-looking-token")).body
    assert "it said" in text
    assert "correct-horse" not in text
    assert "plain-looking" not in text
