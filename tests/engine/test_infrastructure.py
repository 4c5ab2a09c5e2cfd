"""When a lost launch is tried again, and when the run pauses at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.config import InfrastructureSettings
from agent_fox.engine.infrastructure import Backoff
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, SessionEnd


def lost(what: Infrastructure, reason: str, losses: int = 1) -> str | None:
    end = SessionEnd(EndKind.INFRASTRUCTURE, reason, Path("log"), infrastructure=what)
    return Backoff(InfrastructureSettings(), lambda: 0.0).lost("uid", losses, end)


def test_a_setup_command_that_failed_is_not_tried_again() -> None:
    said = lost(Infrastructure.WORKSPACE, "[workspace] setup: 'make' ended with exit status 2\nno rule")
    assert said == (
        "[workspace] setup: 'make' ended with exit status 2\nno rule; "
        "correct the command or what it needs, then run again"
    )


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (Infrastructure.WORKSPACE, "git read-tree in /w: index.lock exists"),
        (Infrastructure.NETWORK, "[workspace] setup: quoted by an agent"),
    ],
)
def test_other_trouble_is_waited_for_until_its_attempts_are_spent(what: Infrastructure, reason: str) -> None:
    assert lost(what, reason) is None
    assert "lost 5 times" in str(lost(what, reason, losses=5))
