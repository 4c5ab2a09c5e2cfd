"""One open issue for a cause, and what people did to the issues is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.github import Fault, faults
from agent_fox.trackers.desk import Desk
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.protocol import Done, Held, Remote, Retry
from agent_fox.trackers.upkeep import KeepsOrder, Known, Observation, Seeing
from tests.trackers.github.scene import AGAIN, DAY, FILED, KEY, PROVEN, Scene, scene

URL = "https://github.com/octo/project/issues"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as found:
        yield found


def doubled(at: Scene) -> None:
    """Two state files, one key: each files for the cause while the list lags."""
    at.fake.person("fox-bot").opens("Ours", Marker("f1", "elsewhere").above("x", KEY))
    at.fake.person("fox-bot").opens("Ours", Marker("f1", "e1").above("x", KEY))
    assert at.settled(FILED) == Done("2", f"{URL}/2", Remote.OPEN)


def test_the_tracker_keeps_order(at: Scene) -> None:
    assert isinstance(at.tracker, KeepsOrder)


def test_of_several_open_issues_the_lowest_stays_and_the_others_lead_there(at: Scene) -> None:
    doubled(at)
    assert at.tracker.sweep() == Seeing((Observation("f1", "1", f"{URL}/1", Remote.OPEN),))
    assert at.open_numbers() == [1]
    assert (at.fake.issues[1].face.reason, at.bodies(2)) == (
        "duplicate",
        ["Duplicate of #1: both were filed for one cause. What follows is told there."],
    )
    assert at.tracker.sweep() == Seeing()
    assert at.fake.violations == ()


def test_what_follows_goes_to_the_issue_that_stays(at: Scene) -> None:
    doubled(at)
    at.tracker.sweep()
    assert at.numbers["f1"] == "2"
    assert at.settled(AGAIN) == Done("1", f"{URL}/1", Remote.OPEN)
    assert (at.settled(PROVEN), at.open_numbers()) == (Done("1", f"{URL}/1", Remote.CLOSED), [])


def test_another_state_file_follows_our_own_link(tmp_path: Path, at: Scene) -> None:
    at.fake.person("fox-bot").opens("Ours", Marker("f1", "elsewhere").above("x", KEY))
    at.fake.person("fox-bot").opens("Ours", Marker("f1", "e1").above("x", KEY))
    at.settled(FILED)
    with scene(tmp_path, "other.db", at.clock, at.fake) as other:
        other.tracker.sweep()
    assert at.settled(AGAIN) == Done("1", f"{URL}/1", Remote.OPEN)
    assert at.open_numbers() == [1]


@pytest.mark.parametrize("times", range(1, 4))
def test_a_sweep_that_is_interrupted_goes_on(at: Scene, times: int) -> None:
    doubled(at)
    at.fake.person("fox-bot").opens("Ours", Marker("f1", "e7").above("x", KEY))
    at.fake.faults.append(Fault(faults.writes, faults.limited("60"), times))
    for _ in range(times):
        swept = at.tracker.sweep()
        assert isinstance(swept.trouble, Retry)
        at.clock.pass_by(61)
    assert at.tracker.sweep().trouble is None
    assert at.open_numbers() == [1]
    assert (len(at.bodies(2)), len(at.bodies(3))) == (1, 1)


def test_a_duplicate_that_a_person_opens_again_stays_open(at: Scene) -> None:
    doubled(at)
    at.tracker.sweep()
    at.fake.person().reopens(2)
    assert at.tracker.sweep() == Seeing()
    assert at.open_numbers() == [1, 2]


def test_strangers_and_other_causes_are_not_swept(at: Scene) -> None:
    at.settled(FILED)
    at.settled(replace(FILED, id="e9", fingerprint="f9"))
    at.fake.person("mallory").opens("A copy", Marker("f1", "e1").above("x", KEY))
    at.fake.person("fox-bot").opens("Mine", Marker("f1", "e1").above("x", b"another"))
    assert at.tracker.sweep() == Seeing()
    assert at.open_numbers() == [1, 2, 3, 4]


def test_what_the_list_shows_too_late_is_not_closed(at: Scene) -> None:
    doubled(at)
    at.clock.pass_by(100)
    at.fake.knobs.lag = 60
    at.fake.person().closes(1)
    assert at.tracker.sweep() == Seeing()
    assert at.open_numbers() == [2]


def looked(at: Scene, left: Remote | None) -> Remote | None:
    seeing = at.tracker.look([Known("f1", "1", left)])
    return seeing.observations[0].remote if seeing.observations else None


def test_what_people_did_is_seen(at: Scene) -> None:
    at.settled(FILED)
    alex = at.fake.person()
    assert looked(at, Remote.OPEN) is Remote.OPEN
    alex.closes(1)
    assert looked(at, Remote.OPEN) is Remote.FINISHED
    assert looked(at, Remote.CLOSED) is Remote.CLOSED
    alex.reopens(1)
    assert looked(at, Remote.FINISHED) is Remote.KEPT
    alex.closes(1, "not_planned")
    assert looked(at, Remote.OPEN) is Remote.REFUSED
    alex.reopens(1)
    alex.transfers(1, at.fake.add_repository("other/place"))
    assert looked(at, Remote.OPEN) is Remote.MOVED


def test_a_deleted_issue_is_seen(at: Scene) -> None:
    at.settled(FILED)
    at.fake.person().deletes(1)
    assert looked(at, Remote.OPEN) is Remote.GONE


def test_a_list_that_lags_does_not_hide_what_we_did_ourselves(at: Scene) -> None:
    at.settled(FILED)
    at.clock.pass_by(DAY)
    at.fake.knobs.lag = 600
    at.settled(PROVEN)
    assert looked(at, Remote.CLOSED) is Remote.CLOSED


def test_numbers_of_another_tracker_are_not_looked_at(at: Scene) -> None:
    at.fake.person().opens("A person's")
    assert at.tracker.look([Known("f1", "1"), Known("f2", ""), Known("f3", "x")]) == Seeing()


def test_a_look_without_network_tells_why(at: Scene) -> None:
    at.settled(FILED)
    at.fake.faults.append(Fault(faults.anything, faults.refused(), 9))
    assert isinstance(at.tracker.look([Known("f1", "1")]).trouble, Retry)
    assert isinstance(at.tracker.sweep().trouble, Retry)


def test_without_a_desk_nothing_is_looked_at(at: Scene) -> None:
    bare = replace(at.tracker, desk=None, _seats=[])
    assert isinstance(bare.sweep().trouble, Retry)
    assert isinstance(bare.look([Known("f1", "1")]).trouble, Retry)
    assert isinstance(bare.adopt(1, "f1"), Retry)


def test_who_lost_the_lease_sweeps_nothing(at: Scene) -> None:
    doubled(at)
    at.clock.pass_by(130)
    assert Desk(at.db, at.tracker.place, now=at.clock.now).hold()
    assert isinstance(at.tracker.sweep().trouble, Retry)
    assert at.open_numbers() == [1, 2]


def test_an_issue_that_a_person_made_is_adopted_and_goes_on(at: Scene) -> None:
    at.fake.person().opens("The gate", "It stays shut.")
    at.fake.person().comments(1, "Seen it, too.")
    for _ in range(2):
        assert at.tracker.adopt(1, "f1") == Done("1", f"{URL}/1", Remote.OPEN)
    assert len(at.bodies(1)) == 2
    assert at.settled(AGAIN) == Done("1", f"{URL}/1", Remote.OPEN)
    assert (at.settled(PROVEN), at.fake.issues[0].face.body) == (Done("1", f"{URL}/1", Remote.CLOSED), "It stays shut.")


def test_what_cannot_be_adopted_is_refused_with_the_reason(at: Scene) -> None:
    at.settled(replace(FILED, fingerprint="f9"))
    at.fake.person().opens_pull("A change")
    at.fake.person().opens("Gone")
    at.fake.person().deletes(3)
    held = [at.tracker.adopt(number, "f1") for number in (1, 2, 3, 4)]
    assert [isinstance(one, Held) and one.reason for one in held] == [
        "#1 is the issue of another cause (f9)",
        "#2 is a pull request",
        "#3 is deleted",
        "#4 is not found",
    ]
