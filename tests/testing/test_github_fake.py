"""The fake GitHub keeps GitHub's rules: who may what, sizes, limits, moves, lags, faults, and what a text sets off."""

from __future__ import annotations

import base64
import json
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from github import Auth, Github
from pydantic import JsonValue

from agent_fox.testing.github import Break, Fault, GitHubFake, Grant, Manner, Role, Say, faults, mounted, serve
from agent_fox.testing.github.notices import What, notices
from agent_fox.testing.github.wire import Answer, Request

API = "https://api.github.com"
START = 1_800_000_000.0
ISSUES, FIRST = "/repos/octo/project/issues", "/repos/octo/project/issues/1"


@dataclass
class Clock:
    now: float = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fake(clock: Clock) -> Iterator[GitHubFake]:
    """A fake with one issue of ours, asked in process."""
    made = GitHubFake(clock)
    with mounted(made):
        ask("POST", ISSUES, title="First", body="its body", labels=["agent-fox"])
        clock.now += 1
        yield made


def ask(method: str, path: str, token: str = "ghp_fake", base: str = API, **body: JsonValue) -> requests.Response:
    headers = {"Authorization": f"token {token}"} if token else {}
    data = json.dumps(body) if body else None
    return requests.request(method, base + path, headers=headers, data=data, timeout=2, allow_redirects=False)


def status(method: str, path: str, token: str = "ghp_fake", **body: JsonValue) -> int:
    return ask(method, path, token, API, **body).status_code


def listed(query: str = "state=all") -> list[int]:
    return [one["number"] for one in ask("GET", f"{ISSUES}?{query}").json()]


def errors(response: requests.Response) -> list[tuple[str, str]]:
    assert response.status_code == 422
    return [(error["field"], error["code"]) for error in response.json()["errors"]]


# Sizes and shapes


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"title": "x" * 257}, ("title", "custom")),
        ({"title": "x", "body": "y" * 65_537}, ("body", "custom")),
        ({"title": ""}, ("title", "missing_field")),
        ({"title": "x", "labels": ["l" * 51]}, ("name", "custom")),
    ],
)
def test_an_issue_that_is_too_long_or_has_no_title_is_refused(
    fake: GitHubFake, body: dict[str, Any], wanted: tuple[str, str]
) -> None:
    assert errors(ask("POST", ISSUES, **body)) == [wanted]
    assert len(fake.issues) == 1


def test_the_longest_that_is_allowed_is_taken(fake: GitHubFake) -> None:
    assert status("POST", ISSUES, title="😀" * 256, body="y" * 65_536) == 201
    assert status("POST", f"{FIRST}/comments", body="y" * 65_536) == 201
    assert errors(ask("POST", f"{FIRST}/comments", body="y" * 65_537)) == [("body", "custom")]
    assert errors(ask("POST", f"{FIRST}/comments", body="")) == [("body", "missing_field")]


def test_what_is_no_json_or_no_unicode_is_refused(fake: GitHubFake) -> None:
    headers = {"Authorization": "token ghp_fake"}
    for data in (b"{", b'{"title": "\\ud800"}', b"[]"):
        assert requests.post(API + ISSUES, data=data, headers=headers, timeout=1).status_code == 400
    assert status("POST", ISSUES, title=["a", "list"]) == 422


def test_a_label_exists_once_whatever_its_letters(fake: GitHubFake) -> None:
    labels = "/repos/octo/project/labels"
    assert errors(ask("POST", labels, name="Agent-Fox", color="ff0000")) == [("name", "already_exists")]
    assert errors(ask("POST", labels, name="new", color="red")) == [("color", "invalid")]
    assert errors(ask("POST", labels, name="new", description="d" * 101)) == [("description", "custom")]
    assert status("POST", labels, name="new one", color="ff0000") == 201
    assert ask("GET", f"{labels}/new%20one").json()["name"] == "new one"
    assert status("GET", f"{labels}/none") == 404


# Who may what


