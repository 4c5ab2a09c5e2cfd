"""What `issues doctor` says of the settings of `[github]`, at the fake GitHub."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_fox.config import GitHubSettings, TrackerSettings
from agent_fox.testing.github import Fault, GitHubFake, Role, faults, mounted
from agent_fox.testing.worlds import commit_all
from agent_fox.trackers.github.checkup import Check
from agent_fox.trackers.github.doctor import examine
from tests.trackers.github.test_credentials import NOTHING, key_file

EVERYTHING: dict[str, Any] = {
    "pull_request": True,
    "checks": True,
    "commands": "write",
    "assign": True,
    "milestone": "Beta",
}
NAMES = ("pull request", "checks", "commands", "owners", "assignees", "milestone")


@pytest.fixture
def fake() -> Iterator[GitHubFake]:
    with mounted(GitHubFake()) as fake:
        yield fake


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", "git@github.com:octo/project"], check=True)
    return folder


def examined(
    root: Path, token: str = "ghp_fake", tracker: Mapping[str, object] | None = None, **github: object
) -> dict[str, Check]:
    environ = {**NOTHING, "XDG_STATE_HOME": str(root.parent / "state"), "GH_TOKEN": token}
    settings = TrackerSettings.model_validate(tracker or {})
    wanted = GitHubSettings.model_validate(github)
    checks = examine(settings, root, environ, pause=lambda _: None, github=wanted)
    return {check.name: check for check in checks if check.name in NAMES}


def states(checks: dict[str, Check]) -> dict[str, bool | None]:
    return {name: check.ok for name, check in checks.items()}


def test_what_is_off_is_not_looked_at_and_nothing_is_ever_written(fake: GitHubFake, root: Path) -> None:
    assert examined(root) == {}
    examined(root, **EVERYTHING)
    assert fake.writes == ()


def test_a_persons_token_is_fine_for_statuses_and_unknown_for_pull_requests(fake: GitHubFake, root: Path) -> None:
    fake.repository.milestones[1] = "Beta"
    (root / "CODEOWNERS").write_text("* @alex\n")
    commit_all(root, "owners")
    checks = examined(root, **EVERYTHING)
    assert states(checks) == {**dict.fromkeys(NAMES, True), "pull request": None}
    assert checks["checks"].detail == "as commit statuses: only an App may write check runs"


def test_what_is_missing_is_said_with_the_remedy(fake: GitHubFake, root: Path) -> None:
    fake.token.role = Role.READ
    checks = examined(root, **EVERYTHING)
    assert states(checks) == dict.fromkeys(NAMES, False)
    assert all(check.remedy for check in checks.values())
    assert "[github] commands" in checks["commands"].remedy


def test_an_app_tells_what_it_may(fake: GitHubFake, root: Path, tmp_path: Path) -> None:
    fake.add_app()
    app = {"app_id": 7, "app_key": str(key_file(tmp_path))}
    checks = examined(root, tracker=app, pull_request=True, checks=True)
    assert states(checks) == {"pull request": False, "checks": False}
    assert "`checks: none`" in checks["checks"].detail


def test_a_workflows_token_does_not_tell_whether_it_may_write_checks(fake: GitHubFake, root: Path) -> None:
    fake.add_token("ghs_fake", "github-actions[bot]")
    assert states(examined(root, "ghs_fake", checks=True)) == {"checks": None}


def test_milestones_that_cannot_be_read_are_unknown(fake: GitHubFake, root: Path) -> None:

    fake.faults.append(Fault(lambda asked: asked.path.endswith("/milestones"), faults.gateway(), times=9))
    assert states(examined(root, milestone="Beta")) == {"milestone": None}
