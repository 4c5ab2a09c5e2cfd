"""What the lines of opencode mean. The lines were recorded from the real program with a scripted model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from agent_fox.session.agents.opencode.reader import UNGUARDED, OpencodeReader
from agent_fox.session.infrastructure import Infrastructure

LINES = Path(__file__).parents[1] / "lines/opencode"
MODEL = "anthropic/claude-sonnet-4-5"
GUARDED = json.dumps({"type": "agent_fox", "event": "guarded"})


def recorded(name: str) -> list[str]:
    return (LINES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


ALL_LINES = [line for path in sorted(LINES.glob("*.jsonl")) for line in recorded(path.stem)]


def read(lines: list[str], exit_status: int | None = 0) -> tuple[list[Event], Finished | None]:
    """The events without the signs of life, and the last word."""
    reader = OpencodeReader()
    events = [event for line in lines for event in reader.line(line)]
    return [event for event in events if not isinstance(event, Beat)], reader.end(exit_status)


def told(name: str, exit_status: int | None = 0) -> tuple[list[Event], Finished]:
    events, last = read(recorded(name), exit_status)
    assert last is not None
    return events, last


def only(events: list[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def test_a_coders_session_is_told_whole_and_once() -> None:
    events, last = told("coder")
    calls = [event for event in events if isinstance(event, Called)]
    answers = [event for event in events if isinstance(event, Answered)]
    used = [event for event in events if isinstance(event, Used)]
    assert [call.tool for call in calls] == ["write", "bash", "webfetch"]
    assert calls[0].arguments == {"filePath": "/place/tree/workspace/hello.txt", "content": "hello\n"}
    assert [answer.call for answer in answers] == [call.call for call in calls]
    assert [(answer.is_error, answer.is_refused) for answer in answers] == [
        (False, False),
        (False, False),
        (True, True),
    ]
    assert answers[1].text == "hello\n"
    assert [use.tokens for use in used] == [Tokens(1000, 30)] * 4
    assert len({use.message for use in used}) == 4
    assert {use.model for use in used} == {MODEL}
    assert (only(events, Turn), only(events, Spoke)) == ([Turn()] * 4, [Spoke("done")])
    session = last.session
    assert [event for event in events if isinstance(event, Began)] == [Began(session), Began(session, MODEL)]
    assert last.cost_usd == pytest.approx(4 * (1000 * 3 + 30 * 15) / 1e6)
    assert replace(last, cost_usd=None) == Finished(
        "done", None, False, "completed", session, None, Tokens(4000, 120), MODEL
    )


def test_what_was_reasoned_is_put_out_and_what_came_from_a_cache_is_no_input() -> None:
    counts = {"input": 90, "output": 17, "reasoning": 3, "cache": {"read": 10, "write": 5}}
    part = {"id": "p", "reason": "stop", "tokens": counts, "cost": 0}
    events, last = read([GUARDED, json.dumps({"type": "step_finish", "sessionID": "s", "part": part})])
    assert only(events, Used) == [Used("p", Tokens(input=90, output=20, cache_read=10, cache_write=5))]
    assert last is not None
    assert (last.is_error, last.cost_usd) == (False, None)


@pytest.mark.parametrize(
    ("name", "kind", "troubles"),
    [
        ("authentication", Infrastructure.AUTHENTICATION, 2),
        ("overloaded", Infrastructure.OVERLOAD, 7),
        ("hanging", Infrastructure.NETWORK, 5),
        ("unreached", Infrastructure.NETWORK, 7),
        ("cut", Infrastructure.NETWORK, 6),
    ],
)
def test_trouble_is_named_by_its_status_and_the_last_of_it_is_final(
    name: str, kind: Infrastructure, troubles: int
) -> None:
    events, last = told(name)
    found = [event for event in events if isinstance(event, Trouble)]
    assert ({trouble.kind for trouble in found}, len(found)) == ({kind}, troubles)
    assert [trouble.is_final for trouble in found] == [False] * (troubles - 1) + [True]
    assert (last.is_error, last.tokens) == (True, None)


def test_what_the_server_said_is_in_the_words() -> None:
    _, last = told("overloaded")
    troubles = [event for event in told("overloaded")[0] if isinstance(event, Trouble)]
    assert troubles[0].text == "request to the model failed (status 529, overloaded_error, no)"
    assert troubles[1].text == f"{troubles[0].text}: repeat 1 in 2.1 s"
    assert troubles[-1].text == f"the model failed 3 times: {troubles[0].text}"
    assert last.reason == "gave up: the model failed 3 times"


def test_a_wait_that_the_server_asks_for_is_told() -> None:
    refused = {"type": "agent_fox", "event": "refused", "status": 429, "name": "rate_limit_error", "after": 120}
    events, _ = read([json.dumps(refused), json.dumps({"type": "agent_fox", "event": "gave_up", "why": "a long wait"})])
    assert [(event.kind, event.retry_after) for event in events if isinstance(event, Trouble)] == [
        (Infrastructure.RATE_LIMIT, 120.0)
    ] * 2


def test_an_interrupted_session_keeps_its_tokens_and_is_no_success() -> None:
    events, last = told("interrupted", -2)
    assert (last.is_error, last.tokens) == (True, Tokens(1000, 10))
    assert len(only(events, Answered)) == 1


def test_what_the_plugin_told_counts_where_the_programs_own_lines_did_not_come() -> None:
    lines = [line for line in recorded("coder") if '"agent_fox"' in line]
    events, last = read(lines, -9)
    assert [event.tokens for event in events if isinstance(event, Used)] == [Tokens(1000, 30)] * 4
    assert [event.tool for event in events if isinstance(event, Called)] == ["write", "bash", "webfetch"]
    assert last is not None
    assert (last.is_error, last.tokens) == (True, Tokens(4000, 120))


@pytest.mark.parametrize(
    ("exit_status", "reason", "is_error"),
    [(0, "stop", False), (1, "stop", True), (None, "stop", True), (0, "length", True), (0, "tool-calls", True)],
)
def test_only_a_whole_answer_and_a_clean_exit_end_well(exit_status: int | None, reason: str, is_error: bool) -> None:
    line = json.dumps({"type": "step_finish", "sessionID": "s", "part": {"id": "p", "reason": reason}})
    _, last = read([GUARDED, line], exit_status)
    assert last is not None
    assert last.is_error is is_error
    assert (last.reason == "completed") is not is_error


def test_a_session_without_its_guard_is_no_success_whatever_it_says() -> None:
    _, last = read([line for line in recorded("coder") if '"guarded"' not in line])
    assert last is not None
    assert (last.is_error, last.reason) == (True, UNGUARDED)


def test_a_program_that_said_nothing_has_no_last_word() -> None:
    assert read([], 1) == ([], None)
    assert list(OpencodeReader().complaint("Error: Session not found")) == [Beat()]


@pytest.mark.parametrize("line", ["nonsense", "[]", "1", "{}", '{"type": 1}', '{"type": "text"}', '{"type": "error"}'])
def test_a_line_that_is_none_is_told_as_one(line: str) -> None:
    assert list(OpencodeReader().line(line)) == [Unreadable(line)]


def test_a_kind_of_line_that_nobody_knows_is_a_sign_of_life() -> None:
    assert list(OpencodeReader().line('{"type": "something_new", "part": 7}')) == [Beat()]
    assert list(OpencodeReader().line(" ")) == []


@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from(ALL_LINES)), max_size=12), st.data())
def test_nothing_that_is_printed_raises(lines: list[str], data: st.DataObject) -> None:
    reader = OpencodeReader()
    for line in lines:
        cut = line[: data.draw(st.integers(0, len(line)))]
        assert isinstance(list(reader.line(cut)), list)
        assert isinstance(list(reader.complaint(cut)), list)
    reader.end(data.draw(st.sampled_from([0, 1, -9, None])))


def _objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    names = st.sampled_from(
        ["id", "state", "tokens", "cost", "reason", "callID", "tool", "data", "name", "text", "input"]
    )
    return st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=8), _objects))
def test_no_shape_raises(value: object) -> None:
    for kind in ("agent_fox", "step_start", "text", "tool_use", "step_finish", "error"):
        for line in (
            {"type": kind, "event": "finished", "part": value},
            {"type": kind, "event": value, "error": value},
        ):
            assert isinstance(list(OpencodeReader().line(json.dumps(line))), list)
