"""What comes of an effect is noted so that nothing is lost and nothing in doubt is sent blindly; it is told once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.retry.filing import Says
from agent_fox.engine.issues.effects import (
    FIXED,
    LONGEST_LIMIT,
    LONGEST_WAIT,
    SHORTEST_WAIT,
    TOLD_LATER,
    Delivering,
    Passed,
)
from agent_fox.engine.record.watch import RunEvent
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.system.clock import later
from agent_fox.trackers.desk import Desk
from agent_fox.trackers.facts import IssueFacts, Unproven
from agent_fox.trackers.protocol import (
    Delivery,
    Done,
    Effect,
    EffectKind,
    Held,
    Moot,
    Remote,
    Retry,
    StateReason,
    Unsure,
)
from tests.engine.scripted_tracker import FarAway, Scripted, put, states
from tests.states import fresh_state
from tests.store.world import AT, VERIFIER, add_nodes

SOON = later(AT, 60)


@dataclass
class Here:
    """One state file, one tracker, a clock that is moved by hand, and what people were told."""

    db: Database
    tracker: Scripted
    at: str = AT
    told: list[RunEvent] = field(default_factory=list)

    def go(self, holder: str = "one") -> Passed:
        desk = None
        if isinstance(self.tracker, FarAway):
            desk = Desk(self.db, self.tracker.place, holder, now=lambda: self.at)
        return Delivering(self.db, self.tracker, self.told.append, now=lambda: self.at, desk=desk).go()

    def note(self, number: str, state: str, *, is_in_doubt: bool = False) -> None:
        with transaction(self.db):
            outbox.set_outbox(self.db, number, state, AT, is_in_doubt=is_in_doubt)

    def passes(self, seconds: float) -> None:
        self.at = later(self.at, seconds)

    def texts(self) -> list[str]:
        return [event.text for event in self.told]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    with closing(fresh_state(tmp_path / "state.db")) as db:
        with transaction(db):
            add_nodes(db, VERIFIER)
        yield Here(db, Scripted())


@pytest.fixture
def far(here: Here) -> Here:
    here.tracker = FarAway()
    return here


def columns(db: Database, number: str) -> tuple[object, ...]:
    sql = "SELECT state, note, not_before, is_in_doubt, tries FROM outbox WHERE id = ?"
    found: tuple[object, ...] = db.execute(sql, [number]).fetchone()
    return found


@pytest.mark.parametrize(
    ("delivery", "noted"),
    [
        (Done("7", "url", Remote.OPEN, "no labels"), ("done", "no labels", None, 0, 1)),
        (Moot("not needed", Remote.REFUSED), ("moot", "not needed", None, 0, 1)),
        (Held("locked", "unlock it"), ("held", "locked; unlock it", None, 0, 1)),
        (Retry("later", SOON), ("pending", "later", SOON, 0, 1)),
        (Retry("later"), ("pending", "later", later(AT, SHORTEST_WAIT), 0, 1)),
        (Unsure("lost", SOON, 2), ("unknown", "lost", SOON, 1, 1)),
        (Unsure("lost"), ("unknown", "lost", later(AT, SHORTEST_WAIT), 1, 1)),
    ],
)
def test_what_came_of_it_is_noted(here: Here, delivery: Delivery, noted: tuple[object, ...]) -> None:
    number = put(here.db, "a")
    here.tracker.answers = [delivery]
    passed = here.go()
    assert columns(here.db, number) == noted
    assert (passed.delivered, passed.found, passed.why_stopped) == (int(isinstance(delivery, Done)), 0, "")


def test_the_number_and_the_standing_that_were_told_are_handed_over_with_what_follows(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "a", EffectKind.COMMENT)
    here.tracker.answers = [Done("7", "url", Remote.KEPT)]
    assert here.go().delivered == 2
    first, second = here.tracker.seen
    assert (first.number, first.remote) == (None, None)
    assert (second.number, second.remote, second.before) == ("7", Remote.KEPT, "4")


def test_what_is_filed_anew_instead_of_commented_is_told_as_that(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "a", EffectKind.COMMENT)
    here.tracker.answers = [Done("7", "url/7"), Done("9", "url/9")]
    here.go()
    assert [text.partition(":")[0] for text in here.texts()] == ["file", "file"]


def test_one_that_was_not_needed_tells_how_the_issue_stands(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "a", EffectKind.COMMENT)
    here.tracker.answers = [Moot("refused", Remote.REFUSED)]
    here.go()
    assert here.tracker.seen[1].remote is Remote.REFUSED


@pytest.mark.parametrize("between", [Retry("later"), Held("no right", "give it"), Retry("limit", is_general=True)])
def test_doubt_outlives_what_was_surely_not_sent(here: Here, between: Delivery) -> None:
    number = put(here.db, "a")
    here.tracker.answers = [Unsure("lost", readings=2), between]
    here.go()
    here.passes(LONGEST_WAIT)
    here.tracker.number = "99"
    here.go()
    assert columns(here.db, number)[3] == 1
    with transaction(here.db):
        outbox.wake(here.db, here.at)
    here.go()
    last = here.tracker.seen[-1]
    assert (last.witness, last.since, last.readings, last.before) == ("4", AT, 2, "99")
    assert states(here.db) == [("a", "done")]


def test_an_effect_that_was_under_way_when_the_process_ended_is_in_doubt(here: Here) -> None:
    put(here.db, "a")
    here.tracker.answers = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        here.go()
    assert states(here.db) == [("a", "inflight")]
    passed = here.go()
    assert [effect.witness for effect in here.tracker.seen] == [None, "4"]
    assert (passed.delivered, passed.found) == (1, 1)


def test_doubt_without_a_witness_is_doubt(here: Here) -> None:
    number = put(here.db, "a")
    here.note(number, "unknown", is_in_doubt=True)
    here.go()
    assert here.tracker.seen[0].witness == ""


def test_waiting_doubles_up_to_its_limit(here: Here) -> None:
    number = put(here.db, "a")
    here.tracker.answers = [Retry(f"try {number}") for number in range(12)]
    waits = []
    for _ in range(12):
        here.go()
        until = str(columns(here.db, number)[2])
        waits.append((datetime.fromisoformat(until) - datetime.fromisoformat(here.at)).total_seconds())
        here.at = until
    assert waits[:4] == [SHORTEST_WAIT * 2**tries for tries in range(4)]
    assert waits[-1] == LONGEST_WAIT


def test_what_concerns_everything_stops_the_pass_and_the_rest_stays_as_it_was(here: Here) -> None:
    for fingerprint in "abc":
        put(here.db, fingerprint)
    here.tracker.answers = [Done("1", "url"), Held("no token", "set one", is_general=True)]
    assert here.go().why_stopped == "no token; set one"
    assert states(here.db) == [("a", "done"), ("b", "held"), ("c", "pending")]
    assert here.texts() == ["file: about a (url)"]


def test_a_limit_is_kept_until_its_time_by_every_process(far: Here) -> None:
    for fingerprint in "ab":
        put(far.db, fingerprint)
    far.tracker.answers = [Retry("a limit", SOON, is_general=True)]
    assert [far.go(holder).why_stopped for holder in ("one", "two")] == ["a limit", "a limit"]
    assert far.tracker.prints == ["a"]
    far.passes(61)
    assert (far.go().why_stopped, far.tracker.prints) == ("", ["a", "a", "b"])


def test_a_limit_from_before_the_clock_went_back_is_not_waited_for(far: Here) -> None:
    put(far.db, "a")
    put(far.db, "b")
    far.tracker.answers = [Retry("a limit", SOON, is_general=True)]
    far.go()
    far.passes(-LONGEST_LIMIT - 120)
    far.go()
    assert far.tracker.prints == ["a", "b"]


def test_nothing_is_sent_while_another_process_delivers_there(far: Here) -> None:
    put(far.db, "a")
    other = Desk(far.db, "host/o/r", "other", now=lambda: far.at)
    assert other.hold()
    assert far.go().why_stopped == "another agent-fox delivers to host/o/r just now"
    assert (far.tracker.seen, states(far.db)) == ([], [("a", "pending")])
    other.leave()
    assert far.go().delivered == 1


def test_what_is_over_before_it_was_sent_is_not_told_far_away(far: Here) -> None:
    put(far.db, "a")
    put(far.db, "a", EffectKind.CLOSE, Says.PROOF)
    far.tracker.answers = [Moot("nothing was filed")]
    far.go()
    assert [effect.says for effect in far.tracker.seen] == [Says.PROOF]
    assert far.db.execute("SELECT note FROM outbox ORDER BY position").fetchone() == (FIXED,)


def test_what_was_filed_or_may_be_is_told_although_it_is_over(far: Here) -> None:
    doubtful = put(far.db, "a")
    far.note(doubtful, "unknown", is_in_doubt=True)
    put(far.db, "b")
    with transaction(far.db):
        outbox.name_issue(far.db, "b", "8", "url")
    for fingerprint in "ab":
        put(far.db, fingerprint, EffectKind.CLOSE, Says.PROOF)
    far.go()
    assert far.tracker.prints == ["a", "b", "a", "b"]


def test_beside_us_everything_is_told(here: Here) -> None:
    put(here.db, "a")
    put(here.db, "a", EffectKind.CLOSE, Says.PROOF)
    here.go()
    assert [effect.kind for effect in here.tracker.seen] == [EffectKind.FILE, EffectKind.CLOSE]


def test_of_comments_that_are_one_the_last_is_sent(far: Here) -> None:
    put(far.db, "a", slot="")
    for number in range(3):
        put(far.db, "a", EffectKind.COMMENT, slot="s", body=f"{number}")
    put(far.db, "a", EffectKind.COMMENT, slot="t", body="another run")
    far.go()
    assert [effect.body for effect in far.tracker.seen] == ["", "2", "another run"]
    notes = [note for (note,) in far.db.execute("SELECT note FROM outbox WHERE state = 'moot'")]
    assert notes == [TOLD_LATER] * 2


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (EffectKind.FILE, Says.FAILING), (EffectKind.REOPEN, Says.FAILING),
        (EffectKind.COMMENT, Says.PROGRESS), (EffectKind.CLOSE, Says.PROOF),
    ],
)  # fmt: skip
def test_a_row_of_an_older_format_tells_by_its_kind(here: Here, kind: EffectKind, says: Says) -> None:
    put(here.db, "a", kind, None, body="text", members=["R1"], cause="spent", at=AT, state_reason=None)
    here.go()
    (effect,) = here.tracker.seen
    assert (effect.says, effect.facts, effect.slot, effect.target) == (says, (), "", "")
    assert (effect.body, effect.members, effect.cause, effect.at) == ("text", ("R1",), "spent", AT)


def test_an_effect_is_handed_over_as_it_was_decided(here: Here) -> None:
    facts = IssueFacts("title", "s", "s:1", "spent", failing=(Unproven("R1", "shall", "saw", "make"),), unknown=("R2",))
    number = put(
        here.db, "a", EffectKind.CLOSE, Says.PROOF, body="b", slot="s", state_reason="not_planned",
        facts=[asdict(facts)], key_of_a_later_format=1,
    )  # fmt: skip
    here.go()
    (effect,) = here.tracker.seen
    expected = Effect(
        number, EffectKind.CLOSE, "a", "about a", "b", StateReason.NOT_PLANNED, spec="01_bell", says=Says.PROOF,
        slot="s", facts=(facts,), before="4",
    )  # fmt: skip
    assert replace(effect, since="") == expected


def test_a_reason_is_told_once_however_often_it_is_tried(here: Here) -> None:
    put(here.db, "a")
    here.tracker.answers = [
        Retry("away"),
        Retry("away"),
        Unsure("lost"),
        Unsure("lost"),
        Done("7", "url", None, "late"),
    ]
    for _ in range(5):
        here.go()
        here.passes(LONGEST_WAIT)
    assert here.texts() == ["file waits: about a: away", "file waits: about a: lost", "file: about a (url); late"]


def test_each_is_tried_once_in_a_pass(here: Here) -> None:
    for fingerprint in "ab":
        put(here.db, fingerprint)
    here.tracker.answers = [Retry("at any time", AT), Retry("at any time", AT)]
    here.go()
    assert here.tracker.prints == ["a", "b"]


def test_what_another_process_settled_meanwhile_stays_settled(here: Here) -> None:
    number = put(here.db, "a")

    def slow(effect: Effect) -> Delivery:
        here.note(number, "done")
        return Unsure("lost")

    here.tracker.answers = [slow]
    here.go()
    assert columns(here.db, number)[:2] == ("done", "")


def test_what_is_for_github_waits_where_issues_go_elsewhere_now(here: Here) -> None:
    number = put(here.db, "run:pull", EffectKind.COMMENT, Says.PROGRESS, target="pull:agent-fox/integration")
    here.go()
    assert here.tracker.seen == []
    state, note, *_ = columns(here.db, number)
    assert (state, "agent-fox issues sync --tracker github" in str(note)) == ("held", True)
    here.tracker = FarAway()
    with transaction(here.db):
        outbox.wake(here.db, AT)
    here.go()
    assert [effect.target for effect in here.tracker.seen] == ["pull:agent-fox/integration"]
