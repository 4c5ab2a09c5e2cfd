"""A session of the real mini-swe-agent as the engine has it: our runner and the metering proxy. Fake: the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.agents.mini.adapter import MINI
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.versions import problem_of
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.held import IN_SANDBOX, REAL_KEY, hold
from tests.agents.programs import VARIABLE
from tests.agents.test_mini import FOUND, MODELS, asked, bash, made
from tests.agents.world import script

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"mini is not below the folder that {VARIABLE} names"),
]


@pytest.mark.parametrize("sandbox", ["off", IN_SANDBOX])
def test_a_coder_s_work_is_held_and_told(sandbox: str, tmp_path: Path) -> None:
    task = made(tmp_path, MODELS[sandbox == "require"])
    actions = (bash("printf new > b.txt; env"), {"say": "All done."})
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        held = hold(task, server, sandbox=sandbox)
    report = held.report
    assert (report.ending, held.status, report.summary) == (Ending.ENDED, 0, "All done."), held.log
    assert (task.workspace / "b.txt").read_text() == "new"
    assert (dict(report.tools), report.forbidden, report.turns) == ({"bash": 2}, (), 2)
    assert report.tokens is not None
    assert (report.tokens.all_input, report.tokens.output) == (200, 14)
    assert REAL_KEY not in held.log + " ".join(asked(server))


def test_its_version_is_known() -> None:
    assert problem_of(MINI.facts, str(FOUND), 120) is None


def test_a_program_that_dies_before_its_first_request_is_told_as_broken_with_what_it_said(tmp_path: Path) -> None:
    """It ends over an argument that it does not know, as it does over a package that is missing."""
    with ModelServer(script({"say": "never asked"})) as server:
        report = hold(made(tmp_path, MODELS[0]), server, arguments=("--no-such-option",)).report
        assert list(server.requests) == []
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM)
    assert "--no-such-option" in report.reason
