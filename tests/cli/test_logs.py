"""Which log `logs` shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
