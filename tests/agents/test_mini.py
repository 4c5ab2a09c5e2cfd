"""The real mini-swe-agent, started by its adapter, against the scripted model server. Fake: the model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.events import (
    Answered,
    Called,
    Finished,
    Spoke,
    Tokens,
    Turn,
    Unreadable,
    Used,
)
from agent_fox.session.agents.mini.adapter import MINI
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.task import AgentTask, Door, Limits, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import VARIABLE, program
from tests.agents.world import WORD, Ran, opened, script, task_of

FOUND = program("mini")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"mini is not below the folder that {VARIABLE} names"),
]

PROMPT = "agent-fox session: story:1 attempt 1 reading 1 archetype coder\n\nWrite {{the}} file {% now %}.\n"
MODELS = ("openai/gpt-5", "anthropic/claude-sonnet-4-5-20250929")
SECONDS = 180.0


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "arguments": {"command": command}}


@pytest.fixture
def task(tmp_path: Path) -> AgentTask:
    return made(tmp_path)


def made(root: Path, model: str = MODELS[0]) -> AgentTask:
    for folder in ("workspace", "own/home", "own/scratch"):
        (root / folder).mkdir(parents=True)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(root / "own/scratch"), "AGENT_FOX_LAUNCH": "mini-tests"}
    task = task_of(root / "own", "mini", FOUND, MINI.provider(model), workspace=root / "workspace")
    task = replace(task, environment=environment, limits=Limits(wall=600, idle=30, answer=60), model=model)
    return replace(task, system="RULES-OF-THE-ROLE {{x}}", prompt=PROMPT)


def run(task: AgentTask, url: str, send: signal.Signals | None = None, ready: threading.Event | None = None) -> Ran:
    """The process of a task to its end. `send` goes to it once `ready` is set."""
    return opened(task, Door(url, WORD), send, ready)


def asked(server: ModelServer) -> list[str]:
    return [json.dumps(exchange.body) for exchange in server.requests]


@pytest.mark.parametrize("model", MODELS)
def test_a_coder_edits_and_runs(model: str, tmp_path: Path) -> None:
    task = made(tmp_path, model)
    actions = (bash("printf new > b.txt"), bash("cat b.txt; false"), {"say": "All done."})
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        ran = run(task, server.url)

    assert (task.workspace / "b.txt").read_text() == "new"
    assert [call.tool for call in ran.of(Called)] == ["bash"] * 3
    assert [(end.is_error, end.is_refused) for end in ran.of(Answered)] == [(False, False), (True, False)]
    assert [used.tokens for used in ran.of(Used)] == [Tokens(input=100, output=7)] * 3
    assert (len(ran.of(Turn)), ran.of(Unreadable)) == (3, [])
    finished = ran.of(Finished)[-1]
    assert (finished.text, finished.reason, ran.of(Spoke)[-1].text) == ("All done.", "Submitted", "All done.")
    assert finished.cost_usd is not None
    assert finished.cost_usd > 0
    assert ran.outcome.ending is Ending.ENDED
    assert all(part in asked(server)[0] for part in ("RULES-OF-THE-ROLE {{x}}", "Write {{the}} file {% now %}."))
    sent = {exchange.headers.get("x-api-key") or exchange.headers["authorization"] for exchange in server.requests}
    assert sent <= {WORD, f"Bearer {WORD}"}


def test_neither_arguments_nor_commands_show_the_key(task: AgentTask) -> None:
    start = MINI.start(task, Door("http://127.0.0.1:9", WORD))
    assert not any(secret in " ".join(start.argv) for secret in (WORD, "Write", "RULES"))

    with ModelServer(script(bash("env; echo path=$PYTHONPATH."), {"say": "Done."})) as server:
        run(replace(task, environment={**task.environment, "PYTHONPATH": "src"}), server.url)

    assert WORD not in asked(server)[1]
    assert "path=src." in asked(server)[1]


def test_a_tool_that_there_is_not_is_seen_asked_for(task: AgentTask) -> None:
    with ModelServer(script({"tool": "edit", "arguments": {"path": "a"}})) as server:
        ran = run(task, server.url)

    assert [call.tool for call in ran.of(Called) if not MINI.may(Role.CODER, call.tool)] == ["edit"] * 3
    assert all(end.is_refused for end in ran.of(Answered))
    assert (ran.status, ran.outcome.ending) == (0, Ending.FAILED), "the program itself ends with 0"
    assert "RepeatedFormatError" in ran.outcome.reason


def test_a_ceiling_of_turns_is_kept_and_no_success(task: AgentTask) -> None:
    limits = replace(task.limits, turns=2)
    with ModelServer(script(*(bash(f"echo {number}") for number in range(5)))) as server:
        ran = run(replace(task, limits=limits), server.url)

    assert (len(server.requests), ran.status, ran.outcome.ending) == (2, 0, Ending.FAILED)
    assert "LimitsExceeded" in ran.outcome.reason


def test_a_model_whose_price_is_not_known_has_no_cost(tmp_path: Path) -> None:
    with ModelServer(script({"say": "Done."})) as server:
        ran = run(made(tmp_path, "openai/of-this-house"), server.url)

    assert ran.outcome.ending is Ending.ENDED
    assert ran.of(Finished)[-1].cost_usd is None


def test_a_silent_model_is_given_up(task: AgentTask) -> None:
    limits = replace(task.limits, idle=3)
    with ModelServer(script({"hang": 60})) as server:
        ran = run(replace(task, limits=limits), server.url)

    assert ran.outcome.infrastructure is Infrastructure.NETWORK
    assert len(server.requests) == 3
    assert ran.seconds < 120


def test_no_plant_has_an_effect(task: AgentTask) -> None:
    """Variables, configuration, and modules that the workspace would have imported by a person's PYTHONPATH."""
    canary = task.workspace.parent / "canary"
    dead = "http://127.0.0.1:9"
    variables = f"OPENAI_BASE_URL={dead}\nOPENAI_API_KEY=planted\nMSWEA_MODEL_NAME=openai/planted\nHTTPS_PROXY={dead}\n"
    module = f"open({str(canary)!r}, 'a').write(__name__)\nraise ImportError(__name__)\n"
    for place, text in {
        ".env": variables,
        ".mini/.env": variables,
        "session.yaml": "model: {model_name: openai/planted}\n",
        "mini.yaml": "agent: {system_template: PLANTED}\nmodel: {model_name: openai/planted}\n",
        "AGENTS.md": "PLANTED\n",
        **{f"{name}.py": module for name in ("yaml", "litellm", "minisweagent", "jinja2", "sitecustomize")},
        **{f"src/{name}.py": module for name in ("yaml", "litellm", "minisweagent", "jinja2", "sitecustomize")},
    }.items():
        (task.workspace / place).parent.mkdir(parents=True, exist_ok=True)
        (task.workspace / place).write_text(text)
    with ModelServer(script({"say": "Done."})) as server:
        ran = run(replace(task, environment={**task.environment, "PYTHONPATH": "src:."}), server.url)

    assert ran.outcome.ending is Ending.ENDED, ran.complaints
    assert not canary.exists()
    assert "PLANTED" not in asked(server)[0]
    assert {exchange.headers["authorization"] for exchange in server.requests} == {f"Bearer {WORD}"}


def test_the_plants_work_on_the_program_as_it_comes(task: AgentTask) -> None:
    """A PYTHONPATH into the workspace runs what is planted there; else the test above shows nothing."""
    canary = task.workspace.parent / "canary"
    (task.workspace / "src").mkdir()
    (task.workspace / "src" / "yaml.py").write_text(f"open({str(canary)!r}, 'a').write(__name__)\nraise ImportError\n")
    around = {**task.environment, "HOME": str(task.home), "PYTHONPATH": "src"}
    subprocess.run([task.program, "--help"], cwd=task.workspace, env=around, capture_output=True, timeout=120)

    assert canary.read_text() == "yaml"
