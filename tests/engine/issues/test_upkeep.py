"""How filed issues stand now is noted and told once. The GitHub here is our fake, a double for the service alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.engine.issues.effects import Delivering
from agent_fox.engine.issues.upkeep import look_and_sweep
from agent_fox.engine.record.watch import RunEvent
from agent_fox.store.issue_view import IssueStanding, IssueView, read_issues
from agent_fox.testing.github import Fault, faults
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.local import LocalTracker
from tests.trackers.github.scene import FILED, KEY, Scene, scene


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as here:
        yield here


def looked(here: Scene) -> tuple[str, list[str]]:
    """Why not everything was seen, and what is new."""
    told: list[RunEvent] = []
    why = look_and_sweep(here.db, here.tracker, told.append, here.clock.now())
    return why, [event.text for event in told]


def only(here: Scene) -> IssueView:
    (issue,) = read_issues(here.db)
    return issue


def test_what_a_person_did_is_noted_and_told_once(here: Scene) -> None:
    here.settled(FILED)
    here.fake.person("alex").closes(1, "not_planned")
    assert looked(here) == ("", ["issue #1 is refused by a person now"])
    assert (only(here).standing, only(here).seen_at) == (IssueStanding.REFUSED, here.clock.now())
    assert looked(here) == ("", [])


def test_an_issue_that_stands_as_it_was_left_is_seen_and_nothing_is_told(here: Scene) -> None:
    here.settled(FILED)
    here.clock.pass_by(3600)
    assert looked(here) == ("", [])
    assert (only(here).standing, only(here).seen_at) == (IssueStanding.OPEN, here.clock.now())


def test_of_two_issues_for_one_cause_one_stays_open(here: Scene) -> None:
    here.settled(FILED)
    here.clock.pass_by(60)
    here.tracker.door.create("twin", Marker("f1", "other").line(KEY) + "\nThe same.", ())
    here.clock.pass_by(60)
    assert here.open_numbers() == [1, 2]
    why, _ = looked(here)
    assert (why, here.open_numbers(), only(here).number) == ("", [1], "1")


def test_what_cannot_be_looked_at_is_told_and_changes_nothing(here: Scene) -> None:
    here.settled(FILED)
    before = only(here)
    here.fake.faults.append(Fault(faults.anything, faults.refused(), times=100))
    why, told = looked(here)
    assert why
    assert (told, only(here)) == ([], before)


def test_where_nothing_was_filed_nobody_is_asked(here: Scene) -> None:
    assert looked(here) == ("", [])
    assert list(here.fake.exchanges) == []


def test_a_tracker_where_nobody_else_acts_is_not_asked(here: Scene, tmp_path: Path) -> None:
    here.settled(FILED)
    tracker = LocalTracker(tmp_path / "issues")
    assert look_and_sweep(here.db, tracker, lambda event: None, here.clock.now()) == ""


def test_a_limit_that_looking_meets_is_kept_for_every_process(here: Scene) -> None:
    here.settled(FILED)
    here.fake.faults.append(Fault(faults.reads, faults.limited(retry_after="600")))
    desk = here.tracker.desk
    assert desk is not None
    why = look_and_sweep(here.db, here.tracker, lambda event: None, here.clock.now(), desk)
    assert why != ""
    delivering = Delivering(here.db, here.tracker, lambda event: None, now=here.clock.now, desk=desk)
    assert delivering.why_closed() == why
    here.clock.pass_by(601)
    assert delivering.why_closed() == ""
