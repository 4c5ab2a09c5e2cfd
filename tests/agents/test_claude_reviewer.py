"""The real Claude Code as the reviewer, with the words that docs/review.md shows.

Fake: the model behind it, which is scripted. Real: the program, the desk, git.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.engine.doors.reviewing import Failed, NotReviewed, Passed, Reviewed
from agent_fox.review.reviewer import resolved
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import VARIABLE, program
from tests.agents.world import WORD, script, text_of, work
from tests.review.worlds import TASK, desk, repository, saying

CLAUDE = program("claude")
WORDS = ("--print", "--model", "sonnet", "--tools", "")
INHERITED = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "NO_PROXY", "no_proxy", "CLAUDE_CODE_MAX_RETRIES")

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(CLAUDE is None, reason=f"claude is not below the folder that {VARIABLE} names"),
]


def reviewed(tmp_path: Path, server: ModelServer) -> Reviewed:
    assert CLAUDE is not None
    root = repository(tmp_path / "project")
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": WORD, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "CLAUDE_CODE_MAX_RETRIES": "1",
    }  # fmt: skip
    (tmp_path / "home").mkdir()
    judge = resolved([str(CLAUDE), *WORDS], environ, [root], seconds=120, inherit=INHERITED)
    at = replace(desk(root, saying(tmp_path / "bin", "never asked")), reviewer=judge)
    task = at.register(TASK, (), "")
    (root / "greeting.py").write_text("def greet(name='world'): return f'Hello, {name}'\n")
    return at.review(task, threading.Event())


def test_claude_reads_the_prompt_and_its_answer_counts(tmp_path: Path) -> None:
    with ModelServer(script({"say": '{"status": "OK"}'})) as server:
        assert reviewed(tmp_path, server) == Passed()
        sent = text_of(work(server))
    assert "+def greet(name=" in sent
    assert "it greets the world by default" in sent


def test_claude_that_finds_something_missing_rejects(tmp_path: Path) -> None:
    with ModelServer(script({"say": '```json\n{"status": "NOK", "feedback": "no test"}\n```'})) as server:
        assert reviewed(tmp_path, server) == Failed("no test")


def test_claude_that_chats_has_not_judged(tmp_path: Path) -> None:
    with ModelServer(script({"say": "Looks good to me."})) as server:
        assert isinstance(reviewed(tmp_path, server), NotReviewed)
