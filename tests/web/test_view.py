"""The live page: real processes of `agent-fox view` and `run`, a real browser, and requests that must be refused."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent_fox.testing.worlds import NEVER, Req, World, environment, run_cli, wait_until

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")
MOST_SECONDS = 20
CHANGE_SECONDS = 1.0
"""Within which a change of the state is on the page, on a machine that is not slower than meant."""

NOMINAL_SECONDS = 0.35
"""What a loop of ten million additions takes on that machine."""

TOP = "part => part.getBoundingClientRect().top"


@dataclass
class Viewing:
    """A running `agent-fox view`."""

    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def ask(self, method: str = "GET", path: str = "/", **headers: str) -> tuple[int, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=MOST_SECONDS)) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=named)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@contextmanager
def program(root: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on beside the test; it is ended by its own process id."""
    argv = [sys.executable, "-m", "agent_fox.cli.door", *arguments]
    with subprocess.Popen(
        argv, cwd=root, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        limit = threading.Timer(120, process.kill)
        limit.start()
        try:
            yield process
        finally:
            process.kill()
            limit.cancel()


@contextmanager
def viewing(root: Path, *arguments: str) -> Iterator[Viewing]:
    with program(root, "view", "--no-open", *arguments) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = ADDRESS.search(line)
        assert found, line
        yield Viewing(process, int(found[1]), found[2])


def world(**more: object) -> World:
    return World(
        {"01_a": [Req("01-REQ-1.1", right_at=NEVER), Req("01-REQ-1.2")], "02_b": [Req("02-REQ-1.1")]},
        depends={"02_b": "01_a"}, settings="[retry]\nattempts = 1\n", cost=0.25, **more,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = world().build(tmp_path_factory.mktemp("view") / "w")
    assert run_cli(root, "run").returncode == 2
    return root


@pytest.fixture(scope="module")
def view(root: Path) -> Iterator[Viewing]:
    with viewing(root) as view:
        yield view


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 500})
    yield context.new_page()
    context.close()


REFUSED = [
    (401, "GET", "/", {}),
    (401, "GET", "/events", {}),
    (401, "GET", "/?token=wrong", {}),
    (401, "GET", "/", {"Cookie": "agent-fox=TOKEN"}),
    (405, "POST", "/?token=TOKEN", {}),
    (405, "DELETE", "/?token=TOKEN", {}),
    (405, "OPTIONS", "/?token=TOKEN", {}),
    (421, "GET", "/?token=TOKEN", {"Host": "evil.example"}),
    (421, "GET", "/?token=TOKEN", {"Host": "127.0.0.1"}),
    (403, "GET", "/?token=TOKEN", {"Origin": "http://evil.example"}),
    (403, "GET", "/?token=TOKEN", {"Origin": "null"}),
    (403, "GET", "/?token=TOKEN", {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}),
    (404, "GET", "/state.db?token=TOKEN", {}),
    (404, "GET", "/../../etc/passwd?token=TOKEN", {}),
]


def slowness() -> float:
    """How many times as long as on the machine that is meant a plain loop takes here and now, at least 1."""
    begin, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    return max(1.0, (time.perf_counter() - begin) / NOMINAL_SECONDS)


@pytest.mark.parametrize(("status", "method", "path", "headers"), REFUSED)
def test_who_is_not_the_person_gets_nothing(
    view: Viewing, status: int, method: str, path: str, headers: dict[str, str]
) -> None:
    given = {name: value.replace("TOKEN", view.token) for name, value in headers.items()}
    answer, body = view.ask(method, path.replace("TOKEN", view.token), **given)
    assert answer == status
    assert "01-REQ-1.1" not in body


def test_it_listens_on_loopback_alone(view: Viewing) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in (*others, "127.0.0.2"):
        with closing(socket.socket()) as other:
            other.settimeout(1)
            assert other.connect_ex((str(address), view.port)) != 0


def test_the_token_does_not_stay_in_the_address(view: Viewing, page: Page) -> None:
    page.goto(view.address)
    assert re.fullmatch(rf"http://127\.0\.0\.1:{view.port}/[\w-]+/", page.url)
    assert view.token not in page.url
    expect(page.get_by_role("heading", name="NOT PROVEN")).to_be_visible()
    assert page.evaluate("() => document.cookie") == ""


