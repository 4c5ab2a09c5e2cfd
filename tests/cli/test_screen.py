"""What may reach a person's terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from agent_fox.cli.screen import cells, columns, cut, link, plain, shows_links, wrapped
from tests.cli.program import SOURCE


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb", "\u202egnp.exe", "\x9b31m"])
def test_nothing_that_steers_a_terminal_gets_through(text: str) -> None:
    assert plain(text).isprintable()
    assert len(plain(text)) == len(text)


def test_letters_of_every_script_get_through() -> None:
    assert plain("Zähler — 数 🦊") == "Zähler — 数 🦊"


@pytest.mark.parametrize(("encoding", "written"), [("utf-8", b"Z\xc3\xa4hler"), ("ascii", b"Z\\u00e4hler")])
def test_json_is_json_whatever_standard_output_can_carry(encoding: str, written: bytes) -> None:
    program = "from agent_fox.cli.screen import print_json; print_json(['Z\\u00e4hler'])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": f"{encoding}:backslashreplace"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert written in done.stdout
    assert json.loads(done.stdout) == ["Z\u00e4hler"]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("all of it", 9, "all of it"), ("all of it", 8, "all of…"), ("all of it", 1, "…"), ("all of it", 0, ""),
        ("all of it", -3, ""), ("数数数", 6, "数数数"), ("数数数", 5, "数数…"), ("数数数", 1, "…"),
        ("a\x1b[31mb", 9, "a [31mb"), ("", 0, ""),
    ],
)  # fmt: skip
def test_what_is_cut_ends_in_an_ellipsis_within_its_columns(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cells(shown) <= max(width, 0)


def test_words_are_wrapped_with_an_indent_and_none_is_lost() -> None:
    text = "one two  three\nfour extraordinarily five"
    assert list(wrapped(text, 9, "  ")) == ["one two", "  three", "  four", "  extraordinarily", "  five"]
    assert list(wrapped("", 9)) == []


@pytest.mark.parametrize(("named", "width"), [("97", 97), ("5", 20), ("0", 120), ("wide", 120), (None, 120)])
def test_a_line_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, named: str | None, width: int) -> None:
    """Standard output is no terminal here."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if named is not None:
        monkeypatch.setenv("COLUMNS", named)
    assert columns() == width


@pytest.mark.parametrize(
    ("environ", "shows"),
    [
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True), ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7402"}, True), ({"TERM": "xterm", "VTE_VERSION": "4205"}, False),
        ({"TERM": "xterm", "VTE_VERSION": "new"}, False), ({"TERM": "xterm-256color", "WT_SESSION": "1"}, True),
        ({"TERM": "xterm-256color"}, False), ({"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, False), ({}, False),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, False), ({"TERM": "tmux-256color", "TMUX": "/tmp/t"}, False),
    ],
)  # fmt: skip
def test_links_are_for_terminals_that_are_known_to_show_them(environ: dict[str, str], shows: bool) -> None:
    assert shows_links(environ) == shows


@pytest.mark.parametrize(
    ("address", "is_terminal", "is_link"),
    [
        ("https://example.org/7", True, True), ("file:///a/b.md", True, True), ("https://example.org/7", False, False),
        ("javascript:alert(1)", True, False), ("https://example.org/\x1b\\x", True, False), ("", True, False),
    ],
)  # fmt: skip
def test_a_link_leads_to_addresses_alone_and_only_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, address: str, is_terminal: bool, is_link: bool
) -> None:
    for name in ("NO_COLOR", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    shown = link("issue\x1b[1m 7", address)
    assert shown == (f"\x1b]8;;{address}\x1b\\issue [1m 7\x1b]8;;\x1b\\" if is_link else "issue [1m 7")
