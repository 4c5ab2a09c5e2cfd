"""What another site, another program of this machine, or a text of others may try with the page, without a browser."""

from __future__ import annotations

import asyncio
import dataclasses
import html.parser
import re
import shlex
from collections.abc import MutableMapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from agent_fox.engine.account.run_document import RunDocument
from agent_fox.web.page import page as html_of
from agent_fox.web.server import MOST_LISTENERS, Unavailable, View, application, listening
from tests.web.models import HOSTILE, of_size

PAGE = "<p>the page of the run</p>"
PORT = 8123


def view() -> View:
    return View(lambda: PAGE, lambda: 1, token="t" * 32, port=PORT)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str


async def answered(own: View, scope: Scope, receive: Receive, send: Send) -> None:
    await application(own)(scope, receive, send)


def ask(own: View, path: str = "", method: str = "GET", query: str = "", **more: str) -> Answer:
    """What the application answers to one request. `more` are headers; `host` and `cookie` are right unless given."""
    headers = {"host": f"127.0.0.1:{PORT}", "cookie": f"{own.cookie}={own.token}", **more}
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path or own.path, "raw_path": (path or own.path).encode(), "query_string": query.encode(),
        "root_path": "", "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 1),
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()],
    }  # fmt: skip
    said: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    asyncio.run(answered(own, scope, receive, send))
    named = {name.decode(): value.decode() for name, value in said[0]["headers"]}
    return Answer(said[0]["status"], named, b"".join(each.get("body", b"") for each in said[1:]).decode())


def test_the_person_sees_the_page() -> None:
    assert ask(view()).body == PAGE


HOSTS = [
    "evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:8123", "evil.example:8123", "[::1]:8123",
    "127.0.0.1:8123@evil.example", "127.0.0.1:08123", "127.1:8123", "2130706433:8123", "LOCALHOST:8123 ", "",
    "localhost:8123.evil.example", "127.0.0.1:8123, evil.example", "0.0.0.0:8123",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_was_bent_to_this_machine_gets_nothing(host: str) -> None:
    own = view()
    for path in (own.path, "/", f"{own.path}events"):
        answer = ask(own, path, host=host, query=f"token={own.token}")
        assert (answer.status, PAGE in answer.body) == (421, False)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND"])
def test_nothing_is_done_by_any_method(method: str) -> None:
    answer = ask(view(), method=method, x_http_method_override="GET")
    assert (answer.status, PAGE in answer.body) == (405, False)
    assert "access-control-allow-origin" not in answer.headers


TOKENS = ["", "t", "t" * 31, "t" * 33, "T" * 32, "t" * 32 + "\x00", "\u0442" * 32, "%", "*", "null", "t" * 10**6]


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_is_not_the_one_opens_nothing(token: str) -> None:
    own = view()
    quoted = "".join(f"%{byte:02x}" for byte in token.encode())
    assert ask(own, query=f"token={quoted}", cookie="").status == 401
    assert ask(own, cookie="; ".join(f"{name}={quoted}" for name in (own.cookie, "agent-fox", "token"))).status == 401


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer TOKEN"}, {"x_token": "TOKEN"}, {"referer": "/?token=TOKEN"}]
)
def test_a_token_at_another_place_opens_nothing(headers: dict[str, str]) -> None:
    own = view()
    given = {name: value.replace("TOKEN", own.token) for name, value in headers.items()}
    assert ask(own, cookie="", **given).status == 401


def test_a_token_cannot_be_guessed_and_is_another_each_time() -> None:
    tokens = {View(lambda: "", lambda: 1).token for _ in range(100)}
    assert len(tokens) == 100
    assert min(len(token) for token in tokens) * 6 >= 128
    assert len({View(lambda: "", lambda: 1).path for _ in range(100)}) == 100


def test_a_wrong_token_beside_a_right_cookie_opens_nothing() -> None:
    assert ask(view(), query="token=wrong").status == 401


