"""What a killed process left in the folder for temporary files is removed by a later one; nothing else is."""

from __future__ import annotations

import errno
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agent_fox.system.own_folders import made_folder, own_folder, sweep
from agent_fox.testing.worlds import SOURCE

HOLD = """
import sys, time
from agent_fox.system.own_folders import own_folder
with own_folder("test") as made:
    (made / "file").write_text("left")
    print(made, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of this test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_of_a_process_that_was_killed_is_removed_and_of_one_that_lives_is_not(temporary: Path) -> None:
    environment = {"TMPDIR": str(temporary), "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen([sys.executable, "-c", HOLD], env=environment, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        left = Path(holder.stdout.readline().strip())
        with own_folder("test") as mine:
            sweep()
            assert (left / "file").exists()
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            sweep()
            assert (left.exists(), mine.exists()) == (False, True)
    assert list(temporary.iterdir()) == []


def test_whoever_makes_a_folder_removes_first_what_others_left(temporary: Path) -> None:
    left = temporary / f"agent-fox-test-1-{'0' * 12}-{Path('/proc/self/ns/pid').stat().st_ino:x}-x"
    left.mkdir()
    with own_folder("test") as mine:
        assert list(temporary.iterdir()) == [mine]


def test_a_number_that_another_process_has_by_now_does_not_keep_a_folder(temporary: Path) -> None:
    with own_folder("test") as mine:
        other = mine.with_name(mine.name.replace(mine.name.split("-")[4], "0" * 12))
        other.mkdir()
        foreign = mine.with_name(mine.name.replace(f"-{mine.name.split('-')[5]}-", "-123-"))
        foreign.mkdir()
        sweep()
        assert (mine.exists(), other.exists(), foreign.exists()) == (True, False, True)


def test_where_no_place_takes_a_file_that_is_said_as_of_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "missing")])
    with pytest.raises(OSError, match="no place for temporary files") as raised:
        made_folder("test")
    assert raised.value.errno == errno.ENOSPC


def test_what_has_another_name_is_not_ours(temporary: Path) -> None:
    others = [temporary / name for name in ("agent-fox-notes", "agent-fox-test-1-x", "tmpabc")]
    for path in others:
        path.mkdir()
    sweep()
    assert all(path.exists() for path in others)


def test_every_temporary_folder_of_ours_has_a_name_that_says_whose_it_is() -> None:
    made = re.compile(r"(?:TemporaryDirectory|mkdtemp)\((?!.*\bdir=).*agent-fox")
    others = [path for place in ("agent_fox", "bench", "tools") for path in (SOURCE / place).rglob("*.py")]
    found = {str(path.relative_to(SOURCE)) for path in others if made.search(path.read_text(encoding="utf-8"))}
    assert found == {"agent_fox/cli/errors.py"}, "a crash's record is kept for a person; all others are swept"
