"""What may reach a person's terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from agent_fox.cli.screen import plain
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
