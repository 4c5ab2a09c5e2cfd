"""Output that cannot be written: a full disk, a reader that is gone. The work goes on, and it is said once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from agent_fox.testing import prefork
from agent_fox.testing.worlds import Req, World
from agent_fox.testing.worlds import environment as environment_of
from tests.cli.conftest import Finished

FULL = "agent-fox: standard output cannot be written (No space left on device); the work goes on, and this is not shown"


def began(root: Path, *arguments: str, output: int | str, error: str = "") -> tuple[int, list[str]]:
    """Exit code and standard error of a command whose output goes to this file or descriptor."""
    with (
        Path(os.devnull).open("rb") as given,
        open(output, "wb") as out,  # noqa: PTH123 - a descriptor too
        tempfile.TemporaryFile() as said,
        Path(error or os.devnull).open("wb") as other,
    ):
        streams = (given, out, other if error else said)
        code = prefork.begin(arguments, cwd=root, env=environment_of(), streams=streams).wait(120)
        said.seek(0)
        return code, said.read().decode().splitlines()


def left_by_its_reader() -> int:
    """A pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def world(folder: Path) -> Path:
    return World({"01_bell": [Req("01-REQ-1.1")]}).build(folder)


def test_a_run_on_a_full_disk_goes_on_and_ends_with_its_own_exit_code(tmp_path: Path) -> None:
    assert began(world(tmp_path), "run", output="/dev/full") == (0, [FULL])


def test_a_run_whose_reader_is_gone_goes_on_and_ends_with_its_own_exit_code(tmp_path: Path) -> None:
    assert began(world(tmp_path), "run", output=left_by_its_reader()) == (0, [])


def test_a_run_whose_standard_error_is_full_too_ends_with_its_own_exit_code(tmp_path: Path) -> None:
    assert began(world(tmp_path), "run", output="/dev/full", error="/dev/full")[0] == 0


ASKING = (
    *("status", "status --json", "plan", "plan --json", "explain 01_calc:1", "ledger show", "ledger verify"),
    *("issues list", "logs 01_calc:1", "waive --list", "lint --json", "--help", "library list"),
    "parse-log --tool pytest README.md",
)


def test_a_command_that_could_not_say_what_was_asked_says_so(finished: Finished) -> None:
    """One line, no traceback, and no exit code 0; with a reader that is gone the exit code stays what it was."""
    for arguments in ASKING:
        words = arguments.split()
        full = began(finished.root, *words, output="/dev/full")
        unread = began(finished.root, *words, output=left_by_its_reader())
        assert (arguments, full, unread) == (arguments, (1, [FULL]), (0, []))
