"""`doctor --try`: a real session with each agent. Fake: the programs, scripts that stand for Claude Code; the model.

The shim, the runner, the metering proxy and the scratch repository are real; the model is the scripted one on loopback.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.scripted import acp_agent, agent
from tests.agents.world import script
from tests.cli.program import repository, start

KEY = "sk-ant-of-a-person-4712"
CONFIG = """
[agents.coder]
backend = "claude"
program = "./works"
model = "claude-haiku-4-5"
sandbox = "off"
tools = false
[[agents.coder.rungs]]
program = "./broken"
[agents.reviewer]
backend = "claude"
program = "./works"
model = "claude-haiku-4-5"
sandbox = "off"
[agents.verifier]
backend = ["checks", "command"]
command = ["sh"]
"""
ANSWERS = f"""#!{sys.executable} -I
import json, os, sys, urllib.request
if "--version" in sys.argv:
    sys.exit(print("2.1.330 (Claude Code)"))
asked = sys.stdin.read()
message = {{"role": "user", "content": asked or "x"}}
body = json.dumps({{"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [message]}}).encode()
headers = {{"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json",
           "anthropic-version": "2023-06-01"}}
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
answer = json.load(urllib.request.urlopen(urllib.request.Request(url, body, headers)))
said = answer["content"][0]["text"]
print(json.dumps({{"type": "system", "subtype": "init", "session_id": "s", "model": "claude-haiku-4-5"}}))
print(json.dumps({{"type": "result", "subtype": "success", "session_id": "s", "result": said, "total_cost_usd": 0.01}}))
"""
DIES = f"""#!{sys.executable} -I
import sys
if "--version" in sys.argv:
    sys.exit(print("2.1.330 (Claude Code)"))
import agent_fox_needs_what_is_not_there
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in ((".agent-fox/config.toml", CONFIG), ("works", ANSWERS), ("broken", DIES)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return repository(tmp_path)


def test_each_agent_is_asked_once_and_what_came_of_it_is_told(root: Path) -> None:
    with ModelServer(script({"say": "ready"})) as server:
        done = start(root, "doctor", "--try", "--json", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=server.url)
        requests = list(server.requests)

    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"] if check["name"].startswith("tr")}
    coder, rung = checks["try agents.coder"], checks["try agents.coder.rungs[0]"]
    assert (coder["state"], "answered 'ready'" in coder["what"], "$0.0100" in coder["what"]) == ("ok", True, True), (
        coder
    )
    assert rung["state"] == "missing"
    assert "No module named 'agent_fox_needs_what_is_not_there'" in rung["what"]
    assert "before it asked its model anything" in rung["remedy"]
    assert "not tried" in checks["try agents.verifier"]["what"]
    assert checks["tries"]["what"].startswith("3 sessions, $0.0200")
    assert (done.returncode, len(requests)) == (1, 2)
    assert KEY not in done.stdout + done.stderr


def test_without_try_nobody_is_asked(root: Path) -> None:
    with ModelServer(script({"say": "ready"})) as server:
        start(root, "doctor", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=server.url)
        assert list(server.requests) == []


def test_an_agent_of_the_protocol_and_a_command_like_an_agent_are_tried_too(tmp_path: Path) -> None:
    step = '{"step": [{"actions": [{"print": "ready"}]}]}'
    command = json.dumps([sys.executable, acp_agent.__file__, agent.__file__, step])
    (tmp_path / ".agent-fox").mkdir()
    (tmp_path / ".agent-fox/config.toml").write_text(
        f'[plan]\npre_review = false\naudit_review = false\n[agents.coder]\nbackend = "acp"\ncommand = {command}\n'
        f'tools = false\nsandbox = "off"\n[[agents.coder.rungs]]\nbackend = "command"\nlike = "agent"\n'
        f'command = ["sh", "-c", "cat >/dev/null; echo ready"]\n[agents.verifier]\nbackend = "checks"\n'
    )
    done = start(repository(tmp_path), "doctor", "--try", "--json")
    tried = [check for check in json.loads(done.stdout)["checks"] if check["name"].startswith("try ")]
    assert [check["state"] for check in tried] == ["ok", "ok"], tried
    assert all("answered 'ready" in check["what"] for check in tried), tried
    assert all("cost unknown" in check["what"] for check in tried), tried
