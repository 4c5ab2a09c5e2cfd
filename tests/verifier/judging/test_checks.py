"""The rules of the verdicts of `checks`, with real pytest in real workspaces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.core.spec import Trace
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.verdict import Disposition, Signal
from agent_fox.verifier.ground.order import Counterfactual, Untested, write_order
from agent_fox.verifier.judging.checks import TRYING, answer, run_checks
from agent_fox.verifier.running.output import LIVE_END, LIVE_LIMIT, Live
from tests.verifier.made_projects import write
from tests.verifier.workspace import PYTEST, appears, checked, is_gone, order, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"
EDGE = "04-REQ-1.E1"


def test_a_requirement_passes_where_its_test_ran_and_passed_and_fails_where_one_failed(
    tmp_path: Path,
) -> None:
    tests = "def test_04_req_1_1_adds(): pass\ndef test_04_req_1_2_rejects(): assert 3 == 4\n"
    report = checked(tmp_path, {"tests/test_a.py": tests}, ONE, TWO)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    failed = report.findings[1]
    assert failed.command == "python -m pytest tests/test_a.py::test_04_req_1_2_rejects"
    assert failed.verdict.signal == Signal(PYTEST, "assert # == #")
    assert (failed.verdict.failing_tests, failed.exit_code) == (1, 1)
    assert "assert 3 == 4" in failed.verdict.evidence


def test_docstrings_markers_and_classes_name_requirements(tmp_path: Path) -> None:
    tests = (
        "import pytest\n"
        "def test_a():\n    '''Covers 04-REQ-1.1.'''\n"
        "@pytest.mark.requirement('04-REQ-1.2')\ndef test_b(): pass\n"
        "class TestEdge:\n    '''04-REQ-1.E1: nothing is lost'''\n    def test_c(self): assert False\n"
    )
    files = {"tests/test_a.py": tests, "pytest.ini": "[pytest]\nmarkers = requirement\n"}
    assert words(checked(tmp_path, files, ONE, TWO, EDGE)) == {ONE: "PASS", TWO: "PASS", EDGE: "FAIL"}


def test_the_traceability_table_names_tests_files_and_test_spec_entries(tmp_path: Path) -> None:
    files = {
        "tests/test_a.py": "def test_sum(): pass\n",
        "tests/test_b.py": "def test_x(): pass\ndef test_y(): assert 0\n",
        "tests/test_c.py": "def test_ts_04_7_runs(): pass\n",
    }
    rows = (
        Trace(ONE, tests=("`tests/test_a.py::test_sum`",)),
        Trace(TWO, tests=("test_b.py",)),
        Trace(EDGE, tests_specified=("TS-04-7",)),
    )
    report = checked(tmp_path, files, ONE, TWO, EDGE, traceability=rows)
    assert words(report) == {ONE: "PASS", TWO: "FAIL", EDGE: "PASS"}


def test_a_test_that_is_claimed_but_absent_fails_its_requirement(tmp_path: Path) -> None:
    rows = (Trace(ONE, tests=("test_a.py::test_gone",)),)
    report = checked(
        tmp_path,
        {"test_a.py": "def test_04_req_1_1(): pass\n"},
        ONE,
        traceability=rows,
        untested=Untested.UNKNOWN,
    )
    assert words(report) == {ONE: "FAIL"}
    assert "test_a.py::test_gone" in report.verdicts[0].evidence


def test_each_test_that_is_claimed_must_have_run(tmp_path: Path) -> None:
    tests = "import pytest\ndef test_sum(): pass\n@pytest.mark.skip\ndef test_tax(): pass\n"
    rows = (Trace(ONE, tests=("test_a.py::test_sum", "test_a.py::test_tax")),)
    report = checked(tmp_path, {"test_a.py": tests}, ONE, traceability=rows, untested=Untested.UNKNOWN)
    assert words(report) == {ONE: "UNKNOWN"}


@pytest.mark.parametrize("untested", list(Untested))
def test_a_requirement_that_no_test_names_is_what_the_setting_says(tmp_path: Path, untested: Untested) -> None:
    report = checked(tmp_path, {"test_a.py": "def test_other(): pass\n"}, ONE, untested=untested)
    assert words(report) == {ONE: untested.value.upper()}


@pytest.mark.parametrize("mark", ["skip", "xfail(strict=False)"])
def test_a_skipped_or_expected_failure_proves_nothing(tmp_path: Path, mark: str) -> None:
    tests = f"import pytest\n@pytest.mark.{mark}\ndef test_04_req_1_1(): assert 0\n"
    report = checked(tmp_path, {"test_a.py": tests}, ONE, untested=Untested.UNKNOWN)
    assert words(report) == {ONE: "UNKNOWN"}


def test_an_expected_failure_beside_a_pass_is_not_proven(tmp_path: Path) -> None:
    tests = "import pytest\ndef test_04_req_1_1_a(): pass\n@pytest.mark.xfail\ndef test_04_req_1_1_b(): assert 0\n"
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE)) == {ONE: "FAIL"}


def test_a_file_that_cant_be_collected_fails_what_it_is_about_and_no_more(tmp_path: Path) -> None:
    files = {
        "test_a.py": "def test_04_req_1_1(): pass\n",
        "test_b.py": "import gone\ndef test_04_req_1_2(): pass\n",
    }
    report = checked(tmp_path, files, ONE, TWO, untested=Untested.UNKNOWN)
    assert words(report) == {ONE: "PASS", TWO: "FAIL"}
    assert report.findings[1].verdict.signal == Signal(PYTEST, "ModuleNotFoundError: No module named 'gone'")
    assert report.findings[1].command == "python -m pytest test_b.py"


def test_a_test_file_that_the_command_names_and_nobody_wrote_is_a_fail(tmp_path: Path) -> None:
    commands = {"spec_tests": f"{PYTEST} tests/test_gone.py"}
    report = checked(tmp_path, {}, ONE, commands=commands, untested=Untested.UNKNOWN)
    assert words(report) == {ONE: "FAIL"}
    assert "tests/test_gone.py is not there" in report.verdicts[0].evidence


def test_a_broken_conftest_is_a_fail_of_everything(tmp_path: Path) -> None:
    files = {"conftest.py": "import gone\n", "test_a.py": "def test_04_req_1_1(): pass\n"}
    report = checked(tmp_path, files, ONE, untested=Untested.UNKNOWN)
    assert words(report) == {ONE: "FAIL"}
    assert "No module named 'gone'" in report.verdicts[0].evidence


def test_a_hang_that_repeats_is_a_fail_with_the_command_that_shows_it(tmp_path: Path) -> None:
    files = {"test_a.py": "import time\ndef test_04_req_1_1(): time.sleep(60)\n"}
    report = checked(tmp_path, files, ONE, timeout=3.0)
    assert words(report) == {ONE: "FAIL"}
    assert "still running after 3 s, twice" in report.verdicts[0].evidence
    assert report.findings[0].command == PYTEST


def test_a_hang_that_does_not_repeat_counts_for_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "was_here"
    tests = (
        "import pathlib, time\ndef test_04_req_1_1():\n"
        f"    mark = pathlib.Path({str(mark)!r})\n"
        "    if not mark.exists():\n        mark.touch()\n        time.sleep(60)\n"
    )
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE, timeout=8.0)) == {ONE: "PASS"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no-such-tool-here test", "can't be started"),
        ("sh -c 'exit 127'", "a tool is missing (exit 127)"),
        ("sh -c 'kill -9 $$'", "was killed"),
        ("cd x && pytest", "needs a shell"),
        ("pytest 'open", "can't be split"),
        ("true", "name the JUnit XML files"),
        ("python -m pytest --no-such-option", "no report"),
    ],
)
def test_what_could_not_be_attempted_is_unknown_and_says_why(tmp_path: Path, line: str, reason: str) -> None:
    report = checked(tmp_path, {}, ONE, commands={"Spec tests": line})
    assert words(report) == {ONE: "UNKNOWN"}
    assert reason in report.verdicts[0].evidence


def test_a_killed_command_is_infrastructure(tmp_path: Path) -> None:
    report = checked(tmp_path, {}, ONE, configured=("sh -c 'kill -9 $$'",))
    assert report.verdicts[0].disposition is Disposition.INFRASTRUCTURE


def test_exit_0_beside_failing_tests_is_not_believed(tmp_path: Path) -> None:
    files = {
        "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
        "test_a.py": "def test_04_req_1_1(): assert 0\n",
    }
    report = checked(tmp_path, files, ONE)
    assert words(report) == {ONE: "UNKNOWN"}
    assert "exit 0" in report.verdicts[0].evidence


def test_a_failing_exit_without_a_failing_test_is_not_believed(tmp_path: Path) -> None:
    files = {
        "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n",
        "test_a.py": "def test_04_req_1_1(): pass\n",
    }
    assert words(checked(tmp_path, files, ONE)) == {ONE: "UNKNOWN"}


def test_only_reports_written_by_this_run_count(tmp_path: Path) -> None:
    passed = '<testsuite><testcase classname="a" name="test_04_req_1_1"/></testsuite>'
    settings = {"configured": ("true",), "reports": ("out/*.xml",)}
    assert words(checked(tmp_path, {"out/old.xml": passed}, ONE, **settings)) == {ONE: "UNKNOWN"}
    writes = {"write.py": f"open('out/new.xml', 'w').write({passed!r})\n"}
    assert words(checked(tmp_path, writes, ONE, **{**settings, "configured": ("python write.py",)})) == {ONE: "PASS"}


def test_all_tests_run_only_where_the_specs_own_left_something_untested(tmp_path: Path) -> None:
    files = {"a/test_a.py": "def test_04_req_1_1(): pass\n", "b/test_b.py": "def test_04_req_1_2(): pass\n"}
    commands = {"Spec tests": f"{PYTEST} a", "All tests": f"{PYTEST} a b", "Linter": "no-such-linter"}
    assert len(checked(tmp_path, files, ONE, commands=commands).runs) == 1
    both = checked(tmp_path, files, ONE, TWO, commands=commands)
    assert words(both) == {ONE: "PASS", TWO: "PASS"}
    assert len(both.runs) == 2


def test_stopping_at_the_first_failure_does_not_make_the_rest_absent(tmp_path: Path) -> None:
    tests = "def test_04_req_1_1(): assert 0\ndef test_04_req_1_2(): pass\n"
    commands = {"Spec tests": f"{PYTEST} -x"}
    assert words(checked(tmp_path, {"test_a.py": tests}, ONE, TWO, commands=commands)) == {
        ONE: "FAIL",
        TWO: "PASS",
    }


def test_a_test_of_the_whole_requirement_fails_each_criterion_and_passes_none(tmp_path: Path) -> None:
    tests = {"test_a.py": "def test_whole():\n    '''04-REQ-1'''\n    assert 0\n"}
    assert words(checked(tmp_path, tests, ONE, untested=Untested.UNKNOWN)) == {ONE: "FAIL"}
    tests = {"test_a.py": "def test_whole():\n    '''04-REQ-1'''\n"}
    assert words(checked(tmp_path, tests, ONE, untested=Untested.UNKNOWN)) == {ONE: "UNKNOWN"}


def test_commands_see_a_private_home_and_no_other_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    tests = (
        "import os, sys\ndef test_04_req_1_1():\n"
        "    assert 'SECRET_TOKEN' not in os.environ and os.environ['WANTED'] == 'yes'\n"
        f"    assert os.environ['HOME'] != {str(Path.home())!r} and os.environ['SET'] == '1'\n"
        "    assert sys.stdin is None or sys.stdin.read() == ''\n"
    )
    base = order(tmp_path, ONE)
    environment = {**base.environment, "WANTED": "yes"}
    commands = {"Spec tests": f"SET=1 {PYTEST} -s"}
    report = checked(tmp_path, {"test_a.py": tests}, ONE, environment=environment, commands=commands)
    assert words(report) == {ONE: "PASS"}, report.verdicts[0].evidence


def test_evidence_of_many_failures_is_capped_and_names_tests(tmp_path: Path) -> None:
    tests = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_04_req_1_1(n): assert 'x' * 900 == n\n"
    finding = checked(tmp_path, {"test_a.py": tests}, ONE).findings[0]
    assert finding.verdict.failing_tests == 40
    assert len(finding.verdict.evidence) <= 1500
    assert "37 more" in finding.verdict.evidence


def test_no_test_command_is_unknown_and_no_expected_id_is_never_a_pass(tmp_path: Path) -> None:
    report = checked(tmp_path, {}, ONE, commands={"Linter": "true"})
    assert words(report) == {ONE: "UNKNOWN"}
    assert answer(run_checks(order(tmp_path)))["overall_verdict"] == "UNKNOWN"


WAITS_TO_BE_READ = """\
import pathlib, sys, time
print("half way", flush=True)
seen = pathlib.Path(sys.argv[1])
until = time.monotonic() + 20
while "half way" not in seen.read_text() and time.monotonic() < until:
    time.sleep(0.01)