def test_a_bad_or_expired_token_is_401(fake: GitHubFake, clock: Clock) -> None:
    assert ask("GET", ISSUES, token="wrong").json()["message"] == "Bad credentials"
    fake.token.expires = clock.now + 10
    assert status("GET", ISSUES) == 200
    clock.now += 10
    assert status("GET", ISSUES) == 401
    assert status("POST", ISSUES, token="", title="x") == 401


def test_a_token_without_the_permission_is_told_which_one(fake: GitHubFake) -> None:
    fake.token.grant = Grant.READ
    no = ask("POST", ISSUES, title="x")
    assert (no.status_code, no.headers["X-Accepted-GitHub-Permissions"]) == (403, "issues=write")
    assert status("GET", ISSUES) == 200
    fake.token.grant = Grant.NONE
    assert ask("GET", ISSUES).headers["X-Accepted-GitHub-Permissions"] == "issues=read"


def test_a_private_repository_is_not_there_for_a_stranger(fake: GitHubFake) -> None:
    fake.repository.is_private, fake.token.role = True, Role.NONE
    assert {status("GET", path) for path in (ISSUES, FIRST, "/repos/octo/project")} == {404}
    assert status("POST", ISSUES, title="x") == 404


def test_labels_are_dropped_in_silence_for_one_who_cannot_push(fake: GitHubFake) -> None:
    fake.token.role = Role.READ
    assert ask("POST", ISSUES, title="x", labels=["agent-fox"]).json()["labels"] == []
    assert status("POST", "/repos/octo/project/labels", name="x") == 404
    fake.token.role, fake.knobs.drops_labels = Role.WRITE, True
    assert ask("POST", ISSUES, title="x", labels=["agent-fox"]).json()["labels"] == []


def test_one_without_a_role_may_edit_only_what_is_his(fake: GitHubFake) -> None:
    fake.token.role = Role.READ
    fake.person().opens("theirs")
    assert status("PATCH", FIRST, state="closed") == 200
    assert status("PATCH", f"{ISSUES}/2", state="closed") == 403


def test_archived_disabled_and_locked_are_told_apart(fake: GitHubFake) -> None:
    fake.token.role = Role.READ
    fake.person().locks(1, "spam")
    assert "locked" in ask("POST", f"{FIRST}/comments", body="x").json()["message"]
    fake.repository.is_archived = True
    assert "archived" in ask("POST", ISSUES, title="x").json()["message"]
    assert status("GET", ISSUES) == 200
    fake.repository.is_archived, fake.repository.has_issues = False, False
    assert {status("GET", ISSUES), status("POST", ISSUES, title="x")} == {410}


def test_an_app_is_known_by_its_token_of_an_hour(clock: Clock) -> None:
    fake = GitHubFake(clock)
    fake.add_app()
    head, claims = '{"alg":"RS256"}', json.dumps({"iat": int(START), "exp": int(START) + 600, "iss": "7"})
    jwt = ".".join([encoded(head), encoded(claims), "signature"])
    with mounted(fake):
        number = ask("GET", "/repos/octo/project/installation", token=jwt).json()["id"]
        made = ask("POST", f"/app/installations/{number}/access_tokens", token=jwt).json()
        assert made["expires_at"] == "2027-01-15T09:00:00Z"
        assert ask("POST", ISSUES, token=made["token"], title="x").json()["user"]["type"] == "Bot"
        fake.person().locks(1)
        assert status("POST", f"{FIRST}/comments", token=made["token"], body="x") == 403
        assert status("POST", f"{FIRST}/comments", body="x") == 201
        assert status("GET", "/user", token=made["token"]) == 403
        assert status("GET", "/app", token="ghp_fake") == 401
        assert status("GET", "/app", token="no.jwt.here") == 401
        clock.now += 3600
        assert status("GET", ISSUES, token=made["token"]) == 401


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# Numbers, lists and pages


def test_issues_pulls_and_discussions_share_their_numbers(fake: GitHubFake) -> None:
    person = fake.person()
    person.opens_pull("a change")
    assert person.starts_discussion() == 3
    assert ask("POST", ISSUES, title="next").json()["number"] == 4
    assert status("GET", f"{ISSUES}/3") == 404
    assert listed() == [4, 2, 1]
    assert "pull_request" in ask("GET", f"{ISSUES}/2").json()