SITES = [
    {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "https://127.0.0.1:8123"},
    {"origin": "http://127.0.0.1:3000"}, {"origin": ""}, {"origin": "file://"},
    {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
    {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors"},
    {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
    {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
    {"sec_fetch_site": "same-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "object"},
]  # fmt: skip


@pytest.mark.parametrize("headers", SITES)
def test_another_site_gets_nothing_though_it_has_the_cookie(headers: dict[str, str]) -> None:
    """Cookies of this machine are sent with requests that a page of any of its ports makes."""
    own = view()
    for path in (own.path, f"{own.path}events"):
        answer = ask(own, path, **headers)
        assert (answer.status, PAGE in answer.body) == (403, False)


PATHS = [
    "/state.db", "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/", "//evil.example/", "/\\evil.example",
    "/.agent-fox/state.db", "/page.js", "/static/../x", "/\x00", "/events/", "/index.html", "/favicon.ico",
    "/" + "a" * 10**5,
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_to_a_file(path: str) -> None:
    answer = ask(view(), path)
    assert (answer.status, PAGE in answer.body) == (404, False)
    assert path not in answer.body


def test_the_cookie_goes_to_no_other_program_of_this_machine() -> None:
    """A browser sends a cookie of 127.0.0.1 to every port of it, but only below its path: that is secret too."""
    own = view()
    answer = ask(own, "/", query=f"token={own.token}", cookie="")
    cookie = answer.headers["set-cookie"]
    assert answer.status == 303
    assert re.fullmatch(r"/[\w-]{16,}/", own.path)
    assert answer.headers["location"] == own.path
    for part in (f"Path={own.path}", "HttpOnly", "SameSite=strict"):
        assert part in cookie.split("; ")
    assert own.token not in own.path
    assert ask(own, "/").status == 404
    assert ask(own, "/events").status == 404


@pytest.mark.parametrize(
    ("path", "query", "more"),
    [("", "", {}), ("/nothing", "", {}), ("/", "token=TOKEN", {}), ("", "token=x", {}), ("", "", {"host": "x"}),
     ("", "", {"origin": "null"})],
)  # fmt: skip
def test_every_answer_says_that_it_is_not_kept_framed_sniffed_or_told_of(
    path: str, query: str, more: dict[str, str]
) -> None:
    own = view()
    answer = ask(own, path, query=query.replace("TOKEN", own.token), **more)
    named = {name: answer.headers.get(name) for name in ("cache-control", "x-frame-options", "x-content-type-options")}
    assert named == {"cache-control": "no-store", "x-frame-options": "DENY", "x-content-type-options": "nosniff"}
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert not {"access-control-allow-origin", "etag", "last-modified", "server"} & answer.headers.keys()


@pytest.mark.parametrize("headers", [{"if_none_match": "*"}, {"range": "bytes=0-1"}, {"if_modified_since": "x"}])
def test_nothing_is_learned_without_the_token(headers: dict[str, str]) -> None:
    assert ask(view(), cookie="", **headers).status == 401
    assert ask(view(), **headers).body == PAGE


def test_a_redirection_leads_nowhere_but_here() -> None:
    own = view()
    for query in (f"token={own.token}&next=//evil.example", f"token={own.token}%0d%0aLocation:%20//evil.example"):
        answer = ask(own, "/", query=query, cookie="")
        assert answer.headers.get("location", own.path) == own.path


def test_no_more_than_so_many_listen() -> None:
    own = view()
    own.listeners = MOST_LISTENERS
    assert ask(own, f"{own.path}events").status == 503


def test_a_websocket_is_not_spoken() -> None:
    said: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    scope: dict[str, Any] = {"type": "websocket", "path": "/", "headers": [], "query_string": b""}
    asyncio.run(answered(view(), scope, receive, send))
    assert said in ([], [{"type": "websocket.close"}])


def test_why_there_is_no_page_is_plain_text() -> None:
    def broken() -> str:
        raise Unavailable("<script>alert(1)</script>")

    own = replace(view(), make=broken)
    answer = ask(own)
    assert answer.status == 503
    assert answer.headers["content-type"].startswith("text/plain")


def test_it_listens_where_only_this_machine_comes_and_a_port_is_not_shared() -> None:
    with listening(0) as own:
        host, port = own.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(OSError, match="in use"):
            listening(port)


# Texts of others.


Tag = tuple[str, dict[str, str]]


class Shown(html.parser.HTMLParser):
    """What a browser would make of a page: its tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))


KEPT = ("commands", "command", "word", "status", "state", "kind", "outcome", "standing", "answer", "archetype", "mode")
TIMES = ("at", "made_at", "began_at", "ended_at", "started_at")
"""Members whose words are ours or a profile's, or times that are parsed."""


def with_every_text(document: RunDocument, text: str) -> RunDocument:
    """The document with each text of others in it changed."""
    changed = with_text(document, text, "")
    assert isinstance(changed, RunDocument)
    return changed


def with_text(value: object, text: str, name: str) -> object:
    if isinstance(value, str):
        return value if name in (*KEPT, *TIMES) or not value else f"{value} {text}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value) if each.init]
        members: Any = {each: with_text(getattr(value, each), text, each) for each in names}
        return replace(value, **members)
    if isinstance(value, dict):
        return {key: with_text(inner, text, str(key)) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(with_text(inner, text, name) for inner in value)
    return value


@pytest.fixture(scope="module")
def plain() -> RunDocument:
    return of_size(2, 2, 2, ("01_spec",))


ODD = [
    *(text for text in HOSTILE if len(text) < 1000),
    "' onmouseover='x", "`onclick=x`", "\"><base href=//evil.example>", "<meta http-equiv=refresh content=0>",
    "<style>*{}",
    "]]>", "&lt;script&gt;", "&#x3c;script&#x3e;", "<\x00script>", "data:text/html,<script>", "</title><script>",
    "</pre><script>",
    "<form action=//evil.example>", "<a href=javascript:x>", "<iframe srcdoc=x>", "__proto__", "constructor", "${7*7}",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_a_text_in_every_place_makes_no_tag_and_no_attribute(plain: RunDocument, text: str) -> None:
    before, after = (Shown(html_of(with_every_text(plain, each))) for each in ("plain", text))
    nothing: Tag = ("nothing", {})
    pairs = zip_longest(before.tags, after.tags, fillvalue=nothing)
    others = ((was, now) for was, now in pairs if (was[0], was[1].keys()) != (now[0], now[1].keys()))
    assert next(others, None) is None
    for _, names in after.tags:
        assert not any(name.startswith("on") for name in names)
        assert all(names.get(name, "#").startswith(("#", "data:,", "https://")) for name in ("href", "src", "action"))


@pytest.mark.parametrize(
    "issue", ["javascript:x", "data:text/html,x", "JAVASCRIPT:x", " https://x", "//evil.example", "file:///etc/passwd",
              "https:evil", "http://a\nb", "vbscript:x"],
)  # fmt: skip
def test_an_issue_leads_to_the_web_or_nowhere(plain: RunDocument, issue: str) -> None:
    cards = tuple(replace(card, issue=issue) for card in plain.overview.needs_you)
    shown = Shown(html_of(replace(plain, overview=replace(plain.overview, needs_you=cards))))
    links = [names["href"] for tag, names in shown.tags if tag == "a"]
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    assert "javascript:x" not in links


def policy(text: str) -> dict[str, str]:
    (found,) = (
        names["content"] for tag, names in Shown(text).tags if names.get("http-equiv") == "Content-Security-Policy"
    )
    return dict(part.split(" ", 1) for part in found.split("; "))


@pytest.mark.parametrize("is_live", [False, True])
def test_only_its_own_script_and_style_run_and_nothing_is_loaded(plain: RunDocument, is_live: bool) -> None:
    rules = policy(html_of(plain, is_live=is_live))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["style-src"])
    assert rules["base-uri"] == "'none'"
    assert rules["form-action"] == "'none'"
    assert rules.get("connect-src", "'self'") == "'self'"
    assert rules["img-src"] == "data:"


SHELL = [
    "a; touch x",
    "$(touch x)",
    "`touch x`",
    "a && touch x",
    "a | sh",
    "a > x",
    "it's",
    'say "x"',
    "a\\",
    "!x",
    "*",
]


@pytest.mark.parametrize("name", SHELL)
def test_a_command_that_is_copied_runs_nothing_of_a_name(plain: RunDocument, name: str) -> None:
    """Names of specs are names of folders, which come with a repository."""
    named = with_every_text(plain, name)
    shown = re.findall(r'aria-label="Copy: ([^"]*)"', html_of(named))
    assert shown
    for command in map(html.unescape, shown):
        if not command.startswith("agent-fox"):
            continue  # a profile's own command, as the person has it
        words = shlex.split(command)
        assert all(operator not in words for operator in (";", "&&", "|", ">"))
        assert not re.search(r"[$`]", re.sub(r"'[^']*'", "", command))


def test_a_secret_is_masked_wherever_it_stands(plain: RunDocument) -> None:
    shown = html_of(with_every_text(plain, "hunter2-hunter2"), secrets=["hunter2-hunter2"])
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "text", ["a" * 10**6, "(" * 10**5, "-" * 10**5 + "\n" + "+" * 10**5, "\n" * 10**5, "0x" * 10**5]
)
def test_a_long_text_costs_no_more_than_its_length(plain: RunDocument, text: str) -> None:
    sessions = tuple(replace(each, diff=text, log=text, reason=text) for each in plain.sessions[:1])
    assert len(html_of(replace(plain, sessions=(*sessions, *plain.sessions[1:])))) < 10**8
