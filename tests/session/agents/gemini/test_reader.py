"""What Gemini CLI prints, line by line: recorded from the real program in front of a scripted model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from agent_fox.session.agents.gemini.adapter import GEMINI
from agent_fox.session.agents.gemini.reader import GeminiReader
from agent_fox.session.agents.report import Ending
from agent_fox.session.agents.runner.outcome import outcome_of
from agent_fox.session.agents.runner.tally import Tally
from agent_fox.session.agents.task import Role
from agent_fox.session.infrastructure import Infrastructure

E = TypeVar("E")
LINES = Path(__file__).parents[1] / "lines" / "gemini"


def played(name: str, home: Path, exit_status: int, complaints_first: bool = False) -> list[Event]:
    """The events of a recorded process. Its two pipes have no order between them."""
    reader = GeminiReader(home)
    steps = [(reader.line, lines(f"{name}.jsonl")), (reader.complaint, lines(f"{name}.err"))]
    heard = [
        event for hear, said in (steps[::-1] if complaints_first else steps) for line in said for event in hear(line)
    ]
    last = reader.end(exit_status)
    return [*heard, *([last] if last else [])]


def lines(name: str) -> list[str]:
    return (LINES / name).read_text(encoding="utf-8").splitlines()


def of(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def transcript(home: Path, session: str) -> Path:
    file = home / ".gemini" / "tmp" / "ws" / "chats" / f"session-2026-11-22T09-29-{session[:8]}.jsonl"
    file.parent.mkdir(parents=True)
    return file


def test_a_session_is_told_as_it_goes(tmp_path: Path) -> None:
    events = played("work", tmp_path, 0)

    (began,) = of(Began, events)
    assert (began.model, len(began.session)) == ("gemini-2.5-pro", 36)
    assert [call.tool for call in of(Called, events)] == [
        *("read_file", "run_shell_command", "write_file", "google_web_search")
    ]
    assert of(Called, events)[1].arguments == {"command": "echo hi > out.txt"}
    assert [words.text for words in of(Spoke, events)] == ["I look at it.", "Done.", "Tests pass."]
    assert len(of(Turn, events)) == 5
    finished = of(Finished, events)[-1]
    assert (finished.text, finished.is_error, finished.session) == ("Tests pass.", False, began.session)


def test_a_tool_that_was_not_offered_is_seen_asked_for_and_refused(tmp_path: Path) -> None:
    events = played("judge", tmp_path, 0)
    asked = of(Called, events)
    ends = {end.call: end for end in of(Answered, events)}

    assert [call.tool for call in asked if not GEMINI.may(Role.REVIEWER, call.tool)] == ["run_shell_command"]
    assert [ends[call.call].is_refused for call in asked] == [True, False]
    assert ends[asked[0].call].is_error


def test_tokens_without_the_session_s_file_come_from_the_result(tmp_path: Path) -> None:
    events = played("work", tmp_path, 0)

    (used,) = of(Used, events)
    assert used.tokens == Tokens(input=410, output=50, cache_read=100)
    assert used.model == "gemini-2.5-pro"


def test_tokens_of_each_message_come_from_the_session_s_file(tmp_path: Path) -> None:
    session = json.loads(lines("work.jsonl")[0])["session_id"]
    transcript(tmp_path, session).write_text((LINES / "work.transcript").read_text(encoding="utf-8"))

    used = of(Used, played("work", tmp_path, 0))

    assert [each.tokens for each in used] == [Tokens(input=80 + turn, output=10, cache_read=20) for turn in range(5)]
    assert len({each.message for each in used}) == 5


def test_a_resumed_session_does_not_count_its_earlier_messages_again(tmp_path: Path) -> None:
    session = json.loads(lines("work.jsonl")[0])["session_id"]
    earlier = (LINES / "work.transcript").read_text(encoding="utf-8").replace('"timestamp":"2026', '"timestamp":"2025')
    transcript(tmp_path, session).write_text(earlier)

    (used,) = of(Used, played("work", tmp_path, 0))

    assert used.tokens == Tokens(input=410, output=50, cache_read=100), "all that this process told, and nothing more"


def test_a_pipe_in_place_of_the_session_s_file_is_not_waited_for(tmp_path: Path) -> None:
    session = json.loads(lines("work.jsonl")[0])["session_id"]
    os.mkfifo(transcript(tmp_path, session))

    assert len(of(Used, played("work", tmp_path, 0))) == 1


@pytest.mark.parametrize("complaints_first", [False, True])
@pytest.mark.parametrize(
    ("name", "exit_status", "kind"),
    [
        ("401", 145, Infrastructure.AUTHENTICATION),
        ("key", 144, Infrastructure.AUTHENTICATION),
        ("404", 1, Infrastructure.UNKNOWN_MODEL),
        ("429", 173, Infrastructure.RATE_LIMIT),
        ("429day", 173, Infrastructure.RATE_LIMIT),
        ("503", 247, Infrastructure.OVERLOAD),
        ("529", 17, Infrastructure.OVERLOAD),
        ("refused", 1, Infrastructure.NETWORK),
        ("cut", 1, Infrastructure.NETWORK),
        ("garbage", 1, Infrastructure.NETWORK),
    ],
)
def test_what_was_broken_is_known_by_its_name(
    name: str, exit_status: int, kind: Infrastructure, complaints_first: bool, tmp_path: Path
) -> None:
    outcome = outcome_of(tallied(name, tmp_path, exit_status, complaints_first), None, exit_status, "")

    assert (outcome.ending, outcome.infrastructure) == (Ending.INFRASTRUCTURE, kind)


@pytest.mark.parametrize(
    ("name", "exit_status", "said"),
    [
        ("400", 144, "bad argument 429"),
        ("turns", 53, "FatalTurnLimitedError"),
        ("loop", 0, "Loop detected"),
        ("empty", 0, "empty response"),
    ],
)
def test_an_end_that_is_nobody_else_s_fault_is_a_failure_whatever_its_status_says(
    name: str, exit_status: int, said: str, tmp_path: Path
) -> None:
    outcome = outcome_of(tallied(name, tmp_path, exit_status), None, exit_status, "")

    assert outcome.ending is Ending.FAILED
    assert said in outcome.reason


@pytest.mark.parametrize("complaints_first", [False, True])
def test_a_model_that_does_not_exist_is_said_to_be_that(complaints_first: bool, tmp_path: Path) -> None:
    reader_has = [event.text for event in played("404", tmp_path, 1, complaints_first) if isinstance(event, Trouble)]
    outcome = outcome_of(tallied("404", tmp_path, 1, complaints_first), None, 1, "")

    assert any("no such model" in text for text in reader_has)
    assert "no such model" in outcome.reason or "does not exist" in outcome.reason


def test_an_end_without_a_last_word_is_no_success(tmp_path: Path) -> None:
    """SIGINT and SIGTERM make the program exit with 0 and without a result."""
    reader, tally = GeminiReader(tmp_path), Tally(lambda tool: True)
    for line in lines("work.jsonl")[:-1]:
        for event in reader.line(line):
            tally.hear(event)

    assert reader.end(0) is None
    assert outcome_of(tally, None, 0, "").ending is Ending.FAILED


def test_the_words_of_a_tool_are_no_trouble_of_the_model_s(tmp_path: Path) -> None:
    """What a command prints may stand on standard error too, after the program's own words."""
    reader = GeminiReader(tmp_path)

    assert not list(reader.complaint("Error executing tool run_shell_command: Attempt 1 failed with status 401"))
    assert not list(reader.complaint("  status: 401"))


