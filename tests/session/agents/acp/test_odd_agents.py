"""Agents of the Agent Client Protocol that behave badly, as processes under our runner: each end is named by what was
seen, and what they flood us with is contained.

Fake: the agent, a small program that plays the steps of its prompt. Real: its process, its pipes, the runner.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.acp import adapter, dialogue
from agent_fox.session.agents.credentials import Credentials
from agent_fox.session.agents.prices import read_prices
from agent_fox.session.agents.registry import command_line
from agent_fox.session.agents.report import AgentReport, CostSource, Ending
from agent_fox.session.agents.runner.attending import Orders
from agent_fox.session.agents.runner.listening import Hearing
from agent_fox.session.agents.runner.main import Conversation
from agent_fox.session.agents.task import Role
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.toy import make_task

PROGRAM = r"""
import json, os, signal, sys, time
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def update(name, /, **more):
    send(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": name, **more}})
def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})
def ask(number):
    options = [{"optionId": "yes", "name": "y", "kind": "allow_once"}]
    call = {"toolCallId": f"c{number}", "kind": "edit", "title": "a"}
    params = {"sessionId": "s", "toolCall": call, "options": options}
    send(id=number, method="session/request_permission", params=params)
def answer():
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": ABLE})
        elif method in ("session/load", "session/resume"):
            update("tool_call", toolCallId="old", title="of before", kind="edit", status="completed")
            send(id=message["id"], result=None)
            STEPS[:] = ["say Taken up by " + method + ".\ndone"]
        elif method == "session/new":
            send(id=message["id"], result={"sessionId": "s"})
        elif method == "session/cancel":
            send(id=PROMPT[0], result={"stopReason": "cancelled"})
        elif method == "session/prompt":
            PROMPT[:] = [message["id"]]
            return STEPS.pop() if STEPS else message["params"]["prompt"][0]["text"]
    sys.exit(0)
PROMPT, STEPS = [], []
ABLE = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
def play(steps):
    for line in steps.splitlines():
        word, _, rest = line.partition(" ")
        if word == "say": say(rest)
        elif word == "raw": print(rest, flush=True)
        elif word == "large": say("x" * int(rest))
        elif word == "lines": [print("noise", flush=True) for _ in range(int(rest))]
        elif word == "ask": [ask(number) for number in range(int(rest))]
        elif word == "sleep": time.sleep(float(rest))
        elif word == "hear": answer()
        elif word == "complain": print(rest, file=sys.stderr, flush=True)
        elif word == "done": send(id=PROMPT[0], result={"stopReason": "end_turn"})
        elif word == "call": update("tool_call", toolCallId=rest, title=rest, kind="execute", status="in_progress")
        elif word == "deaf": [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]
        elif word == "exit": os._exit(int(rest))
while True:
    play(answer())
