"""The skill that `init` installs, as the real Claude Code finds it in a chat of a person's. The model is scripted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.cli.setup.skills import packaged
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import program

pytestmark = pytest.mark.agents

SCRIPT = """
[[step]]
actions = [{ tool = "Skill", arguments = { skill = "agent-fox" } }, { say = "Understood." }]
"""


def test_claude_offers_the_skill_to_its_model_and_reads_it(tmp_path: Path) -> None:
    claude = program("claude")
    if claude is None:
        pytest.skip("claude is not there; see `make test-agents`")
    root, script = tmp_path / "project", tmp_path / "script.toml"
    root.mkdir()
    script.write_text(SCRIPT)
    subprocess.run(["git", "init", "-q", root], check=True)
    argv = [sys.executable, "-m", "agent_fox.cli.main", "init", "--skill", "claude"]
    subprocess.run(argv, cwd=root, check=True, capture_output=True)
    with ModelServer(script) as server:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "any", "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": server.url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }  # fmt: skip
        chat = [str(claude), "--print", "What may you do here?", "--setting-sources", "project"]
        subprocess.run(chat, cwd=root, env=environment, check=True, capture_output=True, timeout=120)
        asked = [json.dumps(one.body) for one in server.requests if one.path.startswith("/v1/messages")]
    description = packaged("SKILL.md").split("description: ")[1].splitlines()[0]
    assert description[:60] in asked[0], "the model is told of the skill"
    assert "may not weaken them later on your own" in asked[-1], "and gets it when it asks"
