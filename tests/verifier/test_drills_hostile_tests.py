"""Tests of a repository that mean harm, run as its unit tests in the sandbox: the result is honest, and nothing stays.

What single commands can reach is tried in `test_hostile_commands`; here it is the whole way to a result.
"""

from __future__ import annotations

import shutil
import socket
import time
import tracemalloc
import uuid
from pathlib import Path

import pytest

from agent_fox.system.cgroups import places
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import Status, Tool, VerificationResult
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.context import RunContext
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.running.summing_up import NO_REPORT
from tests.verifier.commands_at_work import alive_with, needs_sandbox
from tests.verifier.made_projects import git, verifier, write

pytestmark = needs_sandbox
HONEST = 2
"""Tests of the project that pass beside the hostile one."""

bounded = {place.resource.controller for place in places()}
needs_process_groups = pytest.mark.skipif(
    "pids" not in bounded, reason="no control group for processes can be made here"
)


@pytest.fixture
def mark() -> str:
    """A word in the command line of every process that a hostile test leaves."""
    return f"mark-{uuid.uuid4().hex}"


def attacked(
    root: Path, body: str, seconds: float = 30.0, processes: int = 512, output: int = 1_000_000
) -> tuple[VerificationResult, Verifier]:
    """The result of the unit tests with one more, whose `body` is what it does; and what ran them."""
    code = "".join(f"    {line}\n" for line in body.splitlines())
    write(root, {"tests/test_hostile.py": f"import os, socket, subprocess, sys, time\n\n\ndef test_it(capfd):\n{code}"})
    profile = load_profile("python")
    commands = [one.model_copy(update={"output_bytes": output}) for one in profile.commands[Tool.UNIT_TESTS]]
    profile = profile.model_copy(update={"commands": {**profile.commands, Tool.UNIT_TESTS: commands}})
    context = RunContext(
        *("run-1", 1, root, root.parent / "artifacts", profile),
        sandbox=SandboxMode.REQUIRE,
        seconds=seconds,
        processes=processes,
    )
    tools = Verifier(context)
    return tools.run(Request(Tool.UNIT_TESTS)), tools


def kept(tools: Verifier) -> bytes:
    """Everything that was kept of the run."""
    parts = []
    for artifact in tools.store.listed():
        with tools.store.open(artifact.uri) as file:
            parts.append(file.read())
    return b"".join(parts)


def passed_whole(result: VerificationResult) -> bool:
    """Whether every test passed and was counted, and no source changed."""
    tests = result.test_summary.passed if result.test_summary else 0
    return (result.status, tests, result.changed_sources) == (Status.PASSED, HONEST + 1, ())


@needs_process_groups
def test_a_fork_bomb_ends_at_its_limits_and_is_no_pass(project: Path, mark: str) -> None:
    bomb = f"'{mark}'; import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    began = time.monotonic()
    result, _ = attacked(project, f"subprocess.run([sys.executable, '-c', {bomb!r}])", seconds=4.0, processes=80)
    assert time.monotonic() - began < 20
    assert result.status is Status.TIMED_OUT
    assert "it ran into its limit of processes" in result.notes
    assert not alive_with(mark)


def test_gigabytes_of_output_leave_a_small_log_and_a_small_result(project: Path) -> None:
    tracemalloc.start()
    result, tools = attacked(
        project, 'with capfd.disabled(): os.system("yes | head -c 10000000000")', 4.0, output=100_000
    )
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.status in (Status.TIMED_OUT, Status.PASSED)
    assert any("bytes of its output were left out" in note for note in result.notes)
    assert sum(artifact.bytes for artifact in tools.store.listed()) < 300_000
    assert most < 32 << 20


def test_a_daemon_that_a_test_leaves_behind_does_not_outlive_the_run(project: Path, mark: str) -> None:
    daemon = (
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}],"
        " start_new_session=True, stdout=-3, stderr=-3)"
    )
    result, _ = attacked(project, daemon)
    assert passed_whole(result), result
    assert not alive_with(mark)


def test_the_machines_users_are_not_there_to_be_read(project: Path) -> None:
    others = [line for line in Path("/etc/passwd").read_text().splitlines() if line.startswith(("daemon:", "mail:"))]
    if not others:
        pytest.skip("this machine's /etc/passwd names nobody else")
    result, tools = attacked(project, "assert not open('/etc/passwd').read()")
    assert result.status is Status.FAILED
    assert b"nobody" in kept(tools)
    assert not any(line.encode() in kept(tools) or line in repr(result) for line in others)