"""


def run(
    folder: Path, *steps: str, role: Role = Role.CODER, orders: Orders | None = None, **limits: float
) -> AgentReport:
    """The session in which the agent plays the steps; its report."""
    program = folder / "odd.py"
    program.write_text(PROGRAM)
    return held(folder, "\n".join(steps), sys.executable, str(program), role=role, orders=orders, **limits)


def held(
    folder: Path, prompt: str, program: str, *arguments: str, role: Role = Role.CODER, orders: Orders | None = None,
    **limits: float,
) -> AgentReport:  # fmt: skip
    task = make_task(folder, prompt, role=role, **limits)
    task = replace(task, cli="acp", provider=None, upstream="", program=program, arguments=arguments)
    line = command_line("acp")
    return Conversation(task, line, Hearing(task, line, read_prices(None)), orders or Orders()).hold(Credentials())


def wrong(code: int, message: str) -> str:
    """A step that answers the prompt with an error."""
    return f"raw {json.dumps({'id': 2, 'error': {'code': code, 'message': message}})}"


def stopped(reason: str) -> str:
    return f"raw {json.dumps({'id': 2, 'result': {'stopReason': reason}})}"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue, "ANSWERING", 0.5)


def test_a_session_that_ends_well_is_ended_and_its_cost_unknown(tmp_path: Path) -> None:
    report = run(tmp_path, "say Now.", "done")
    assert (report.ending, report.summary, report.turns) == (Ending.ENDED, "Now.", 1)
    assert (report.cost_usd, report.cost_source) == (None, CostSource.UNKNOWN)
    assert "its cost is not known" in report.notes


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("cat",), "it is no ACP agent: it answers `initialize` with an error"),
        (("true",), "it ended before it had answered `initialize`: it is no ACP agent, or its command line is wrong"),
        (("sh", "-c", "echo 'unknown command: acp' >&2; exit 2"), "unknown command: acp"),
        (("sh", "-c", "while :; do echo hello; done"), "it is no ACP agent: it prints 'hello'"),
        (("sleep", "60"), "it did not answer `initialize` within 0.5 s"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_what_is_no_agent_is_a_broken_program_that_pauses_the_run(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    report = held(tmp_path, "", *words)
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM)
    assert reason in report.reason


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        (("cat",), "answers `initialize` with an error"),
        (("true",), "before it had answered `initialize`"),
        (("sh", "-c", "echo 'unknown command: acp' >&2; exit 2"), "its command line is wrong: unknown command: acp"),
        (("sleep", "60"), "did not answer `initialize` within 0.5 s"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_what_is_no_agent_is_told_before_anything_is_paid(words: tuple[str, ...], trouble: str) -> None:
    argv = ("/bin/sh", *words[1:]) if words[0] == "sh" else (f"/bin/{words[0]}", *words[1:])
    assert trouble in adapter.trouble_of(argv, {"PATH": "/usr/bin:/bin"})


def test_an_agent_introduces_itself_and_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "odd.py"
    program.write_text(PROGRAM)
    assert adapter.trouble_of((sys.executable, str(program)), {}) == ""


def test_garbage_between_frames_is_counted_and_ends_nothing(tmp_path: Path) -> None:
    report = run(tmp_path, "raw }{", "lines 300", 'raw {"id": 99, "result": 1}', "say ok", "done")
    assert (report.ending, report.summary) == (Ending.ENDED, "ok")
    assert "302 lines of its output could not be read" in report.notes


def test_an_update_of_fifty_megabytes_is_contained(tmp_path: Path) -> None:
    report = run(tmp_path, f"large {50 * 1024 * 1024}", "say after it", "done", wall=60)
    assert (report.ending, report.summary) == (Ending.ENDED, "after it")
    assert "2 lines of its output could not be read" in report.notes


def test_many_updates_of_megabytes_are_kept_to_their_end(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = run(tmp_path, *[f"large {4 * 1024 * 1024}" for _ in range(20)], "say the end", "done", wall=60)
    assert report.ending is Ending.ENDED
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024


def test_a_flood_of_permissions_that_nobody_reads_the_answers_of_ends_the_session(tmp_path: Path) -> None:
    report = run(tmp_path, "ask 100000", "sleep 60", wall=30)
    assert report.ending is Ending.FAILED
    assert report.reason in {"it asked more than 2000 times for something", "it does not read what it is told"}
    assert report.tools["edit"] <= dialogue.MOST_ASKED


def test_an_agent_that_never_answers_its_prompt_is_ended_by_the_watchdog(tmp_path: Path) -> None:
    began = time.monotonic()
    report = run(tmp_path, "sleep 60", idle=0.5)
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.NETWORK)
    assert "nothing was heard for 0.5 s" in report.reason
    assert time.monotonic() - began < 10


def test_noise_beside_the_protocol_is_no_sign_of_life(tmp_path: Path) -> None:
    noise = ["complain working", "sleep 0.1"] * 40
    assert "nothing was heard" in run(tmp_path, *noise, idle=0.6).reason


def test_a_call_that_never_ends_is_bounded_by_the_time_of_the_session(tmp_path: Path) -> None:
    report = run(tmp_path, "call c1", "sleep 60", wall=1.0, idle=0.3)
    assert (report.ending, report.reason) == (Ending.TIMED_OUT, "did not end within 1 s")


@pytest.mark.parametrize("is_deaf", [False, True])
def test_a_session_that_is_stopped_is_asked_to_cancel_first_and_killed_in_the_end(
    tmp_path: Path, is_deaf: bool
) -> None:
    orders, began = Orders(), time.monotonic()
    threading.Timer(0.5, orders.ask).start()
    report = run(tmp_path, *(("deaf", "sleep 60") if is_deaf else ("say Begun.", "hear")), orders=orders)
    assert report.ending is Ending.STOPPED
    assert time.monotonic() - began < 8
    assert ("cancelled" in report.last) is not is_deaf


def test_an_agent_that_does_not_go_after_its_last_word_has_ended_well(tmp_path: Path) -> None:
    report = run(tmp_path, "deaf", "say Done.", "done", "sleep 60", wall=20)
    assert (report.ending, report.summary) == (Ending.ENDED, "Done.")


@pytest.mark.parametrize(
    ("steps", "ending", "kind"),
    [
        (("say half a", "exit 1"), Ending.FAILED, None),
        (("say half a", "exit 0"), Ending.FAILED, None),
        (
            ("say x", 'complain API Error: 429 {"error":{"type":"rate_limit_error"}}', "exit 1"),
            Ending.INFRASTRUCTURE, Infrastructure.RATE_LIMIT,
        ),
        ((wrong(-32000, "log in"),), Ending.INFRASTRUCTURE, Infrastructure.AUTHENTICATION),
        ((wrong(-32603, "broke"),), Ending.FAILED, None),
        ((stopped("refusal"),), Ending.FAILED, None),
        ((stopped("brand new"),), Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM),
    ],
)  # fmt: skip
def test_every_bad_end_has_its_name(
    tmp_path: Path, steps: tuple[str, ...], ending: Ending, kind: Infrastructure | None
) -> None:
    report = run(tmp_path, "say Begun.", *steps)
    assert (report.ending, report.infrastructure) == (ending, kind), report.reason


def test_a_cost_that_is_told_as_it_works_is_held_to_the_ceiling(tmp_path: Path) -> None:
    frame = {"sessionUpdate": "usage_update", "used": 0, "size": 0, "cost": {"amount": 5.0, "currency": "USD"}}
    note = json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": frame}})
    report = run(tmp_path, f"raw {note}", "sleep 60", cost_usd=1.0)
    assert (report.ending, report.cost_usd, report.cost_source) == (Ending.FAILED, 5.0, CostSource.REPORTED)
    assert "its ceiling is $1.00" in report.reason


@pytest.mark.parametrize(
    ("able", "way"),
    [
        ({"loadSession": True}, "session/load"),
        ({"loadSession": True, "sessionCapabilities": {"resume": {}}}, "session/resume"),
    ],
)
def test_a_program_that_dies_is_started_once_more_and_its_session_taken_up(
    tmp_path: Path, able: dict[str, object], way: str
) -> None:
    """What it tells again of the past while it takes up the session is no work of now."""
    program = tmp_path / "odd.py"
    program.write_text(PROGRAM)
    report = held(tmp_path, "say Half.\nexit 3", sys.executable, str(program), json.dumps(able))
    assert (report.ending, report.summary, report.tools) == (Ending.ENDED, f"Taken up by {way}.", {})
    assert "its program died (exit 3); a second one took up the session" in report.notes


@pytest.mark.parametrize("able", [{}, {"loadSession": False}])
def test_a_program_that_cannot_take_up_a_session_has_failed(tmp_path: Path, able: dict[str, object]) -> None:
    program = tmp_path / "odd.py"
    program.write_text(PROGRAM)
    report = held(tmp_path, "say Half.\nexit 3", sys.executable, str(program), json.dumps(able))
    assert (report.ending, report.notes) == (Ending.FAILED, ("its cost is not known",))


def test_trouble_of_the_models_side_is_not_taken_up_at_once(tmp_path: Path) -> None:
    program = tmp_path / "odd.py"
    program.write_text(PROGRAM)
    steps = 'say Half.\ncomplain API Error: 429 {"error":{"type":"rate_limit_error"}}\nexit 1'
    report = held(tmp_path, steps, sys.executable, str(program), json.dumps({"loadSession": True}))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.RATE_LIMIT)