def test_a_list_is_filtered_sorted_and_paged_with_links(fake: GitHubFake) -> None:
    person = fake.person()
    for number in range(2, 8):
        person.opens(f"number {number}")
    person.closes(5)
    assert listed("per_page=3") == [7, 6, 4]
    assert listed("creator=fox-bot&state=all") == listed("creator=FOX-BOT&state=open") == [1]
    assert listed("state=closed") == [5]
    assert listed("state=all&direction=asc&per_page=2&page=2") == [3, 4]
    assert listed("labels=agent-fox") == [1]
    first = ask("GET", f"{ISSUES}?state=all&per_page=3")
    assert {name: link["url"].rpartition("page=")[2] for name, link in first.links.items()} == {
        "next": "2",
        "last": "3",
    }
    assert set(ask("GET", f"{ISSUES}?state=all&per_page=3&page=3").links) == {"prev", "first"}


def test_a_list_that_lags_shows_what_was(fake: GitHubFake, clock: Clock) -> None:
    fake.knobs.lag = 600
    assert listed() == []
    assert status("GET", FIRST) == 200
    clock.now += 600
    fake.person().closes(1)
    assert listed("state=open") == [1]
    clock.now += 600
    assert listed("state=open") == []
    assert listed("state=closed") == [1]


def test_comments_may_lag_too(fake: GitHubFake, clock: Clock) -> None:
    fake.knobs.comment_lag = 60
    ask("POST", f"{FIRST}/comments", body="hello")
    assert ask("GET", f"{FIRST}/comments").json() == []
    clock.now += 60
    assert [one["body"] for one in ask("GET", f"{FIRST}/comments").json()] == ["hello"]


def test_a_list_may_be_empty_for_no_reason_or_lack_a_page(fake: GitHubFake) -> None:
    fake.knobs.random, fake.knobs.empty_chance = random.Random(4), 0.6
    found = [listed() for _ in range(50)]
    assert {len(one) for one in found} == {0, 1}
    assert 20 <= sum(not one for one in found) <= 40
    fake.knobs.empty_chance = 0
    fake.person().opens("second")
    fake.knobs.missing_pages = {2}
    assert listed("per_page=1&page=1") == [2]
    assert listed("per_page=1&page=2") == []


# What changes


def test_a_state_has_the_reason_that_was_given_when_it_changed(fake: GitHubFake) -> None:
    assert ask("PATCH", FIRST, state="closed").json()["state_reason"] == "completed"
    assert ask("PATCH", FIRST, state="closed", state_reason="not_planned").json()["state_reason"] == "completed"
    opened = ask("PATCH", FIRST, state="open").json()
    assert (opened["state_reason"], opened["closed_at"]) == ("reopened", None)
    closed = ask("PATCH", FIRST, state="closed", state_reason="duplicate").json()
    assert (closed["state_reason"], closed["closed_by"]["login"]) == ("duplicate", "fox-bot")
    assert errors(ask("PATCH", FIRST, state="shut")) == [("state", "invalid")]
    assert errors(ask("PATCH", FIRST, state_reason="done")) == [("state_reason", "invalid")]


def test_people_do_as_they_like(fake: GitHubFake, clock: Clock) -> None:
    person = fake.person("alex")
    person.closes(1, "not_planned")
    assert ask("GET", FIRST).json()["closed_by"]["login"] == "alex"
    person.reopens(1)
    person.edits(1, "<!-- mark -->\nrest")
    person.removes_marker(1)
    comment = fake.person("robot", is_bot=True).comments(1, "beep")
    person.edits_comment(1, comment.id, "boop")
    shown = ask("GET", FIRST).json()
    assert (shown["state"], shown["body"], shown["comments"]) == ("open", "rest", 1)
    only = ask("GET", f"{FIRST}/comments").json()[0]
    assert (only["body"], only["user"]["type"]) == ("boop", "Bot")
    person.deletes_comment(1, comment.id)
    assert status("GET", f"/repos/octo/project/issues/comments/{comment.id}") == 404


