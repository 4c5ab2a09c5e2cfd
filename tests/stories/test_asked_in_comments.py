"""People ask for something in comments on an issue: by `issues sync` and in a run; what waives bears a signature."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.testing.github import Answer, Request, Role
from agent_fox.testing.worlds import NEVER, Req, World, rows, run_cli
from tests.evidence.waiver_world import Person, person
from tests.stories.github_scene import GitHubScene, github
from tests.stories.scene import outcomes

SPEC, PART = "05_memory", "05-REQ-1.1"
SETTINGS = '[retry]\nattempts = 1\n[github]\ncommands = "write"\n'


@dataclass(frozen=True)
class Talk:
    """A run has filed an issue about what is never met, or met by a second attempt; pat may write, mallory may not."""

    hub: GitHubScene
    alice: Person
    root: Path

    def asks(self, text: str, login: str = "pat") -> None:
        self.hub.fake.person(login).comments(1, text)

    def cli(self, *arguments: str) -> str:
        environ = {**self.hub.environ, "AGENT_FOX_KEYS": str(self.alice.keys)}
        done = run_cli(self.root, *arguments, timeout=120, data=None, **environ)
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout

    def answers(self) -> list[str]:
        comments = self.hub.fake.repository.issues[1].comments
        return [comment.body.partition("\n")[2] for comment in comments if comment.author.login == "fox-bot"]


@pytest.fixture(params=[2])
def talk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Talk]:
    with github(tmp_path) as hub:
        root = hub.build(World({SPEC: [Req(PART, 1, right_at=request.param)]}, settings=SETTINGS))
        hub.fake.repository.roles["pat"] = Role.WRITE
        made = Talk(hub, person(tmp_path / "people"), root)
        assert "not proven" in made.cli("run")
        yield made


def test_each_comment_is_answered_once_by_a_sync(talk: Talk) -> None:
    talk.asks("/agent-fox explain")
    talk.asks("/agent-fox retry", "mallory")
    for _ in range(2):
        talk.cli("issues", "sync")
    first, second = talk.answers()
    assert first.startswith("Not fully proven: 0 of 1 requirements of `05_memory` passed")
    assert second.startswith("Not done: only who may write to this repository may ask for it.")
    assert outcomes(talk.root) == {f"{SPEC}:2": "escalated"}


def test_a_retry_that_a_run_finds_at_its_start_is_done_in_it(talk: Talk) -> None:
    talk.asks(f"/agent-fox retry {SPEC}:1")
    told = talk.cli("run")
    assert f"pat asked for retry {SPEC}:1 in issue #1" in told
    assert outcomes(talk.root) == {f"{SPEC}:2": "verified"}
    talk.cli("issues", "sync")
    assert talk.answers()[0].startswith(f"{SPEC}:1 has a new budget.")
    assert not talk.hub.fake.repository.issues[1].is_open


@pytest.mark.parametrize("talk", [NEVER], indirect=True)
def test_a_waiver_counts_with_its_signature_and_only_so(talk: Talk) -> None:
    talk.asks("/agent-fox waive")
    talk.cli("issues", "sync")
    assert "agent-fox waive ... --comment" in talk.answers()[0]
    words = ("--reason", "the vendor mends it", "--expires", "30d", *talk.alice.signing)
    comment = talk.cli("waive", PART, *words, "--comment")
    assert comment.startswith("/agent-fox waive\n```json\n{")
    assert outcomes(talk.root) == {f"{SPEC}:2": "escalated"}
    talk.asks(comment.strip())
    assert "waived" in talk.cli("run")
    assert outcomes(talk.root) == {f"{SPEC}:2": "waived"}


def test_a_sync_that_is_killed_when_the_answer_is_out_asks_and_answers_once(talk: Talk) -> None:
    talk.asks(f"/agent-fox retry {SPEC}:1")
    environ = {**os.environ, **talk.hub.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "agent_fox.cli.main", "issues", "sync"]
    with subprocess.Popen(command, cwd=talk.root, env=environ) as process:

        def kill(request: Request, answer: Answer) -> None:
            if request.is_write:
                process.kill()

        talk.hub.fake.hooks.after = kill
    assert process.returncode == -signal.SIGKILL
    talk.hub.fake.hooks.after = None
    talk.cli("issues", "sync", "--wait", "20")
    [answer] = talk.answers()
    assert answer.startswith(f"{SPEC}:1 has a new budget.")
    assert rows(talk.root, "SELECT count(*) FROM decisions WHERE kind = 'Reset'") == [(1,)]
