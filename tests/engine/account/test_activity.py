"""What a status screen can tell of an agent at work, from what its runner writes down."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.engine.account.account import Activity, activity_in
from agent_fox.session.agents.report import AgentReport, Ending, write_report
from agent_fox.session.order import Paths


def working(folder: Path, **more: object) -> None:
    folder.mkdir(exist_ok=True)
    report = AgentReport("claude", model="m", turns=3, cost_usd=0.5, last="calls Bash", silent=2.0, **more)  # type: ignore[arg-type]
    write_report(Paths(folder).report, report)


def test_an_agent_at_work_is_told(tmp_path: Path) -> None:
    working(tmp_path)
    assert activity_in(tmp_path) == Activity("claude", "m", 3, 0.5, "calls Bash", 2.0)


def test_one_that_has_ended_is_not(tmp_path: Path) -> None:
    working(tmp_path, ending=Ending.ENDED)
    assert activity_in(tmp_path) is None


def test_of_several_judges_the_one_whose_turn_it_is(tmp_path: Path) -> None:
    working(tmp_path / "judge-1", ending=Ending.ENDED)
    working(tmp_path / "judge-2")
    assert activity_in(tmp_path) is not None


@pytest.mark.parametrize(
    "text", ["", "not json", "[]", "[" * 100_000, '{"ending": "ended"}', '{"ending": "running", "turns": "x"}']
)
def test_what_no_runner_wrote_is_nothing_and_no_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    found = activity_in(tmp_path)
    assert found is None or found.turns == 0


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert activity_in(tmp_path / "gone") is None
