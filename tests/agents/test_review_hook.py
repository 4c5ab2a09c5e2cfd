"""The real Claude Code and codex in a project with the review server and the stop hook, as `hook install` sets them up.

Fake: the model, and the reviewer, a program that looks for a word in the diff. Real: the programs, their settings, the
review server, the hook, git. A scripted model cannot know the id of its task; a command of its shell looks that up.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.worlds import SOURCE
from tests.agents.programs import VARIABLE, program
from tests.agents.world import LONGEST, PROMPT, WORD, script, text_of, work
from tests.cli.program import PROGRAM, repository, start

CLAUDE, CODEX = program("claude"), program("codex")


def needs(name: str, found: Path | None) -> list[pytest.MarkDecorator]:
    reason = f"{name} is not below the folder that {VARIABLE} names"
    return [pytest.mark.agents, pytest.mark.skipif(found is None, reason=reason)]


BOTH = pytest.mark.parametrize(
    "name", [pytest.param("claude", marks=needs("claude", CLAUDE)), pytest.param("codex", marks=needs("codex", CODEX))]
)
TASK = """## Add a greeting

### Acceptance criteria
- the file greeting.txt says hello to the world
- nothing else changes
"""
REGISTER = {"mcp": "todoWrite", "arguments": {"description": TASK}}
CLAUDES_TOOL = "mcp__agent-fox-review__todoWrite"
CLAUDES_TOOL_OF_THE_PLUGIN = "mcp__plugin_agent-fox_agent-fox-review__todoWrite"
REVIEWER = """
import json, sys
is_there = "+hello world" in sys.stdin.read()
print(json.dumps({"status": "OK"} if is_there else {"status": "NOK", "feedback": "no greeting"}))
"""
VERIFY = """
import pathlib, sqlite3, sys
import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

(task,) = sqlite3.connect(".agent-fox/state.db").execute("SELECT id FROM review_tasks").fetchone()
words = [*sys.argv[3:], "mcp", "review", "--project", "."]
server = StdioServerParameters(command=sys.argv[2], args=words, env={"HOME": sys.argv[1]})


async def main():
    async with Client(stdio_client(server), mode="legacy") as client:
        print((await client.call_tool("todoCompleteAndVerify", {"task_id": task})).structured_content)


pathlib.Path("greeting.txt").write_text("hello world\\n")
anyio.run(main)
"""


CLEAR = """
import json, sqlite3
from pathlib import Path
from agent_fox.review.tasks import Event, Word, record
from agent_fox.store.reviews import task_rows
from agent_fox.store.state import open_state, transaction

db = open_state(Path(".agent-fox/state.db"))
with transaction(db):
    (task,) = task_rows(db)
    record(db, "2030-01-01T00:00:00.000Z", task, Event(Word.CLEARED))
"""
"""What the server does when a person has given the password."""


@dataclass(frozen=True)
class Desk:
    """A project with hook and server installed, and a person's home."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def environment(self, **more: str) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        direct = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **direct, **more}

    def verifying(self) -> str:
        """A command line that does the work and has it reviewed."""
        return shlex.join([sys.executable, str(self.root / "verify.py"), str(self.home), *PROGRAM])

    def run(self, name: str, server: ModelServer) -> subprocess.CompletedProcess[str]:
        return _claude(self, server) if name == "claude" else _codex(self, server)

    def plug(self, found: Path | None, *words: str) -> None:
        if found is not None:
            subprocess.run(
                (found, "plugin", *words), cwd=self.home, env=self.environment(), check=True, capture_output=True,
                timeout=LONGEST,
            )  # fmt: skip

    def words(self) -> list[str]:
        """What happened to the tasks."""
        with sqlite3.connect(self.project / ".agent-fox/state.db") as db:
            return [kind for (kind,) in db.execute("SELECT kind FROM review_events ORDER BY id")]


def _claude(desk: Desk, server: ModelServer) -> subprocess.CompletedProcess[str]:
    words = [str(CLAUDE), "-p", PROMPT, "--output-format", "json", "--max-turns", "40"]
    words += ["--allowedTools", f"{CLAUDES_TOOL},{CLAUDES_TOOL_OF_THE_PLUGIN},Bash"]
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}
    key = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": WORD, "CLAUDE_CODE_MAX_RETRIES": "1"}
    scratch = {"TMPDIR": str(desk.root), "CLAUDE_CODE_TMPDIR": str(desk.root)}
    waits = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_TIMEOUT": "60000", "MCP_CONNECT_TIMEOUT_MS": "60000"}
    return _run(desk, words, {**quiet, **key, **scratch, **waits, "ENABLE_TOOL_SEARCH": "false"})


def _codex(desk: Desk, server: ModelServer) -> subprocess.CompletedProcess[str]:
    settings = desk.home / ".codex/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    plugins = settings.read_text() if settings.exists() else ""
    settings.write_text(
        'model = "scripted-model"\nmodel_provider = "door"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\nweb_search = "disabled"\n'
        f'[analytics]\nenabled = false\n[projects."{desk.project}"]\ntrust_level = "trusted"\n'
        f'[model_providers.door]\nname = "door"\nbase_url = "{server.url}/v1"\nenv_key = "DOOR_KEY"\n'
        'wire_api = "responses"\nsupports_websockets = false\nrequest_max_retries = 1\nstream_max_retries = 1\n'
        + plugins
    )
    words = [str(CODEX), "exec", "--json", "--dangerously-bypass-hook-trust", PROMPT]
    if not plugins:
        words += ["-c", "mcp_servers.agent-fox-review.required=true"]
    return _run(desk, words, {"DOOR_KEY": WORD})


