"""The verifier's tools by standard input and output: our relay before our own server, as an agent starts it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_fox.session.agents.acp.adapter import servers
from agent_fox.session.agents.runner.services import verifier_served
from agent_fox.session.agents.task import Door
from agent_fox.session.backends import module_argv
from tests.session.agents.toy import make_task

BEGIN = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "toy", "version": "1"},
}  # fmt: skip


def started(door: Door) -> subprocess.Popen[str]:
    """The relay as `session/new` tells an agent to start it, without anything else of our environment."""
    (server,) = servers(door, False)
    words: Any = server
    environment = {variable["name"]: variable["value"] for variable in words["env"]}
    return subprocess.Popen(
        [words["command"], *words["args"]], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def asked(relay: subprocess.Popen[str], method: str, number: int | None, params: Mapping[str, object]) -> Any:  # noqa: ANN401
    assert relay.stdin is not None
    assert relay.stdout is not None
    identity = {} if number is None else {"id": number}
    relay.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **identity}) + "\n")
    relay.stdin.flush()
    return None if number is None else json.loads(relay.stdout.readline())


def test_an_agent_without_http_reaches_the_tools_and_none_with_a_wrong_word(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    words = ["mcp", "verifier", "--http", "--port", "0", "--root", str(tmp_path / "workspace")]
    argv = module_argv("agent_fox.cli.main", [*words, "--artifacts", str(tmp_path / "artifacts")])
    task = make_task(tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(task.home)}
    with verifier_served(replace(task, verifier=tuple(argv), environment=environment)) as served:
        with started(Door("", "", served.url, served.token)) as relay:
            assert asked(relay, "initialize", 1, BEGIN)["result"]["serverInfo"]["name"]
            asked(relay, "notifications/initialized", None, {})
            tools = asked(relay, "tools/list", 2, {})["result"]["tools"]
            assert "run_unit_tests" in {tool["name"] for tool in tools}
            assert relay.stdin is not None
            relay.stdin.close()
            assert relay.wait(10) == 0
        with started(Door("", "", served.url, "wrong")) as relay:
            assert asked(relay, "initialize", 1, BEGIN)["error"]["message"] == "the verifier's server answered 401"


def test_a_server_that_is_gone_is_an_error_of_the_request() -> None:
    with started(Door("", "", "http://127.0.0.1:9/mcp", "word")) as relay:
        answer = asked(relay, "tools/list", 7, {})
    assert (answer["id"], answer["error"]["code"]) == (7, -32603)
    assert "refused" in answer["error"]["message"]


def test_an_agent_with_http_is_given_the_address_and_one_without_tools_nothing() -> None:
    door = Door("", "", "http://127.0.0.1:9/mcp", "word")
    headers = [{"name": "Authorization", "value": "Bearer word"}]
    assert servers(door, True) == (
        {"type": "http", "name": "verifier", "url": "http://127.0.0.1:9/mcp", "headers": headers},
    )
    assert servers(Door("", ""), True) == servers(Door("", ""), False) == ()
