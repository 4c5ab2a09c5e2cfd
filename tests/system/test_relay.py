"""A relayed process: its output as it comes, its end, and bounds that are watched over without control groups."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.system.relay import Relayed, RelayEnd, relayed

needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def python(folder: Path, code: str, bounds: Mapping[str, int] | None = None, seconds: float = 20.0) -> Relayed:
    argv = (sys.executable, "-I", "-S", "-c", code)
    return Relayed(argv, folder, {"PATH": os.environ["PATH"]}, seconds, 1.0, bounds=bounds or {})


def run(command: Relayed) -> tuple[RelayEnd, bytes]:
    with relayed(command) as relay:
        printed = b"".join(relay.chunks())
        end = relay.end()
    assert end is not None
    return end, printed


def test_output_comes_while_it_runs_and_silence_is_told(tmp_path: Path) -> None:
    with relayed(
        python(tmp_path, "import time; print('first', flush=True); time.sleep(0.6); print('second')")
    ) as relay:
        pieces = list(relay.chunks())
    assert pieces[pieces.index(b"first\n") + 1] == b""
    assert pieces[-1] == b"second\n"


def test_both_streams_come_in_their_order(tmp_path: Path) -> None:
    _, printed = run(python(tmp_path, "import os\nfor n in range(50): os.write(1 + n % 2, b'%d ' % n)"))
    assert printed.split() == [b"%d" % n for n in range(50)]


def test_nothing_is_written_to_disk(tmp_path: Path) -> None:
    run(python(tmp_path, "print('secret')"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_ours_is_handed_over_and_no_other(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    other = os.dup(reading)
    os.set_inheritable(other, True)
    command = python(tmp_path, f"import os; os.write({writing}, b'here'); print([os.path.exists(f'/dev/fd/{other}')])")
    _, printed = run(Relayed(command.argv, tmp_path, command.environment, 20.0, 1.0, descriptors=(writing,)))
    os.close(writing)
    assert os.read(reading, 10) == b"here"
    assert printed == b"[False]\n"
    os.close(reading)
    os.close(other)


def test_a_closed_pipe_ends_a_printing_process_as_everywhere_else(tmp_path: Path) -> None:
    command = Relayed(("sh", "-c", "yes | head -1; echo $?"), tmp_path, {"PATH": os.environ["PATH"]}, 20.0, 1.0)
    assert run(command)[1] == b"y\n0\n"


def test_leaving_the_block_early_ends_it_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    with relayed(python(tmp_path, "import time; time.sleep(60)")):
        pass
    assert time.monotonic() - began < 5


@needs_proc
def test_a_process_that_takes_more_memory_than_its_bound_is_killed(tmp_path: Path) -> None:
    end, printed = run(python(tmp_path, "x = b'x' * (300 << 20)\nimport time; time.sleep(10)", {"memory": 100 << 20}))
    assert (end.exceeded, end.signal, printed) == ("memory", 9, b"")


@needs_proc
def test_memory_that_many_processes_share_counts_once(tmp_path: Path) -> None:
    code = (
        "import os, time\nx = b'x' * (60 << 20)\n"
        "for _ in range(4):\n    if os.fork() == 0: time.sleep(1); os._exit(0)\n"
        "for _ in range(4): os.wait()\nprint('fine')"
    )
    end, printed = run(python(tmp_path, code, {"memory": 150 << 20}))
    assert (end.exceeded, printed) == ("", b"fine\n")


@needs_proc
@pytest.mark.parametrize(
    "multiply",
    ["if os.fork() == 0: time.sleep(10); os._exit(0)", "threading.Thread(target=time.sleep, args=(10,)).start()"],
    ids=["processes", "threads"],
)
def test_a_process_that_multiplies_beyond_its_bound_is_killed(tmp_path: Path, multiply: str) -> None:
    code = f"import os, threading, time\nfor n in range(40):\n    {multiply}\n    time.sleep(0.01)\ntime.sleep(10)"
    end, _ = run(python(tmp_path, code, {"processes": 20}))
    assert (end.exceeded, end.signal) == ("processes", 9)


@needs_proc
def test_a_process_within_its_bounds_is_left_alone(tmp_path: Path) -> None:
    end, printed = run(
        # long enough to be measured more than once
        python(tmp_path, "import time; time.sleep(0.5); print('fine')", {"memory": 1 << 30, "processes": 9})
    )
    assert (end.exceeded, end.exit_status, printed) == ("", 0, b"fine\n")
