"""Sessions of the real Gemini CLI as the engine has them: our runner, the metering proxy, the verifier's server.

Fake: the model. The workspace holds a Python project with one test.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.task import Limits, Role
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.gemini_world import SECONDS, World, asked, made
from tests.agents.held import REAL_KEY, SANDBOXES, hold, with_verifier
from tests.agents.programs import VARIABLE, program
from tests.agents.world import script

FOUND = program("gemini")
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"gemini is not below the folder that {VARIABLE} names"),
]

CHECK = {"mcp": "run_unit_tests", "arguments": {}}
WRITE = {"tool": "write_file", "arguments": {"file_path": "b.txt", "content": "new\n"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    assert FOUND is not None
    world = made(tmp_path, FOUND)
    world.plant("test_it.py", "def test_it() -> None:\n    assert 1 + 1 == 2\n")
    return world


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_coder_s_work_is_held_and_told(sandbox: str, world: World) -> None:
    actions = (WRITE, CHECK, {"say": "Done."})
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        held = hold(with_verifier(world.task()), server, sandbox=sandbox)

    assert (held.report.ending, held.status) == (Ending.ENDED, 0), held.log
    assert (world.workspace / "b.txt").read_text() == "new\n"
    assert dict(held.report.tools) == {"write_file": 1, "mcp__verifier__run_unit_tests": 1}
    assert held.report.tokens is not None
    assert (held.report.tokens.all_input, held.report.tokens.output) == (300, 21)
    assert held.report.forbidden == ()
    assert {exchange.headers["x-goog-api-key"] for exchange in server.requests} == {REAL_KEY}
    assert REAL_KEY not in held.log + " ".join(asked(server))


def test_a_coder_that_has_not_run_the_tests_is_held_back_once(world: World) -> None:
    with ModelServer(script(WRITE, {"say": "Done."}, CHECK, {"say": "Tests pass."})) as server:
        held = hold(with_verifier(world.task()), server, stop_gate=True)

    assert (held.report.ending, held.report.attempts_to_stop) == (Ending.ENDED, 1), held.log


def test_a_verifier_is_asked_again_for_the_form_of_its_answer(world: World) -> None:
    report = json.dumps({"verdicts": [{"requirement": "01-REQ-1.1", "verdict": "PASS", "evidence": "1 passed"}]})
    with ModelServer(script(CHECK, {"say": "All is well."}, {"say": report})) as server:
        held = hold(with_verifier(world.task(Role.VERIFIER)), server)

    assert (held.report.ending, held.report.is_asked_again) == (Ending.ENDED, True), held.log
    assert "01-REQ-1.1" in held.answer
    assert held.report.forbidden == ()


def test_what_who_judges_tries_is_told(world: World) -> None:
    tried = {"tool": "run_shell_command", "arguments": {"command": "touch ran.txt"}}
    with ModelServer(script(tried, {"say": "{}"})) as server:
        held = hold(with_verifier(world.task(Role.VERIFIER)), server, ask_again="")

    assert ["run_shell_command" in told for told in held.report.forbidden] == [True]
    assert not (world.workspace / "ran.txt").exists()


def test_a_key_that_is_not_accepted_ends_it_as_infrastructure(world: World) -> None:
    with ModelServer(script({"status": 401, "times": "always"})) as server:
        held = hold(world.task(), server)

    assert (held.report.ending, held.report.infrastructure) == (
        Ending.INFRASTRUCTURE,
        Infrastructure.AUTHENTICATION,
    ), held.log


def test_silence_is_ended_and_nothing_is_left_running(world: World) -> None:
    run = {"tool": "run_shell_command", "arguments": {"command": "echo hi"}}
    with ModelServer(script(run, {"hang": 120, "stage": "stream"}, input_tokens=100, output_tokens=7)) as server:
        held = hold(world.task(limits=Limits(wall=120, idle=8, answer=60)), server)

    assert held.report.ending is Ending.INFRASTRUCTURE, held.log
    assert held.report.tokens is not None
    assert held.report.tokens.output >= 7


def test_a_command_that_outlives_the_program_can_be_found(world: World) -> None:
    """The program ends without its shell where a signal ends it; whoever cleans up knows the shell by its launch."""
    command = {"tool": "run_shell_command", "arguments": {"command": "echo $$ > pid.txt; sleep 120"}}
    file = world.workspace / "pid.txt"
    with ModelServer(script(command)) as server:
        held = hold(world.task(), server, lambda runner: _stop_when_there(runner, file))

    left = Path(f"/proc/{file.read_text().strip()}")
    marked = not left.exists() or b"AGENT_FOX_LAUNCH=gemini-coder" in (left / "environ").read_bytes()
    if left.exists() and marked:
        os.killpg(os.getpgid(int(left.name)), signal.SIGKILL)
    assert marked
    assert held.report.ending is Ending.STOPPED, held.log


def _stop_when_there(runner: subprocess.Popen[str], file: Path) -> None:
    for _ in range(int(SECONDS / 2)):
        if file.exists() and file.read_text().strip():
            runner.send_signal(signal.SIGTERM)
            return
        try:
            runner.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
        return
