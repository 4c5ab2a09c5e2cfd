"""What the lines of Claude Code mean. The lines were recorded from the real program with a scripted model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.session.agents.claude.reader import ClaudeReader, kind_of_failure
from agent_fox.session.agents.command_line import LONGEST_SHOWN
from agent_fox.session.agents.events import (
    Answered,
    Beat,
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
from agent_fox.session.infrastructure import Infrastructure

LINES = Path(__file__).parents[1] / "lines/claude"
READING = ("Glob", "Grep", "Read")
EDITING = ("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write")


def recorded(name: str) -> list[str]:
    return (LINES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


ALL_LINES = [line for path in sorted(LINES.glob("*.jsonl")) for line in recorded(path.stem)]


def told(name: str) -> list[Event]:
    """The events of a recorded session, without the signs of life."""
    return read(recorded(name))


def read(lines: list[str]) -> list[Event]:
    reader = ClaudeReader()
    events = [event for line in lines for event in reader.line(line)]
    assert reader.end(0) is None
    return [event for event in events if not isinstance(event, Beat)]


def one(line: object) -> list[Event]:
    return list(ClaudeReader().line(line if isinstance(line, str) else json.dumps(line)))


def only(events: list[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def test_a_coders_session_is_told_whole() -> None:
    events = told("coder")
    session = events[0].session if isinstance(events[0], Began) else ""
    model = "claude-sonnet-5-5"
    messages = list(dict.fromkeys(event.message for event in events if isinstance(event, Used)))
    begun = [Used(message, Tokens(1000, 1), model) for message in messages]
    whole = [Used(message, Tokens(1000, 30), model) for message in messages]
    write, run, fetch = (event for event in events if isinstance(event, Called))
    wrote, ran, refused = (event for event in events if isinstance(event, Answered))
    assert events == [
        Began(session, model, EDITING, {}),
        *(Turn(), begun[0], write, whole[0], wrote),
        *(Turn(), begun[1], run, whole[1], ran),
        *(Turn(), begun[2], fetch, refused, whole[2]),
        *(Turn(), begun[3], Spoke("done"), whole[3]),
        Finished("done", None, False, "completed", session, 0.0092, Tokens(4000, 120), model),
    ]
    assert (write.tool, run.tool, fetch.tool) == ("Write", "Bash", "WebFetch")
    assert write.arguments == {"file_path": "/home/someone/tree/workspace/hello.txt", "content": "hello\n"}
    assert (wrote.call, ran.call, refused.call) == (write.call, run.call, fetch.call)
    assert (ran.text, ran.is_error, ran.is_refused) == ("Exit code 3\nhello", True, False)
    assert (refused.is_error, refused.is_refused) == (True, True)


def test_a_verifiers_session_names_its_servers_its_refusals_and_its_structured_answer() -> None:
    events = told("verifier")
    began, finished = events[0], events[-1]
    assert isinstance(began, Began)
    assert isinstance(finished, Finished)
    assert began.servers == {"verifier": "connected"}
    assert set(READING) <= set(began.tools)
    calls = [event for event in events if isinstance(event, Called)]
    assert [call.tool for call in calls] == ["mcp__verifier__run_unit_tests", "Read", "StructuredOutput"]
    answers = [event for event in events if isinstance(event, Answered)]
    assert [answer.is_refused for answer in answers] == [False, True, False]
    assert "3 passed" in answers[0].text
    assert (finished.structured, finished.is_error, finished.tokens) == ({"word": "yes"}, False, Tokens(3000, 90))


@pytest.mark.parametrize(
    ("name", "reason", "tokens"),
    [
        ("turns", "max_turns", Tokens(1000, 30)),
        ("unauthorised", "api_error", Tokens()),
        ("dropped", "api_error", Tokens()),
        ("interrupted", "aborted_streaming", Tokens(4611, 14)),
    ],
)
def test_an_end_that_is_no_success_is_an_error_whatever_the_subtype_says(
    name: str, reason: str, tokens: Tokens
) -> None:
    (finished,) = only(told(name), Finished)
    assert isinstance(finished, Finished)
    assert (finished.is_error, finished.reason, finished.tokens) == (True, reason, tokens)


@pytest.mark.parametrize(
    ("name", "kind", "finals"),
    [
        ("unauthorised", Infrastructure.AUTHENTICATION, [False, False, True]),
        ("dropped", Infrastructure.NETWORK, [False, False, True]),
        ("overloaded", Infrastructure.OVERLOAD, [False]),
        ("coder", None, []),
    ],
)
def test_troubles_are_named_by_their_status(name: str, kind: Infrastructure | None, finals: list[bool]) -> None:
    troubles = [event for event in told(name) if isinstance(event, Trouble)]
    assert [trouble.is_final for trouble in troubles] == finals
    assert {trouble.kind for trouble in troubles} <= {kind}


@pytest.mark.parametrize(
    ("status", "names", "kind"),
    [
        (401, ("authentication_failed",), Infrastructure.AUTHENTICATION),
        (402, ("billing_error", "unknown"), Infrastructure.NO_CREDIT),
        (403, ("permission_error", "authentication_failed"), Infrastructure.AUTHENTICATION),
        (404, ("not_found_error", "model_not_found"), Infrastructure.UNKNOWN_MODEL),
        (None, ("", "authentication_failed"), Infrastructure.AUTHENTICATION),
        (None, ("billing_error", "unknown"), Infrastructure.NO_CREDIT),
        (429, ("rate_limit",), Infrastructure.RATE_LIMIT),
        (None, ("", "rate_limit"), Infrastructure.RATE_LIMIT),
        (529, ("overloaded_error", "server_error"), Infrastructure.OVERLOAD),
        (500, ("api_error", "server_error"), Infrastructure.OVERLOAD),
        (503, ("",), Infrastructure.OVERLOAD),
        (None, ("overloaded_error", "server_error"), Infrastructure.OVERLOAD),
        (None, ("", "server_error"), Infrastructure.NETWORK),
        (None, ("unknown",), Infrastructure.NETWORK),
        (None, ("",), Infrastructure.NETWORK),
        (408, ("timeout_error",), Infrastructure.NETWORK),
        (400, ("invalid_request_error", "unknown"), None),
        (413, ("request_too_large", "unknown"), None),
        (None, ("", "invalid_request"), None),
        (None, ("", "max_output_tokens"), None),
    ],
)
def test_what_was_broken(status: int | None, names: tuple[str, ...], kind: Infrastructure | None) -> None:
    assert kind_of_failure(status, *names) == kind


def test_words_about_a_broken_world_are_no_trouble() -> None:
    text = "API Error: 401 authentication_error, rate limit, overloaded_error"
    line = {"type": "assistant", "message": {"id": "m", "model": "x", "content": [{"type": "text", "text": text}]}}
    assert only(one(line), Trouble) == []
    assert Spoke(text) in one(line)


def test_a_result_that_failed_without_a_word_before_it_is_a_trouble_too() -> None:
    line = {"type": "result", "subtype": "success", "is_error": True, "terminal_reason": "api_error"}
    trouble, finished = one({**line, "api_error_status": 429, "result": "no"})
    assert trouble == Trouble("no", Infrastructure.RATE_LIMIT, is_final=True)
    assert isinstance(finished, Finished)


@pytest.mark.parametrize(
    ("fields", "is_error", "reason"),
    [
        ({"subtype": "success"}, False, "success"),
        ({"subtype": "success", "terminal_reason": "completed"}, False, "completed"),
        ({"subtype": "success", "terminal_reason": "stop_hook_prevented"}, True, "stop_hook_prevented"),
        ({"subtype": "success", "terminal_reason": "completed", "is_error": True}, True, "completed"),
        ({"subtype": "error_max_turns"}, True, "error_max_turns"),
        ({}, True, ""),
    ],
)
def test_success_wants_every_field_to_agree(fields: dict[str, object], is_error: bool, reason: str) -> None:
    (finished,) = one({"type": "result", **fields})
    assert isinstance(finished, Finished)
    assert (finished.is_error, finished.reason, finished.cost_usd) == (is_error, reason, None)


def test_an_end_against_the_stop_hook_names_it() -> None:
    notice = {"type": "system", "subtype": "notification", "key": "stop-hook-block-cap", "text": "x"}
    result = {"type": "result", "subtype": "success", "terminal_reason": "completed"}
    reader = ClaudeReader()
    assert list(reader.line(json.dumps(notice))) == [Beat()]
    (finished,) = reader.line(json.dumps(result))
    assert isinstance(finished, Finished)
    assert (finished.is_error, finished.reason) == (False, "stop-hook-block-cap")


def test_a_message_that_was_not_streamed_is_counted_once() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1}
    content = [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}]
    line = json.dumps({"type": "assistant", "message": {"id": "m", "model": "x", "usage": usage, "content": content}})
    events = read([line, line])
    used = Used("m", Tokens(5, 7, 2, 1), "x")
    assert events == [Turn(), used, Called("Bash", {}, "c1"), used]


def test_a_message_keeps_the_model_that_wrote_it() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-big[1m]"}
    begun = {"id": "m", "model": "claude-big", "usage": {"input_tokens": 5, "output_tokens": 1}}
    start = {"type": "stream_event", "event": {"type": "message_start", "message": begun}}
    delta = {"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": 9}}}
    events = read([json.dumps(line) for line in (init, start, delta)])
    assert events[-1] == Used("m", Tokens(5, 9), "claude-big")


def test_half_a_character_hides_no_call() -> None:
    line = (
        '{"type": "assistant", "message": {"id": "m", "model": "x", "content": [{"type": "tool_use", "id": "c", '
        '"name": "Bash", "input": {"command": "rm \\ud800 \\\\udc00"}}]}}'
    )
    (call,) = only(one(line), Called)
    assert isinstance(call, Called)
    assert call.tool == "Bash"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "no JSON",
            "[]",
            "null",
            "{}",
            '{"type": 3}',
            '{"type": "result", "total_cost_usd": -1}',
            '{"type": "result"',
        ),
        *('{"type": "result", "total_cost_usd": NaN}', '{"type": "stream_event"}', '{"type": "assistant"}'),
        *('{"type": "result", "modelUsage": {"x": {"inputTokens": -5}}}', "[" * 100_000, '{"type": "user"}'),
    ],
)
def test_a_line_of_another_shape_is_unreadable(line: str) -> None:
    assert one(line) == [Unreadable(line[:LONGEST_SHOWN])]


def test_an_empty_line_is_nothing_and_an_unknown_kind_a_sign_of_life() -> None:
    assert (one(""), one("  "), one({"type": "tool_progress"})) == ([], [], [Beat()])
    assert list(ClaudeReader().complaint("Warning: x")) == [Beat()]


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    reader = ClaudeReader()
    assert all(isinstance(event, Event) for event in [*reader.line(text), *reader.complaint(text)])


@given(st.binary())
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    for encoding in ("utf-8", "latin-1"):
        list(ClaudeReader().line(raw.decode(encoding, "surrogateescape" if encoding == "utf-8" else "strict")))


@given(st.sampled_from(ALL_LINES), st.data())
def test_no_cut_of_a_real_line_breaks_the_reader(line: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(line) - 1))
    events = one(line[:cut])
    assert events == ([Unreadable(line[:cut][:LONGEST_SHOWN])] if cut else [])


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


def places(value: object) -> list[tuple[object, ...]]:
    """The way to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((key, *rest) for key, below in inner for rest in places(below))]


def replaced(value: object, way: tuple[object, ...], new: object) -> object:
    if not way:
        return new
    if isinstance(value, dict):
        return {key: replaced(below, way[1:], new) if key == way[0] else below for key, below in value.items()}
    assert isinstance(value, list)
    return [replaced(below, way[1:], new) if index == way[0] else below for index, below in enumerate(value)]


@given(st.sampled_from(ALL_LINES), VALUES, st.data())
def test_no_foreign_value_inside_a_real_line_breaks_the_reader(line: str, new: object, data: st.DataObject) -> None:
    raw = json.loads(line)
    text = json.dumps(replaced(raw, data.draw(st.sampled_from(places(raw))), new))
    assert all(isinstance(event, Event) for event in one(text))
