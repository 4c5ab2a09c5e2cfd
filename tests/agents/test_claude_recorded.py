"""Whether the real Claude Code still tells a session as it did when the lines of the reader's tests were recorded.

Fake: the model. With AGENT_FOX_RECORD=1 the lines are recorded anew, into `tests/session/agents/lines/claude`.
"""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.session.agents.claude.adapter import CLAUDE
from agent_fox.session.agents.events import Answered, Began, Called, Event, Finished, Spoke, Trouble, Unreadable
from agent_fox.session.agents.task import Door, Role
from agent_fox.testing.model_server import ModelServer
from tests.agents.claude_world import LIMITS, MARKS, world
from tests.agents.mcp_tools import Tools, tools
from tests.agents.world import SCHEMA, WORD, Ran, World, error, run, script, set_at

__all__ = ["tools", "world"]

pytestmark = MARKS

LINES = Path(__file__).parent.parent / "session/agents/lines/claude"


def coder(world: World, tools: Tools) -> Ran:
    place = str(world.workspace / "hello.txt")
    actions = (
        {"tool": "Write", "arguments": {"file_path": place, "content": "hello\n"}},
        {"run": ["sh", "-c", "cat hello.txt; exit 3"]},
        {"tool": "WebFetch", "arguments": {"url": "http://127.0.0.1:9/", "prompt": "x"}},
        {"say": "done"},
    )
    return played(world, *actions, model="claude-sonnet-5-5")


def verifier(world: World, tools: Tools) -> Ran:
    actions = (
        {"mcp": "run_unit_tests", "arguments": {"scope": "one"}},
        {"tool": "Read", "arguments": {"file_path": "/etc/hostname"}},
        {"answer": {"word": "yes"}},
    )
    door = {"mcp_url": tools.url, "mcp_token": tools.token}
    return played(world, *actions, role=Role.VERIFIER, tools=("run_unit_tests",), schema=SCHEMA, **door)


def turns(world: World, tools: Tools) -> Ran:
    return played(world, *[{"run": ["true"]}] * 3, limits=replace(LIMITS, turns=1))


def unauthorised(world: World, tools: Tools) -> Ran:
    return played(world, error(401, "authentication_error"))


def overloaded(world: World, tools: Tools) -> Ran:
    return played(world, {"status": 529, "times": 1}, {"say": "done"})


def dropped(world: World, tools: Tools) -> Ran:
    return played(world, {"drop": True, "times": "always"})


def interrupted(world: World, tools: Tools) -> Ran:
    ready = threading.Event()
    with ModelServer(script({"run": ["true"]}, {"hang": 60, "stage": "before"})) as server:
        door = Door(server.url, WORD)
        CLAUDE.prepare(world.task, door)
        threading.Thread(target=set_at, args=(server, 2, ready), daemon=True).start()
        return run(world.task, CLAUDE.start(world.task, door), signal.SIGINT, ready)


SESSIONS: Mapping[str, Callable[[World, Tools], Ran]] = {
    session.__name__: session for session in (coder, verifier, turns, unauthorised, overloaded, dropped, interrupted)
}


def played(world: World, *actions: Mapping[str, Any], **changes: Any) -> Ran:  # noqa: ANN401 - fields of a task
    with ModelServer(script(*actions, input_tokens=1000, output_tokens=30)) as server:
        return world.run(server, **changes)


def gist(events: tuple[Event, ...]) -> list[tuple[object, ...]]:
    """What must stay the same from one run to the next: not how much of a broken answer came."""
    found: list[tuple[object, ...]] = []
    for event in events:
        match event:
            case Began(model=model, tools=tools, servers=servers):
                found.append(("began", model, tools, dict(servers)))
            case Spoke(text=text):
                found.append(("said", text))
            case Called(tool=tool):
                found.append(("called", tool))
            case Answered(is_error=is_error, is_refused=is_refused):
                found.append(("answered", is_error, is_refused))
            case Trouble(kind=kind, is_final=is_final):
                found.append(("trouble", kind, is_final))
            case Finished(is_error=is_error, reason=reason, tokens=tokens, structured=structured):
                found.append(("finished", is_error, reason, None if is_error else tokens, structured))
            case Unreadable(line=line):
                found.append(("unreadable", line))
    return found


def scrubbed(line: str, root: Path) -> str:
    """A line without the place and the time of its recording."""
    text = line.replace(str(root), "/home/someone").replace(str(root).replace("/", "-"), "-home-someone")
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)
    text = re.sub(r'"partial_json":"(?:[^"\\]|\\.)*"', '"partial_json":"{}"', text)
    return re.sub(r'"timestamp":"[^"]*"', '"timestamp":"2026-11-22T00:00:00.000Z"', text)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_told_as_it_was_recorded(world: World, tools: Tools, name: str) -> None:
    ran = SESSIONS[name](world, tools)
    kept = LINES / f"{name}.jsonl"
    if os.environ.get("AGENT_FOX_RECORD"):
        kept.write_text("".join(f"{scrubbed(line, world.root)}\n" for line in ran.lines), encoding="utf-8")
    reader = CLAUDE.reader(world.task)
    recorded = [event for line in kept.read_text(encoding="utf-8").splitlines() for event in reader.line(line)]
    assert gist(ran.events) == gist(tuple(recorded))