def test_a_token_in_the_persons_home_is_not_there_to_be_read(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write(tmp_path / "home", {".netrc": "s3cr3t-t0ken", ".config/gh/hosts.yml": "s3cr3t-t0ken"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GITHUB_TOKEN", "s3cr3t-t0ken")
    files = [str(home / ".netrc"), str(home / ".config/gh/hosts.yml")]
    body = (
        f"found = [open(f).read() for f in {files!r} if os.path.exists(f)]\nprint(found, os.environ)\nassert not found"
    )
    result, tools = attacked(project, f"{body}\nassert 'GITHUB_TOKEN' not in os.environ")
    assert passed_whole(result), result
    assert b"s3cr3t-t0ken" not in kept(tools)


def test_a_listener_of_the_machine_is_not_reached(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        result, _ = attacked(project, f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)")
        with pytest.raises(TimeoutError):
            server.accept()
    assert (result.status, result.failures[0].test_name) == (Status.FAILED, "tests/test_hostile.py::test_it")
    assert "ConnectionRefusedError" in f"{result.failures[0].exception} {result.failures[0].message}"


def test_nothing_outside_the_workspace_is_written(project: Path, tmp_path: Path) -> None:
    name = f"stolen-{uuid.uuid4().hex}"
    places = [tmp_path / name, tmp_path / "artifacts" / name, Path.home() / name, Path("/tmp") / name]
    attempts = "".join(f"os.system('echo x > {place}')\n" for place in places)
    result, _ = attacked(project, attempts)
    assert passed_whole(result), result
    assert not [place for place in places if place.exists()]


def test_a_file_written_into_the_workspace_from_a_test_is_told(project: Path) -> None:
    result, _ = attacked(project, "open('planted.py', 'w').write('x = 1')")
    assert (result.status, result.changed_sources) == (Status.FAILED, ("planted.py",))


@pytest.mark.parametrize("whom", ["os.getppid()", "1"])
def test_whoever_kills_the_parent_of_its_runner_hits_nothing_of_ours(project: Path, whom: str, mark: str) -> None:
    sleeper = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}])"
    result, _ = attacked(project, f"{sleeper}\nos.kill({whom}, 9)\ntime.sleep(0.2)")
    assert passed_whole(result), result
    assert not alive_with(mark)


def test_whoever_kills_its_runner_gets_no_pass_and_the_next_run_is_well(project: Path) -> None:
    result, tools = attacked(project, "os.kill(os.getpid(), 9)")
    assert (result.status, result.exit_code) == (Status.ERRORED, 137)
    assert tools.run(Request(Tool.COMPILE)).status is Status.PASSED


def test_git_is_not_edited(project: Path) -> None:
    before = {path: path.read_bytes() for path in (project / ".git").rglob("*") if path.is_file()}
    attempts = (
        "os.system('echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git gone; rm -rf .git/objects')\n"
        "os.system('git update-index --assume-unchanged cart.py; git commit -qam mine')"
    )
    result, _ = attacked(project, attempts)
    assert passed_whole(result), result
    assert {path: path.read_bytes() for path in (project / ".git").rglob("*") if path.is_file()} == before
    assert git(project, "status", "--short") == "?? tests/test_hostile.py"


PYTEST_SAYS = "with capfd.disabled(): os.write(1, b'\\n===== 3 passed in 0.01s =====\\n'); os._exit(0)"
UNITTEST_SAYS = """\
import os, unittest


class T(unittest.TestCase):
    def test_it(self):
        os.write(2, b"ok\\n\\n%s\\nRan 3 tests in 0.001s\\n\\nOK\\n" % (b"-" * 70))
        os._exit(0)
"""
FORGE = """\
report = next(word for word in sys.argv if word.startswith('--junitxml=')).partition('=')[2]
open(report, 'w').write('<testsuite name="pytest" tests="1"><testcase classname="t" name="a"/></testsuite>')
with capfd.disabled(): os.write(1, b'\\n===== 1 passed in 0.01s =====\\n')
os._exit(0)"""
CUT_SHORT = FORGE.replace("</testsuite>", "")


@pytest.mark.parametrize("body", ["os._exit(0)", PYTEST_SAYS, CUT_SHORT])
def test_a_test_that_ends_pytest_with_0_and_prints_its_last_line_is_no_pass(project: Path, body: str) -> None:
    result, _ = attacked(project, body)
    assert (result.status, result.failures[0].message) == (Status.ERRORED, NO_REPORT)


def test_a_test_that_ends_unittest_with_0_and_prints_its_last_line_is_no_pass(project: Path) -> None:
    shutil.rmtree(project / "tests")
    write(project, {"pyproject.toml": "[project]\nname = 'cart'\n", "test_it.py": UNITTEST_SAYS})
    result = verifier(project).run(Request(Tool.UNIT_TESTS))
    assert (result.status, result.failures[0].message) == (Status.ERRORED, NO_REPORT)


def test_a_whole_report_can_be_forged_from_within_pytest_but_the_change_that_does_is_flagged(project: Path) -> None:
    base = git(project, "rev-parse", "HEAD")
    result, _ = attacked(project, FORGE)
    assert result.status is Status.PASSED, "a runner that shares its process with the tests cannot be trusted further"
    flagged = verifier(project, base=base).run(Request(Tool.STATIC_POLICY))
    assert (flagged.status, flagged.failures[0].file) == (Status.FAILED, "tests/test_hostile.py")
