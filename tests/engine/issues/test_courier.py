"""Delivering goes on beside the run: nothing that a tracker or the disk does holds the run up, ends it, or is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.config import TrackerSettings
from agent_fox.engine.issues.courier import LONGEST_NAP, Courier, desk_of, nap
from agent_fox.store import outbox, state
from agent_fox.store.state import transaction
from agent_fox.system import clock
from agent_fox.system.clock import later
from agent_fox.testing.worlds import wait_until
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Held, Retry
from tests.engine.scripted_tracker import FarAway, Scripted, put, states
from tests.states import fresh_state
from tests.store.world import AT, VERIFIER, add_nodes

LONG = 60.0
"""Seconds that nothing here takes, on a machine that is busy with other things."""


@dataclass
class Waiting(Scripted):
    """Delivers nothing until it is let go; tells in which thread it was asked, and that it was."""

    is_asked: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    threads: set[str] = field(default_factory=set)

    def deliver(self, effect: Effect) -> Delivery:
        self.threads.add(threading.current_thread().name)
        self.is_asked.set()
        assert self.go.wait(LONG)
        return super().deliver(effect)


@dataclass
class Here:
    """A state file, seen by the run's connection, and couriers that are over when the test is."""

    path: Path
    db: Database
    couriers: list[Courier] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def courier(self, tracker: Scripted) -> Courier:
        made = Courier(self.path, tracker, TrackerSettings())
        self.couriers.append(made)
        return made

    def start(self, tracker: Scripted) -> Courier:
        courier = self.courier(tracker)
        courier.start()
        return courier

    def all_of(self, courier: Courier) -> list[str]:
        """Let it deliver what it can. Everything that it has told."""
        courier.finish(LONG)
        self.told += [event.text for event in courier.drain()]
        return self.told


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    path = tmp_path / "state.db"
    with closing(fresh_state(path)) as db:
        with transaction(db):
            add_nodes(db, VERIFIER)
        found = Here(path, db)
        yield found
        for courier in found.couriers:
            if isinstance(courier.tracker, Waiting):
                courier.tracker.go.set()
            courier.finish(LONG)


def test_what_waits_is_delivered_and_told_when_it_is_asked_for(here: Here) -> None:
    put(here.db, "a")
    assert here.all_of(here.start(Scripted())) == ["file: about a (url)"]
    assert states(here.db) == [("a", "done")]


def test_a_tracker_that_hangs_holds_up_neither_the_run_nor_its_end(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "b")
    courier = here.start(tracker := Waiting())
    assert tracker.is_asked.wait(LONG)
    put(here.db, "c")
    courier.wake()
    assert list(courier.drain()) == []
    courier.finish(0.05)
    assert courier.thread is not None
    assert (courier.thread.is_alive(), courier.thread.daemon) == (True, True)
    sql = "SELECT state, is_in_doubt FROM outbox ORDER BY position"
    assert here.db.execute(sql).fetchall() == [("inflight", 1), ("pending", 0), ("pending", 0)]
    tracker.go.set()
    courier.thread.join(LONG)
    assert (tracker.threads, tracker.prints) == ({"courier"}, ["a"])


def test_a_person_who_asks_to_stop_does_not_wait_for_a_tracker_that_hangs(here: Here) -> None:
    put(here.db, "a")
    courier = here.start(tracker := Waiting())
    assert tracker.is_asked.wait(LONG)
    courier.finish(LONG, lambda: True)
    assert courier.thread is not None
    assert (courier.thread.is_alive(), courier.leaving.is_set()) == (True, True)


def test_a_decision_is_delivered_while_the_run_goes_on(here: Here) -> None:
    courier = here.start(tracker := Scripted())
    put(here.db, "a")
    courier.wake()
    wait_until(lambda: bool(tracker.seen), "the tracker was asked")
    wait_until(lambda: states(here.db) == [("a", "done")], "it was delivered")


def test_a_defect_of_a_tracker_is_told_and_what_it_was_about_is_in_doubt(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "b")
    (told,) = here.all_of(here.start(Scripted([ZeroDivisionError("of ours")])))
    assert "delivering issues has failed: ZeroDivisionError('of ours')" in told
    assert "`agent-fox issues sync`" in told
    assert states(here.db) == [("a", "inflight"), ("b", "pending")]
    tracker = Scripted()
    here.told.clear()
    here.all_of(here.start(tracker))
    assert [(effect.fingerprint, effect.witness) for effect in tracker.seen] == [("a", "4"), ("b", None)]