sys.exit("half way" not in seen.read_text())
"""


def test_what_a_command_prints_can_be_read_while_it_runs(tmp_path: Path) -> None:
    live = tmp_path / "live"
    write(tmp_path / "w", {"check.py": WAITS_TO_BE_READ})
    line = f"{sys.executable} check.py {live}"
    report = run_checks(order(tmp_path / "w", ONE, commands={}, configured=(line,), live=str(live)))
    assert [run.exit_code for run in report.runs] == [0]
    assert live.read_text().startswith(f"$ {line}\nhalf way\n")


def test_what_runs_again_says_so_and_trials_print_nothing(tmp_path: Path) -> None:
    live, tests = tmp_path / "live", "def test_04_req_1_1(): assert 3 == 4\n"
    write(tmp_path / "w", {"test_a.py": tests})
    run_checks(order(tmp_path / "w", ONE, live=str(live), counterfactual=Counterfactual.REQUIRE))
    headings = [line for line in live.read_text().splitlines() if line.startswith(("$ ", "--- "))]
    assert headings[0].startswith("$ ")
    assert not headings[0].endswith(" (again)")
    assert all(line == f"{headings[0]} (again)" for line in headings[1:-1])
    assert len(headings) >= 3
    assert headings[-1] == TRYING.decode().rstrip()


def test_a_file_to_follow_that_is_full_or_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    Live(tmp_path / "nowhere" / "live").write(b"lost")
    live = Live(tmp_path / "live")
    for piece in (b"a" * (LIVE_LIMIT - 1), b"bc", b"d"):
        live.write(piece)
    assert (tmp_path / "live").read_bytes()[LIVE_LIMIT - 1 :] == b"b" + LIVE_END


def test_the_process_prints_one_json_answer(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "def test_04_req_1_1(): pass\n"})
    (tmp_path / "order.json").write_bytes(write_order(order(tmp_path, ONE)))
    ended = _process(str(tmp_path / "order.json"))
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["overall_verdict"]) == (0, "PASS")
    row = told["verdicts"][0]
    assert (row["requirement_id"], row["verdict"], row["exit_code"]) == (ONE, "PASS", 0)


def test_the_answer_is_read_as_what_was_found(tmp_path: Path) -> None:
    tests = "def test_04_req_1_1(): pass\ndef test_04_req_1_2(): assert {'a': 1} == {}\n"
    report = checked(tmp_path, {"test_a.py": tests}, ONE, TWO, EDGE)
    read = read_report(json.dumps(answer(report)), {"04-REQ-1": (ONE, TWO, EDGE)}, trusted=True)
    assert {id: verdict.word.value for id, verdict in read.verdicts.items()} == words(report)
    assert (read.notes, read.overall) == ((), "FAIL")


@pytest.mark.parametrize("text", ["", "[]", '{"expected": {}, "unknown_key": 1}'])
def test_an_order_that_cant_be_read_is_one_line_and_exit_1(tmp_path: Path, text: str) -> None:
    (tmp_path / "order.json").write_text(text)
    ended = _process(str(tmp_path / "order.json"))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_when_the_process_is_asked_to_end_its_command_ends_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    line = f"sh -c 'echo $$ > {pid_file}; exec sleep 60'"
    (tmp_path / "order.json").write_bytes(write_order(order(tmp_path, ONE, configured=(line,))))
    argv = [sys.executable, "-m", "agent_fox.verifier.judging.checks", str(tmp_path / "order.json")]
    with subprocess.Popen(argv) as checks:
        assert appears(pid_file)
        checks.terminate()
        assert checks.wait(10) == 143
    assert is_gone(int(pid_file.read_text()))


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "agent_fox.verifier.judging.checks", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False)
