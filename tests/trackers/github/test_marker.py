"""The mark on what we wrote: nobody else can make it, and the key is private."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.trackers.github.marker import LONGEST_LINE, Marker, read
from agent_fox.trackers.github.marker_key import VARIABLE, key_file, marker_key
from agent_fox.trackers.github.trouble import SetupTrouble

KEY = bytes(range(32))
MARKER = Marker("0123456789abcdef", "aa" * 12)


def test_a_mark_is_one_line_above_the_text() -> None:
    text = MARKER.above("Hello\n", KEY)
    first, rest = text.split("\n", 1)
    assert first == MARKER.line(KEY)
    assert first.startswith("<!-- agent-fox v=1 fp=0123456789abcdef op=aaaaaaaaaaaaaaaaaaaaaaaa sig=")
    assert rest == "Hello\n"
    assert read(text, KEY) == read(text.replace("\n", "\r\n"), KEY) == MARKER


def test_the_room_that_texts_leave_is_enough() -> None:
    longest = Marker("source:" + "o" * 39 + "/" + "n" * 100 + "#1234567", "a" * 24)
    assert len(longest.line(KEY)) + len("\nEarlier: #1234567\n\n") <= LONGEST_LINE


@given(fp=st.text(min_size=1), op=st.text(min_size=1))
def test_whatever_it_names_is_read_back_and_stays_one_comment(fp: str, op: str) -> None:
    line = Marker(fp, op).line(KEY)
    assert (line.count("\n"), line.count(">"), line.count(" ")) == (0, 1, 6)
    found = read(line, KEY)
    assert found is not None
    assert found.line(KEY) == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        f" {MARKER.line(KEY)}",
        f"{MARKER.line(KEY)} ",
        f"\n{MARKER.line(KEY)}",
        f"> {MARKER.line(KEY)}",
        f"```\n{MARKER.line(KEY)}\n```",
        MARKER.line(b"x" * 32),
        MARKER.line(KEY).replace("op=aa", "op=ab"),
        MARKER.line(KEY).replace("fp=01", "fp=02"),
        MARKER.line(KEY).replace("v=1", "v=2"),
        MARKER.line(KEY).replace("op=a", "op=%61"),
        MARKER.line(KEY).replace("sig=", "sig=é"),
        MARKER.line(KEY)[:-10],
    ],
)
def test_anything_else_is_no_mark(text: str) -> None:
    assert read(text, KEY) is None


@given(st.text())
def test_no_text_by_itself_is_a_mark(text: str) -> None:
    assert read(text, KEY) is None


def test_parts_of_an_operation_are_of_it() -> None:
    assert all(Marker("f", op).is_of("e1") for op in ("e1", "e1/2", "e1/30"))
    assert not any(Marker("f", op).is_of("e1") for op in ("e12", "e", "x/e1"))


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    key = marker_key(environ)
    assert (len(key), marker_key(environ)) == (32, key)
    assert key_file(environ) == tmp_path / "state" / "agent-fox" / "tracker.key"
    assert stat.S_IMODE(key_file(environ).stat().st_mode) == 0o600
    assert [path.name for path in key_file(environ).parent.iterdir()] == ["tracker.key"]
    assert marker_key({"XDG_STATE_HOME": str(tmp_path / "another")}) != key


def test_the_variable_goes_before_the_file(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path), VARIABLE: f" {KEY.hex()}\n"}
    assert marker_key(environ) == KEY
    assert not key_file(environ).exists()


@pytest.mark.parametrize("told", ["abc", "zz" * 32, "00" * 31, "secret"])
def test_a_variable_that_is_no_key_is_told_without_what_it_holds(told: str) -> None:
    with pytest.raises(SetupTrouble) as error:
        marker_key({VARIABLE: told})
    assert VARIABLE in error.value.reason
    assert "openssl rand" in error.value.remedy
    assert told not in str(error.value)


def test_a_key_that_others_can_read_or_that_is_broken_is_told_with_the_remedy(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    marker_key(environ)
    path = key_file(environ)
    path.chmod(0o640)
    with pytest.raises(SetupTrouble, match="chmod 600"):
        marker_key(environ)
    path.chmod(0o600)
    for broken in (b"", b"abc\n", b"\xff\xfe"):
        path.write_bytes(broken)
        with pytest.raises(SetupTrouble) as error:
            marker_key(environ)
        assert str(path) in str(error.value)


def test_a_folder_that_cannot_be_made_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "agent-fox").write_text("a file is in the way")
    with pytest.raises(SetupTrouble) as error:
        marker_key({"XDG_STATE_HOME": str(tmp_path)})
    assert VARIABLE in error.value.remedy
