"""Names of nodes and tickets, as they are shown."""

from __future__ import annotations

import pytest

from agent_fox.core.ids import NodeName, Ticket


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (NodeName("01_a", 3), "01_a:3"),
        (NodeName("01_a", 0, "reviewer", "pre-review"), "01_a:0:reviewer:pre-review"),
        (NodeName("01_a", None), "01_a"),
        (NodeName("01_a", None, "verifier"), "01_a:verifier"),
    ],
)
def test_a_name_is_shown_with_what_it_has(name: NodeName, shown: str) -> None:
    assert str(name) == shown


def test_a_ticket_is_shown_with_attempt_and_reading() -> None:
    assert str(Ticket("01_a:verifier", 2, 3)) == "01_a:verifier@2.3"
    assert Ticket("01_a:coder:1", 1) == Ticket("01_a:coder:1", 1, 1)
