"""Sessions of a small program that stands for an agent's: every end is named by what was seen, and nothing stays."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.agents.command_line import Start
from agent_fox.session.agents.events import Tokens
from agent_fox.session.agents.report import AgentReport, CostSource, Ending
from agent_fox.session.agents.runner.attending import Orders
from agent_fox.session.agents.task import AgentTask, Door, Role
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.toy import DONE, FACTS, ToyLine, event, held, make_task, told_along

ANSWER = json.dumps(
    {"verdicts": [{"requirement_id": "01-REQ-1.1", "verdict": "PASS", "evidence": "ran"}], "overall_verdict": "PASS"}
)


def test_a_session_that_ends_well_is_ended_with_its_cost(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, event("began"), event("turn"), event("called", tool="Bash"), DONE))
    assert (report.ending, report.cost_usd, report.cost_source) == (Ending.ENDED, 0.25, CostSource.REPORTED)
    assert (report.session, report.model, report.turns, report.tools) == ("s-1", "toy-1", 1, {"Bash": 1})
    assert report.summary == "done"


@pytest.mark.parametrize(
    ("steps", "ending", "words"),
    [
        ((event("turn"), event("finished", reason="max_turns", error=True)), Ending.FAILED, "max_turns"),
        ((event("turn"), DONE, "exit 3"), Ending.FAILED, "exit 3"),
        ((event("said", text="half a"), "kill 9"), Ending.FAILED, "killed by signal 9 without a last word"),
        ((event("said", text="then nothing"),), Ending.FAILED, "ended without a last word"),
        ((event("turn"), "complain the disk has gone", "exit 1"), Ending.FAILED, "the disk has gone"),
    ],
)
def test_no_success_is_believed_beside_an_error(
    tmp_path: Path, steps: tuple[str, ...], ending: Ending, words: str
) -> None:
    report = held(make_task(tmp_path, *steps))
    assert report.ending is ending
    assert words in report.reason


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("complain Traceback:", "complain ImportError: No module named 'mcp'", "exit 1"), "No module named 'mcp'"),
        (("complain error: unknown option '--nonsense'", "complain Node.js v18.1", "exit 2"), "'--nonsense'"),
        (("raw cannot find its own files", "exit 1"), "cannot find its own files"),
        ((event("began"), event("finished", reason="startup", error=True, text="no engine")), "startup: no engine"),
        ((event("began"), event("trouble", text="no module"), "exit 1"), "exit 1 without a last word"),
        (("kill 11",), "killed by signal 11"),
        ((), "ended without a last word"),
    ],
)
def test_a_program_that_dies_before_its_first_request_is_a_broken_one(
    tmp_path: Path, steps: tuple[str, ...], words: str
) -> None:
    report = held(make_task(tmp_path, *steps))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.BROKEN_PROGRAM)
    assert report.reason.startswith("before its first request to the model: ")
    assert words in report.reason


def test_a_program_that_is_killed_before_its_first_request_is_not_broken(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, "kill 9"))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.LOST)


@pytest.mark.parametrize(
    "work",
    [event("turn"), event("said", text="hm"), event("called", tool="Bash"), event("used", message="m", output=1)],
)
def test_a_program_that_dies_when_work_has_begun_is_a_failed_session(tmp_path: Path, work: str) -> None:
    report = held(make_task(tmp_path, work, "complain ImportError: No module named 'mcp'", "exit 1"))
    assert (report.ending, report.infrastructure) == (Ending.FAILED, None)


@pytest.mark.parametrize(
    ("of", "kind"),
    [("rate limit", Infrastructure.RATE_LIMIT), ("overload", Infrastructure.OVERLOAD)],
)
def test_what_the_models_side_failed_with_is_infrastructure(tmp_path: Path, of: str, kind: Infrastructure) -> None:
    steps = (
        event("trouble", text="it says slow down", of=of),
        event("finished", reason="api_error", error=True),
        "exit 1",
    )
    report = held(make_task(tmp_path, *steps))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, kind)


@pytest.mark.parametrize(
    "steps",
    [
        (event("turn"), event("trouble", text="400: prompt is too long: 9 tokens > 8 maximum"), "exit 1"),
        (event("turn"), event("finished", reason="api_error", text="Prompt is too long", error=True), "exit 1"),
        (event("turn"), "complain Error: prompt is too long", "exit 1"),
    ],
)
def test_a_context_that_is_too_long_has_an_end_of_its_own(tmp_path: Path, steps: tuple[str, ...]) -> None:
    report = held(make_task(tmp_path, *steps))
    assert (report.ending, report.infrastructure) == (Ending.TOO_LONG, None)
    assert "rompt is too long" in report.reason


def test_a_program_that_made_its_context_shorter_is_not_held_to_it(tmp_path: Path) -> None:
    steps = (event("trouble", text="400: prompt is too long"), event("said", text="prompt is too long, on"), "exit 1")
    assert held(make_task(tmp_path, *steps)).ending is Ending.FAILED


def test_trouble_that_passed_is_not_held_against_the_session(tmp_path: Path) -> None:
    steps = (event("trouble", text="slow down", of="rate limit"), event("said", text="on it"), "exit 1")
    report = held(make_task(tmp_path, *steps))
    assert (report.ending, report.infrastructure) == (Ending.FAILED, None)


def test_an_authentication_error_ends_the_session_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    report = held(make_task(tmp_path, event("trouble", text="401, no such key", of="authentication"), "sleep 60"))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.AUTHENTICATION)
    assert "401" in report.reason
    assert time.monotonic() - began < 20


def test_without_the_verifiers_tools_a_session_does_not_go_on(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, event("began", server="failed"), "sleep 20", DONE))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.WORKSPACE)
    assert "the verifier's tools cannot be reached" in report.reason


def test_silence_ends_a_session_and_is_the_networks_fault(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, event("began"), "sleep 60", idle=1.0))
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.NETWORK)
    assert "nothing was heard for 1 s" in report.reason
    assert report.cost_usd == 0.5, "an interrupted program still tells its cost"


def test_a_tool_may_be_silent_longer_than_the_model(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("called", tool="Bash"), "sleep 2", event("answered"), DONE, idle=1.0)
    assert held(task).ending is Ending.ENDED


def test_a_program_that_gives_signs_of_life_must_give_them(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("called", tool="Bash"), "sleep 60", idle=1.0)
    assert held(task, ToyLine(replace(FACTS, beats=True))).ending is Ending.INFRASTRUCTURE


def test_the_wall_clock_ends_a_busy_session(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, *[event("beat"), "sleep 0.2"] * 50, wall=1.0))
    assert report.ending is Ending.TIMED_OUT
    assert report.reason == "did not end within 1 s"


def test_the_last_turn_that_is_allowed_is_granted(tmp_path: Path) -> None:
    assert held(make_task(tmp_path, event("began"), *[event("turn")] * 2, DONE, turns=2)).ending is Ending.ENDED


def test_too_many_turns_end_a_session_as_failed(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, event("began"), *[event("turn")] * 3, "sleep 20", turns=2))
    assert (report.ending, report.reason) == (Ending.FAILED, "needed more than its 2 turns")


def test_the_ceiling_in_dollars_ends_a_session_as_failed(tmp_path: Path) -> None:
    """What is counted by listed prices is enough to stop it; what is kept is the program's own number, told at INT."""
    spent = event("used", message="m", output=10**6, model="claude-sonnet-4-5")
    report = held(make_task(tmp_path, event("began"), spent, "sleep 20", cost_usd=0.1))
    assert report.ending is Ending.FAILED
    assert report.reason.endswith("its ceiling is $0.10")
    assert (report.cost_usd, report.cost_source) == (0.5, CostSource.REPORTED)