def _run(desk: Desk, words: Sequence[str], more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=desk.project,
        env=desk.environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = bare(tmp_path)
    done = start(made.project, "hook", "install", "--claude", "--codex", HOME=str(made.home))
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def plugged(tmp_path: Path) -> Desk:
    """A project that uses agent-fox, of a person who has the plugin of this repository in both programs."""
    made = bare(tmp_path)
    (made.project / ".agent-fox").mkdir()
    for words in (("marketplace", "add", str(SOURCE)), ("install", "agent-fox@agent-fox")):
        made.plug(CLAUDE, *words)
    for words in (("marketplace", "add", str(SOURCE)), ("add", "agent-fox@agent-fox")):
        made.plug(CODEX, *words)
    return made


def bare(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.project.mkdir()
    repository(made.project)
    (tmp_path / "reviewer.py").write_text(REVIEWER)
    (tmp_path / "verify.py").write_text(VERIFY)
    settings = made.home / ".config/agent-fox/review.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[review]\ncommand = ["{sys.executable}", "{tmp_path / "reviewer.py"}"]\n')
    return made


def shell(name: str, command: str) -> dict[str, Any]:
    if name == "claude":
        return {"tool": "Bash", "arguments": {"command": command}}
    return {"tool": "exec_command", "arguments": {"cmd": command, "yield_time_ms": 30_000}}


@pytest.mark.landing
@BOTH
def test_a_chat_is_held_until_its_task_is_verified_and_then_let_go(desk: Desk, name: str) -> None:
    actions = (REGISTER, {"say": "All is done."}, shell(name, desk.verifying()), {"say": "Now it is."}, {"say": "NO"})
    with ModelServer(script(*actions)) as server:
        done = desk.run(name, server)
        requests = work(server)
    assert done.returncode == 0, done.stderr
    assert desk.words() == ["registered", "verified"], done.stdout
    assert "Now it is." in done.stdout
    assert "BLOCKED: 1 unverified task(s). Call todoCompleteAndVerify for: afx-" in text_of(requests)
    assert len(requests) == 4


@BOTH
def test_the_plugin_of_this_repository_brings_hook_and_server(plugged: Desk, name: str) -> None:
    """Codex waits for no server of a plugin: its model begins with something else."""
    actions = (
        shell(name, "sleep 5"),
        REGISTER,
        {"say": "All is done."},
        shell(name, plugged.verifying()),
        {"say": "Now it is."},
        {"say": "NO"},
    )
    with ModelServer(script(*actions)) as server:
        done = plugged.run(name, server)
        requests = work(server)
    assert done.returncode == 0, done.stderr
    assert plugged.words() == ["registered", "verified"], done.stdout
    assert "BLOCKED: 1 unverified task(s)" in text_of(requests)
    assert len(requests) == 5


@BOTH
def test_a_chat_whose_task_was_cleared_is_let_go(desk: Desk, name: str) -> None:
    (desk.root / "clear.py").write_text(CLEAR)
    clearing = shlex.join([sys.executable, str(desk.root / "clear.py")])
    actions = (REGISTER, {"say": "All is done."}, shell(name, clearing), {"say": "Now it is."}, {"say": "NO"})
    with ModelServer(script(*actions)) as server:
        done = desk.run(name, server)
        requests = work(server)
    assert (done.returncode, len(requests), desk.words()) == (0, 4, ["registered", "cleared"])
    assert "Now it is." in done.stdout


@BOTH
def test_a_chat_without_a_task_is_not_held(desk: Desk, name: str) -> None:
    with ModelServer(script({"say": "Hello."}, {"say": "NO"})) as server:
        done = desk.run(name, server)
        assert (done.returncode, len(work(server))) == (0, 1)


@pytest.mark.parametrize("name", [pytest.param("claude", marks=needs("claude", CLAUDE))])
def test_claude_gives_up_after_nine_blocks_and_the_task_is_still_not_verified(desk: Desk, name: str) -> None:
    with ModelServer(script(REGISTER, *[{"say": "All is done."}] * 20)) as server:
        done = desk.run(name, server)
        requests = work(server)
    assert (done.returncode, len(requests)) == (0, 10)
    assert desk.words() == ["registered"]


@pytest.mark.parametrize("name", [pytest.param("codex", marks=needs("codex", CODEX))])
def test_codex_is_held_longer_than_that_and_let_go_in_the_end(desk: Desk, name: str) -> None:
    held = [{"say": "All is done."}] * 15
    with ModelServer(script(REGISTER, *held, shell(name, desk.verifying()), {"say": "Now it is."})) as server:
        done = desk.run(name, server)
        requests = work(server)
    assert (done.returncode, len(requests)) == (0, 18)
    assert desk.words() == ["registered", "verified"]
