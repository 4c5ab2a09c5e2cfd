"""A session whose program is an attacker: run whole, from the order to its end, with everything of ours real.

Fake: the program. A script stands for Claude Code, plays an attack with the rights that the program and all it starts
would have, and writes down what it found. The clone, the shim, the runner, the metering proxy, the sandbox are real.
"""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from agent_fox.session.agents.backend import AgentBackend
from agent_fox.session.agents.report import AgentReport, read_report
from agent_fox.session.order import Agent, LaunchOrder, Paths, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.session.world import make_order, make_repo, never_told

KEY = "sk-ant-the-real-key-of-a-person-4711"
SECRET = "what-belongs-to-the-person-only"

NEEDS_SANDBOX = pytest.mark.skipif(bool(why_missing()), reason=f"no sandbox here: {why_missing()}")
EITHER = pytest.mark.parametrize("sandbox", ["off", pytest.param("require", marks=NEEDS_SANDBOX)])

PROGRAM = """\
#!{python} -IB
import json, os, signal, socket, subprocess, sys, time
from pathlib import Path

if "--version" in sys.argv:
    print("2.1.330 (Claude Code)")
    sys.exit()


def say(**line):
    print(json.dumps(line), flush=True)


def result(text="done", **more):
    usual = dict(type="result", subtype="success", session_id="s-1", result=text, total_cost_usd=0.25)
    say(**{{**usual, **more}})


def called(tool, call, **arguments):
    block = dict(type="tool_use", name=tool, id=call, input=arguments)
    say(type="assistant", message=dict(id=call, model="m", content=[block]))


def answered(call, text="", is_error=False):
    block = dict(type="tool_result", tool_use_id=call, content=text, is_error=is_error)
    say(type="user", message=dict(content=[block]))


def attempt(deed):
    try:
        deed()
    except Exception as error:
        return type(error).__name__
    return "done"


HOME, WORKSPACE, found = Path(os.environ["HOME"]), Path.cwd(), {{}}
GIVEN = json.loads({given!r})
sys.stdin.read()
say(type="system", subtype="init", session_id="s-1", model="m")
try:
{code}
finally:
    (HOME / "found.json").write_text(json.dumps(found))
"""


@dataclass(frozen=True)
class Attacked:
    """What came of it: the end that the engine is told, the runner's report, and what the attacker wrote down."""

    end: SessionEnd
    report: AgentReport | None
    found: Mapping[str, Any]
    order: LaunchOrder

    @property
    def log(self) -> str:
        return self.end.log.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Scene:
    """A person's home and repository, and the launches in it."""

    root: Path
    repo: Path
    person: Path

    def order(self, program: Path, **changes: Any) -> LaunchOrder:  # noqa: ANN401 - fields of many types
        names = ("sandbox", "timeout", "idle_timeout", "tools", "max_cost_usd", "environment")
        chosen: dict[str, Any] = {name: changes.pop(name) for name in names if name in changes}
        agent = Agent("claude", program=str(program), **{"timeout": 60.0, "tools": False} | chosen)
        return make_order(self.repo, agent=agent, **changes)

    def attack(self, code: str, given: Mapping[str, Any] | None = None, **changes: Any) -> Attacked:  # noqa: ANN401
        """One session that plays `code`. `changes` are of the order, or of its agent."""
        launch = changes.setdefault("launch", "attack-1")
        order = self.order(self.program(launch, code, given or {}), **changes)
        end = run_session(order, never_told, StopSignal(), {"claude": AgentBackend("claude")})
        told = order.state / "agent/home/found.json"
        found = json.loads(told.read_text()) if told.is_file() else {}
        return Attacked(end, read_report(Paths(order.state).report), found, order)

    def program(self, name: str, code: str, given: Mapping[str, Any]) -> Path:
        folder = self.root / "programs" / name
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "claude"
        whole = PROGRAM.format(
            python=sys.executable, given=json.dumps(given), code=indent(dedent(code).strip("\n"), "    ")
        )
        program.write_text(whole, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program


def set_scene(root: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A person with a key in the environment, and things of their own on the disk."""
    person = root / "person"
    for place in (".ssh/id_ed25519", ".config/gh/hosts.yml", "other-repo/notes.txt", ".npm/_cacache/package"):
        (person / place).parent.mkdir(parents=True, exist_ok=True)
        (person / place).write_text(SECRET, encoding="utf-8")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    repo = make_repo(root / "repo")
    (repo / ".agent-fox").mkdir(exist_ok=True)
    (repo / ".agent-fox/state.db").write_text(SECRET, encoding="utf-8")
    return Scene(root, repo, person)
