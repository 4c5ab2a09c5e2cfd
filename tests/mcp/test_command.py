"""`agent-fox mcp verifier` as a person starts it: the program, the verifier, a project and a client are all real."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest
from mcp.client import Client

from agent_fox.mcp.answers import ERROR_KEY
from agent_fox.testing.worlds import wait_until
from tests.cli.program import SOURCE, said, start
from tests.mcp import clients
from tests.mcp.clients import MODES, children_of, environment, text
from tests.verifier.made_projects import with_own_linter

SUM = "def total(items):\n    return sum(items)\n"
PASSING = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FAILING = "from cart import total\n\n\ndef test_wrong():\n    assert total([1, 2]) == 4\n"
SLEEPING = "import time\n\n\ndef test_sleeps():\n    time.sleep(300)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small Python project: one test passes, one fails."""
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text(
        '[project]\nname = "cart"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n'
    )
    (root / "cart.py").write_text(SUM)
    (root / "tests" / "test_passing.py").write_text(PASSING)
    (root / "tests" / "test_failing.py").write_text(FAILING)
    return root


def served(project: Path, ask: clients.Asking[None], mode: str = "legacy") -> None:
    clients.served(project, ask, "verifier", variables=environment(project.parent), mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_builds_and_tests_a_project_and_reads_what_failed(project: Path, mode: str) -> None:
    async def ask(client: Client) -> None:
        found = await client.call_tool("detect_build_system", {})
        assert found.structured_content["buildSystems"][0]["kind"] == "python"
        tests = await client.call_tool("run_unit_tests", {})
        shown = tests.structured_content
        assert (shown["status"], shown["testSummary"]["tests"]) == ("failed", 2), text(tests)
        assert shown["failures"][0]["file"] == "tests/test_failing.py"
        assert str(project) not in text(tests) + json.dumps(shown)
        log = next(one["uri"] for one in shown["artifacts"] if one["kind"] == "log")
        again = await client.call_tool("summarize_build_log", {"artifact": log, "tool": "pytest"})
        assert again.structured_content["failures"][0]["testName"]

    served(project, ask, mode)


def test_a_linters_own_format_is_read_as_it_was_when_the_server_started(project: Path) -> None:
    with_own_linter(project)
    mine = project / "lint/mylint.toml"

    async def ask(client: Client) -> None:
        mine.write_text("row = []")
        (found,) = (await client.call_tool("run_lint", {})).structured_content["failures"]
        assert (found["kind"], found["file"], found["line"], found["code"]) == ("lint_failure", "cart.py", 2, "M7")

    variables = environment(project.parent, AGENT_FOX_VERIFIER_FORMATS=str(mine))
    clients.served(project, ask, "verifier", variables=variables)


def test_a_repair_is_seen_by_the_selected_test_and_then_by_all(project: Path) -> None:
    async def ask(client: Client) -> None:
        selector = {"selector": "tests/test_failing.py::test_wrong"}
        assert (await client.call_tool("run_selected_test", selector)).structured_content["status"] == "failed"
        (project / "tests" / "test_failing.py").write_text(FAILING.replace("4", "3"))
        repaired = await client.call_tool("run_selected_test", selector)
        assert repaired.structured_content["status"] == "passed"
        assert repaired.structured_content["testSummary"]["scope"] == "selected"
        assert (await client.call_tool("run_unit_tests", {})).structured_content["status"] == "passed"

    served(project, ask)


def test_hostile_selectors_and_modules_are_refused_by_the_real_verifier(project: Path) -> None:
    async def ask(client: Client) -> None:
        for selector in ("tests/../../etc/passwd", "/etc/passwd", "x;id", "$(id)", "tests/nowhere.py::test_a"):
            result = await client.call_tool("run_selected_test", {"selector": selector})
            assert result.is_error, (selector, text(result))
            assert result.meta is not None
            assert ERROR_KEY in result.meta
        assert (await client.call_tool("run_unit_tests", {"module": "elsewhere"})).is_error
        assert not (await client.call_tool("run_compile", {})).is_error

    served(project, ask)


def test_a_workspace_that_vanishes_is_no_pass_and_the_server_stays_up(project: Path) -> None:
    async def ask(client: Client) -> None:
        project.rename(project.with_name("elsewhere"))
        gone = await client.call_tool("run_unit_tests", {})
        assert gone.is_error or gone.structured_content["status"] != "passed", text(gone)
        assert (await client.list_tools()).tools

    served(project, ask)


def test_a_client_that_leaves_in_the_middle_of_a_real_test_run_leaves_no_process(project: Path) -> None:
    (project / "tests" / "test_sleeping.py").write_text(SLEEPING)

    async def ask(client: Client) -> None:
        async with anyio.create_task_group() as calls:
            calls.start_soon(lambda: client.call_tool("run_unit_tests", {}))
            with anyio.fail_after(20):
                while not _grandchildren():
                    await anyio.sleep(0.1)
            calls.cancel_scope.cancel()

    served(project, ask)
    wait_until(lambda: not _grandchildren(), "what the call had started was gone")


def test_without_the_extra_the_remedy_is_said(project: Path, tmp_path: Path) -> None:
    """A module that stands in front of the SDK fakes that it is not installed."""
    (tmp_path / "front").mkdir()
    (tmp_path / "front" / "mcp.py").write_text("raise ModuleNotFoundError('No module named mcp', name='mcp')\n")
    path = os.pathsep.join((str(tmp_path / "front"), str(SOURCE)))
    refused = start(project, "mcp", "verifier", PYTHONPATH=path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "pip install 'agent-fox[mcp]'" in said(refused)


def _grandchildren() -> list[int]:
    """What the servers that this test started have started."""
    return [below for child in children_of(os.getpid()) for below in children_of(child)]
