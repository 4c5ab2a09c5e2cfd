"""What a server can do that is hostile or broken: the token goes nowhere else, and time and memory have an end."""

from __future__ import annotations

import gzip
import json
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest

from agent_fox.trackers.github import bounds, door
from agent_fox.trackers.github.answers import Absent, RemoteIssue, time_of
from agent_fox.trackers.github.door import Door, DoorTrouble
from agent_fox.trackers.protocol import Held, Retry, Unsure
from tests.trackers.github.hostile import TOKEN, Send, answer, hostile, saying

ISSUE = {
    "number": 1,
    "id": 5,
    "title": "t",
    "state": "open",
    "user": {"login": "fox-bot"},
    "repository_url": "https://api.github.com/repos/octo/project",
}


def issue(**changes: object) -> bytes:
    return json.dumps({**ISSUE, **changes}).encode()


def trouble(ask: Callable[[], object]) -> Held | Retry | Unsure:
    with pytest.raises(DoorTrouble) as caught:
        ask()
    assert TOKEN not in str(caught.value) + repr(caught.value.delivery)
    return caught.value.delivery


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "1"},
        {"number": -1},
        {"number": 0},
        {"number": 10**30},
        {"number": 2**31},
        {"number": 1.5},
        {"number": True},
        {"number": "١"},
        {"number": 2},
        {"id": 2**70},
        {"title": None},
        {"state": "ajar"},
        {"user": {"login": "x" * 300}},
        {"repository_url": "https://api.github.com/user"},
    ],
)
def test_an_issue_of_another_form_or_number_is_none(changes: dict[str, object]) -> None:
    with saying(issue(**changes)) as server:
        assert isinstance(trouble(lambda: server.door().issue(1)), Retry)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5_000,
        b'{"number":',
        b"null",
        b'"\\ud800"',
        b"\0",
    ],
)
def test_what_is_no_answer_of_github_is_retried_and_a_write_is_in_doubt(body: bytes) -> None:
    with saying(body) as server:
        assert isinstance(trouble(lambda: server.door().issue(1)), Retry)
        assert isinstance(trouble(lambda: server.door().issues("")), Retry)
        assert isinstance(trouble(lambda: server.door().create("t", "b")), Unsure)


@pytest.mark.parametrize("told", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", "1e400"])
def test_a_time_that_no_calendar_has_is_unknown(told: str) -> None:
    assert time_of(told) == ""
    with saying(issue(created_at=told, closed_at=told)) as server:
        found = server.door().issue(1)
    assert isinstance(found, RemoteIssue)
    assert (found.created_at, found.closed_at) == ("", "")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://x/\x1b[2J", "https://x/" + "y" * 9999]
)
def test_an_address_that_would_do_something_is_dropped(url: str) -> None:
    with saying(issue(html_url=url)) as server:
        found = server.door().issue(1)
    assert isinstance(found, RemoteIssue)
    assert found.url == ""


@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
@pytest.mark.parametrize("way", ["http://{}/octo", "//{}/octo", "http://user@{}/octo", "http://127.0.0.1:1@{}/"])
def test_no_redirection_takes_the_token_to_another_host(status: str, way: str) -> None:
    with saying(issue()) as other:
        where = way.format(other.url.removeprefix("http://"))
        with saying(b"{}", status, f"Location: {where}") as server:
            assert server.door().issue(1) is Absent.MOVED
            trouble(lambda: server.door().create("t", "b"))
            trouble(lambda: server.door().issues("x"))
            assert server.door().login() == ""
    assert other.heard == []


@pytest.mark.parametrize(
    "where", ["http://[", "http://[::1", "\\\\evil\\x", "repos/x", "?", "#", "https:///x", "x:y:z"]
)
def test_a_redirection_to_nowhere_ends_nothing(where: str) -> None:
    with saying(b"{}", "301 x", f"Location: {where}") as server:
        for ask in (lambda: server.door().issue(1), lambda: server.door().newest()):
            with suppress(DoorTrouble):
                assert isinstance(ask(), Absent)
        assert len(server.heard) <= 20


