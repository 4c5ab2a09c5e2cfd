"""The demonstration's plan after `init --agent claude`: real Claude Code sessions, a scripted model behind them.

What the models say is scripted; programs, processes, clones, tools, tests, git and state are real.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.testing.demo import make_demo
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import program

pytestmark = pytest.mark.agents

REVIEWS_AND_VERDICTS = """
[[step]]
node = "*:reviewer:*"
actions = [{say = '{"findings": [], "summary": "nothing critical"}'}]

[[step]]
node = "04_receipt:3"
attempt = 1
reading = 1
actions = [{say = "It looks good to me."}, {say = "As I said."}, {say = "Good."}]

[[step]]
node = "*"
actions = [{verdicts = "PASS", evidence = "read the code and its tests"}]
"""
KEY = "sk-of-a-person-0123456789"


def model_script(demo: Path) -> str:
    """The demonstration's own steps of the coders, and what its models say when they review and judge."""
    steps = (demo / ".agent-fox/agents.toml").read_text(encoding="utf-8").split("[[step]]")
    coders = [step for step in steps if 'node = "04_receipt:3"' not in step]
    return "[[step]]".join(coders) + REVIEWS_AND_VERDICTS


def agent_fox(root: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agent_fox.cli.main", *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str], ModelServer]]:
    """The run, once for all tests: it takes minutes."""
    claude = program("claude")
    if claude is None:
        pytest.skip("claude is not there; see `make test-agents`")
    base = tmp_path_factory.mktemp("demonstration")
    demo = make_demo(base / "demo")
    script = base / "model.toml"
    script.write_text(model_script(demo), encoding="utf-8")
    (demo / ".agent-fox/config.toml").unlink()
    git = ["git", "-c", "user.name=shopkeeper", "-c", "user.email=shopkeeper@localhost"]
    subprocess.run([*git, "commit", "-qam", "No settings yet"], cwd=demo, check=True)
    with ModelServer(script) as server:
        environment = {
            "PATH": os.pathsep.join([str(claude.parent), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(base),
            "XDG_STATE_HOME": str(base / "state"),
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "AGENT_FOX__AGENTS__VERIFIER__MODEL": "claude-haiku-4-5",
        }
        made = agent_fox(demo, environment, "init", "--agent", "claude")
        assert made.returncode == 0, made.stderr
        ended = agent_fox(demo, environment, "run", "--parallel", "2", "--max-cost", "40")
        assert ended.returncode == 2, ended.stdout[-4000:] + ended.stderr[-4000:]
        yield demo, environment, server


def test_it_ends_in_the_same_proven_state(finished: tuple[Path, dict[str, str], ModelServer]) -> None:
    demo, environment, _ = finished
    status = json.loads(agent_fox(demo, environment, "status", "--json").stdout)
    assert {spec["name"]: spec["standing"] for spec in status["specs"]} == {
        "01_money": "verified", "02_cart": "verified", "03_split": "escalated", "04_receipt": "verified",
        "05_settle": "blocked",
    }  # fmt: skip


def test_the_retried_coder_was_told_what_failed(finished: tuple[Path, dict[str, str], ModelServer]) -> None:
    _, _, server = finished
    asked = [json.dumps(one.body) for one in server.requests if "02_cart:3 attempt 2" in json.dumps(one.body)]
    assert asked, "the model was never asked for the second attempt"
    assert "## Failing: make these pass" in asked[0]
    assert "02-REQ-" in asked[0]


def test_the_model_saw_the_persons_key_and_the_agents_did_not(
    finished: tuple[Path, dict[str, str], ModelServer],
) -> None:
    demo, _, server = finished
    keys = {one.headers.get("x-api-key") for one in server.requests if one.path.startswith("/v1/messages")}
    assert keys == {KEY}
    logs = "".join(log.read_text(encoding="utf-8") for log in (demo / ".agent-fox/logs").glob("*.log"))
    assert "calls " in logs
    assert KEY not in logs


def test_costs_add_up_to_what_the_program_reported(finished: tuple[Path, dict[str, str], ModelServer]) -> None:
    demo, environment, _ = finished
    status = json.loads(agent_fox(demo, environment, "status", "--json").stdout)
    explained = [
        json.loads(agent_fox(demo, environment, "explain", node, "--json").stdout)
        for node in ("02_cart:2", "02_cart:3", "02_cart:4")
    ]
    costs = [session["cost_usd"] for one in explained for session in one["sessions"]]
    assert all(cost > 0 for cost in costs)
    assert status["cost"]["known_usd"] > sum(costs)
    told = explained[2]["sessions"][0]["agents"]
    assert [(one["backend"], one["model"], one["cost_source"]) for one in told if one["backend"] == "claude"] == [
        ("claude", "claude-haiku-4-5", "reported")
    ]