def test_what_keeps_everything_from_being_delivered_is_told_once_in_a_run(here: Here) -> None:
    """Also where a bell rings between, and nothing is due then."""
    nobody = Held("no token", "set one", is_general=True)
    courier = here.start(tracker := Scripted([nobody] * 3))
    for number, fingerprint in enumerate("abc", 1):
        put(here.db, fingerprint)
        courier.wake()
        wait_until(lambda number=number: len(tracker.seen) == number, f"{number} were delivered")  # type: ignore[misc]
        courier.wake()
        wait_until(lambda: not courier.bell.is_set(), "the courier had heard the bell")
    assert here.all_of(courier) == ["issues wait: no token; set one"]
    assert states(here.db) == [("a", "held"), ("b", "held"), ("c", "held")]


def test_a_new_run_tries_again_what_was_held_and_tells_it_again(here: Here) -> None:
    put(here.db, "a")
    for _ in range(2):
        here.all_of(here.start(Scripted([Held("locked", "unlock it")])))
    assert here.told == ["file held: about a: locked; unlock it"] * 2
    here.all_of(here.start(Scripted()))
    assert states(here.db) == [("a", "done")]


def test_of_two_that_deliver_from_one_state_each_effect_is_sent_by_one(here: Here) -> None:
    """Both have a desk; who does not hold the lease sends nothing, and whoever is last has it."""
    for number in range(12):
        put(here.db, f"f{number}")
    first, second = here.start(FarAway()), here.start(FarAway())
    for courier in (first, second):
        here.all_of(courier)
    here.all_of(here.start(FarAway()))
    sent = [effect.id for one in here.couriers if isinstance(one.tracker, Scripted) for effect in one.tracker.seen]
    assert (len(sent), len(set(sent))) == (12, 12)
    assert {told for _, told in states(here.db)} == {"done"}


def test_who_has_delivered_leaves_the_place_to_the_next(here: Here) -> None:
    put(here.db, "a")
    here.all_of(here.start(FarAway()))
    assert here.db.execute("SELECT count(*) FROM tracker_leases").fetchone() == (0,)


def test_a_state_file_that_is_busy_is_told_once_and_does_not_end_the_courier(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(here.db, "a")
    with transaction(here.db):
        outbox.set_outbox(here.db, outbox.due(here.db, AT)[0].id, "held", AT)
    monkeypatch.setattr(state, "BUSY_SECONDS", 0.05)
    courier = here.courier(Scripted())
    with transaction(here.db):
        courier.start()
        wait_until(lambda: not courier.events.empty(), "the courier had told something")
        courier.wake()
        wait_until(lambda: not courier.bell.is_set(), "the courier had heard the bell")
    monkeypatch.undo()
    courier.wake()
    first, last = here.all_of(courier)
    assert ("state.db" in first, last) == (True, "file: about a (url)")
    assert states(here.db) == [("a", "done")]


def test_a_state_file_that_cannot_be_used_is_told_and_not_touched(tmp_path: Path, here: Here) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"no state file at all, but long enough to be taken for one" * 100)
    courier = Courier(path, Scripted(), TrackerSettings())
    courier.start()
    courier.finish(LONG)
    (event,) = courier.drain()
    assert "delivering issues has failed" in event.text
    assert path.read_bytes().startswith(b"no state file")


def test_who_was_told_to_leave_begins_nothing_else(here: Here) -> None:
    for fingerprint in "ab":
        put(here.db, fingerprint)
    courier = here.start(tracker := Waiting())
    assert tracker.is_asked.wait(LONG)
    courier.finish(0)
    tracker.go.set()
    assert courier.thread is not None
    courier.thread.join(LONG)
    assert states(here.db) == [("a", "done"), ("b", "pending")]


def test_it_sleeps_until_something_is_due_and_never_long(here: Here) -> None:
    assert nap(here.db) == LONGEST_NAP
    number = put(here.db, "a")
    for seconds, least, most in ((-3600, 0.5, 0.5), (20, 10, 20), (3600, LONGEST_NAP, LONGEST_NAP)):
        with transaction(here.db):
            outbox.set_outbox(here.db, number, "pending", AT, "", later(clock.now(), seconds))
        assert least <= nap(here.db) <= most


def test_a_desk_has_the_rates_of_the_settings(here: Here) -> None:
    settings = TrackerSettings(writes_per_minute=3, writes_per_hour=4)
    desk = desk_of(here.db, FarAway(), settings)
    assert desk is not None
    assert (desk.place, desk.rates.per_minute, desk.rates.per_hour) == ("host/o/r", 3, 4)
    assert desk_of(here.db, Scripted(), settings) is None


def test_what_was_found_late_and_what_follows_are_delivered_in_one_end(here: Here) -> None:
    """An answer that was lost: the next run finds it, and then says what has been decided since."""
    put(here.db, "a")
    here.all_of(here.start(Scripted([Retry("away")])))
    put(here.db, "a", EffectKind.COMMENT)
    here.all_of(here.start(tracker := Scripted([Done("7", "url")])))
    assert [(effect.kind, effect.number) for effect in tracker.seen] == [
        (EffectKind.FILE, None), (EffectKind.COMMENT, "7"),
    ]  # fmt: skip
