"""The door of the program: help, version, exit codes, and one line for every mistake."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from agent_fox.cli.exits import Exit
from agent_fox.cli.main import COMMANDS
from agent_fox.testing.worlds import Req, World, environment, log, program
from tests.cli.program import PROGRAM, SOURCE, repository, said, start


def test_help_names_every_command_and_every_exit_code(tmp_path: Path) -> None:
    done = start(tmp_path, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert all(f"{name} " in text and entry.help in text for name, entry in COMMANDS.items())
    assert all(f"{code.value} {code.meaning}" in text for code in Exit)


def test_without_a_command_the_help_is_an_error(tmp_path: Path) -> None:
    done = start(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Usage: agent-fox")


@pytest.mark.parametrize("group", ["ledger", "mcp", "hook", "review"])
def test_a_group_without_its_command_prints_its_help_as_it_stands(tmp_path: Path, group: str) -> None:
    alone, asked = (start(tmp_path, group, *more) for more in ((), ("--help",)))
    assert (alone.returncode, alone.stdout, alone.stderr) == (1, "", asked.stdout)


def test_the_version_is_one_line(tmp_path: Path) -> None:
    done = start(tmp_path, "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("agent-fox ")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plna"], "there is no command plna; did you mean plan? (see `agent-fox --help`)"),
        (["--what"], "'--what'"),
        (["plan", "--jsno"], "(see `agent-fox plan --help`)"),
        (["plan", "surplus"], "surplus"),
        (["completion", "tcsh"], "tcsh"),
        (["-C", "nowhere", "plan"], "nowhere"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_1(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = start(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in said(done)


def test_dash_c_works_as_if_started_there(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    repository(tmp_path / "project")
    assert start(tmp_path, "-C", "project", "init").returncode == 0
    assert (tmp_path / "project" / ".agent-fox" / "config.toml").is_file()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [*PROGRAM, "init", "--json"], cwd=tmp_path, env={"PYTHONPATH": str(SOURCE)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None
    program.stdout.close()
    assert program.stderr is not None
    with program.stderr:
        assert program.stderr.read() == ""
    program.wait()


@pytest.mark.parametrize("variable", [{}, {"NO_COLOR": "1"}])
def test_output_that_is_no_terminal_has_no_colour(tmp_path: Path, variable: dict[str, str]) -> None:
    assert "\x1b" not in start(repository(tmp_path), "doctor", **variable).stdout


def test_a_run_goes_on_to_its_end_though_nobody_reads_it(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    running = subprocess.Popen(
        program("run"), cwd=root, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert running.stdout is not None
    assert "01_a:1  begins" in running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) == 0
    assert [row["node"] for row in log(root)] == ["01_a:1", "01_a:2"]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_run_needs_no_open_output(tmp_path: Path, closed: str) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    line = f"{shlex.join(program('run'))} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=root, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(log(root)) == 2
