"""One end made of several agents' ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.engine.launching.judges import cost_of, judge_of, panel_of
from agent_fox.session.order import EndKind, SessionEnd
from tests.session.world import make_order, make_repo


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([0.0, 5.0], 5.0),
        ([5.0, None], 5.5),
        ([0.0, None], 0.5),
        ([None, None], None),
        ([2.0], 2.0),
    ],
)
def test_an_unknown_cost_is_assumed_and_never_throws_a_known_one_away(
    costs: list[float | None], expected: float | None
) -> None:
    assert cost_of(costs, [0.5, 0.5]) == expected


def test_our_own_judges_are_trusted_and_each_has_a_folder_and_a_log_of_its_own(tmp_path: Path) -> None:
    order = make_order(make_repo(tmp_path / "repo"))
    panel = panel_of(order, ["checks", "claude", "library"])
    judges = [judge_of(one, SessionEnd(EndKind.ENDED, "", one.log)) for one in panel.orders]
    assert [(judge.name, judge.is_trusted) for judge in judges] == [
        ("checks", True),
        ("claude", False),
        ("library", True),
    ]
    assert len({one.state for one in panel.orders}) == len({one.log for one in panel.orders}) == 3
