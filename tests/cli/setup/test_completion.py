"""Completion by the shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.cli.main import COMMANDS
from tests.cli.conftest import Finished
from tests.cli.program import SOURCE, start


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program(tmp_path: Path, shell: str) -> None:
    done = start(tmp_path, "completion", shell)
    assert done.returncode == 0
    assert f"_AGENT_FOX_COMPLETE={shell}_complete" in done.stdout


def test_the_script_comes_as_json_too(tmp_path: Path) -> None:
    document = json.loads(start(tmp_path, "completion", "bash", "--json").stdout)
    assert document == {"shell": "bash", "script": document["script"]}


def completions(where: Path, line: str) -> list[str]:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = start(where, **words, _AGENT_FOX_COMPLETE="bash_complete")
    return [item.partition(",")[2] for item in done.stdout.split()]


def test_commands_options_and_values_are_completed(tmp_path: Path) -> None:
    assert completions(tmp_path, "agent-fox ") == list(COMMANDS)
    assert completions(tmp_path, "agent-fox pl") == ["plan"]
    assert "--specs" in completions(tmp_path, "agent-fox plan --")
    assert completions(tmp_path, "agent-fox completion z") == ["zsh"]


def test_completing_a_commands_name_loads_no_command() -> None:
    program = "\n".join(
        [
            "import atexit, sys",
            "from agent_fox.cli.main import run",
            "atexit.register(lambda: print(*sys.modules))",
            "run([])",
        ]
    )
    variables = {"_AGENT_FOX_COMPLETE": "bash_complete", "COMP_WORDS": "agent-fox p", "COMP_CWORD": "1"}
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, cwd=SOURCE, env=variables, capture_output=True, text=True, check=False)
    assert "plain,plan" in done.stdout
    assert "agent_fox.cli.specs.plan" not in done.stdout.split()


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("reset 01_", {"01_calc", "01_calc:1", "01_calc:2", "01_calc:3"}),
        ("logs 03_dep:", {"03_dep:1", "03_dep:2"}),
        ("explain 02_", {"02_top", "02_top:1", "02_top:2"}),
        ("run --spec 0", {"01_calc", "02_top", "03_dep"}),
    ],
)
def test_nodes_and_specs_of_the_state_are_completed(finished: Finished, words: str, known: set[str]) -> None:
    assert set(completions(finished.root, f"agent-fox {words}")) == known


def test_without_a_state_no_name_is_completed_and_nothing_is_said(tmp_path: Path) -> None:
    assert completions(tmp_path, "agent-fox reset 01") == []