def test_a_deleted_issue_is_gone_and_a_transferred_one_leads_on(fake: GitHubFake) -> None:
    person, other = fake.person(), fake.add_repository("octo/other")
    person.opens("second")
    person.transfers(1, other)
    person.deletes(2)
    assert {status(method, f"{ISSUES}/2") for method in ("GET", "PATCH")} == {410}
    moved = ask("GET", FIRST)
    assert (moved.status_code, moved.headers["Location"]) == (301, f"{API}/repositories/{other.id}/issues/1")
    there = ask("GET", f"/repositories/{other.id}/issues/1").json()
    assert there["repository_url"] == f"{API}/repos/octo/other"
    other.is_private, fake.token.role = True, Role.NONE
    assert status("GET", f"/repositories/{other.id}/issues/1") == 404
    assert listed() == []


def test_what_is_written_to_an_old_name_is_to_be_sent_again_as_it_was(fake: GitHubFake) -> None:
    fake.rename("octo/renamed")
    no = ask("POST", ISSUES, title="second")
    assert (no.status_code, no.json()["message"], len(fake.issues)) == (307, "Moved Permanently", 1)
    path = no.headers["Location"].removeprefix(API)
    assert status("POST", path, title="second") == 201
    assert status("POST", "/repos/octo/renamed/issues", title="third") == 201


def test_a_renamed_repository_leads_on_and_the_client_loses_the_query(fake: GitHubFake) -> None:
    """Why a repository that moved must be asked by its new name: PyGithub follows without what was asked for."""
    fake.person().opens("theirs")
    fake.rename("octo/renamed")
    assert ask("GET", f"{ISSUES}?creator=fox-bot").headers["Location"].endswith("/issues?creator=fox-bot")
    github = Github(auth=Auth.Token("ghp_fake"), lazy=True, retry=None, seconds_between_requests=0)
    assert [one.number for one in github.get_repo("octo/project").get_issues(state="all", creator="fox-bot")] == [2, 1]  # type: ignore[arg-type]  # it takes a login


def test_an_issue_has_one_parent_and_a_child_once(fake: GitHubFake) -> None:
    child, second = fake.person().opens("child"), fake.person().opens("second parent")
    assert status("POST", f"{FIRST}/sub_issues", sub_issue_id=child.id) == 201
    assert status("POST", f"{FIRST}/sub_issues", sub_issue_id=child.id) == 422
    assert status("POST", f"{ISSUES}/{second.number}/sub_issues", sub_issue_id=child.id) == 422
    assert status("POST", f"{FIRST}/sub_issues", sub_issue_id=1) == 404
    fake.person().closes(child.number)
    assert ask("GET", FIRST).json()["sub_issues_summary"]["percent_completed"] == 100
    path = f"{ISSUES}/{second.number}/sub_issues"
    assert status("POST", path, sub_issue_id=child.id, replace_parent=True) == 201
    assert ask("GET", f"{FIRST}/sub_issues").json() == []


# Rates


def test_writes_within_a_second_are_noted(fake: GitHubFake, clock: Clock) -> None:
    assert not fake.violations
    status("POST", f"{FIRST}/comments", body="one")
    clock.now += 0.5
    status("POST", f"{FIRST}/comments", body="two")
    assert ["0.500 s after" in said for said in fake.violations] == [True]
    assert [write.at for write in fake.writes] == [START, START + 1, START + 1.5]


def test_eighty_a_minute_and_five_hundred_an_hour_are_borne(fake: GitHubFake, clock: Clock) -> None:
    fake.limits.writes.clear()
    clock.now += 3600
    for _ in range(500):
        assert status("POST", f"{FIRST}/comments", body="again") == 201
        clock.now += 2
    assert not fake.violations
    no = ask("POST", f"{FIRST}/comments", body="one too many")
    assert (no.status_code, no.headers["Retry-After"]) == (403, "60")
    assert "secondary rate limit" in no.json()["message"]
    status("GET", FIRST)
    assert "asked before the time told" in fake.violations[-1]
    clock.now += 3600
    assert status("POST", f"{FIRST}/comments", body="later") == 201