def test_the_end_of_the_runs_money_is_no_failure_of_the_session(tmp_path: Path) -> None:
    spent = event("used", message="m", output=10**6, model="claude-sonnet-4-5")
    report = held(make_task(tmp_path, event("began"), spent, "sleep 20", left_usd=0.2, cost_usd=100.0))
    assert (report.ending, report.cost_usd) == (Ending.CEILING, 0.5)
    assert report.reason.startswith("the run had $0.20 left")


def test_how_long_the_models_side_asks_to_wait_is_kept(tmp_path: Path) -> None:
    """The proxy knows the header, the program only that something failed: both are the same trouble."""
    steps = (event("trouble", text="429", of="rate limit", wait=90), event("trouble", text="failed"), "exit 1")
    report = held(make_task(tmp_path, *steps))
    assert (report.infrastructure, report.retry_after) == (Infrastructure.RATE_LIMIT, 90.0)


def test_asked_to_stop_it_stops_and_tells_what_it_cost(tmp_path: Path) -> None:
    orders, task = Orders(), make_task(tmp_path, event("began"), "sleep 60")
    threading.Timer(1.0, orders.ask).start()
    report = held(task, orders=orders)
    assert (report.ending, report.cost_usd) == (Ending.STOPPED, 0.5)


def test_a_deaf_program_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pid_file = tmp_path / "orphan"
    task = make_task(tmp_path, "deaf", f"orphan {pid_file}", event("began"), "sleep 60", wall=1.0)
    began = time.monotonic()
    report = held(task)
    assert report.ending is Ending.TIMED_OUT
    assert time.monotonic() - began < 15
    assert not is_running(int(pid_file.read_text()))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_stream_that_something_left_behind_holds_open_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    report = held(make_task(tmp_path, f"orphan {tmp_path / 'orphan'}", DONE))
    assert report.ending is Ending.ENDED
    assert time.monotonic() - began < 15


