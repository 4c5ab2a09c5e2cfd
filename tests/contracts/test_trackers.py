"""What every tracker keeps to. Add an implementation to TRACKERS and it is held to all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.retry.filing import Says
from agent_fox.engine.planning.guarded import GuardedTracker
from agent_fox.trackers.local import LocalTracker
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Moot, StateReason, Tracker
from examples.plugins.tracker.journal_plugin import Journal
from tests.trackers.github.scene import scene

TRACKERS: dict[str, Callable[[Path, ExitStack], Tracker]] = {
    "local": lambda folder, _: LocalTracker(folder / "issues"),
    "github": lambda folder, world: world.enter_context(scene(folder)).tracker,
    "a plugin's": lambda folder, _: Journal(folder / "journal.jsonl"),
    "a plugin's, guarded": lambda folder, _: GuardedTracker("notebook", "journal", Journal(folder / "journal.jsonl")),
}

FILED = Effect(
    id="e1",
    kind=EffectKind.FILE,
    fingerprint="f1",
    title="04_gate is not proven",
    body="The gate stays shut.",
    members=("04-REQ-1.1",),
    cause="attempts spent",
    spec="04_gate",
    at="2026-11-21T10:00:00Z",
)
SAID = replace(FILED, id="e2", kind=EffectKind.COMMENT, body="Still shut.")
CLOSED = replace(
    FILED, id="e3", kind=EffectKind.CLOSE, says=Says.PROOF, body="Proven.", state_reason=StateReason.COMPLETED
)
REOPENED = replace(FILED, id="e4", kind=EffectKind.REOPEN, body="Shut again.")


@pytest.fixture(params=sorted(TRACKERS))
def tracker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tracker]:
    with ExitStack() as world:
        yield TRACKERS[request.param](tmp_path, world)


def send(tracker: Tracker, effect: Effect) -> Delivery:
    """As the engine does it: with the newest number that is known before."""
    return tracker.deliver(replace(effect, before=tracker.newest()))


def number(delivery: Delivery) -> str:
    assert isinstance(delivery, Done), delivery
    return delivery.number


def test_an_effect_delivered_twice_is_done_twice_and_stands_once(tracker: Tracker) -> None:
    for effect in (FILED, SAID, CLOSED, REOPENED):
        first = send(tracker, effect)
        newest = tracker.newest()
        assert send(tracker, effect) == first
        assert tracker.newest() == newest


def test_everything_about_a_fingerprint_goes_to_one_issue(tracker: Tracker) -> None:
    numbers = {number(send(tracker, effect)) for effect in (FILED, SAID, CLOSED, REOPENED)}
    assert len(numbers) == 1
    assert {tracker.newest()} == numbers


def test_two_fingerprints_never_share_an_issue_whatever_their_titles(tracker: Tracker) -> None:
    first = number(send(tracker, FILED))
    assert number(send(tracker, replace(FILED, id="e9", fingerprint="f2"))) != first


def test_a_second_filing_of_a_cause_makes_no_second_issue(tracker: Tracker) -> None:
    first = number(send(tracker, FILED))
    assert number(send(tracker, replace(FILED, id="e9", body="Failing again."))) == first


def test_an_effect_in_doubt_that_stands_already_is_not_sent_again(tracker: Tracker) -> None:
    witness = tracker.newest()
    first = number(send(tracker, FILED))
    assert number(send(tracker, replace(FILED, witness=witness))) == first
    assert tracker.newest() == first


def test_late_and_early_effects_find_their_issue_or_make_one_or_are_not_needed(tracker: Tracker) -> None:
    closed, said = send(tracker, CLOSED), send(tracker, SAID)
    assert isinstance(closed, Moot) or number(closed) == number(said)


def test_a_new_tracker_knows_no_issue(tracker: Tracker) -> None:
    assert tracker.newest() in ("", "0")
    assert tracker.name
