"""A run whose pull request, checks and comment stand on GitHub at its end, and are current after the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_fox.testing.github import Answer, Request
from agent_fox.testing.worlds import NEVER, Req, World, git
from tests.stories.github_scene import GitHubScene, github
from tests.stories.scene import NOT_PROVEN, PROVEN

SPEC = "05_memory"
BRANCH = "agent-fox/integration"
SETTINGS = '[retry]\nattempts = 1\n[git]\npush = "origin"\n[github]\n{}\n'
HALF = {SPEC: [Req("05-REQ-1.1", 1), Req("05-REQ-1.2", 1, NEVER)]}
WHOLE = {SPEC: [Req("05-REQ-1.1", 1)]}


@dataclass(frozen=True)
class Hub:
    """The stand-in, and a remote whose branches it knows once they are pushed."""

    scene: GitHubScene

    def build(self, specs: dict[str, list[Req]], github_settings: str) -> Path:
        return self.build_world(World(specs), SETTINGS.format(github_settings))

    def build_world(self, world: World, settings: str) -> Path:
        root = self.scene.build(replace(world, settings=settings))
        remote = self.scene.folder / "remote.git"
        git(self.scene.folder, "init", "-q", "--bare", "-b", "main", "remote.git")
        git(root, "remote", "add", "origin", str(remote))
        return root

    def run(self, root: Path, ends: int) -> str:
        self.scene.fake.person().pushes("main", git(root, "rev-parse", "main"))
        self.scene.fake.hooks.before = lambda request: self.learn()
        return self.scene.run(root, ends=ends).stdout

    def learn(self) -> None:
        """What was pushed by now."""
        lines = git(
            self.scene.folder / "remote.git", "for-each-ref", "--format=%(refname:short) %(objectname)"
        ).splitlines()
        for name, sha in (line.split(" ") for line in lines):
            if self.scene.fake.repository.branches.get(name) != sha:
                self.scene.fake.person().pushes(name, sha)

    @property
    def pull_body(self) -> str:
        [pull] = [issue for issue in self.scene.fake.repository.issues.values() if issue.is_pull]
        return pull.face.body or ""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with github(tmp_path) as scene:
        yield Hub(scene)


def test_a_draft_pull_request_has_the_table_of_what_is_proven_and_what_is_not(hub: Hub) -> None:
    root = hub.build(HALF, "pull_request = true")
    hub.run(root, NOT_PROVEN)
    body = hub.pull_body
    counts = "**NOT PROVEN**: 1 requirement fails; 1 of 2 proven."
    for words in (
        counts,
        "### Not proven",
        "`05_memory/05-REQ-1.2`",
        "| fails |",
        "| not proven |",
        "### Proven",
        "### Needs you",
        "judged",
        "$",
    ):
        assert words in body, (words, body)
    assert git(root, "rev-parse", BRANCH)[:12] in body


def test_by_default_none_of_it_is_made(hub: Hub) -> None:
    root = hub.build(WHOLE, "")
    hub.run(root, PROVEN)
    assert hub.scene.fake.repository.issues == {}
    assert (hub.scene.fake.repository.check_runs, hub.scene.fake.repository.statuses) == ([], [])


def test_checks_of_a_spec_are_statuses_for_a_persons_token_and_have_places_for_an_app(hub: Hub) -> None:
    root = hub.build(HALF, "checks = true")
    told = hub.run(root, NOT_PROVEN)
    [status] = hub.scene.fake.repository.statuses
    assert (status.context, status.state) == (f"agent-fox / {SPEC}", "failure")
    assert status.sha == git(root, "rev-parse", BRANCH)
    assert "1 of 2 proven; 1 fails: 05-REQ-1.2" in status.description
    assert "as commit statuses" in told
    installed = hub.scene.fake.add_app()
    hub.scene.fake.token.account, hub.scene.fake.token.installation = installed.account, installed.installation
    hub.scene.cli(root, "reset", f"{SPEC}:2")
    hub.run(root, NOT_PROVEN)
    [run] = hub.scene.fake.repository.check_runs
    assert (run.name, run.sha, run.conclusion) == (f"agent-fox / {SPEC}", git(root, "rev-parse", BRANCH), "failure")
    assert "05-REQ-1.2" in run.summary


def test_one_comment_says_how_the_last_run_ended_and_is_written_anew(hub: Hub) -> None:
    asked = hub.scene.fake.person().opens_pull("Mine", "As I see it.")
    root = hub.build(HALF, "comment_on = 1")
    hub.run(root, NOT_PROVEN)
    [comment] = asked.comments
    assert "**NOT PROVEN**" in comment.body
    hub.scene.cli(root, "reset", f"{SPEC}:2")
    hub.run(root, NOT_PROVEN)
    assert len(asked.comments) == 1
    assert asked.face.body == "As I see it."


def test_where_the_branch_is_not_pushed_the_pull_request_waits_with_its_remedy(hub: Hub) -> None:
    root = hub.build(WHOLE, "pull_request = true")
    git(root, "remote", "set-url", "origin", str(root.parent / "nowhere.git"))
    told = hub.run(root, PROVEN)
    assert f"push {BRANCH}" in told
    assert hub.scene.fake.repository.issues == {}


@pytest.mark.parametrize("tail", ["/pulls", "/statuses/"])
def test_a_run_that_is_killed_when_github_has_it_leaves_it_once(hub: Hub, tail: str) -> None:
    root = hub.build(WHOLE, "pull_request = true\nchecks = true")
    hub.scene.fake.person().pushes("main", git(root, "rev-parse", "main"))
    hub.scene.fake.hooks.before = lambda request: hub.learn()
    environ = {**os.environ, **hub.scene.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([sys.executable, "-m", "agent_fox.cli.main", "run"], cwd=root, env=environ) as process:

        def kill(request: Request, answer: Answer) -> None:
            if request.is_write and tail in request.path:
                process.kill()

        hub.scene.fake.hooks.after = kill
    assert process.returncode == -signal.SIGKILL
    hub.scene.fake.hooks.after = None
    hub.run(root, PROVEN)
    hub.scene.cli(root, "issues", "sync", "--wait", "20")
    assert [issue.is_pull for issue in hub.scene.fake.repository.issues.values()] == [True]
    assert "**PROVEN**" in hub.pull_body
    assert [status.state for status in hub.scene.fake.repository.statuses] == ["success"]
