"""The run with a real agent in docs/agents.md, again: what it printed is what is printed. The model is scripted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import program

pytestmark = pytest.mark.agents

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "greeting"
VARYING = (
    (r"\d\d:\d\d:\d\d", "TIME"),
    (r"\b[0-9a-f]{12}\b", "COMMIT"),
    (r"\$\d+\.\d+", "COST"),
    (r"\b\d+(\.\d+)? s\b", "SECONDS"),
)


def masked(text: str) -> list[str]:
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def transcripts() -> Iterator[tuple[list[str], list[str]]]:
    """(words of the command, lines it printed) of the page's block."""
    block = (
        (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").split("```text\n$ agent-fox run")[1].split("```")[0]
    )
    for part in f"$ agent-fox run{block}".split("$ agent-fox ")[1:]:
        command, _, printed = part.partition("\n")
        yield command.split(), [line for line in masked(printed) if line != "..."]


@pytest.mark.landing
def test_the_run_with_a_real_agent_goes_as_the_page_shows(tmp_path: Path) -> None:
    claude = program("claude")
    if claude is None:
        pytest.skip("claude is not there; see `make test-agents`")
    root = tmp_path / "greeting"
    subprocess.run([EXAMPLE / "make.sh", root], check=True, capture_output=True)
    with ModelServer(EXAMPLE / "model.toml") as server:
        environment = {
            "PATH": os.pathsep.join([str(claude.parent), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "any",
        }

        def agent_fox(*words: str) -> str:
            argv = [sys.executable, "-m", "agent_fox.cli.main", *words]
            done = subprocess.run(
                argv, cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        agent_fox("init", "--agent", "claude")
        shown = list(transcripts())
        assert [words[0] for words, _ in shown] == ["run", "explain"]
        for words, expected in shown:
            printed = masked(agent_fox(*words))
            assert [line for line in expected if line not in printed] == []
