"""Real agents' programs, played by the model server: what a script asks for is what their own tools then do.

Fake: the model. That the programs read the shapes that it answers in is tried by all of `tests/agents`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.task import AgentTask, Door
from agent_fox.testing.model_server import ModelServer
from tests.agents import claude_world, gemini_world, test_codex, test_mini, test_opencode
from tests.agents.programs import program
from tests.agents.world import PATHS, WORD, opened, script, work

pytestmark = [pytest.mark.agents, pytest.mark.slow]

ACTIONS = (
    {"print": "I begin."},
    {"write": "src/new.py", "text": "x = 'it'\n"},
    {"write": "kept.txt", "text": "changed\n"},
    {"replace": "kept.txt", "old": "chan", "new": "ran"},
    {"append": "kept.txt", "text": "by {node}\n"},
    {"run": ["{python}", "-c", "open('ran.txt', 'w').write('it ran')"]},
    {"delete": "gone.txt"},
    {"write": "tool.sh", "text": "#!/bin/sh\n", "executable": True},
)
CODERS: Mapping[str, Callable[[Path], AgentTask]] = {
    "claude": lambda root: claude_world.world_at(root).task,
    "codex": lambda root: test_codex.world_at(root).task,
    "codex with a model that it knows": lambda root: replace(test_codex.world_at(root).task, model="gpt-6.1-sol"),
    "gemini": lambda root: gemini_world.made(root, Path(program("gemini") or "")).task(),
    "opencode": lambda root: test_opencode.world_at(root).task,
    "mini": test_mini.made,
}


@pytest.mark.parametrize("name", CODERS)
def test_a_real_agent_does_what_the_script_says(name: str, tmp_path: Path) -> None:
    task = CODERS[name](tmp_path)
    if program(task.cli) is None:
        pytest.skip(f"{task.cli} is not there; see `make test-agents`")
    for file in ("kept.txt", "gone.txt"):
        (task.workspace / file).write_text("as it was\n")
    with ModelServer(script(*ACTIONS, summary="all done")) as server:
        ran = opened(task, Door(f"{server.url}{PATHS.get(task.cli, '')}", WORD))
    assert "all done" in str(ran.events)
    files = {path: (task.workspace / path).read_text() for path in ("src/new.py", "kept.txt", "ran.txt", "tool.sh")}
    assert files == {
        "src/new.py": "x = 'it'\n",
        "kept.txt": "ranged\nby story:1\n",
        "ran.txt": "it ran",
        "tool.sh": "#!/bin/sh\n",
    }
    assert not (task.workspace / "gone.txt").exists()
    assert os.access(task.workspace / "tool.sh", os.X_OK)
    assert [(request.turn, request.status, request.error) for request in work(server)] == [
        (turn, 200, None) for turn in range(8)
    ]
    assert all(WORD in str(request.headers) for request in work(server))
