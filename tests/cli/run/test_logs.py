"""Which log `logs` shows."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.cli.run.logs import report_in, report_text
from agent_fox.store.state import single_writer
from agent_fox.testing.worlds import run_cli
from tests.cli.conftest import Finished


def test_the_last_session_of_a_node_is_shown(finished: Finished) -> None:
    told = finished.tell("logs", "01_calc:3")
    assert "Report follows." in told
    assert '"01-REQ-2.E1", "verdict": "PASS"' in told


def test_an_attempt_and_a_reading_choose_an_earlier_one(finished: Finished) -> None:
    assert "I could not run the tests." in finished.tell("logs", "01_calc:3", "--attempt", "1", "--reading", "1")
    assert '"01-REQ-2.E1", "verdict": "FAIL"' in finished.tell("logs", "01_calc:3", "--attempt", "1")


def test_the_path_alone_is_a_file_that_is_there(finished: Finished) -> None:
    path = Path(finished.tell("logs", "01_calc:3", "--path").strip())
    assert path.parent == finished.root / ".agent-fox" / "logs"
    assert path.is_file()


def test_json_has_the_text_and_where_it_is_from(finished: Finished) -> None:
    told = json.loads(finished.tell("logs", "01_calc:3", "--attempt", "1", "--reading", "1", "--json"))
    assert (told["node"], told["attempt"], told["reading"], told["status"]) == ("01_calc:3", 1, 1, "completed")
    assert "I could not run the tests." in told["text"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("03_dep:1",), "03_dep:1: no session of it yet"),
        (("01_calc:3", "--attempt", "7"), "there are (attempt.reading): 1.1, 1.2, 2.1"),
    ],
)
def test_a_session_that_there_is_none_of_is_one_clear_line(
    finished: Finished, arguments: tuple[str, ...], said: str
) -> None:
    done = run_cli(finished.root, "logs", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


REPORT = {
    "verdicts": [
        {"requirement_id": "02-REQ-1.1", "verdict": "FAIL", "evidence": "`make check` (exit 1): 3 is not 4\nmore"},
        {"requirement_id": "02-REQ-1.2", "verdict": "UNKNOWN", "evidence": "", "note": "no test names it"},
    ],
    "overall_verdict": "FAIL",
    "runs": [
        {
            "command": "make check", "exit_code": 1, "seconds": 1.25, "tests": 3, "failing": ["test_a"],
            "output_tail": "3 is not 4\n1 failed, 2 passed\n", "artifact": "artifact://gone/1/checks.log",
        }
    ],
}  # fmt: skip
PRINTED = """$ make check
(artifact://gone/1/checks.log is not kept any more: only the last lines)
3 is not 4
1 failed, 2 passed
--- exit 1, 1.2 s, 1 of 3 tests failed

"""
SEEN_BEFORE = "$ make check\n--- exit 1, 1.2 s, 1 of 3 tests failed\n\n"
TEXT = "WHEN its proof is read, THE proof SHALL be right."
VERDICTS = f"""FAIL    02-REQ-1.1  {TEXT}
        `make check` (exit 1): 3 is not 4
UNKNOWN 02-REQ-1.2  {TEXT}
        no test names it
"""


def test_of_a_verifier_that_runs_tests_what_they_printed_is_shown(finished: Finished, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"--- stdout, 9 bytes\n{json.dumps(REPORT, indent=2)}\n--- stderr, 8 bytes\na warning\n")
    report = report_in(path)
    assert report is not None
    assert (
        "".join(report_text(finished.root, "02_top", *report)) == f"{PRINTED}standard error:\na warning\n\n{VERDICTS}"
    )


OF_NONE = VERDICTS.replace(f"  {TEXT}", "")
"""The same for another spec, which has no such requirements."""


@pytest.mark.parametrize("text", ['{"runs": "none"}', '{"runs": []}', '[{"runs": [{}]}]', "{", "", "Report follows."])
def test_a_log_that_is_no_report_on_test_runs_is_shown_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"--- stdout, 9 bytes\n{text}\n--- stderr, 0 bytes\n")
    assert report_in(path) is None


@dataclass
class UnderWay:
    """A world whose run has ended, with one more launch written into its state as if it were under way.

    Fake: the run is this process, and what the session prints is what the test writes where the shim would.
    """

    root: Path
    folder: Path

    def prints(self, text: str, stream: str = "stdout", judge: str = "") -> None:
        place = self.folder / judge / "session"
        place.mkdir(parents=True, exist_ok=True)
        with (place / stream).open("a") as file:
            file.write(text)

    def execute(self, sql: str) -> None:
        db = sqlite3.connect(self.root / ".agent-fox" / "state.db")
        with db:
            db.execute(sql)
        db.close()

    def end(self) -> None:
        self.execute("UPDATE launches SET status = 'lost' WHERE id = 'live'")
        shutil.rmtree(self.folder)


@pytest.fixture
def under_way(finished: Finished, tmp_path: Path) -> UnderWay:
    root = tmp_path / "world"
    shutil.copytree(finished.root, root, symlinks=True)
    world = UnderWay(root, tmp_path / "launch")
    world.execute(
        "INSERT INTO launches (id, session_id, run_id, number, status, pinned_commit, folder, started_at) SELECT "
        f"'live', id, run_id, 99, 'running', '', '{world.folder}', started_at FROM sessions WHERE node_id = '01_calc:1'"
    )
    return world


def test_what_a_running_session_has_printed_so_far_is_shown_masked(under_way: UnderWay) -> None:
    under_way.prints("on it\nexport API_KEY=sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx\nhalf a li")
    under_way.prints("a warning\n", "stderr")
    under_way.prints("the second judge\n", judge="judge-2")
    with single_writer(under_way.root / ".agent-fox" / "run.lock"):
        done = run_cli(under_way.root, "logs", "01_calc:1")
        found = json.loads(run_cli(under_way.root, "logs", "01_calc:1", "--json").stdout)
    assert done.returncode == 0, done.stderr
    told = ("--- stdout, so far\non it\n", "half a li", "--- stderr, so far\na warning\n", "the second judge")
    assert all(words in done.stdout for words in told)
    assert "AbCdEfGhIjKlMnOp" not in done.stdout
    assert "it is running; -f follows it" in done.stderr
    assert (found["is_running"], "on it" in found["text"], "AbCdEfGhIjKlMnOp" in found["text"]) == (True, True, False)


def test_what_agents_are_given_in_secret_is_masked_too(under_way: UnderWay) -> None:
    with (under_way.root / ".agent-fox" / "config.toml").open("a") as file:
        file.write('[specs.01_calc.agents.reviewer.environment]\nGATE_TOKEN = "four-plain-words-here"\n')
    under_way.prints("it is four-plain-words-here\n")
    told = run_cli(under_way.root, "logs", "01_calc:1").stdout
    assert "it is " in told
    assert "plain-words" not in told


def test_a_running_session_is_followed_until_it_ends_and_nothing_of_it_is_lost(under_way: UnderWay) -> None:
    under_way.prints("one\n")
    argv = [sys.executable, "-m", "agent_fox.cli.main", "logs", "01_calc:1", "-f"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    with (
        single_writer(under_way.root / ".agent-fox" / "run.lock"),
        subprocess.Popen(argv, cwd=under_way.root, env=environment, stdout=subprocess.PIPE, text=True) as follower,
    ):
        assert follower.stdout is not None
        assert [follower.stdout.readline() for _ in range(2)] == ["--- stdout, so far\n", "one\n"]
        under_way.prints("two\n")
        assert follower.stdout.readline() == "two\n"
        under_way.prints("the last word")
        under_way.end()
        assert follower.stdout.read() == "the last word"
        assert follower.wait(30) == 0


def test_a_verifiers_report_that_comes_while_it_is_followed_is_shown_by_its_tests(under_way: UnderWay) -> None:
    under_way.prints(json.dumps(REPORT, indent=2) + "\n")
    assert run_cli(under_way.root, "logs", "01_calc:1", "-f").stdout == f"--- stdout, so far\n{PRINTED}{OF_NONE}"


def test_a_verifiers_tests_are_followed_as_they_print_and_not_shown_again(under_way: UnderWay) -> None:
    under_way.prints("$ make check\n3 is not 4\n", "tests")
    under_way.prints(json.dumps(REPORT, indent=2) + "\n")
    seen = f"--- tests, so far\n$ make check\n3 is not 4\n--- stdout, so far\n{SEEN_BEFORE}{OF_NONE}"
    assert run_cli(under_way.root, "logs", "01_calc:1", "-f").stdout == seen


def test_a_session_whose_run_is_gone_is_not_waited_for(under_way: UnderWay) -> None:
    under_way.prints("one\n")
    assert run_cli(under_way.root, "logs", "01_calc:1", "-f").stdout == "--- stdout, so far\none\n"
    done = run_cli(under_way.root, "logs", "01_calc:1")
    assert (done.stdout, "it was ended from outside" in done.stderr) == ("--- stdout, so far\none\n", True)
    assert json.loads(run_cli(under_way.root, "logs", "01_calc:1", "--json").stdout)["is_running"] is False


def test_what_a_run_cost_that_was_ended_from_outside_is_not_told_of_what_runs(under_way: UnderWay) -> None:
    under_way.execute("UPDATE runs SET status = 'running'")
    found = json.loads(run_cli(under_way.root, "status", "--json").stdout)
    assert (found["is_alive"], found["cost"]["assumed_running_usd"]) == (False, 0)
    assert "s of running, without the time of what was ended from outside\n" in run_cli(under_way.root, "status").stdout


def test_status_counts_the_time_of_a_run_under_way(under_way: UnderWay) -> None:
    under_way.execute("UPDATE runs SET status = 'running'")
    started, lock = time.time() - 90, under_way.root / ".agent-fox" / "run.lock"
    with single_writer(lock):
        os.utime(lock, (started, started))
        assert json.loads(run_cli(under_way.root, "status", "--json").stdout)["seconds"] >= 90
