"""A command ends with its whole group, within its limits, and sees only what it is given."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agent_fox.verifier.commands import OUTPUT_LIMIT, Excerpt, private_environment, run_command
from tests.verifier.workspace import is_gone

HERE = {"PATH": os.environ["PATH"]}


def test_a_command_that_ignores_being_asked_is_killed_with_its_children(tmp_path: Path) -> None:
    code = (
        "import pathlib, signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('child').write_text(str(child.pid))\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    ended = run_command((sys.executable, "-c", code), tmp_path, HERE, 1.0)
    assert (ended.is_timed_out, ended.exit_code, ended.output) == (True, None, "up\n")
    assert is_gone(int((tmp_path / "child").read_text()))


def test_output_beyond_the_limit_is_counted_not_kept(tmp_path: Path) -> None:
    code = "import sys\nsys.stdout.write('a' * 5_000_000 + 'end')"
    ended = run_command((sys.executable, "-c", code), tmp_path, HERE, 30.0)
    assert ended.exit_code == 0
    assert len(ended.output) < OUTPUT_LIMIT + 100
    assert ended.output.endswith("aend")
    assert "bytes left out" in ended.output


def test_what_is_not_utf_8_is_replaced(tmp_path: Path) -> None:
    code = "import os\nos.write(1, b'\\xff\\xfe ok')"
    assert run_command((sys.executable, "-c", code), tmp_path, HERE, 30.0).output.endswith(" ok")


def test_a_missing_tool_a_signal_and_a_folder_that_is_gone_are_told(tmp_path: Path) -> None:
    assert "No such file" in run_command(("no-such-tool",), tmp_path, HERE, 1.0).not_started
    assert run_command(("sh", "-c", "kill -9 $$"), tmp_path, HERE, 5.0).exit_code == -9
    assert run_command(("true",), tmp_path / "gone", HERE, 5.0).not_started


def test_an_excerpt_keeps_the_beginning_and_the_end() -> None:
    excerpt = Excerpt(10)
    for part in (b"0123", b"4567", b"89abcdef"):
        excerpt.add(part)
    assert excerpt.text() == "01234\n[... 6 bytes left out ...]\nbcdef"


def test_the_environment_holds_four_names_and_what_is_wanted(tmp_path: Path) -> None:
    environment = private_environment(tmp_path, {"EXTRA": "1"})
    assert set(environment) == {"PATH", "LANG", "HOME", "TMPDIR", "EXTRA"}
    assert Path(environment["HOME"]).parent == tmp_path