def test_garbage_is_counted_and_changes_nothing(tmp_path: Path) -> None:
    report = held(make_task(tmp_path, "raw \x00\x01not json", "raw {", DONE))
    assert report.ending is Ending.ENDED
    assert "2 lines of its output could not be read" in report.notes


def test_a_call_that_the_role_does_not_have_is_told(tmp_path: Path) -> None:
    steps = (event("called", tool="Write", arguments={"file_path": "x"}), event("said", text=ANSWER), DONE)
    report = held(make_task(tmp_path, *steps, role=Role.VERIFIER))
    assert report.forbidden == ('asked for Write, which its role does not have: {"file_path": "x"}',)


def test_a_coder_that_leaves_its_workspace_is_told(tmp_path: Path) -> None:
    calls = (
        event("called", tool="Write", arguments={"file_path": "/etc/passwd"}),
        event("called", tool="Bash", arguments={"command": "cd x && git push origin main"}),
        event("called", tool="Write", arguments={"file_path": f"{tmp_path}/workspace/a.py"}),
    )
    report = held(make_task(tmp_path, *calls, DONE))
    assert [attempt.partition(": ")[0] for attempt in report.forbidden] == [
        "tried a path outside of its workspace",
        "tried a push",
    ]


def test_an_answer_that_nobody_can_read_is_asked_for_once_more(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("began"), event("finished", reason="completed", text="fine"), role=Role.VERIFIER)
    steps = event("finished", reason="completed", text=ANSWER, cost=0.75)
    report = held(replace(task, ask_again="as JSON"), ToyLine(again_steps=steps))
    assert (report.ending, report.is_asked_again, report.cost_usd) == (Ending.ENDED, True, 0.75)
    assert report.notes[0].startswith("asked again for its answer: ")


def test_numbers_that_do_not_count_the_earlier_part_are_added_up(tmp_path: Path) -> None:
    steps = event("finished", reason="completed", text="fine", cost=0.25)
    task = make_task(tmp_path, event("began"), steps, role=Role.VERIFIER)
    cli = ToyLine(replace(FACTS, counts_resumed=False), event("finished", reason="completed", text=ANSWER, cost=0.5))
    assert held(replace(task, ask_again="as JSON"), cli).cost_usd == 0.75


def test_an_answer_that_can_be_read_is_not_asked_for_again(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("began"), event("finished", reason="completed", text=ANSWER), role=Role.VERIFIER)
    assert not held(replace(task, ask_again="as JSON")).is_asked_again


def test_a_program_that_is_not_there_is_a_missing_binary(tmp_path: Path) -> None:
    class Gone(ToyLine):
        def start(self, task: AgentTask, door: Door) -> Start:
            return replace(super().start(task, door), argv=("/no/such/program",))

    report = held(make_task(tmp_path), Gone())
    assert (report.ending, report.infrastructure) == (Ending.INFRASTRUCTURE, Infrastructure.MISSING_BINARY)


def test_the_report_is_written_along_so_that_a_killed_session_is_not_lost(tmp_path: Path) -> None:
    orders, task = Orders(), make_task(tmp_path, event("began"), event("used", message="m", output=5), "sleep 3", DONE)
    seen: list[AgentReport | None] = []
    threading.Timer(2.5, lambda: seen.append(told_along(task))).start()
    held(task, orders=orders)
    (along,) = seen
    assert along is not None
    assert (along.ending, along.session) == (Ending.RUNNING, "s-1")
    assert along.tokens == Tokens(output=5)


def test_tokens_of_one_message_count_once(tmp_path: Path) -> None:
    used = (
        event("used", message="m", output=1),
        event("used", message="m", output=7),
        event("used", message="n", output=2),
    )
    report = held(make_task(tmp_path, event("began"), *used, event("finished", reason="completed")))
    assert report.tokens is not None
    assert report.tokens.output == 9


def test_a_cost_that_nobody_knows_is_said_to_be_unknown(tmp_path: Path) -> None:
    report = held(
        make_task(tmp_path, event("began"), event("used", message="m", output=1), event("finished", reason="x"))
    )
    assert (report.cost_usd, report.cost_source) == (None, CostSource.UNKNOWN)
    assert any("no price is listed for toy-1" in note for note in report.notes)
