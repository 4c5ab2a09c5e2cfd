"""What may reach a person's terminal."""

from __future__ import annotations

import pytest

from agent_fox.cli.screen import plain


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x1b]0;title\x07", "a\rb", "a\nb", "\u202egnp.exe", "\x9b31m"])
def test_nothing_that_steers_a_terminal_gets_through(text: str) -> None:
    assert plain(text).isprintable()
    assert len(plain(text)) == len(text)


def test_letters_of_every_script_get_through() -> None:
    assert plain("Zähler — 数 🦊") == "Zähler — 数 🦊"