def test_more_than_eighty_in_a_minute_are_refused(fake: GitHubFake, clock: Clock) -> None:
    clock.now += 60
    codes = []
    for _ in range(81):
        codes.append(status("POST", f"{FIRST}/comments", body="again"))
        clock.now += 0.7
    assert (codes.count(201), codes[-1]) == (80, 403)


def test_every_answer_tells_what_is_left_of_the_hour(fake: GitHubFake, clock: Clock) -> None:
    fake.limits.remaining = 1
    answer = ask("GET", FIRST)
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    no = ask("GET", FIRST)
    assert (no.status_code, "rate limit exceeded" in no.json()["message"]) == (403, True)
    clock.now = float(no.headers["X-RateLimit-Reset"])
    assert status("GET", FIRST) == 200
    assert ask("GET", "/rate_limit").json()["rate"]["used"] == 1


@pytest.mark.parametrize(
    ("what", "seconds"),
    [
        (faults.limited("60"), 60),
        (faults.limited("Fri, 15 Jan 2027 08:01:30 GMT", 429), 89),
        (faults.exhausted(START + 3600), 3599),
    ],
)
def test_going_on_before_the_time_told_is_noted(fake: GitHubFake, clock: Clock, what: Say, seconds: int) -> None:
    fake.faults.append(Fault(faults.anything, what))
    ask("GET", FIRST)
    clock.now += seconds - 1
    ask("GET", FIRST)
    assert len(fake.violations) == 1
    clock.now += 1
    ask("GET", FIRST)
    assert len(fake.violations) == 1


def test_a_write_that_came_to_nothing_was_one_too(fake: GitHubFake, clock: Clock) -> None:
    fake.faults.append(Fault(faults.creates, faults.gateway(is_applied=False)))
    assert status("POST", ISSUES, title="second") == 502
    clock.now += 0.1
    assert status("POST", ISSUES, title="second") == 201
    assert len(fake.violations) == 1
    fake.faults.append(Fault(faults.creates, faults.refused()))
    clock.now += 1
    with pytest.raises(requests.ConnectionError):
        ask("POST", ISSUES, title="third")
    assert status("POST", ISSUES, title="third") == 201
    assert len(fake.violations) == 1


# Faults

SPOILT: list[tuple[Break, type[Exception], int]] = [
    (faults.refused(), requests.ConnectionError, 1),
    (faults.dropped(), requests.ConnectionError, 2),
    (faults.dropped(is_applied=False), requests.ConnectionError, 1),
    (faults.timed_out(), requests.ReadTimeout, 2),
    (faults.timed_out(is_applied=False), requests.ReadTimeout, 1),
    (faults.cut(), requests.exceptions.ChunkedEncodingError, 2),
]


@pytest.mark.parametrize(("what", "wanted", "issues"), SPOILT)
def test_a_broken_way_raises_what_a_network_raises(
    fake: GitHubFake, what: Break, wanted: type[Exception], issues: int
) -> None:
    fake.faults.append(Fault(faults.creates, what))
    with pytest.raises(wanted):
        ask("POST", ISSUES, title="second")
    assert len(fake.issues) == issues
    assert status("POST", ISSUES, title="third") == 201


WIRES: list[tuple[Break, type[Exception], int]] = [
    (faults.refused(), requests.ConnectionError, 0),
    (faults.dropped(), requests.ConnectionError, 1),
    (faults.timed_out(), requests.ReadTimeout, 1),
    (faults.cut(), requests.exceptions.ChunkedEncodingError, 1),
]


@pytest.mark.parametrize(("what", "wanted", "issues"), WIRES)
def test_and_a_real_wire_raises_the_same(what: Break, wanted: type[Exception], issues: int) -> None:
    fake = GitHubFake(faults=[Fault(faults.creates, what)])
    with serve(fake) as url:
        with pytest.raises(wanted):
            requests.post(url + ISSUES, json={"title": "x"}, headers={"Authorization": "token ghp_fake"}, timeout=0.5)
        assert len(fake.issues) == issues
        assert ask("GET", ISSUES, base=url).status_code == 200


