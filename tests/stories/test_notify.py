"""`[notify] command` is told when work stops and how a run ended, and can neither hold it up nor spoil it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socketserver
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from agent_fox.cli.run import notify as notifying
from agent_fox.cli.run.notify import Notifier
from agent_fox.config import NotifySettings
from agent_fox.testing.worlds import NEVER, Req, World
from tests.stories.scene import CEILING, NOT_PROVEN, PROVEN, run

REQS = [Req("01-REQ-1.1", 1)]
DOCS = Path(__file__).resolve().parents[2] / "docs" / "notify.md"
BLOCKED = {"kind": "blocked", "text": '01_calc: 01-REQ-1.1 fails: "äh"\nNeeds you.', "next": ["agent-fox explain"]}


def notify(*argv: str, on: str = "") -> str:
    return f"[notify]\ncommand = {json.dumps(argv)}\n{on}"


def appending(path: Path) -> tuple[str, ...]:
    return ("sh", "-c", f"cat >> '{path}' && echo >> '{path}'")


@pytest.mark.parametrize(("limits", "ends"), [("", PROVEN), ("[limits]\nsessions = 1\n", CEILING)])
def test_the_summary_is_on_its_input_at_the_end_and_at_a_pause(tmp_path: Path, limits: str, ends: int) -> None:
    path = tmp_path / "told.json"
    root = World({"01_calc": REQS}, settings=notify(*appending(path)) + limits).build(tmp_path)
    run(root, ends=ends)
    (summary,) = map(json.loads, path.read_text().splitlines())
    assert (summary["kind"], summary["exit_code"]) == ("summary", ends)
    assert summary["text"] == f"agent-fox run 1: {summary['reason']} (exit {ends})"


@pytest.mark.parametrize(("on", "kinds"), [("", ["blocked", "summary"]), ('on = ["blocked"]\n', ["blocked"])])
def test_a_block_is_told_with_its_issue_when_it_is_decided(tmp_path: Path, on: str, kinds: list[str]) -> None:
    path = tmp_path / "told.json"
    settings = f"[retry]\nattempts = 1\n{notify(*appending(path), on=on)}"
    root = World({"01_calc": [Req("01-REQ-1.1", right_at=NEVER)]}, settings=settings).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert [document["kind"] for document in told] == kinds
    first = told[0]
    assert (first["spec"], first["node"], first["cause"]) == ("01_calc", "01_calc:2", "attempts spent")
    (issue,) = first["issues"]
    assert issue["title"].startswith("01_calc: 01-REQ-1.1 fails: ")
    assert [(part["requirement"], part["state"]) for part in issue["parts"]] == [("01-REQ-1.1", "fails")]
    assert first["text"].splitlines() == [issue["title"], issue["headline"], "agent-fox explain 01_calc:2"]


@pytest.mark.parametrize("argv", [("false",), ("no-such-notifier",)])
def test_a_command_that_fails_is_a_warning(tmp_path: Path, argv: tuple[str, ...]) -> None:
    root = World({"01_calc": REQS}, settings=notify(*argv)).build(tmp_path)
    done = run(root, ends=PROVEN)
    assert "notify" in done.stderr


def test_what_hangs_is_left_and_what_was_not_sent_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notifying, "LONGEST", 0.2)
    notifier = Notifier(tmp_path, NotifySettings(command=["sleep", "1"]))
    for _ in range(3):
        notifier.call(BLOCKED)
    notifier.end({})
    assert re.search(
        r"\[notify\] command sleep: [34] notifications not sent within 0.2 seconds", capsys.readouterr().err
    )


class Web(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body.decode()))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class Mail(socketserver.StreamRequestHandler):
    """As much of SMTP as one message needs."""

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        lines: list[str] = []
        while line := self.rfile.readline().decode().rstrip("\r\n"):
            lines.append(line)
            if line == "DATA":
                self.wfile.write(b"354 go on\r\n")
                while (text := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                    lines.append(text)
            self.wfile.write(b"221 bye\r\n" if line == "QUIT" else b"250 fine\r\n")
            if line == "QUIT":
                break
        self.server.got.append(({}, "\n".join(lines)))  # type: ignore[attr-defined]


@contextmanager
def listening(server: socketserver.TCPServer) -> Iterator[tuple[int, list[tuple[dict[str, str], str]]]]:
    got: list[tuple[dict[str, str], str]] = []
    server.got = got  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.server_address[1], got
    server.shutdown()
    server.server_close()


def recipe(name: str) -> list[str]:
    """The command under a heading of the page."""
    section = DOCS.read_text().partition(f"\n## {name}\n")[2]
    command: list[str] = tomllib.loads(section.partition("```toml\n")[2].partition("```")[0])["notify"]["command"]
    return command


def sent(command: list[str], **variables: str) -> None:
    missing = [program for program in ("jq", "curl") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(
        command, input=json.dumps(BLOCKED), text=True, env=environment, timeout=20, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["ntfy", "Slack", "Teams"])
def test_a_recipe_sends_the_message_as_its_service_reads_it(name: str) -> None:
    variable = {"ntfy": "NTFY_URL", "Slack": "SLACK_WEBHOOK", "Teams": "TEAMS_WEBHOOK"}[name]
    with listening(HTTPServer(("127.0.0.1", 0), Web)) as (port, got):
        sent(recipe(name), **{variable: f"http://127.0.0.1:{port}/hook"})
    ((headers, body),) = got
    text = str(BLOCKED["text"])
    block = {"type": "TextBlock", "wrap": True, "text": text}
    card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    expected = {
        "ntfy": f"{text}\n",
        "Slack": {"text": text},
        "Teams": {"type": "message", "attachments": [attachment]},
    }
    assert (body if name == "ntfy" else json.loads(body)) == expected[name]
    assert name != "ntfy" or headers["Title"] == "agent-fox"
    assert name == "ntfy" or headers["Content-Type"] == "application/json"


def test_the_recipe_for_mail_hands_a_message_to_the_server() -> None:
    with listening(socketserver.TCPServer(("127.0.0.1", 0), Mail)) as (port, got):
        sent(
            recipe("Mail"),
            MAIL_SERVER=f"smtp://127.0.0.1:{port}",
            MAIL_FROM="fox@example.org",
            MAIL_TO="kim@example.org",
        )
    ((_, mail),) = got
    assert "MAIL FROM:<fox@example.org>" in mail
    assert "RCPT TO:<kim@example.org>" in mail
    head, _, text = mail.partition("\nDATA\n")[2].partition("\n\n")
    assert head.splitlines() == ["From: <fox@example.org>", "To: <kim@example.org>", "Subject: agent-fox: blocked"]
    assert text.startswith(str(BLOCKED["text"]))