def test_a_server_of_tools_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    reader, tally = GeminiReader(tmp_path), Tally(lambda tool: True)
    for event in reader.complaint("MCP issues detected. Run /mcp list for status."):
        tally.hear(event)

    assert tally.unserved == "failed"


def tallied(name: str, home: Path, exit_status: int, complaints_first: bool = False) -> Tally:
    tally = Tally(lambda tool: GEMINI.may(Role.CODER, tool))
    for event in played(name, home, exit_status, complaints_first):
        tally.hear(event)
    return tally


REAL = [line for file in sorted(LINES.glob("*.jsonl")) for line in lines(file.name)]


@given(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "replace"))))
def test_garbage_is_told_as_unreadable(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    reader = GeminiReader(tmp_path_factory.getbasetemp())

    events = list(reader.line(text))

    assert all(isinstance(event, Unreadable) for event in events)
    assert bool(events) == bool(text.strip())
    list(reader.complaint(text))


@given(st.sampled_from(REAL), st.integers(0, 400), st.text(max_size=5))
def test_lines_cut_short_or_made_up_never_raise(
    tmp_path_factory: pytest.TempPathFactory, line: str, cut: int, more: str
) -> None:
    reader = GeminiReader(tmp_path_factory.getbasetemp())

    events = list(reader.line(line[:cut] + more))

    assert not of(Finished, events) or json.loads(line[:cut] + more)["type"] == "result"


@given(
    st.dictionaries(
        st.sampled_from(
            ["status", "error", "stats", "timestamp", "message", "session_id", "model", "tool_id", "output"]
        ),
        st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner)),
    ),
    st.sampled_from(["init", "message", "tool_use", "tool_result", "error", "result", "more"]),
)
def test_other_shapes_never_raise(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, object], kind: str
) -> None:
    reader = GeminiReader(tmp_path_factory.getbasetemp())

    assert isinstance(list(reader.line(json.dumps({"type": kind, **fields}))), list)


def test_repeated_requests_are_told_with_their_kind(tmp_path: Path) -> None:
    told = of(Trouble, played("503", tmp_path, 247))

    assert [trouble.kind for trouble in told if not trouble.is_final] == [Infrastructure.OVERLOAD] * 2
