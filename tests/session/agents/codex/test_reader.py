"""What codex's lines mean. The lines are of codex 0.169.0 itself, recorded with a scripted model on loopback; only
paths have been replaced. `.jsonl` is its standard output, `.err` its standard error, `.record` its record of calls.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.session.agents.codex.adapter import CODEX
from agent_fox.session.agents.codex.reader import CodexReader
from agent_fox.session.agents.codex.trace import traced
from agent_fox.session.agents.events import (
    Answered,
    Began,
    Called,
    Event,
    Finished,
    Spoke,
    Tokens,
    Trouble,
    Turn,
    Unreadable,
    Used,
)
from agent_fox.session.agents.task import AgentTask
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.tasks import task_in

LINES = Path(__file__).parents[1] / "lines" / "codex"
PATCH = "*** Begin Patch\n*** Add File: added.txt\n+hello\n*** End Patch\n"
Feeding = Callable[[CodexReader, list[str], list[str]], Iterable[Event]]


def task(home: Path, schema: dict[str, object] | None = None) -> AgentTask:
    return task_in(home.parent, "codex", home=home, schema=schema)


def output_first(reader: CodexReader, output: list[str], complaints: list[str]) -> Iterable[Event]:
    for line in output:
        yield from reader.line(line)
    for line in complaints:
        yield from reader.complaint(line)


def complaints_first(reader: CodexReader, output: list[str], complaints: list[str]) -> Iterable[Event]:
    for line in complaints:
        yield from reader.complaint(line)
    for line in output:
        yield from reader.line(line)


def in_turns(reader: CodexReader, output: list[str], complaints: list[str]) -> Iterable[Event]:
    """A line of each at a time, as they come about."""
    for said, complained in zip_longest(output, complaints):
        yield from reader.complaint(complained or "")
        yield from reader.line(said or "")


def heard(
    name: str,
    home: Path,
    schema: dict[str, object] | None = None,
    status: int = 0,
    feeding: Feeding = in_turns,
    suffix: str = "",
) -> list[Event]:
    """The events of a recorded session, and its last word where only the end gives it."""
    output = (LINES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    complaints = (LINES / f"{name}.err").read_text(encoding="utf-8").splitlines()
    record = LINES / f"{name}.record"
    if record.exists():
        session = next(found.fields["conversation.id"] for line in complaints if (found := traced(line)))
        folder = home / ".codex" / "sessions" / "2026" / "11" / "22"
        folder.mkdir(parents=True)
        shutil.copy(record, folder / f"rollout-2026-11-22T09-00-00-{session}.jsonl{suffix}")
    reader = CODEX.reader(task(home, schema))
    events = list(feeding(reader, output, complaints))
    last = reader.end(status)
    return events if last is None else [*events, last]


E = TypeVar("E")


def only(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("feeding", [in_turns, complaints_first])
def test_every_call_of_a_coder_is_heard_with_its_arguments(tmp_path: Path, feeding: Feeding) -> None:
    events = heard("coder", tmp_path, feeding=feeding)
    commit = "cat a.txt && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && echo made"
    assert [(event.tool, event.arguments, event.call) for event in only(Called, events)] == [
        ("exec_command", {"cmd": commit}, "call_0_1"),
        ("exec_command", {"cmd": "touch /usr/outside"}, "call_1_0"),
        ("apply_patch", {"patch": PATCH}, "call_2_0"),
        ("mcp__verifier__run_unit_tests", {"path": "x"}, "call_3_0"),
        ("exec_command", {"cmd": "rm -rf made"}, "call_3_1"),
        ("nosuch", {"x": 1}, "call_5_0"),
    ]
    assert sorted(event.call for event in only(Answered, events)) == sorted(e.call for e in only(Called, events))


def test_tokens_are_told_request_by_request_and_summed_up_at_the_end(tmp_path: Path) -> None:
    events = heard("coder", tmp_path)
    used = only(Used, events)
    assert [event.tokens for event in used] == [Tokens(900 + n, 50 + n, 100) for n in (0, 1, 2, 3, 5, 6)]
    assert len({event.message for event in used}) == len(used) == len(only(Turn, events))
    session = only(Began, events)[0].session
    assert only(Finished, events) == [
        Finished(
            "All is done.",
            reason="completed",
            session=session,
            tokens=sum((event.tokens for event in used), Tokens()),
            model="gpt-5.5",
        )
    ]
    assert {(event.session, event.model) for event in only(Began, events)} == {(session, "gpt-5.5")}
    assert [event.text for event in only(Spoke, events)] == ["All is done."]


def test_refused_calls_are_told_as_refused(tmp_path: Path) -> None:
    events = heard("verifier", tmp_path, {"type": "object"})
    answers = {event.call: event for event in only(Answered, events)}
    assert [call for call, event in answers.items() if event.is_refused] == ["call_1_0", "call_2_0"]
    assert "python3" in answers["call_1_0"].text
    assert (answers["call_0_0"].is_error, answers["call_3_0"].is_error) == (False, False)
    assert answers["call_0_0"].text.endswith("Output:\naaa")
    assert '"3 passed"' in answers["call_3_0"].text


def test_an_interrupted_call_is_not_a_refused_one(tmp_path: Path) -> None:
    events = heard("interrupted", tmp_path, status=1)
    assert only(Answered, events) == [Answered("call_0_0", "Wall time: 1.3 seconds\naborted by user", is_error=True)]
    assert [(event.is_error, event.tokens) for event in only(Finished, events)] == [(True, None)]
    assert [event.tokens for event in only(Used, events)] == [Tokens(900, 50, 100)]


def test_an_answer_by_schema_is_structured(tmp_path: Path) -> None:
    with_schema = only(Finished, heard("verifier", tmp_path / "a", {"type": "object"}))
    without = only(Finished, heard("verifier", tmp_path / "b"))
    assert [event.structured for event in with_schema] == [{"a": "x"}]
    assert [event.structured for event in without] == [None]
    assert [event.text for event in without] == ['{"a":"x"}']


def test_a_resumed_session_counts_its_earlier_part_too(tmp_path: Path) -> None:
    first = only(Finished, heard("verifier", tmp_path / "a"))[0].tokens
    again = only(Finished, heard("again", tmp_path / "b"))[0].tokens
    assert first is not None
    assert again is not None
    assert again.output > first.output
    assert CODEX.facts.counts_resumed


def test_calls_of_a_script_are_heard_beside_the_script(tmp_path: Path) -> None:
    called = only(Called, heard("script", tmp_path))
    assert [event.tool for event in called] == ["exec", "exec_command", "mcp__verifier__run_unit_tests", "exec_command"]
    assert "touch /usr/outside" in str(called[0].arguments["script"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unauthorised", Infrastructure.AUTHENTICATION),
        ("limited", Infrastructure.RATE_LIMIT),
        ("limited_in_stream", Infrastructure.RATE_LIMIT),
        ("overloaded", Infrastructure.OVERLOAD),
        ("capacity", Infrastructure.OVERLOAD),
        ("refused", Infrastructure.NETWORK),
        ("reset", Infrastructure.NETWORK),
        ("dropped", Infrastructure.NETWORK),
        ("garbage", Infrastructure.NETWORK),
        ("hung", Infrastructure.NETWORK),
        ("unserved", Infrastructure.NETWORK),
        ("ceiling", None),
    ],
)
@pytest.mark.parametrize("feeding", [output_first, complaints_first, in_turns])
def test_what_is_broken_is_told_apart(tmp_path: Path, name: str, kind: Infrastructure | None, feeding: Feeding) -> None:
    events = heard(name, tmp_path, status=1, feeding=feeding)
    assert only(Trouble, events)[-1].kind is kind
    assert any(event.is_final for event in only(Trouble, events))
    finished = only(Finished, events)
    assert [event.is_error for event in finished] == [True]
    assert finished[0].reason


def test_what_went_well_at_last_is_no_error(tmp_path: Path) -> None:
    events = heard("limited_once", tmp_path)
    assert Infrastructure.RATE_LIMIT in {event.kind for event in only(Trouble, events)}
    assert not any(event.is_final for event in only(Trouble, events))
    assert [event.is_error for event in only(Finished, events)] == [False]


def test_calls_are_heard_without_arguments_where_there_is_no_record(tmp_path: Path) -> None:
    called = only(Called, heard("coder", tmp_path, suffix=".gone"))
    assert [dict(event.arguments) for event in called] == [{}] * 6


def test_a_record_that_is_a_link_out_of_its_folder_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    shutil.copy(LINES / "coder.record", outside)
    complaints = (LINES / "coder.err").read_text(encoding="utf-8").splitlines()
    session = next(found.fields["conversation.id"] for line in complaints if (found := traced(line)))
    folder = tmp_path / "home" / ".codex" / "sessions" / "2026" / "11" / "22"
    folder.mkdir(parents=True)
    (folder / f"rollout-x-{session}.jsonl").symlink_to(outside)
    reader = CODEX.reader(task(tmp_path / "home"))
    called = only(Called, [event for line in complaints for event in reader.complaint(line)])
    assert {str(event.arguments) for event in called} == {"{}"}


def test_a_record_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    complaints = (LINES / "coder.err").read_text(encoding="utf-8").splitlines()
    session = next(found.fields["conversation.id"] for line in complaints if (found := traced(line)))
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "22"
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"rollout-x-{session}.jsonl")
    reader = CODEX.reader(task(tmp_path))
    assert len(only(Called, [event for line in complaints for event in reader.complaint(line)])) == 6


def test_a_codex_without_a_trace_still_tells_its_calls(tmp_path: Path) -> None:
    reader = CODEX.reader(task(tmp_path))
    output = (LINES / "coder.jsonl").read_text(encoding="utf-8").splitlines()
    events = [event for line in output for event in reader.line(line)]
    assert [event.tool for event in only(Called, events)] == [
        "exec_command",
        "exec_command",
        "apply_patch",
        "mcp__verifier__run_unit_tests",
    ]
    assert {event.call for event in only(Answered, events)} == {event.call for event in only(Called, events)}


@pytest.mark.parametrize("line", ["not json", "[1]", "{}", '{"type": 3}', '{"type":"turn.completed","usage":7}', '"x"'])
def test_a_line_of_another_format_is_unreadable(tmp_path: Path, line: str) -> None:
    assert list(CODEX.reader(task(tmp_path)).line(line)) == [Unreadable(line)]


def test_words_of_the_model_on_standard_error_are_no_events(tmp_path: Path) -> None:
    reader = CODEX.reader(task(tmp_path))
    forged = 'x 2026-11-22T09:00:00.1Z  INFO codex_otel.trace_safe: event.name="codex.api_request"'
    assert list(reader.complaint(forged)) == []
    assert list(reader.complaint("error: unexpected status 401 Unauthorized")) == []


ALL = sorted(
    line
    for path in LINES.iterdir()
    if path.suffix in {".jsonl", ".err"}
    for line in path.read_text(encoding="utf-8").splitlines()
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "replace"))), max_size=4))
def test_no_line_whatever_it_holds_raises(lines: list[str]) -> None:
    reader = CODEX.reader(task(Path("/nonexistent/home")))
    for line in lines:
        assert all(isinstance(event, Event) for event in [*reader.line(line), *reader.complaint(line)])
    reader.end(1)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ALL), st.integers(0, 400), st.text(max_size=3)), max_size=6))
def test_no_real_line_cut_anywhere_raises(cuts: list[tuple[str, int, str]]) -> None:
    reader = CODEX.reader(task(Path("/nonexistent/home")))
    for line, at, more in cuts:
        for text in (line[:at] + more, line[at:], line):
            assert all(isinstance(event, Event) for event in [*reader.line(text), *reader.complaint(text)])
    reader.end(None)
