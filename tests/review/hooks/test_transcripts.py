"""Transcripts: the ids that a chat was given are found, in both formats, whole or half written; nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.review.hooks.transcripts import LONGEST_LINE, Transcript, TranscriptTrouble, is_ours, witness_of
from tests.review.chats import (
    CLAUDE,
    CODEX,
    ONE,
    TWO,
    claude_answer,
    claude_call,
    claude_says,
    codex_call,
    codex_item,
    codex_says,
)


def read(path: Path, *lines: str, end: str = "\n", last_message: str = "") -> Transcript:
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    found = Transcript(str(path), last_message)
    found.read_on()
    return found


@pytest.mark.parametrize("lines", [CLAUDE, CODEX, (codex_item(ONE),)], ids=["claude", "codex", "codex, from a script"])
def test_an_id_that_the_tool_gave_out_is_found(tmp_path: Path, lines: tuple[str, ...]) -> None:
    found = read(tmp_path / "t", '{"type":"summary"}', *lines)
    assert (list(found.given), list(found.named), found.waiting) == ([ONE], [ONE], {})


def test_an_id_in_the_answer_of_another_tool_is_named_and_not_given(tmp_path: Path) -> None:
    found = read(tmp_path / "t", claude_call(ONE, "Bash"), claude_answer(ONE), claude_says(f"see {TWO}"))
    assert (list(found.given), list(found.named)) == ([], [ONE, TWO])


def test_a_longer_word_is_no_id(tmp_path: Path) -> None:
    assert list(read(tmp_path / "t", claude_says(f"{ONE}0 {ONE}f afx-0123 AFX-0123456789ab")).named) == []


def test_a_tool_of_another_name_is_not_ours() -> None:
    assert [name for name in ("todoWrite", "mcp__x__todo_write", "mcp__a__b__todoWrite") if not is_ours(name)] == []
    assert [name for name in ("TodoWrite", "todoWrites", "mcp__todoWrite__x", "", None, 3) if is_ours(name)] == []


@pytest.mark.parametrize("call", [claude_call(ONE), codex_call(ONE)], ids=["claude", "codex"])
def test_a_call_whose_answer_is_still_to_come_is_waited_for_and_found_when_it_comes(tmp_path: Path, call: str) -> None:
    path = tmp_path / "t"
    found = read(path, call)
    assert (len(found.waiting), list(found.given)) == (1, [])
    answer = CLAUDE[1] if call == claude_call(ONE) else CODEX[2]
    with path.open("a") as file:
        file.write(f"{answer}\n")
    found.read_on()
    assert (found.waiting, list(found.given)) == ({}, [ONE])


@pytest.mark.parametrize(
    ("call", "later"),
    [(claude_call(ONE), claude_says("on")), (codex_call(ONE), codex_says("on"))],
    ids=["claude", "codex"],
)
def test_a_call_that_was_never_answered_is_not_waited_for_once_the_talk_went_on(
    tmp_path: Path, call: str, later: str
) -> None:
    assert read(tmp_path / "t", call, later).waiting == {}


def test_calls_of_one_message_are_all_waited_for(tmp_path: Path) -> None:
    found = read(tmp_path / "t", claude_call(ONE, message="m1"), claude_call(TWO, message="m1"), claude_answer(TWO))
    assert (list(found.waiting), list(found.given)) == ([f"toolu_{ONE}"], [TWO])


def test_a_last_line_that_is_half_written_is_read_as_text_and_read_again_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t"
    half = len(claude_answer(ONE)) - 20
    found = read(path, claude_call(ONE), claude_answer(ONE)[:half], end="")
    assert (list(found.given), list(found.named), len(found.waiting)) == ([], [ONE], 1)
    with path.open("a") as file:
        file.write(claude_answer(ONE)[half:] + "\n")
    found.read_on()
    assert (list(found.given), found.waiting) == ([ONE], {})


def test_a_whole_last_line_needs_no_line_end(tmp_path: Path) -> None:
    assert list(read(tmp_path / "t", claude_call(ONE), claude_answer(ONE), end="").given) == [ONE]


@pytest.mark.parametrize(
    "broken",
    [
        '{"type": "user", "password": "hunter2-afx-"',
        "hunter2",
        '["hunter2", "afx-"]',
        "{" * 100_000 + "afx-",
        "\0\0\0\0",
    ],
    ids=["cut", "prose", "a list", "too deep", "zeros"],
)
def test_a_line_that_is_no_json_object_is_told_by_its_number_and_never_repeated(tmp_path: Path, broken: str) -> None:
    with pytest.raises(TranscriptTrouble, match="line 2 is no JSON") as told:
        read(tmp_path / "t", CLAUDE[0], broken, CLAUDE[1])
    assert "hunter2" not in str(told.value)


def test_empty_lines_are_no_trouble(tmp_path: Path) -> None:
    assert list(read(tmp_path / "t", "", CLAUDE[0], "  ", CLAUDE[1]).given) == [ONE]


def test_a_line_that_is_too_long_to_parse_still_names_its_ids(tmp_path: Path) -> None:
    at_the_seam = "x" * (LONGEST_LINE - len('{"a":"') - 5) + ONE
    found = read(tmp_path / "t", '{"a":"' + at_the_seam + " " + TWO + '"}', CLAUDE[2])
    assert (list(found.given), sorted(found.named), found.line) == ([], sorted((ONE, TWO)), 2)


def test_the_last_message_shows_that_the_transcript_is_not_behind(tmp_path: Path) -> None:
    message = 'Ready.\n\n"All" of it is — done'
    assert not read(tmp_path / "t", claude_says("not yet"), last_message=message).is_current
    assert not read(tmp_path / "t", '{"type":"user","content":"of it is "}', last_message=message).is_current
    assert read(tmp_path / "t", claude_says(message), last_message=message).is_current
    assert read(tmp_path / "t", codex_says(message), last_message=message).is_current


def test_a_message_without_letters_is_not_waited_for() -> None:
    assert [witness_of(message) for message in ("", "…", "ok", "a\nlonger one!")] == [b"", b"", b"ok", b"longer one"]
    assert witness_of("Erledigt: für alle") == "für alle".encode()