def test_a_list_without_an_end_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_PAGES", 20)

    def behave(asked: str, send: Send) -> None:
        page = len(server.heard)
        send(answer(b"[]", headers=f'Link: <{server.url}/x?page={page}>; rel="next"'))

    with hostile(behave) as server:
        assert isinstance(trouble(lambda: server.door().issues("x")), Held)
        assert len(server.heard) == 20


@pytest.mark.parametrize("link", ["?page=2", "http://[", "http://evil.example/?page=2", ""])
def test_a_list_that_leads_back_to_itself_is_told_at_once_and_nobody_else_is_asked(link: str) -> None:
    with saying(b"[]", headers=f'Link: <{link}>; rel="next"') as server:
        assert isinstance(trouble(lambda: server.door().comments(1)), Held)
        assert len(server.heard) <= 2


def test_a_list_of_gigabytes_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "LARGEST_LIST", 1_000_000)

    def behave(asked: str, send: Send) -> None:
        page = f'Link: <{server.url}/x?page={len(server.heard)}>; rel="next"'
        send(answer(b"[" + issue(body="x" * 300_000) + b"]", headers=page))

    with hostile(behave) as server:
        assert isinstance(trouble(lambda: server.door().issues("x")), Held)
        assert len(server.heard) == 4


def big(send: Send) -> None:
    send(b"HTTP/1.1 200 OK\r\nContent-Length: 500000000\r\n\r\n")
    for _ in range(500):
        send(b" " * 1_000_000)


BOMB = gzip.compress(b" " * 100_000_000, 9)
BOMBS = gzip.compress(gzip.compress(b" " * 50_000_000, 9), 9)


def bomb(send: Send) -> None:
    send(answer(BOMB, headers="Content-Encoding: gzip"))


def bombs_in_bombs(send: Send) -> None:
    send(answer(BOMBS, headers="Content-Encoding: gzip, gzip"))


@pytest.mark.parametrize("attack", [big, bomb, bombs_in_bombs])
def test_an_answer_that_is_too_large_is_not_read_to_its_end(
    attack: Callable[[Send], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "LARGEST", 4_000_000)
    with hostile(lambda _, send: attack(send)) as server:
        place = server.door()
        tracemalloc.start()
        try:
            assert isinstance(trouble(lambda: place.create("t", "b")), Unsure)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 40_000_000


@pytest.mark.parametrize(
    "start", [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Long: "]
)
def test_an_answer_that_only_drips_is_ended(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 0.2)
    over = threading.Event()

    def drip(send: Send) -> None:
        send(start)
        while not over.wait(0.01):
            send(b" ")

    with hostile(lambda _, send: drip(send)) as server:
        assert isinstance(trouble(lambda: server.door().create("t", "b")), Unsure)
        over.set()


def test_an_answer_that_came_is_watched_no_more() -> None:
    with saying(issue()) as server:
        place = server.door()
        assert all(isinstance(place.issue(1), RemoteIssue) for _ in range(5))
    timers = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    assert all(one.finished.is_set() for one in timers)


def said_back(ask: Callable[[Door], object], body: bytes, status: str) -> str:
    with saying(body, status) as server:
        return repr(trouble(lambda: ask(server.door())))


@pytest.mark.parametrize("status", ["401 x", "403 x", "404 x", "422 x", "429 x", "500 x"])
@pytest.mark.parametrize("how", [TOKEN, "".join(f"\\u{ord(char):04x}" for char in TOKEN)])
def test_a_server_that_repeats_the_token_puts_it_nowhere(status: str, how: str) -> None:
    body = f'{{"message": "bad credentials {how}", "errors": [{{"message": "{how}"}}]}}'.encode()
    assert TOKEN not in said_back(lambda door: door.create("t", "b"), body, status)
    assert TOKEN not in said_back(lambda door: door.newest(), body, status)


def test_a_server_that_sets_cookies_gets_them_back_alone() -> None:
    with saying(issue()) as other, saying(issue(), headers="Set-Cookie: a=b; Domain=127.0.0.1; Path=/") as server:
        place = server.door()
        place.issue(1)
        place.issue(1)
        other.door().issue(1)
    assert "Cookie" not in other.heard[0]