def test_a_change_is_seen_within_a_second_and_nothing_moves(root: Path, view: Viewing, page: Page) -> None:
    page.goto(f"{view.address}#req/01_a/01-REQ-1.1")
    drawer = page.locator("[id='req/01_a/01-REQ-1.1']")
    expect(drawer).to_be_visible()
    page.locator("#time details").first.evaluate("part => { part.open = true }")
    page.locator("#time").evaluate("part => part.scrollIntoView({behavior: 'instant'})")
    top = page.locator("#time").evaluate(TOP)
    expect(page.locator(".card")).to_have_count(1)
    assert run_cli(root, "reset", "01_a:2").returncode == 0
    expect(page.locator(".card")).to_have_count(0, timeout=1000 * CHANGE_SECONDS * slowness() + 1000)
    expect(drawer).to_be_visible()
    expect(page.locator("#time details").first).to_have_attribute("open", "")
    assert page.locator("#time").evaluate(TOP) == pytest.approx(top, abs=2)


def test_a_run_that_is_killed_is_not_said_to_run(tmp_path: Path, page: Page) -> None:
    root = world(coder_does={"01_a:1/1": "hang"}).build(tmp_path / "w")
    with program(root, "run") as run:
        state = root / ".agent-fox" / "state.db"
        wait_until(state.exists, "the state file")
        wait_until(lambda: run_cli(root, "status", "--json").stdout.count('"running"') > 1, "the session")
        with viewing(root) as view:
            page.goto(view.address)
            expect(page.get_by_role("heading", name="RUNNING")).to_be_visible()
            os.kill(run.pid, signal.SIGKILL)
            run.wait()
            banner = page.locator("#banner")
            expect(banner).to_contain_text("ended from outside", timeout=MOST_SECONDS * 1000)
            expect(banner).to_contain_text("last sign 20")
            expect(page.get_by_role("heading", name="RUNNING")).to_have_count(0)


def test_two_pages_at_once_each_show_their_own(root: Path, view: Viewing, tmp_path: Path, browser: Browser) -> None:
    other_root = World({"09_z": [Req("09-REQ-1.1")]}).build(tmp_path / "other")
    assert run_cli(other_root, "run").returncode == 0
    with viewing(other_root) as other:
        context = browser.new_context()
        first, second = context.new_page(), context.new_page()
        first.goto(view.address)
        second.goto(other.address)
        first.reload()
        expect(first.get_by_role("heading", name="NOT PROVEN")).to_be_visible()
        expect(second.get_by_role("heading", name="PROVEN", exact=True)).to_be_visible()
        context.close()


def test_it_ends_when_it_is_asked_to_though_a_page_is_open(root: Path, page: Page) -> None:
    with viewing(root) as view:
        page.goto(view.address)
        expect(page.locator("#live")).to_have_text("live")
        view.process.send_signal(signal.SIGINT)
        assert view.process.wait(MOST_SECONDS) == 0
        expect(page.locator("#live")).to_have_text("not current: no answer from agent-fox view")


def test_a_port_that_is_taken_is_one_clear_line(root: Path, view: Viewing) -> None:
    done = run_cli(root, "view", "--port", str(view.port))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"port {view.port}: Address already in use; --port 0 takes any that is free" in done.stderr


def test_without_a_state_it_says_what_to_do(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    for command in ("view", "report"):
        done = run_cli(root, command)
        assert (done.returncode, done.stdout) == (1, "")
        assert "agent-fox run" in done.stderr


def test_a_state_of_an_older_version_is_left_as_it_is_and_told(root: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(root, older)
    with closing(sqlite3.connect(older / ".agent-fox" / "state.db")) as db:
        db.execute("PRAGMA user_version = 1")
    for command in ("view", "report"):
        done = run_cli(older, command)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert "agent-fox run" in done.stderr


def test_a_state_that_cannot_be_read_is_said_on_the_page_and_it_goes_on_when_it_can(
    root: Path, tmp_path: Path, page: Page
) -> None:
    own = tmp_path / "own"
    shutil.copytree(root, own)
    settings = own / ".agent-fox" / "config.toml"
    good = settings.read_text()
    with viewing(own) as view:
        page.goto(view.address)
        expect(page.locator("#live")).to_have_text("live")
        settings.write_text("no = toml = at all")
        (own / ".agent-fox" / "state.db").touch()
        expect(page.locator("#live")).to_contain_text("not current: ", timeout=MOST_SECONDS * 1000)
        expect(page.locator("#live")).to_contain_text("config.toml")
        settings.write_text(good)
        (own / ".agent-fox" / "state.db").touch()
        expect(page.locator("#live")).to_have_text("live", timeout=MOST_SECONDS * 1000)
