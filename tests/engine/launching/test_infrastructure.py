"""When a lost launch is tried again, and when the run pauses at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.config import InfrastructureSettings
from agent_fox.engine.launching.infrastructure import Backoff
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
def test_other_trouble_is_waited_for(what: Infrastructure, reason: str) -> None:
    assert lost(what, reason) is None
    assert lost(what, reason, losses=5) is None


def lost_again_and_again(settings: InfrastructureSettings, retry_after: float | None = None) -> tuple[int, str]:
    """How often a ticket is lost until the run pauses, and what it says then."""
    backoff = Backoff(settings, lambda: 0.0)
    end = SessionEnd(
        EndKind.INFRASTRUCTURE, "529", Path("log"), infrastructure=Infrastructure.OVERLOAD, retry_after=retry_after
    )
    for losses in range(1, 1000):
        reason = backoff.lost("uid", losses, end)
        if reason is not None:
            return losses, reason
    raise AssertionError("it is never lost for good")


def test_an_overload_is_waited_for_as_long_as_patience_lasts() -> None:
    assert lost_again_and_again(InfrastructureSettings()) == (
        55,
        "lost 55 times to infrastructure, waited for 14,310 s of our own accord, last: 529; "
        "run again when it works, or raise [infrastructure] patience",
    )
    assert lost_again_and_again(InfrastructureSettings(patience=10.0))[0] == 3
    assert lost_again_and_again(InfrastructureSettings(), retry_after=7000.0)[0] == 55
    assert lost_again_and_again(InfrastructureSettings(attempts=5))[0] == 5


@pytest.mark.parametrize(
    ("what", "advice"),
    [
        (Infrastructure.AUTHENTICATION, "log in"),
        (Infrastructure.NO_CREDIT, "add some"),
        (Infrastructure.UNKNOWN_MODEL, "correct `model`"),
        (Infrastructure.MISSING_BINARY, "install it"),
        (Infrastructure.BROKEN_PROGRAM, "agent-fox doctor --try"),
    ],
)
def test_what_no_waiting_mends_pauses_at_once_with_what_to_do(what: Infrastructure, advice: str) -> None:
    assert advice in str(lost(what, "no"))


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


def test_a_ticket_that_is_ready_and_finds_no_place_wakes_nobody() -> None:
    now = [0.0]
    backoff = Backoff(InfrastructureSettings(), lambda: now[0])
    end = SessionEnd(EndKind.INFRASTRUCTURE, "529", Path("log"), infrastructure=Infrastructure.OVERLOAD)
    assert backoff.lost("first", 1, end) is None
    wait = backoff.left("first")
    assert (backoff.shortest(3600.0), backoff.shortest(1.0)) == (wait, min(1.0, wait))
    now[0] = wait + 5.0
    assert backoff.lost("second", 3, end) is None
    assert (backoff.shortest(3600.0), backoff.shortest(0.5)) == (backoff.left("second"), 0.5)
    assert backoff.is_ready("first")
