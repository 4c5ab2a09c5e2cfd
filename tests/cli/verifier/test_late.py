"""A server's verifier answers what a start needs by itself, and is put together when it is first asked to run."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_fox.cli.verifier.late import LateVerifier
from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.context import RunContext, no_report
from agent_fox.verifier.profiles.loading import load_profile

SLOW = ("agent_fox.engine", "agent_fox.verifier.plans.toolbox", "agent_fox.verifier.policy", "tree_sitter")


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    root, artifacts = tmp_path / "project", tmp_path / "artifacts"
    root.mkdir()
    artifacts.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "cart"\nversion = "1"\n')
    profile = load_profile("python")
    allowed = profile.policy.model_copy(update={"allow_source_mutation": True})
    profile = profile.model_copy(update={"policy": allowed})
    return RunContext("r1", 1, root, artifacts, profile, allow_format_apply=True)


def test_the_command_is_loaded_without_what_only_a_run_needs() -> None:
    code = "import sys, agent_fox.cli.verifier.mcp; print(*[name for name in sys.argv[1:] if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *SLOW], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_a_start_needs_is_what_the_verifier_itself_would_say(context: RunContext) -> None:
    late, verifier = LateVerifier(context), Verifier(context)
    assert (late.may_format, late.profile(), late.detect()) == (
        verifier.may_format,
        verifier.profile(),
        verifier.detect(),
    )
    assert late.may_format


def test_calls_at_once_share_one_verifier(context: RunContext) -> None:
    late, got = LateVerifier(context), []
    threads = [threading.Thread(target=lambda: got.append(late.ready())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    assert len({id(one) for one in got}) == 1


def test_a_call_is_carried_out_and_reported(context: RunContext) -> None:
    late = LateVerifier(context)
    result = late.run(Request(Tool.COMPILE), stop=threading.Event(), progress=no_report)
    assert result.tool is Tool.COMPILE
    report = late.report()
    assert report is not None
    assert [outcome.result.tool for outcome in report.outcomes] == [Tool.COMPILE]
