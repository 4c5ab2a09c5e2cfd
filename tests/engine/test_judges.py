"""One end made of several agents' ends."""

from __future__ import annotations

import pytest

from agent_fox.engine.judges import cost_of


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