@pytest.mark.parametrize(("lost", "issues"), [(1, 2), (3, 4)])
def test_pygithub_by_itself_sends_again_what_was_done_already(lost: int, issues: int) -> None:
    """Why writes are never repeated by the transport: one call, and an issue for every answer that was lost."""
    fake = GitHubFake(faults=[Fault(faults.creates, faults.dropped(), times=lost)])
    with serve(fake) as url:
        github = Github(auth=Auth.Token("ghp_fake"), base_url=url, lazy=True, seconds_between_writes=0)
        github.get_repo("octo/project").create_issue("one")
    assert len(fake.issues) == issues


@contextmanager
def loopback(fake: GitHubFake) -> Iterator[str]:
    with serve(fake) as url:
        yield url


@contextmanager
def in_process(fake: GitHubFake) -> Iterator[str]:
    with mounted(fake):
        yield API


@pytest.mark.parametrize("way", [loopback, in_process])
@pytest.mark.parametrize(
    ("what", "code", "wait"),
    [
        (faults.limited("1"), 403, "1"),
        (faults.limited("7200", 429), 429, "7200"),
        (faults.limited("Fri, 15 Jan 2027 08:00:00 GMT", 429), 429, "Fri, 15 Jan 2027 08:00:00 GMT"),
        (faults.limited("soon"), 403, "soon"),
        (faults.limited("-5"), 403, "-5"),
        (faults.limited(None, 429), 429, None),
        (faults.exhausted(START + 60), 403, None),
        (faults.gateway(502), 502, None),
    ],
)
def test_limits_and_gateways_speak_alike_in_process_and_on_the_wire(
    way: Callable[[GitHubFake], AbstractContextManager[str]], what: Say, code: int, wait: str | None
) -> None:
    fake = GitHubFake(faults=[Fault(faults.lists, what, times=2)])
    with way(fake) as base:
        answers = [ask("GET", ISSUES, base=base) for _ in range(3)]
    assert [one.status_code for one in answers] == [code, code, 200]
    assert answers[0].headers.get("Retry-After") == wait


def test_half_of_an_answer_with_a_length_that_agrees_is_no_json(fake: GitHubFake) -> None:
    fake.faults.append(Fault(faults.creates, Break(Manner.HALVED)))
    answer = ask("POST", ISSUES, title="second")
    assert answer.status_code == 201
    with pytest.raises(ValueError):
        answer.json()
    assert len(fake.issues) == 2


def test_hooks_stand_before_and_after_each_request(fake: GitHubFake) -> None:
    seen: list[str] = []

    def crash(request: Request, answer: Answer) -> None:
        seen.append(f"after {answer.status}")
        raise KeyboardInterrupt

    fake.hooks.before = lambda request: seen.append(f"before {request.method}")
    fake.hooks.after = crash
    with pytest.raises(KeyboardInterrupt):
        ask("POST", ISSUES, title="second")
    assert seen == ["before POST", "after 201"]
    assert len(fake.issues) == 2


