"""A session of the real mini-swe-agent as the engine has it: our runner and the metering proxy. Fake: the model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.mini.adapter import MINI
from agent_fox.session.agents.report import Ending, read_report
from agent_fox.session.agents.task import TASK
from agent_fox.session.agents.versions import problem_of
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.testing.model_server import ModelServer
from tests.agents.programs import VARIABLE
from tests.agents.test_mini import FOUND, MODELS, SECONDS, asked, bash, made
from tests.agents.world import script

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(FOUND is None, reason=f"mini is not below the folder that {VARIABLE} names"),
]

REAL_KEY = "sk-the-real-key-of-a-person-0123456789"


@pytest.mark.parametrize(("model", "sandbox"), [(MODELS[0], "off"), (MODELS[1], "require")])
def test_a_coder_s_work_is_held_and_told(model: str, sandbox: str, tmp_path: Path) -> None:
    if sandbox == "require" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    task = made(tmp_path, model)
    actions = (bash("printf new > b.txt; env"), {"say": "All done."})
    with ModelServer(script(*actions, input_tokens=100, output_tokens=7)) as server:
        own = {**task.environment, "HOME": str(task.home), "AGENT_FOX_LAUNCH": f"mini-runner-{sandbox}"}
        document = tmp_path / "own" / "task.json"
        document.write_bytes(TASK.dump_json(replace(task, upstream=server.url, sandbox=sandbox, environment=own)))
        key = MINI.facts.keys[task.provider][0]
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "agent_fox.session.agents.runner.main", str(document)],
            env={**own, "HOME": os.environ["HOME"], key: REAL_KEY},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    report = read_report(task.report)
    assert report is not None, ended.stderr
    assert (report.ending, ended.returncode, report.summary) == (Ending.ENDED, 0, "All done."), ended.stderr
    assert (task.workspace / "b.txt").read_text() == "new"
    assert (dict(report.tools), report.forbidden, report.turns) == ({"bash": 2}, (), 2)
    assert report.tokens is not None
    assert (report.tokens.all_input, report.tokens.output) == (200, 14)
    assert REAL_KEY not in ended.stderr + " ".join(asked(server))


def test_its_version_is_known() -> None:
    assert problem_of(MINI.facts, str(FOUND), 120) is None


def test_a_program_that_dies_before_its_first_request_is_told_as_broken_with_what_it_said(tmp_path: Path) -> None:
    """It ends over an argument that it does not know, as it does over a package that is missing."""
    task = made(tmp_path, MODELS[0])
    with ModelServer(script({"say": "never asked"})) as server:
        own = {**task.environment, "HOME": str(task.home), "AGENT_FOX_LAUNCH": "mini-runner-broken"}
        broken = replace(task, upstream=server.url, sandbox="off", environment=own, arguments=("--no-such-option",))
        document = tmp_path / "own" / "task.json"
        document.write_bytes(TASK.dump_json(broken))
        subprocess.run(
            [sys.executable, "-P", "-m", "agent_fox.session.agents.runner.main", str(document)],
            env={**own, "HOME": os.environ["HOME"], MINI.facts.keys[task.provider][0]: REAL_KEY},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert list(server.requests) == []

    report = read_report(task.report)
    assert report is not None
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM)
    assert "--no-such-option" in report.reason
