"""The door to GitHub, at the fake in `agent_fox.testing.github`: a double for the service, of nothing else."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from agent_fox.system.clock import later
from agent_fox.testing.github import Answer, Fault, GitHubFake, Grant, Request, Role, Say, faults, mounted, serve
from agent_fox.trackers.desk import LeaseLost, TooSoon, seconds_of
from agent_fox.trackers.github import wire
from agent_fox.trackers.github.door import Absent, Door, DoorTrouble, RemoteIssue, opened
from agent_fox.trackers.github.repository import Address
from agent_fox.trackers.protocol import Held, Retry, Unsure

START = "2026-03-01T12:00:00.000Z"


@dataclass
class Time:
    """A clock that stands still, but for who pauses."""

    at: str = START
    pauses: list[float] = field(default_factory=list)

    def now(self) -> str:
        return self.at

    def seconds(self) -> float:
        return seconds_of(self.at)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at = later(self.at, seconds)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def fake(time: Time) -> Iterator[GitHubFake]:
    with mounted(GitHubFake(time.seconds)) as fake:
        fake.limits.is_enforced = False
        yield fake


def opened_at(time: Time, base: str = "https://api.github.com", token: str = "ghp_fake", login: str = "") -> Door:
    return opened(token, Address(base, "octo", "project"), time.now, time.pause, login=login)


@pytest.fixture
def door(fake: GitHubFake, time: Time) -> Door:
    return opened_at(time)


def trouble(call: object, *arguments: object) -> Held | Retry | Unsure:
    """What the door makes of a call that fails."""
    assert callable(call)
    with pytest.raises(DoorTrouble) as caught:
        call(*arguments)
    return caught.value.delivery


def created(door: Door, title: str = "title", body: str = "body", labels: tuple[str, ...] = ()) -> RemoteIssue:
    return door.create(title, body, labels)


def test_an_issue_is_read_as_it_was_written(fake: GitHubFake, door: Door) -> None:
    made = created(door, "A title", "A body\nof two lines", ("agent-fox",))
    assert door.issue(made.number) == made
    assert made == RemoteIssue(
        number=1,
        id=made.id,
        title="A title",
        body="A body\nof two lines",
        state="open",
        state_reason=None,
        creator="fox-bot",
        is_pull=False,
        is_locked=False,
        comments=0,
        created_at=START,
        updated_at=START,
        closed_at="",
        url="https://github.com/octo/project/issues/1",
        repository="octo/project",
    )


def test_what_is_said_and_done_to_an_issue_is_seen(fake: GitHubFake, door: Door) -> None:
    number = created(door).number
    first = door.comment(number, "one")
    door.comment(number, "two")
    fake.person("a-bot", is_bot=True).comments(number, "three")
    door.edit_comment(number, first.id, "one, better")
    door.set_state(number, "closed", "completed")
    seen = door.issue(number)
    assert isinstance(seen, RemoteIssue)
    assert (seen.state, seen.state_reason, seen.comments, seen.closed_at) == ("closed", "completed", 3, START)
    told = [(comment.body, comment.author, comment.is_bot) for comment in door.comments(number)]
    assert told == [("one, better", "fox-bot", False), ("two", "fox-bot", False), ("three", "a-bot", True)]
    door.set_state(number, "open", None)
    opened_again = door.issue(number)
    assert isinstance(opened_again, RemoteIssue)
    assert opened_again.state == "open"


def test_lists_are_read_to_their_last_page_without_pull_requests(fake: GitHubFake, door: Door) -> None:
    for number in range(230):
        created(door, f"issue {number}")
    person = fake.person("alex")
    person.opens("a person's")
    person.opens_pull("a pull request")
    ours = door.issues("fox-bot")
    assert [issue.number for issue in ours] == list(range(230, 0, -1))
    assert len(door.issues("")) == 231
    door.set_state(7, "closed", "completed")
    assert [issue.number for issue in door.issues("fox-bot", "closed")] == [7]
    assert door.newest() == 232
    for number in range(120):
        door.comment(1, f"comment {number}")
    assert [comment.body for comment in door.comments(1)] == [f"comment {number}" for number in range(120)]


def test_an_empty_repository_has_no_newest(door: Door) -> None:
    assert door.newest() == 0
    assert door.issues("fox-bot") == ()


def test_an_issue_that_is_not_there_says_why(fake: GitHubFake, door: Door) -> None:
    gone = created(door).number
    fake.person().deletes(gone)
    assert door.issue(gone) is Absent.GONE
    assert door.issue(99) is Absent.NONE
    held = trouble(door.comment, gone, "x")
    assert isinstance(held, Held)
    assert not held.is_general


def test_an_issue_moved_within_the_owner_is_followed_and_written_to_where_it_is(fake: GitHubFake, door: Door) -> None:
    other = fake.add_repository("octo/other")
    fake.person(repository=other).opens("takes number 1 there")
    number = created(door).number
    fake.person().transfers(number, other)
    seen = door.issue(number)
    assert isinstance(seen, RemoteIssue)
    assert (seen.repository, seen.number) == ("octo/other", 2)
    comment = door.comment(number, "still here")
    door.edit_comment(number, comment.id, "still there")
    door.set_state(number, "closed", "completed")
    assert [found.body for found in door.comments(number)] == ["still there"]
    assert not other.issues[2].is_open


def test_an_issue_moved_to_another_owner_is_not_written_to(fake: GitHubFake, door: Door) -> None:
    number = created(door).number
    elsewhere = fake.add_repository("somebody/else")
    fake.person().transfers(number, elsewhere)
    writes = len(fake.writes)
    assert door.issue(number) is Absent.MOVED
    assert isinstance(trouble(door.comment, number, "x"), Held)
    assert isinstance(trouble(door.set_state, number, "closed", "completed"), Held)
    assert len(fake.writes) == writes


def test_a_write_is_never_sent_again_by_a_redirection(fake: GitHubFake, door: Door) -> None:
    """The issue has moved, and nobody has looked: the comment lands nowhere."""
    number = created(door).number
    elsewhere = fake.add_repository("somebody/else")
    fake.person().transfers(number, elsewhere)
    assert isinstance(trouble(door.comment, number, "x"), Held)
    assert elsewhere.issues[1].comments == []


def test_a_repository_with_a_new_name_is_found(fake: GitHubFake, door: Door) -> None:
    created(door)
    fake.rename("octo/renamed")
    assert created(door).number == 2
    assert door.repository == "octo/renamed"
    assert [issue.number for issue in door.issues("fox-bot")] == [2, 1]
    assert door.commit_url("abc") == "https://github.com/octo/renamed/commit/abc"


def test_what_is_not_in_a_renamed_repository_is_not_found_and_has_not_moved(fake: GitHubFake, door: Door) -> None:
    """Or numbers beyond the newest would be looked through for ever, and nothing would be filed."""
    fake.rename("octo/renamed")
    assert door.issue(1) is Absent.NONE
    assert (door.repository, created(door).number, door.issue(2)) == ("octo/renamed", 1, Absent.NONE)


def test_a_list_is_whole_after_a_new_name(fake: GitHubFake, door: Door) -> None:
    for _ in range(130):
        created(door)
    door.set_state(1, "closed", "completed")
    fake.person().opens("a person's")
    fake.rename("octo/renamed")
    assert [issue.number for issue in door.issues("fox-bot")] == list(range(130, 0, -1))


def test_a_repository_that_went_to_another_owner_is_left_alone(fake: GitHubFake, door: Door) -> None:
    fake.rename("somebody/project")
    held = trouble(created, door)
    assert isinstance(held, Held)
    assert held.is_general
    assert fake.issues == ()


def test_a_redirection_to_another_host_is_not_followed(fake: GitHubFake, door: Door) -> None:
    away = Say(Answer(301, b"{}", {"Location": "https://evil.example/repos/octo/project/issues/1"}))
    fake.faults += [Fault(faults.reads, away), Fault(faults.creates, away)]
    assert door.issue(1) is Absent.MOVED
    assert isinstance(trouble(created, door), Held)
    assert {exchange.request.base for exchange in fake.exchanges} == {"https://api.github.com"}


def test_a_redirection_without_end_ends(fake: GitHubFake, door: Door) -> None:
    again = Say(Answer(301, b"{}", {"Location": "https://api.github.com/repos/octo/project/issues/1"}))
    fake.faults.append(Fault(faults.reads, again, times=1000))
    assert door.issue(1) is Absent.MOVED
    assert len(fake.exchanges) == 1 + wire.HOPS


LOST = {
    "dropped": faults.dropped(),
    "timed out": faults.timed_out(),
    "cut": faults.cut(),
    "cut clean": faults.cut(is_clean=True),
    "502": faults.gateway(502),
    "503": faults.gateway(503),
    "504": faults.gateway(504),
}


@pytest.mark.parametrize("what", LOST.values(), ids=LOST)
def test_a_lost_answer_leaves_one_issue_and_a_doubt(fake: GitHubFake, door: Door, what: Say) -> None:
    fake.faults.append(Fault(faults.writes, what, times=9))
    assert isinstance(trouble(created, door), Unsure)
    assert len(fake.issues) == 1
    assert [exchange.request.method for exchange in fake.exchanges] == ["POST"]


@pytest.mark.parametrize("what", LOST.values(), ids=LOST)
def test_a_lost_answer_to_a_question_is_asked_for_again(fake: GitHubFake, door: Door, time: Time, what: Say) -> None:
    number = created(door).number
    fake.faults.append(Fault(faults.reads, what, times=wire.READINGS - 1))
    assert isinstance(door.issue(number), RemoteIssue)
    assert len(time.pauses) == wire.READINGS - 1
    fake.faults.append(Fault(faults.reads, what, times=99))
    assert isinstance(trouble(door.issue, number), Retry)
    assert sum(time.pauses) < 10


def test_no_connection_is_no_doubt(fake: GitHubFake, door: Door) -> None:
    fake.faults += [Fault(faults.anything, faults.refused(), times=2)]
    for call in (lambda: created(door), door.newest):
        retry = trouble(call)
        assert isinstance(retry, Retry)
        assert retry.is_general
        assert retry.not_before == later(START, 30)
    assert len(fake.exchanges) == 2


def test_a_limit_is_told_and_not_waited_for_and_nothing_is_asked_before_it_ends(
    fake: GitHubFake, door: Door, time: Time
) -> None:
    fake.faults += [Fault(faults.anything, faults.limited("7200"))]
    for call in (lambda: created(door), door.newest):
        retry = trouble(call)
        assert isinstance(retry, Retry)
        assert retry.is_general
        assert retry.not_before == later(START, 7200)
    assert len(fake.exchanges) == 1
    assert time.pauses == []
    time.at = later(START, 7200)
    assert created(door).number == 1
    assert fake.violations == ()


def test_a_limit_that_was_told_before_the_clock_jumped_back_keeps_nobody_out(
    fake: GitHubFake, door: Door, time: Time
) -> None:
    fake.faults += [Fault(faults.anything, faults.limited("60"))]
    assert isinstance(trouble(door.newest), Retry)
    time.at = later(START, -86_400)
    assert door.newest() == 0


def test_limits_without_a_time_grow_until_something_succeeds(fake: GitHubFake, door: Door, time: Time) -> None:
    fake.faults += [Fault(faults.creates, faults.limited(None, status=429), times=3)]
    waits = []
    for _ in range(3):
        until = getattr(trouble(created, door), "not_before", "")
        waits.append(seconds_of(until) - time.seconds())
        time.at = until
    assert waits == [60, 120, 240]
    created(door)
    fake.faults += [Fault(faults.creates, faults.limited(None))]
    assert getattr(trouble(created, door), "not_before", "") == later(time.at, 60)


def test_what_holds_for_everything_is_told_as_such(fake: GitHubFake, door: Door, time: Time) -> None:
    def told() -> tuple[bool, str]:
        held = trouble(created, door)
        assert isinstance(held, Held)
        return held.is_general, held.reason

    fake.token.grant = Grant.READ
    assert told() == (True, "the token may not do this (403: Resource not accessible by personal access token)")
    fake.token.grant = Grant.WRITE
    fake.repository.is_archived = True
    assert told()[0]
    fake.repository.is_archived, fake.repository.has_issues = False, False
    assert told() == (
        True,
        "issues are switched off in the repository (410: Issues has been disabled in this repository.)",
    )
    fake.repository.has_issues, fake.repository.is_private, fake.token.role = True, True, Role.NONE
    assert told() == (True, "not there, or not visible to the token (404: Not Found)")
    fake.token.expires = time.seconds()
    assert told() == (True, "GitHub refuses the token: wrong, expired or revoked (401: Bad credentials)")
    assert fake.issues == ()


def test_issues_switched_off_are_no_deleted_issue(fake: GitHubFake, door: Door) -> None:
    number = created(door).number
    fake.repository.has_issues = False
    held = trouble(door.issue, number)
    assert isinstance(held, Held)
    assert held.is_general


def test_what_github_does_not_accept_is_held_alone(fake: GitHubFake, door: Door) -> None:
    for call in (lambda: created(door, "x" * 257), lambda: created(door, "x", "y" * 65_537)):
        held = trouble(call)
        assert isinstance(held, Held)
        assert not held.is_general
        assert "422" in held.reason


def test_a_locked_issue_holds_what_is_for_it(fake: GitHubFake, door: Door) -> None:
    number = created(door).number
    fake.token.role = Role.READ
    fake.person().locks(number)
    held = trouble(door.comment, number, "x")
    assert isinstance(held, Held)
    assert not held.is_general
    assert "unlock" in held.remedy


def test_labels_are_made_where_they_are_missing_and_left_out_where_they_cannot_be(fake: GitHubFake, door: Door) -> None:
    assert door.ensure_labels(("agent-fox", "x" * 51, "")) == ("agent-fox",)
    asked = len(fake.exchanges)
    assert door.ensure_labels(("agent-fox",)) == ("agent-fox",)
    assert len(fake.exchanges) == asked
    fake.token.role = Role.READ
    fake.faults.append(Fault(lambda request: request.path.endswith("/labels"), faults.refusal(403, "no")))
    assert door.ensure_labels(("another",)) == ()


def test_a_label_in_doubt_does_not_make_the_issue_one(fake: GitHubFake, door: Door) -> None:
    fake.faults.append(Fault(faults.writes, faults.dropped()))
    assert door.ensure_labels(("agent-fox",)) == ()
    assert door.ensure_labels(("agent-fox",)) == ("agent-fox",)


def test_a_label_that_somebody_made_meanwhile_is_there(fake: GitHubFake, door: Door) -> None:
    door.ensure_labels(("agent-fox",))
    late = opened_at(Time())
    fake.faults.append(Fault(faults.reads, faults.refusal(404, "Not Found")))
    assert late.ensure_labels(("agent-fox",)) == ("agent-fox",)


def test_a_sub_issue_is_added_once(fake: GitHubFake, door: Door) -> None:
    parent, child = created(door, "whole"), created(door, "part")
    door.add_sub_issue(parent.number, child)
    door.add_sub_issue(parent.number, child)
    assert len(fake.issues[0].children) == 1


def test_who_we_are_is_asked_once_and_may_be_told(fake: GitHubFake, door: Door, time: Time) -> None:
    assert [door.login(), door.login()] == ["fox-bot", "fox-bot"]
    assert len(fake.exchanges) == 1
    assert opened_at(time, login="github-actions[bot]").login() == "github-actions[bot]"
    fake.faults.append(Fault(faults.reads, faults.refusal(403, "Resource not accessible by integration")))
    assert opened_at(time).login() == ""


def test_before_each_write_we_are_asked_and_what_is_raised_prevents_it(fake: GitHubFake, door: Door) -> None:
    calls: list[int] = []
    created(dataclasses.replace(door, before_write=lambda: calls.append(1)))
    assert calls == [1]

    def no_lease() -> None:
        raise LeaseLost("x")

    def too_soon() -> None:
        raise TooSoon(START)

    with pytest.raises(LeaseLost):
        created(dataclasses.replace(door, before_write=no_lease))
    with pytest.raises(TooSoon):
        dataclasses.replace(door, before_write=too_soon).comment(1, "x")
    assert len(fake.issues) == 1


def spoiled(seen: bytes) -> Say:
    return Say(Answer(200, seen, {"Content-Type": "application/json"}), is_applied=True)


ISSUE = {
    "number": 1,
    "id": 1,
    "title": "t",
    "state": "open",
    "repository_url": "https://api.github.com/repos/octo/project",
}
ODD: dict[str, object] = {
    "number as text": ISSUE | {"number": "1"},
    "no number": {name: value for name, value in ISSUE.items() if name != "number"},
    "negative number": ISSUE | {"number": -1},
    "title missing": {name: value for name, value in ISSUE.items() if name != "title"},
    "state unknown": ISSUE | {"state": "ajar"},
    "user a list": ISSUE | {"user": []},
    "null": None,
    "list": [],
    "text": "issue",
    "no repository": ISSUE | {"repository_url": "here"},
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_an_answer_of_another_form_is_trouble_and_no_traceback(fake: GitHubFake, door: Door, body: object) -> None:
    fake.faults.append(Fault(faults.anything, spoiled(json.dumps(body).encode()), times=99))
    assert isinstance(trouble(door.issue, 1), Retry)
    assert isinstance(trouble(created, door), Unsure)
    for call in (door.newest, lambda: door.issues("x"), lambda: door.comments(1)):
        if body != []:
            assert isinstance(trouble(call), Retry)


def test_fields_that_may_be_missing_may_be_missing(fake: GitHubFake, door: Door) -> None:
    odd = ISSUE | {"user": None, "body": None, "created_at": "yesterday", "html_url": "javascript:x", "new": {}}
    fake.faults.append(Fault(faults.reads, spoiled(json.dumps(odd).encode())))
    seen = door.issue(1)
    assert isinstance(seen, RemoteIssue)
    assert (seen.creator, seen.body, seen.created_at, seen.url) == ("", "", "", "")


def test_addresses_of_code_are_those_of_the_pages(door: Door) -> None:
    assert door.blob_url("abc", "src/a b#?.py", 3) == ("https://github.com/octo/project/blob/abc/src/a%20b%23%3F.py#L3")


def test_a_token_stands_in_nothing_that_is_told(fake: GitHubFake, time: Time) -> None:
    door = opened_at(time, token="ghp_secret")
    held = trouble(door.newest)
    assert "secret" not in repr(door) + repr(held) + repr(door.wire)
    bad = opened_at(time, token="ghp_secret\nx")
    with pytest.raises(DoorTrouble) as caught:
        created(bad)
    assert "secret" not in str(caught.value) + repr(caught.value.delivery)
    assert caught.value.__suppress_context__


def test_a_token_stands_in_no_log(fake: GitHubFake, time: Time, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="github.Requester"):
        fake.add_token("ghp_secret", "fox-bot")
        created(opened_at(time, token="ghp_secret"))
    assert "POST" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_over_a_real_connection_a_lost_answer_is_one_issue(time: Time, prefix: str) -> None:
    fake = GitHubFake(time.seconds)
    fake.limits.is_enforced = False
    with serve(fake) as url:
        door = opened_at(time, f"{url}{prefix}")
        made = created(door)
        assert isinstance(door.issue(made.number), RemoteIssue)
        for what in (faults.dropped(), faults.cut(), faults.cut(is_clean=True), faults.gateway()):
            fake.faults.append(Fault(faults.creates, what))
            assert isinstance(trouble(created, door), Unsure)
        fake.faults.append(Fault(faults.reads, faults.dropped()))
        assert door.newest() == 5
    assert len(fake.issues) == 5
    assert isinstance(trouble(opened_at(time, url).newest), Retry)


def test_a_silent_server_is_a_doubt(time: Time) -> None:
    fake = GitHubFake(time.seconds, faults=[Fault(faults.creates, faults.timed_out())])
    with serve(fake) as url:
        door = opened_at(time, url)
        door.wire._line.timeout = 0.1  # type: ignore[assignment]  # seconds; PyGithub means whole ones
        assert isinstance(trouble(created, door), Unsure)
    assert len(fake.issues) == 1


def test_requests_say_which_interface_they_mean(fake: GitHubFake, door: Door) -> None:
    created(door)
    request: Request = fake.exchanges[0].request
    assert request.headers["x-github-api-version"] == "2022-11-28"
    assert request.headers["accept"] == "application/vnd.github+json"