# What a text sets off


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("thanks @alex", ["@alex"]),
        ("(@octo/team)", ["@octo/team"]),
        ("a\\@alex", []),
        ("\\@alex &#64;kim", ["@alex", "@kim"]),
        ("mail@example.org", []),
        ("@\u200balex", []),
        ("**@alex**", ["@alex"]),
        ("`@alex` and ``a ` @kim``", []),
        ("`@alex", ["@alex"]),
        ("```\n@alex\n```", []),
        ("~~~~\n```\n@alex #1\n~~~~", []),
        ("```\n@alex\n````\n@kim", ["@kim"]),
        ("````\n```\n@alex\n```\n@kim\n````", []),
        ("    @alex", []),
        ("<!-- @alex -->\n@kim", ["@kim"]),
        ("<!-- one --> @alex", ["@alex"]),
        ("<details><summary>@alex</summary>\n\n@kim\n\n</details>", ["@alex", "@kim"]),
        ("<pre>@alex</pre>", []),
        ("see #12, GH-3, octo/project#4 and octo#5", ["#12", "GH-3", "octo/project#4", "octo#5"]),
        ("&#35;12 and issue#12a", ["#12"]),
        ("https://github.com/octo/project/issues/7", ["https://github.com/octo/project/issues/7"]),
        ("[here](https://github.com/octo/project/pull/7)", ["https://github.com/octo/project/pull/7"]),
        (f"at {'a1' * 20}.", ["a1" * 20]),
        (f"[`a1`](https://github.com/octo/project/commit/{'a1' * 20})", []),
        (f"sig={'a1' * 32}", []),
        ("closes #1", ["#1", "closes #1"]),
        ("Fixed: octo/project#2", ["octo/project#2", "Fixed: octo/project#2"]),
        ("# heading 12", []),
        ("| a | b |\n|---|---|\n| @alex | `#1` |", ["@alex"]),
    ],
)
def test_what_a_text_would_set_off_is_found_outside_of_code(text: str, wanted: list[str]) -> None:
    assert [notice.text for notice in notices(1, text)] == wanted


def test_every_text_that_is_written_is_read(fake: GitHubFake) -> None:
    comment = ask("POST", f"{FIRST}/comments", body="@alex").json()
    ask("PATCH", f"/repos/octo/project/issues/comments/{comment['id']}", body="closes GH-2")
    ask("PATCH", FIRST, body="@kim")
    ask("POST", ISSUES, title="@title is not read", body="#1")
    assert [(one.issue, one.what) for one in fake.notices] == [
        (1, What.MENTION),
        (1, What.REFERENCE),
        (1, What.CLOSING),
        (1, What.MENTION),
        (2, What.REFERENCE),
    ]


# As a process


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "agent_fox.testing.github", "--seconds", "60", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.send_signal(signal.SIGTERM)


def test_as_a_process_it_keeps_its_issues_in_a_file_and_shows_them_as_pages(tmp_path: Path) -> None:
    state, where = str(tmp_path / "state.json"), "/repos/o/n/issues"
    options = ("--repository", "o/n", "--token", "T", "--state", state, "--url-file", str(tmp_path / "url"))
    with process(*options) as url:
        made = ask(
            "POST", where, token="T", base=f"{url}/api/v3", title="First", body="**bold** <script>", labels=["x"]
        )
        assert made.json()["html_url"] == f"{url}/o/n/issues/1"
        ask("POST", f"{where}/1/comments", token="T", base=url, body="a comment")
        page = requests.get(f"{url}/o/n/issues/1", timeout=2).text
        assert all(part in page for part in ("First", "<strong>bold</strong>", "&lt;script&gt;", "a comment"))
        assert "/o/n/issues/1" in requests.get(f"{url}/o/n/issues", timeout=2).text
        assert (tmp_path / "url").read_text() == url
    with process(*options) as url:
        kept: list[dict[str, Any]] = requests.get(f"{url}/_fake/issues", timeout=2).json()
        assert [(one["title"], [c["body"] for c in one["all_comments"]]) for one in kept] == [("First", ["a comment"])]
        second = ask("POST", where, token="T", base=url, title="Second").json()
        assert (second["number"], second["id"] > kept[0]["id"], second["user"]["login"]) == (2, True, "fox-bot")
        assert ask("GET", f"{where}?creator=fox-bot", token="T", base=url).json()[1]["labels"][0]["name"] == "x"


def test_a_process_that_cannot_begin_says_why(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text("no json")
    command = [sys.executable, "-m", "agent_fox.testing.github", "--state", str(tmp_path / "state.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


def test_several_ask_at_once_and_every_issue_has_its_number() -> None:
    fake = GitHubFake()
    fake.limits.is_enforced = False
    with serve(fake) as url:

        def write() -> None:
            for _ in range(5):
                assert ask("POST", ISSUES, base=url, title="x").status_code == 201

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [issue.number for issue in fake.issues] == list(range(1, 21))
