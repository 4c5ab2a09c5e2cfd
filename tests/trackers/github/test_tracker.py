"""Each cause is filed once, whatever GitHub, the way to it and the people there do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.config import TrackerSettings
from agent_fox.core.retry.filing import TABLE, Act, Says, Seen
from agent_fox.testing.github import Answer, Fault, Role, faults
from agent_fox.trackers.desk import Desk
from agent_fox.trackers.facts import IssueStatus, StatusPart
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.protocol import Done, Effect, EffectKind, Held, Moot, Remote, Retry, Unsure
from agent_fox.trackers.text.pages import Written
from tests.states import fresh_state
from tests.trackers.github.scene import AGAIN, DAY, FILED, KEY, PART, PROVEN, Scene, scene, seated

URL = "https://github.com/octo/project/issues"
LIFE = (FILED, AGAIN, PART, PROVEN, replace(AGAIN, id="e5"), replace(PROVEN, id="e6"))


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as found:
        yield found


def test_the_life_of_an_issue_filed_commented_partly_repaired_closed_with_proof(at: Scene) -> None:
    assert at.once(FILED) == Done("1", f"{URL}/1", Remote.OPEN)
    assert [at.settled(effect) for effect in (AGAIN, PART)] == [Done("1", f"{URL}/1", Remote.OPEN)] * 2
    assert at.settled(PROVEN) == Done("1", f"{URL}/1", Remote.CLOSED)
    (issue,) = at.fake.issues
    assert (issue.is_open, issue.face.reason, len(issue.comments)) == (False, "completed", 3)
    assert list(issue.face.labels) == ["agent-fox"]
    assert at.fake.violations == ()


# Every cell of the table.


def never(at: Scene) -> None:
    at.clock.pass_by(1)


def is_open(at: Scene) -> None:
    at.settled(FILED)


def spoken(at: Scene) -> None:
    is_open(at)
    at.fake.person().comments(1, "Please leave it open.")


def reopened(at: Scene) -> None:
    proven(at)
    at.fake.person().reopens(1)


def proven(at: Scene) -> None:
    is_open(at)
    at.settled(replace(PROVEN, id="before"))


def finished(at: Scene) -> None:
    is_open(at)
    at.fake.person().closes(1)


def old(at: Scene) -> None:
    proven(at)
    at.clock.pass_by(31 * DAY)


def refused(at: Scene) -> None:
    is_open(at)
    at.fake.person().closes(1, "not_planned")


def doubled(at: Scene) -> None:
    is_open(at)
    at.fake.person().closes(1, "duplicate")


def moved(at: Scene) -> None:
    is_open(at)
    at.fake.person().transfers(1, at.fake.add_repository("other/place"))


def gone(at: Scene) -> None:
    is_open(at)
    at.fake.person().deletes(1)


SIGHTS: list[tuple[Seen, Callable[[Scene], None]]] = [
    (Seen.NEVER, never),
    (Seen.OPEN, is_open),
    (Seen.SPOKEN, spoken),
    (Seen.SPOKEN, reopened),
    (Seen.PROVEN, proven),
    (Seen.FINISHED, finished),
    (Seen.OLD, old),
    (Seen.REFUSED, refused),
    (Seen.REFUSED, doubled),
    (Seen.MOVED, moved),
    (Seen.GONE, gone),
]
SAID = {Says.FAILING: AGAIN, Says.PROGRESS: PART, Says.PROOF: PROVEN}


@pytest.mark.parametrize("says", list(Says))
@pytest.mark.parametrize(("sight", "come_to_be"), SIGHTS, ids=[made.__name__ for _, made in SIGHTS])
def test_each_cell_of_the_table_is_what_is_done(
    at: Scene, sight: Seen, come_to_be: Callable[[Scene], None], says: Says
) -> None:
    come_to_be(at)
    before = {issue.number: (issue.is_open, len(issue.comments)) for issue in at.fake.issues}
    writes = len(at.fake.writes)
    delivery = at.settled(SAID[says])
    after = {issue.number: (issue.is_open, len(issue.comments)) for issue in at.fake.issues}
    new = set(after) - set(before)
    was_open, said = before.get(1, (False, 0))
    match TABLE[sight][list(Says).index(says)]:
        case Act.CREATE:
            assert isinstance(delivery, Done)
            assert (len(new), delivery.remote) == (1, Remote.OPEN)
            assert {number: after[number] for number in before} == before
        case Act.COMMENT:
            assert isinstance(delivery, Done)
            assert (new, after[1]) == (set(), (was_open, said + 1))
        case Act.REOPEN:
            assert isinstance(delivery, Done)
            assert (new, after[1], delivery.remote) == (set(), (True, said + 1), Remote.OPEN)
        case Act.CLOSE:
            assert isinstance(delivery, Done)
            assert (new, after[1], delivery.remote) == (set(), (False, said + 1), Remote.CLOSED)
        case Act.NOTHING:
            assert isinstance(delivery, Moot)
            assert (after, len(at.fake.writes)) == (before, writes)
    writes = len(at.fake.writes)
    at.settled(SAID[says])
    assert [write.method for write in at.fake.writes[writes:]] in ([], ["PATCH"]), "it stands already"


def test_all_sights_are_tried() -> None:
    assert {sight for sight, _ in SIGHTS} == set(Seen)


def test_what_a_person_has_opened_again_is_left_open_until_it_fails_again(at: Scene) -> None:
    reopened(at)
    kept = at.settled(PROVEN)
    assert (isinstance(kept, Done) and kept.remote, at.open_numbers()) == (Remote.KEPT, [1])
    assert "left open" in at.bodies(1)[-1]
    at.settled(replace(PROVEN, id="e5"))
    assert at.open_numbers() == [1]
    at.settled(replace(AGAIN, id="e6"))
    at.settled(replace(PROVEN, id="e7"))
    assert at.open_numbers() == []


def test_a_new_episode_names_the_earlier_issue(at: Scene) -> None:
    old(at)
    assert at.settled(AGAIN) == Done("2", f"{URL}/2", Remote.OPEN)
    assert "Earlier: #1\n" in (at.fake.issues[1].face.body or "")


def test_a_person_who_spoke_before_our_last_comment_does_not_keep_it_open(at: Scene) -> None:
    spoken(at)
    at.settled(AGAIN)
    at.settled(PROVEN)
    assert at.open_numbers() == []


def test_a_bot_is_no_person(at: Scene) -> None:
    is_open(at)
    at.fake.person("stale[bot]", is_bot=True).comments(1, "This issue is stale.")
    at.settled(PROVEN)
    assert at.open_numbers() == []


def test_a_person_with_the_tokens_own_login_is_a_person(at: Scene) -> None:
    is_open(at)
    at.fake.person("fox-bot").comments(1, "I look into it.")
    at.settled(PROVEN)
    assert at.open_numbers() == [1]


def test_a_person_who_speaks_between_our_comment_and_the_closing_keeps_it_open(at: Scene) -> None:
    is_open(at)
    at.fake.faults.append(Fault(faults.edits, faults.limited("60")))
    assert isinstance(at.once(PROVEN), Retry)
    at.fake.person().comments(1, "Wait.")
    kept = at.settled(PROVEN)
    assert (isinstance(kept, Done) and kept.remote, at.open_numbers(), len(at.bodies(1))) == (Remote.KEPT, [1], 2)


# Crashes and lost answers.


@pytest.mark.parametrize("is_answered", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("at_write", range(10))
def test_a_crash_at_any_write_of_a_life_leaves_it_repairable(at: Scene, at_write: int, is_answered: bool) -> None:
    crashes = 0
    for effect in LIFE:
        if not crashes and at.crashing(effect, at_write - writes_of(at), is_answered):
            crashes += 1
            at.clock.pass_by(1)
            at.restart()
        at.settled(effect)
    (issue,) = at.fake.issues
    assert (crashes, issue.is_open, len(issue.comments)) == (1, False, 5)
    assert len({comment.body for comment in issue.comments}) == 5
    assert at.fake.violations == ()


def writes_of(at: Scene) -> int:
    return sum(exchange.request.is_write for exchange in at.fake.exchanges)


LOST: dict[str, faults.Break | faults.Say] = {
    "dropped": faults.dropped(),
    "timed out": faults.timed_out(),
    "cut": faults.cut(),
    "cut cleanly": faults.cut(is_clean=True),
    "502": faults.gateway(),
    "dropped, nothing done": faults.dropped(is_applied=False),
    "timed out, nothing done": faults.timed_out(is_applied=False),
    "504, nothing done": faults.gateway(504, is_applied=False),
}


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("lost", sorted(LOST))
def test_an_answer_that_is_lost_doubles_nothing_and_loses_nothing(at: Scene, lost: str, times: int) -> None:
    at.fake.faults.append(Fault(faults.writes, LOST[lost], times))
    at.fake.faults.append(Fault(faults.comments, LOST[lost], times))
    at.fake.faults.append(Fault(faults.edits, LOST[lost], times))
    for effect in LIFE:
        at.settled(effect)
    (issue,) = at.fake.issues
    assert (issue.is_open, len(issue.comments)) == (False, 5)


def test_a_filing_in_doubt_is_found_by_its_number_while_the_list_lags(at: Scene) -> None:
    at.fake.knobs.lag = 3600
    at.fake.faults.append(Fault(faults.creates, faults.dropped()))
    assert isinstance(at.once(FILED), Unsure)
    for number in range(3):
        at.fake.person().opens(f"A person's {number}")
    at.fake.person().starts_discussion()
    assert at.once(FILED) == Done("1", f"{URL}/1", Remote.OPEN)


def test_discussions_and_deleted_numbers_do_not_end_the_search(at: Scene) -> None:
    at.fake.person().opens("A person's")
    at.settled(replace(FILED, id="e0", fingerprint="f0"))

    def others() -> None:
        at.fake.hooks.before = None
        at.fake.knobs.lag = 3600
        for _ in range(4):
            at.fake.person().starts_discussion()

    at.fake.hooks.before = lambda request: others() if request.is_write else None
    at.fake.faults.append(Fault(faults.creates, faults.dropped()))
    assert isinstance(at.once(FILED), Unsure)
    assert at.once(FILED) == Done("7", f"{URL}/7", Remote.OPEN)


@pytest.mark.parametrize("name", ["octo/project", "Octo/Project"])
def test_a_list_that_lacks_an_issue_of_ours_is_not_believed_however_the_repository_is_written(
    at: Scene, name: str
) -> None:
    at.fake.repository.owner, _, at.fake.repository.name = name.partition("/")
    at.settled(FILED)
    at.fake.knobs.lag = DAY
    assert isinstance(at.once(replace(FILED, id="e7", fingerprint="f7")), Retry)


def test_many_discussions_in_a_row_are_seen_through_with_more_readings(at: Scene) -> None:
    at.fake.knobs.lag = 10 * DAY

    def others() -> None:
        at.fake.hooks.before = None
        for _ in range(17):
            at.fake.person().starts_discussion()

    at.fake.hooks.before = lambda request: others() if request.is_write and request.path.endswith("/issues") else None
    at.fake.faults.append(Fault(faults.creates, faults.dropped()))
    assert isinstance(at.once(FILED), Unsure)
    assert at.settled(FILED) == Done("18", f"{URL}/18", Remote.OPEN)
    assert len(at.fake.issues) == 1


def test_what_was_surely_not_filed_is_sent_again_after_grace_and_three_readings(at: Scene) -> None:
    at.fake.faults.append(Fault(faults.creates, faults.timed_out(is_applied=False)))
    start = at.clock.seconds
    assert isinstance(at.once(FILED), Unsure)
    readings = [at.once(FILED) for _ in range(5)]
    assert [isinstance(reading, Unsure) and reading.readings for reading in readings] == [1, 2, 3, 4, 5]
    assert at.fake.issues == ()
    assert isinstance(at.settled(FILED), Done)
    assert at.clock.seconds - start >= 15 * 60
    assert len(at.fake.issues) == 1


def test_a_crash_before_the_request_costs_no_waiting(at: Scene) -> None:
    at.known(FILED)
    assert isinstance(at.once(FILED), Done)


@pytest.mark.parametrize("effect", [PROVEN, AGAIN], ids=["proof", "failing"])
def test_a_list_that_does_not_show_what_is_known_is_not_believed(at: Scene, effect: Effect) -> None:
    at.settled(replace(FILED, id="e0", fingerprint="f0"))
    at.settled(FILED)
    forget(at, FILED)
    at.fake.knobs.lag = 1200
    assert isinstance(at.once(effect), Retry)
    done = at.settled(effect)
    assert isinstance(done, Done)
    assert (done.number, len(at.fake.issues)) == ("2", 2)


def test_lists_that_are_mostly_empty_make_no_second_issue(at: Scene) -> None:
    at.settled(replace(FILED, id="e0", fingerprint="f0"))
    at.settled(FILED)
    forget(at, FILED)
    at.fake.knobs.empty_chance = 0.6
    done = at.settled(AGAIN, 100)
    assert (isinstance(done, Done) and done.number, len(at.fake.issues)) == ("2", 2)


def test_comments_that_lag_are_not_taken_for_lost(at: Scene) -> None:
    at.settled(FILED)
    at.fake.faults.append(Fault(faults.comments, faults.dropped()))
    assert isinstance(at.once(AGAIN), Unsure)
    at.fake.knobs.comment_lag = 30 * DAY
    for _ in range(5):
        at.clock.pass_by(1200)
        assert isinstance(at.once(AGAIN), Unsure)
    at.fake.knobs.comment_lag = 0
    assert isinstance(at.once(AGAIN), Done)
    assert len(at.fake.issues[0].comments) == 1


def test_a_list_with_a_page_missing_is_not_believed(at: Scene) -> None:
    for number in range(1, 121):
        effect = replace(FILED, id=f"old{number}", fingerprint=f"old{number}")
        at.fake.person("fox-bot").opens("Ours", Marker(effect.fingerprint, effect.id).above("x", KEY))
        if number != 7:
            at.keep(effect, Done(str(number), ""))
    at.fake.knobs.missing_pages = {2}
    effect = replace(AGAIN, fingerprint="old7")
    assert isinstance(at.once(effect), Retry)
    at.fake.knobs.missing_pages = set()
    assert at.settled(effect) == Done("7", f"{URL}/7", Remote.OPEN)


def forget(at: Scene, effect: Effect) -> None:
    """The state file of before this was filed."""
    assert at.tracker.desk is not None
    at.tracker.desk.remember(f"filed {effect.fingerprint}", "")
    at.numbers.pop(effect.fingerprint)
    at.remotes.pop(effect.fingerprint)
    at.db.execute("DELETE FROM issues WHERE fingerprint = ?", [effect.fingerprint])


def test_a_state_file_of_yesterday_finds_what_was_filed_today(tmp_path: Path) -> None:
    with scene(tmp_path) as today:
        today.settled(replace(FILED, id="e0", fingerprint="f0"))
        today.settled(FILED)
        with scene(tmp_path, "yesterday.db", today.clock, today.fake) as yesterday:
            yesterday.fake.knobs.lag = 600
            assert yesterday.settled(replace(FILED, id="e9")) == Done("2", f"{URL}/2", Remote.OPEN)
        assert len(today.fake.issues) == 2


# Refusals, limits, the rate.


@pytest.mark.parametrize("retry_after", ["1", "60", "7200", "soon", "-5", None, "Sun, 01 Mar 2026 12:10:00 GMT"])
@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_is_waited_for_and_nothing_is_doubled(at: Scene, retry_after: str | None, status: int) -> None:
    at.fake.faults.append(Fault(faults.creates, faults.limited(retry_after, status)))
    first = at.once(FILED)
    assert isinstance(first, Retry)
    assert first.is_general
    at.wait_for(first)
    assert isinstance(at.settled(FILED), Done)
    assert (len(at.fake.issues), at.fake.violations) == (1, ())


@pytest.mark.parametrize("status", [401, 403, 404, 410, 422])
def test_a_refusal_is_held_and_delivered_once_a_person_has_acted(at: Scene, status: int) -> None:
    at.fake.faults.append(Fault(faults.creates, faults.refusal(status, "Issues are disabled for this repo")))
    held = at.once(FILED)
    assert isinstance(held, Held)
    assert held.remedy
    assert at.once(FILED) == Done("1", f"{URL}/1", Remote.OPEN)


def test_a_refused_connection_is_tried_again(at: Scene) -> None:
    at.fake.faults.append(Fault(faults.anything, faults.refused(), 9))
    assert at.tracker.newest() == ""
    assert isinstance(at.once(FILED), Retry)
    assert at.fake.issues == ()
    at.fake.faults.clear()
    assert isinstance(at.settled(FILED), Done)


def test_nothing_is_filed_while_the_newest_number_cannot_be_told(at: Scene) -> None:
    assert isinstance(at.tracker.deliver(replace(FILED, before="")), Retry)
    assert at.fake.writes == ()


def test_many_causes_at_once_keep_the_rate(at: Scene) -> None:
    for number in range(35):
        assert isinstance(at.settled(replace(FILED, id=f"e{number}", fingerprint=f"f{number}")), Done)
    assert (len(at.fake.issues), at.fake.violations) == (35, ())


def test_a_rate_that_is_used_up_holds_everything_back_until_the_time_told(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        desk = at.tracker.desk
        assert desk is not None
        assert desk.hold()
        for _ in range(30):
            desk.write()
        early = at.once(FILED)
        assert isinstance(early, Retry)
        assert early.is_general
        assert early.not_before > at.clock.now()
        assert isinstance(at.settled(FILED), Done)


def test_who_lost_the_lease_writes_nothing(at: Scene) -> None:
    other = Desk(at.db, at.tracker.place, now=at.clock.now)
    assert other.hold()
    assert at.once(FILED) == Retry("another process delivers to github.com/octo/project", "", is_general=True)
    assert at.fake.writes == ()
    at.clock.pass_by(130)
    assert isinstance(at.once(FILED), Done)


@pytest.mark.parametrize("jump", [-400 * DAY, -DAY, 400 * DAY])
def test_a_clock_that_jumps_while_a_filing_is_in_doubt_neither_doubles_nor_stops_it(at: Scene, jump: float) -> None:
    for is_applied in (True, False):
        effect = replace(FILED, id=f"e-{is_applied}", fingerprint=f"f-{is_applied}")
        at.fake.faults.append(Fault(faults.creates, faults.dropped(is_applied=is_applied)))
        assert isinstance(at.once(effect), Unsure)
        at.clock.skew += jump
        assert isinstance(at.settled(effect), Done)
    assert len(at.fake.issues) == 2


def test_a_conversation_that_is_locked_holds_what_is_to_be_said_there(at: Scene) -> None:
    at.settled(FILED)
    at.fake.token.role = Role.READ
    at.fake.person().locks(1)
    held = at.once(AGAIN)
    assert isinstance(held, Held)
    assert (held.is_general, "unlock" in held.remedy) == (False, True)
    at.fake.person().unlocks(1)
    assert isinstance(at.settled(AGAIN), Done)


def test_a_token_that_expires_is_told_once_for_all_and_nothing_is_lost(at: Scene) -> None:
    at.settled(FILED)
    at.fake.token.expires = at.clock.seconds - 1
    held = at.once(AGAIN)
    assert isinstance(held, Held)
    assert held.is_general
    at.fake.token.expires = None
    assert isinstance(at.settled(AGAIN), Done)


def test_a_first_list_that_is_empty_by_mistake_does_not_hide_the_newest_number(at: Scene) -> None:
    for number in range(5):
        at.fake.person().opens(f"A person's {number}")
    at.fake.faults.append(Fault(faults.lists, faults.Say(Answer(200, b"[]")), 2))
    assert at.tracker.newest() == "5"


# Who wrote it.


def test_an_issue_whose_mark_was_removed_goes_on(at: Scene) -> None:
    at.settled(FILED)
    at.fake.person().removes_marker(1)
    assert at.settled(AGAIN) == Done("1", f"{URL}/1", Remote.OPEN)
    assert len(at.fake.issues) == 1


@pytest.mark.parametrize("login", ["fox-bot", "mallory"])
@pytest.mark.parametrize("place", ["first line, another key", "second line", "quoted"])
def test_a_mark_that_is_forged_or_in_the_wrong_place_is_not_believed(at: Scene, place: str, login: str) -> None:
    line = Marker("f1", "e0").line(KEY)
    forged = {
        "first line, another key": Marker("f1", "e0").line(b"k" * 32),
        "second line": f"Look:\n{line}",
        "quoted": f"> {line}",
    }
    at.fake.person(login).opens("Not ours", forged[place])
    assert at.settled(FILED) == Done("2", f"{URL}/2", Remote.OPEN)


def test_a_mark_in_a_strangers_issue_is_not_believed(at: Scene) -> None:
    at.fake.person("mallory").opens("A copy", Marker("f1", "e1").above("x", KEY))
    assert at.settled(FILED) == Done("2", f"{URL}/2", Remote.OPEN)


def test_a_number_of_another_tracker_is_not_believed(at: Scene) -> None:
    at.fake.person().opens("A person's own issue", "Mine.")
    at.numbers["f1"] = "1"
    assert at.settled(AGAIN) == Done("2", f"{URL}/2", Remote.OPEN)
    assert at.bodies(1) == []


def test_an_issue_that_is_not_found_once_is_not_taken_for_deleted(at: Scene) -> None:
    at.settled(FILED)
    at.fake.faults.append(
        Fault(lambda request: request.path.endswith("/issues/1"), faults.refusal(404, "Not Found"), 2)
    )
    assert isinstance(at.once(AGAIN), Retry)
    assert at.settled(AGAIN) == Done("1", f"{URL}/1", Remote.OPEN)
    assert len(at.fake.issues) == 1


def test_an_issue_that_stays_unfound_is_filed_anew(at: Scene) -> None:
    at.settled(FILED)
    unfound = Fault(lambda request: request.path.endswith("/issues/1"), faults.refusal(404, "Not Found"), 99)
    at.fake.faults.append(unfound)
    del at.fake.repository.issues[1]
    assert isinstance(at.once(AGAIN), Retry)
    assert isinstance(at.once(AGAIN), Retry)
    assert at.settled(AGAIN) == Done("2", f"{URL}/2", Remote.OPEN)


def test_an_issue_moved_within_the_owners_repositories_is_followed(at: Scene) -> None:
    at.settled(FILED)
    there = at.fake.add_repository("octo/other")
    at.fake.person().transfers(1, there)
    assert isinstance(at.settled(AGAIN), Done)
    at.settled(PROVEN)
    assert [(issue.is_open, len(issue.comments)) for issue in there.issues.values()] == [(False, 2)]
    assert at.fake.issues == ()


def test_labels_that_are_dropped_do_not_matter(at: Scene) -> None:
    at.fake.knobs.drops_labels = True
    at.settled(FILED)
    forget(at, FILED)
    at.settled(AGAIN)
    assert len(at.fake.issues) == 1


def test_the_marks_name_cause_and_operation(at: Scene) -> None:
    at.settled(FILED)
    at.settled(AGAIN)
    (issue,) = at.fake.issues
    assert (issue.face.body or "").startswith(Marker("f1", "e1").line(KEY))
    assert issue.comments[0].body.startswith(Marker("f1", "e2").line(KEY))


# Long texts, parts, slots, people's issues.


def long(at: Scene, pages: int) -> None:
    texts = tuple(f"Page {place}.\n" for place in range(2, pages + 1))
    at.tracker = replace(at.tracker, write=lambda effect: Written("Title", "Page 1.\n", texts), _seats=[])


@pytest.mark.parametrize("fault", [faults.dropped(), faults.limited("60"), faults.timed_out(is_applied=False)])
@pytest.mark.parametrize("effect", [FILED, AGAIN])
def test_a_long_text_goes_on_in_comments_each_written_once(at: Scene, effect: Effect, fault: faults.Break) -> None:
    if effect is AGAIN:
        at.settled(FILED)
    long(at, 4)
    at.fake.faults.append(Fault(faults.comments, fault))
    at.settled(effect)
    pages = [f"Page {place}." for place in range(1, 5)]
    assert at.bodies(1) == (pages if effect is AGAIN else pages[1:])


def test_the_rest_of_an_issue_that_is_refused_is_told_and_the_issue_stands(at: Scene) -> None:
    long(at, 2)
    at.fake.faults.append(Fault(faults.comments, faults.refusal(422, "body is too long")))
    done = at.once(FILED)
    assert isinstance(done, Done)
    assert "not all of it" in done.note


def test_a_part_is_put_below_its_issue(at: Scene) -> None:
    at.settled(FILED)
    part = replace(FILED, id="e9", fingerprint="f9", parent="1")
    at.settled(part)
    assert [child for child in at.fake.issues[0].children] == [at.fake.issues[1].id]


def test_comments_of_one_slot_are_one_comment(at: Scene) -> None:
    at.settled(FILED)
    for number, text in enumerate(("2 of 9.", "7 of 9.", "7 of 9.")):
        at.settled(replace(PART, id=f"s{number}", slot="run-7", body=text))
    assert at.bodies(1) == ["7 of 9."]
    assert len([write for write in at.fake.writes if "comments" in write.path]) == 2


def test_a_comment_of_a_slot_that_a_person_deleted_is_written_again(at: Scene) -> None:
    at.settled(FILED)
    at.settled(replace(PART, id="s1", slot="run-7", body="2 of 9."))
    at.fake.person().deletes_comment(1, at.fake.issues[0].comments[0].id)
    at.settled(replace(PART, id="s2", slot="run-7", body="7 of 9."))
    assert at.bodies(1) == ["7 of 9."]


REMARK = replace(
    PART, id="r1", fingerprint="source:octo/project#1", target="octo/project#1", slot="ab12", body="7 of 9."
)


def test_a_persons_issue_is_commented_and_nothing_else(at: Scene) -> None:
    at.fake.person().opens("Wanted", "Please.")
    assert at.settled(REMARK) == Done("1", f"{URL}/1")
    assert at.settled(replace(REMARK, id="r2", target="#1", body="9 of 9.")) == Done("1", f"{URL}/1")
    assert (at.bodies(1), at.open_numbers(), at.fake.issues[0].face.body) == (["9 of 9."], [1], "Please.")


@pytest.mark.parametrize("target", ["octo/project#9", "#9", "other/place#1", "nonsense", "#0"])
def test_a_persons_issue_that_is_not_there_or_elsewhere_is_left_alone(at: Scene, target: str) -> None:
    assert isinstance(at.once(replace(REMARK, target=target)), Moot)
    assert at.fake.writes == ()


def test_a_locked_conversation_of_a_person_is_left_alone(at: Scene) -> None:
    at.fake.person().opens("Wanted")
    at.fake.person().locks(1)
    assert isinstance(at.once(REMARK), Moot)


def test_a_desk_is_needed(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        bare = replace(at.tracker, desk=None, _seats=[])
        assert isinstance(bare.deliver(FILED), Retry)
        assert (bare.name, bare.place, bare.newest()) == ("github", "github.com/octo/project", "0")
        desk = Desk(at.db, bare.place)
        assert bare.at(desk) is bare.at(desk)


def test_a_second_process_with_the_same_key_goes_on_with_the_same_issue(at: Scene) -> None:
    at.settled(FILED)
    at.clock.pass_by(200)
    other = seated(at.db, at.clock, TrackerSettings(kind="github"))
    assert other.deliver(replace(AGAIN, before="1")) == Done("1", f"{URL}/1", Remote.OPEN)


def test_an_effect_of_one_kind_is_written_as_what_is_done(at: Scene) -> None:
    kinds: list[EffectKind] = []

    def write(effect: Effect) -> Written:
        kinds.append(effect.kind)
        return Written("Title", "Body.\n")

    at.tracker = replace(at.tracker, write=write, _seats=[])
    at.settled(AGAIN)
    at.settled(replace(FILED, id="e9"))
    assert set(kinds[:2]) == {EffectKind.FILE}
    assert kinds[-1] is EffectKind.COMMENT


def test_a_filing_takes_eight_readings_a_comment_three_and_a_block_one(at: Scene) -> None:
    at.settled(replace(FILED, id="e0", fingerprint="f0"))
    asked = []
    for effect in (KEPT, AGAIN, replace(AGAIN, id="e5", status=BETTER)):
        start = len(at.fake.exchanges)
        at.settled(effect)
        methods = [one.request.method for one in at.fake.exchanges[start:]]
        asked.append(tuple(methods.count(method) for method in ("GET", "POST", "PATCH")))
    assert asked == [(8, 1, 0), (3, 1, 0), (4, 1, 1)]


STATUS = IssueStatus(
    "04_gate: 04-REQ-1.1 fails", "Stopped. Needs you.", (StatusPart("04_gate", "04-REQ-1.1", "It opens.", "fails"),)
)
BETTER = replace(STATUS, title="04_gate: 04-REQ-1.2 fails", headline="Part of this is settled.")
KEPT = replace(FILED, status=STATUS)
TOLD = replace(PART, status=BETTER)


def test_title_and_block_say_what_is_so_now_and_closing_takes_one_write(at: Scene) -> None:
    at.settled(KEPT)
    (issue,) = at.fake.issues
    assert issue.face.title == STATUS.title
    body = issue.face.body or ""
    assert [line[:21] for line in body.splitlines()[:3]] == [
        "<!-- agent-fox v=1 fp",
        "<!-- agent-fox status",
        "**Stopped. Needs you.",
    ]
    at.settled(TOLD)
    (issue,) = at.fake.issues
    assert (issue.face.title, "**Part of this is settled.**" in (issue.face.body or "")) == (BETTER.title, True)
    writes = len(at.fake.writes)
    at.settled(replace(PROVEN, status=replace(BETTER, headline="Proven: all of it passes.")))
    (issue,) = at.fake.issues
    assert (issue.is_open, issue.face.title) == (False, BETTER.title)
    assert "**Proven: all of it passes.**" in (issue.face.body or "")
    assert [write.method for write in at.fake.writes[writes:]] == ["POST", "PATCH"]


@pytest.mark.parametrize(("name", "is_renewed"), [("title", True), ("body", False)])
def test_what_a_person_edits_of_title_and_block_stays_and_is_told_once(at: Scene, name: str, is_renewed: bool) -> None:
    at.settled(KEPT)
    face = at.fake.issues[0].face
    body = (face.body or "").replace("Stopped", "Kim looks") if name == "body" else face.body or ""
    at.fake.person("kim").edits(1, body, "Kim looks" if name == "title" else None)
    deliveries = [at.settled(replace(TOLD, id=f"t{number}")) for number in range(2)]
    (issue,) = at.fake.issues
    told = f"a person's edit of its {'title' if name == 'title' else 'block'} is left alone"
    assert [one.note for one in deliveries if isinstance(one, Done)] == [told, ""]
    assert "Kim looks" in f"{issue.face.title} {issue.face.body}"
    assert ("Part of this is settled" in (issue.face.body or "")) is is_renewed


def test_a_title_that_cannot_be_written_holds_nothing_up(at: Scene) -> None:
    at.settled(KEPT)
    at.fake.faults.append(Fault(faults.edits, faults.refusal(403, "Must have admin rights to Repository."), 2))
    delivery = at.settled(replace(TOLD, id="t1"))
    assert isinstance(delivery, Done)
    assert delivery.note.startswith("its title and block stay as they were: ")
    assert at.settled(replace(PROVEN, status=BETTER)) == replace(delivery, remote=Remote.CLOSED)


def test_an_account_that_is_changed_files_nothing_twice(at: Scene) -> None:
    """What the former one filed is found by its mark, also where the answer to that was lost."""
    at.fake.faults.append(Fault(faults.creates, faults.dropped()))
    assert isinstance(at.once(KEPT), Unsure)
    at.clock.pass_by(30)
    at.fake.add_token("ghp_other", "vixen-bot")
    at.tracker = seated(at.db, at.clock, TrackerSettings(kind="github"), token="ghp_other")
    assert at.settled(KEPT) == Done("1", f"{URL}/1", Remote.OPEN)
    at.settled(replace(PROVEN, status=BETTER))
    assert [(issue.author.login, issue.is_open) for issue in at.fake.issues] == [("fox-bot", False)]


def test_where_the_state_is_new_the_settings_name_who_filed_before(tmp_path: Path, at: Scene) -> None:
    at.settled(KEPT)
    at.fake.add_token("ghp_other", "vixen-bot")
    with closing(fresh_state(tmp_path / "other.db")) as db:
        settings = TrackerSettings(kind="github", former_logins=["fox-bot"])
        again = Scene(db, at.clock, at.fake, seated(db, at.clock, settings, token="ghp_other"))
        assert again.settled(replace(KEPT, id="e7")) == Done("1", f"{URL}/1", Remote.OPEN)
    assert len(at.fake.issues) == 1
