"""What the judge learns of a command; that nothing outlives it is shown in test_running and test_hostile_commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.running.commands import OUTPUT_LIMIT, Bounds, Ended, Excerpt, Place, run_logged
from tests.verifier.workspace import is_gone


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("workspace", "private"):
        (tmp_path / name).mkdir()
    return Place(tmp_path / "workspace", tmp_path / "private")


def run(code: str, place: Place, timeout: float = 30.0, bounds: Bounds | None = None) -> Ended:
    return run_logged((sys.executable, "-c", code), place, {}, timeout, bounds or Bounds())


def test_a_command_that_ignores_being_asked_is_killed_with_its_children(place: Place) -> None:
    code = (
        "import pathlib, signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('child').write_text(str(child.pid))\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    ended = run(code, place, 1.0)
    assert (ended.is_timed_out, ended.exit_code, ended.output) == (True, None, "up\n")
    assert is_gone(int((place.workspace / "child").read_text()))


def test_output_beyond_the_limit_is_counted_and_the_log_has_all_of_it(place: Place) -> None:
    ended = run("import sys\nsys.stdout.write('a' * 5_000_000 + 'end')", place)
    assert ended.exit_code == 0
    assert len(ended.output) < OUTPUT_LIMIT + 100
    assert ended.output.endswith("aend")
    assert "bytes left out" in ended.output
    assert place.log.stat().st_size == 5_000_003


def test_what_is_not_utf_8_is_replaced(place: Place) -> None:
    assert run("import os\nos.write(1, b'\\xff\\xfe ok')", place).output.endswith(" ok")


def test_a_missing_tool_a_signal_and_a_folder_that_is_gone_are_told(place: Place) -> None:
    assert "not found" in run_logged(("no-such-tool",), place, {}, 1.0, Bounds()).not_started
    assert run("import os; os.kill(os.getpid(), 9)", place).exit_code == -9
    place.workspace.rmdir()
    assert run("pass", place).not_started


def test_an_excerpt_keeps_the_beginning_and_the_end() -> None:
    excerpt = Excerpt(10)
    for part in (b"0123", b"4567", b"89abcdef"):
        excerpt.write(part)
    assert excerpt.text() == "01234\n[... 6 bytes left out ...]\nbcdef"


def test_how_it_was_kept_apart_is_always_told(place: Place) -> None:
    assert run("pass", place).isolation.startswith("none")
    if not why_missing():
        assert run("pass", place, bounds=Bounds(SandboxMode.AUTO)).isolation.startswith("bubblewrap")


def test_where_a_sandbox_is_required_and_there_is_none_nothing_runs(place: Place) -> None:
    if not why_missing():
        pytest.skip("there is a sandbox here")
    ended = run("open('ran', 'w')", place, bounds=Bounds(SandboxMode.REQUIRE))
    assert "bubblewrap" in ended.not_started
    assert not (place.workspace / "ran").exists()
