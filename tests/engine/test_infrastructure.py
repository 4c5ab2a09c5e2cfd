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


def waited(losses: int, retry_after: float | None = None) -> float:
    """Seconds until the ticket may be launched again."""
    backoff = Backoff(InfrastructureSettings(), lambda: 100.0)
    end = SessionEnd(
        EndKind.INFRASTRUCTURE, "429", Path("log"), infrastructure=Infrastructure.RATE_LIMIT, retry_after=retry_after
    )
    assert backoff.lost("uid", losses, end) is None
    return backoff.not_before["uid"] - 100.0


def test_each_wait_is_twice_the_last_one() -> None:
    assert [waited(losses) for losses in (1, 2, 3, 4)] == [2, 4, 8, 16]


@pytest.mark.parametrize(("asked", "wait"), [(90.0, 90.0), (1.0, 2.0), (10.0**6, 21600.0)])
def test_what_the_models_side_asks_for_is_waited_up_to_a_bound(asked: float, wait: float) -> None:
    assert waited(1, retry_after=asked) == wait
