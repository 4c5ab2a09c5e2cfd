"""A chat whose work is reviewed before it ends: passed at once, repaired after a refusal, and never reviewed at all.

Fake: the reviewer, a program that looks for a route in the diff, and the transcript, written as Claude Code does.
Real: the review server and a client of the protocol, git, the state file, the stop hook as its client's shell runs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.program import PROGRAM, SOURCE, repository, start
from tests.review.chats import SESSION, claude_answer, claude_call, claude_says

REVIEWER = """
import json, sys
prompt = sys.stdin.read()
is_there = "+ROUTES = ['/auth/callback']" in prompt
print(json.dumps({"status": "OK"} if is_there else {"status": "NOK", "feedback": "No /auth/callback route"}))
"""
TASK = """## Add OAuth login

### Acceptance criteria
- a route /auth/callback handles the exchange of the token
- the session is kept in a cookie that scripts cannot read
"""
DONE = "Everything is done."


@dataclass
class Reviewed:
    """A project under review, a chat in it, and the settings in which the hook stands."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def transcript(self) -> Path:
        return self.root / "chat.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        own = {"CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_CODE_SESSION_ID": SESSION}
        return {"HOME": str(self.root), "PATH": path, "PYTHONPATH": str(SOURCE), **own}

    def write(self, name: str, text: str) -> None:
        (self.project / name).write_text(text)

    def says(self, *lines: str) -> None:
        with self.transcript.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def talk(self, ask: Callable[[Client], Awaitable[None]]) -> None:
        """Let a client talk to the server."""
        words = [*PROGRAM[1:], "mcp", "review", "--", sys.executable, str(self.root / "reviewer.py")]
        server = StdioServerParameters(command=PROGRAM[0], args=words, env=self.environment, cwd=self.project)

        async def main() -> None:
            async with Client(stdio_client(server), mode="legacy") as client:
                await ask(client)

        anyio.run(main)

    def stop(self) -> subprocess.CompletedProcess[str]:
        """The agent wants to stop: its client runs the command of its settings."""
        settings = json.loads((self.project / ".claude/settings.local.json").read_text())
        ((entry,),) = ([hook for hook in group["hooks"]] for group in settings["hooks"]["Stop"])
        self.says(claude_says(DONE, message=os.urandom(4).hex()))
        asked = {
            "session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.project),
            "hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": DONE,
        }  # fmt: skip
        return subprocess.run(
            ["sh", "-c", entry["command"]],
            cwd=self.project,
            env=self.environment,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def reviewed(tmp_path: Path) -> Reviewed:
    made = Reviewed(tmp_path)
    made.project.mkdir()
    repository(made.project)
    (tmp_path / "reviewer.py").write_text(REVIEWER)
    assert start(made.project, "hook", "install", "--claude", HOME=str(tmp_path)).returncode == 0
    made.says('{"type":"summary"}')
    return made


async def register(client: Client, reviewed: Reviewed) -> str:
    result = await client.call_tool("todoWrite", {"description": TASK})
    assert not result.is_error, result
    task = str((result.structured_content or {})["task_id"])
    reviewed.says(claude_call(task), claude_answer(task))
    return task


async def verify(client: Client, task: str) -> dict[str, object]:
    result = await client.call_tool("todoCompleteAndVerify", {"task_id": task})
    assert not result.is_error, result
    return dict(result.structured_content or {})


def test_a_task_that_passes_its_review_lets_the_chat_end(reviewed: Reviewed) -> None:
    async def ask(client: Client) -> None:
        task = await register(client, reviewed)
        reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")
        assert (await verify(client, task))["status"] == "OK"

    reviewed.talk(ask)
    done = reviewed.stop()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_task_that_fails_is_repaired_and_reviewed_again_before_the_chat_ends(reviewed: Reviewed) -> None:
    found: list[str] = []

    async def fail(client: Client) -> None:
        task = await register(client, reviewed)
        found.append(task)
        reviewed.write("auth.py", "ROUTES = []\n")
        answer = await verify(client, task)
        assert (answer["status"], answer["feedback"]) == ("NOK", "No /auth/callback route")

    async def repair(client: Client) -> None:
        reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")
        assert (await verify(client, found[0]))["status"] == "OK"

    reviewed.talk(fail)
    held = reviewed.stop()
    assert held.returncode == 2
    assert f"BLOCKED: 1 unverified task(s). Call todoCompleteAndVerify for: {found[0]}" in held.stderr
    assert "read its feedback" in held.stderr
    reviewed.talk(repair)
    assert reviewed.stop().returncode == 0


def test_a_chat_that_skips_the_review_is_held(reviewed: Reviewed) -> None:
    async def ask(client: Client) -> None:
        await register(client, reviewed)
        reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")

    reviewed.talk(ask)
    for _ in range(3):
        held = reviewed.stop()
        assert (held.returncode, "BLOCKED: 1 unverified task(s)." in held.stderr) == (2, True)


def test_work_that_is_changed_after_its_review_must_be_reviewed_again(reviewed: Reviewed) -> None:
    found: list[str] = []

    async def ask(client: Client) -> None:
        found.append(await register(client, reviewed))
        reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")
        assert (await verify(client, found[0]))["status"] == "OK"

    reviewed.talk(ask)
    reviewed.write("auth.py", "ROUTES = ['/auth/callback']\nBACKDOOR = True\n")
    held = reviewed.stop()
    assert held.returncode == 2
    assert f"{found[0]}: changed since it was verified: {reviewed.project}" in held.stderr
    reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")
    assert reviewed.stop().returncode == 0


def test_a_task_whose_registering_the_transcript_does_not_tell_yet_holds_the_chat(reviewed: Reviewed) -> None:
    async def ask(client: Client) -> None:
        assert not (await client.call_tool("todo_write", {"description": TASK})).is_error

    reviewed.talk(ask)
    assert "BLOCKED: 1 unverified task(s)." in reviewed.stop().stderr


def test_a_chat_without_tasks_ends_quietly(reviewed: Reviewed) -> None:
    done = reviewed.stop()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_state_that_was_lost_holds_the_chat(reviewed: Reviewed) -> None:
    async def ask(client: Client) -> None:
        task = await register(client, reviewed)
        reviewed.write("auth.py", "ROUTES = ['/auth/callback']\n")
        assert (await verify(client, task))["status"] == "OK"

    reviewed.talk(ask)
    for file in (reviewed.project / ".agent-fox").glob("state.db*"):
        file.unlink()
    held = reviewed.stop()
    assert (held.returncode, "the state was lost or moved" in held.stderr) == (2, True)
