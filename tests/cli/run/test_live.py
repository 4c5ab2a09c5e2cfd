"""The live screen: what it draws at any size, and where it is not used."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import sqlite3
import struct
import subprocess
import termios
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from agent_fox.cli.run.live import LiveScreen, big_bar
from agent_fox.cli.story import Story
from agent_fox.engine.account.account import Cost, RunAccount, RunningSession, SpecAccount
from agent_fox.engine.account.overview import Answer, Banner, Cited, Need, NeedsYou, Overview
from agent_fox.store.issue_view import IssueView
from agent_fox.store.light import FORMATS
from agent_fox.store.state import open_state
from agent_fox.testing.worlds import Req, World, environment, program

SPECS = (
    SpecAccount("01_money", "01_money:4", "verified", proven=("01-REQ-1.1", "01-REQ-1.2"), nodes_done=4, nodes=4),
    SpecAccount("02_cart", "02_cart:3", "running", unread=("02-REQ-1.1",), nodes_done=1, nodes=3),
    SpecAccount("03_split", "03_split:3", "escalated", failing=("03-REQ-1.1",), nodes_done=3, nodes=3),
    SpecAccount("04_receipt", "04_receipt:3", "waiting", unread=("04-REQ-1.1",), nodes=3),
)
ISSUE = IssueView("f1", "1", "03_split: not met", "attempts spent", "open", "open", "", "", "", "", 1, "", 0, 0)
ACCOUNT = RunAccount(
    run=7, status="running", exit_code=None, reason="", started_at="2026-03-01T12:00:00.000Z", seconds=0.0, tip=None,
    specs=SPECS, sessions=9, retries=2, rereads=1, cost=Cost(3.0, 0.5),
    running=(RunningSession("02_cart:2", "coder", 2, 1, "2026-03-01T12:00:00.000Z"),), blocked=(),
    issues=(ISSUE,), undelivered=(),
)  # fmt: skip
SECTIONS = ("needs you", "specs", "running", "money")
TOLD = [f"12:00:{second:02}  02_cart:{second}  attempt 1 landed" for second in range(40)]


CARD = NeedsYou(
    Need.FAILING, "03_split", "03_split:3", "stopped after 3 attempts",
    (Cited("03-REQ-1.1", "WHEN an amount is split, THE parts SHALL add up.", "FAIL", ("assert 3 == 4",), 3),),
    holds_specs=("04_receipt",), known_usd=1.5, decide="Clarify the spec.",
)  # fmt: skip
OVERVIEW = Overview(
    Banner(Answer.RUNNING, "1 requirement fails, 2 not read yet; 2 of 5 proven", None), (CARD,), (),
    {"02_cart": {"02-REQ-1.1": "A cart SHALL hold."}},
)  # fmt: skip


def drawn(width: int, height: int, account: RunAccount | None = ACCOUNT, said: str = "") -> list[str]:
    overview = None if account is None else OVERVIEW
    screen = LiveScreen(Story(Path("/nowhere"), 3), ceiling_usd=4.0, said=said, account=account, overview=overview)
    return [row.plain.rstrip() for row in screen.rows(TOLD, width, height)]


def test_at_80_by_24_it_says_what_status_says_in_the_same_order() -> None:
    rows = drawn(80, 24)
    assert rows[0].startswith("RUNNING  1 requirement fails, 2 not read yet; 2 of 5 proven")
    assert rows[0].endswith("run 7  00:00")
    assert rows[1].strip() == "2 of 5 proven, 1 failing"
    assert [row for row in rows if row in SECTIONS] == [*SECTIONS]
    assert rows[3] == "  ✗ 03_split:3 stopped after 3 attempts; 04_receipt waits for it; $1.50 spent on"
    assert rows[5].startswith("      FAIL     03-REQ-1.1  WHEN an amount is split")
    specs = rows[rows.index("specs") + 1 :]
    assert [row.split()[1] for row in specs[:4]] == [spec.name for spec in SPECS]
    assert specs[2].startswith("  ✗ 03_split    0 of 1  not proven  1 fails")
    assert any("02_cart:2  coder, attempt 2" in row for row in rows)
    assert any(row == "  $3.00 spent of at most $4.00, $0.50 assumed where no cost is known" for row in rows)
    assert rows[-1] == TOLD[-1]
    assert len(rows) == 24


def test_at_40_by_10_each_section_keeps_a_line_and_what_is_cut_is_counted() -> None:
    rows = drawn(40, 10, said="finishing what runs; press again to stop now")
    assert len(rows) == 10
    assert any("✗ 03_split:3 stop" in row for row in rows)
    assert any("spent" in row for row in rows)
    assert any("lines more" in row for row in rows)
    assert rows[-1].startswith("finishing what runs; press again")


@given(st.integers(1, 300), st.integers(1, 80), st.booleans(), st.booleans())
def test_no_size_is_too_small_and_no_row_too_wide(width: int, height: int, has_account: bool, is_said: bool) -> None:
    rows = drawn(width, height, ACCOUNT if has_account else None, "stopping" if is_said else "")
    assert 1 <= len(rows) <= height
    assert all(Text(row).cell_len <= width for row in rows)


def test_the_bar_is_as_long_as_the_terminal_is_wide() -> None:
    for width in (10, 37, 80, 200):
        assert big_bar(ACCOUNT, width).cell_len == width
    assert big_bar(replace(ACCOUNT, specs=()), 20).plain.strip() == "0 of 0 proven"


def test_many_specs_leave_a_line_that_counts_the_rest() -> None:
    many = tuple(replace(SPECS[0], name=f"{number:02}_spec") for number in range(50)) + SPECS[1:]
    rows = drawn(80, 24, replace(ACCOUNT, specs=many))
    specs = rows[rows.index("specs") + 1 :]
    assert any("02_cart" in row for row in specs)
    assert "  and 49 specs more: 49 proven (agent-fox status)" in specs


def test_what_is_waived_is_no_part_of_what_is_proven() -> None:
    waived = replace(SPECS[0], standing="waived", proven=("01-REQ-1.1",), waived=("01-REQ-1.2",))
    rows = drawn(120, 30, replace(ACCOUNT, specs=(waived, *SPECS[1:])))
    assert rows[1].strip() == "1 of 5 proven, 1 waived, 1 failing"
    assert "  ✓ 01_money    1 of 2  waived      1 waived" in rows
    many = tuple(replace(waived, name=f"{number:02}_spec") for number in range(50)) + SPECS[:1]
    rows = drawn(80, 24, replace(ACCOUNT, specs=many))
    (rest,) = (row for row in rows if "specs more" in row)
    counts = re.fullmatch(r"  and (\d+) specs more: (\d+) waived, 1 proven \(agent-fox status\)", rest)
    assert counts is not None
    assert int(counts[1]) == int(counts[2]) + 1 > 40


def on_terminal(root: Path, size: tuple[int, int], **variables: str) -> tuple[int, str]:
    """Exit code and everything that `run` wrote to a terminal of so many lines and columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    kept = {name: value for name, value in environment(**variables).items() if name not in {"COLUMNS"}}
    if variables.get("NO_COLOR") is None:
        kept.pop("NO_COLOR")
    run = subprocess.Popen(program("run"), cwd=root, env=kept, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # what a terminal says when the last one who held its other end is gone
        pass
    os.close(ours)
    return run.wait(timeout=60), text.decode(errors="replace")


ALTERNATE_SCREEN = "\x1b[?1049h"


@pytest.mark.parametrize("size", [(24, 80), (2, 5)])
def test_on_a_terminal_the_screen_is_live_and_given_back_before_the_summary(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    code, text = on_terminal(root, size, TERM="xterm-256color")
    assert code == 0
    assert ALTERNATE_SCREEN in text
    summary = re.sub(r"\x1b\[[0-9;]*m", "", text.split("\x1b[?1049l")[-1])
    assert "1 of 1 proven" in " ".join(summary.split())


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_a_dumb_terminal_or_no_colour_gets_plain_lines(tmp_path: Path, variables: dict[str, str]) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    code, text = on_terminal(root, (24, 80), **variables)
    assert code == 0
    assert "\x1b" not in text
    assert "01_a:1  attempt 1 landed" in text


def test_a_state_that_is_just_being_migrated_is_waited_for_without_a_word(tmp_path: Path) -> None:
    """The screen reads while the run brings the file up to date: what it could not read then is no news later."""
    path = tmp_path / ".agent-fox" / "state.db"
    open_state(path).close()
    screen = LiveScreen(Story(tmp_path, 3), ceiling_usd=None)
    with closing(sqlite3.connect(path)) as older:
        older.execute("PRAGMA user_version = 3")
        older.commit()
        screen.refresh()
        assert (screen.said, screen.trouble) == ("", "")
        older.execute(f"PRAGMA user_version = {FORMATS + 1}")
        older.commit()
        screen.refresh()
        assert "written by a newer agent-fox" in screen.trouble
        older.execute(f"PRAGMA user_version = {FORMATS}")
        older.commit()
    screen.refresh()
    assert screen.trouble == ""
