"""Processes under the shim: nothing outlives us, nothing is lost that ended, nothing fills the disk."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agent_fox.system.processes import (
    Command,
    ProcessEnd,
    is_running,
    kill_leftover,
    kill_marked,
    read_end,
    start_time,
    started,
)
from agent_fox.system.shim_watch import LONGEST_LATE
from agent_fox.testing.worlds import wait_until

ENVIRONMENT = {"PATH": os.environ["PATH"]}
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def command(folder: Path, *argv: str, time_limit: float = 30.0, grace: float = 5.0, limit: int = 1 << 20) -> Command:
    return Command(argv, ENVIRONMENT, folder, folder / "launch", time_limit, limit, grace)


def python(folder: Path, code: str, time_limit: float = 30.0, grace: float = 5.0, limit: int = 1 << 20) -> Command:
    return command(folder, sys.executable, "-I", "-S", "-c", code, time_limit=time_limit, grace=grace, limit=limit)


def run(asked: Command) -> ProcessEnd:
    with started(asked) as running:
        running.go()
        end = running.wait()
    assert end is not None
    return end


def is_alive(pid: int) -> bool:
    return start_time(pid) is not None


def pid_in(file: Path) -> int:
    wait_until(lambda: file.exists() and file.read_text().strip() != "", f"{file} was there")
    return int(file.read_text())


def test_exit_status_output_and_time_are_told(tmp_path: Path) -> None:
    end = run(python(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"))
    assert (end.exit_status, end.signal, end.timed_out, end.stopped) == (7, None, False, False)
    assert (tmp_path / "launch/stdout").read_bytes() == b"out\n"
    assert (tmp_path / "launch/stderr").read_bytes() == b"err\n"
    assert 0 < end.seconds < 30
    assert abs(end.ended_at - time.time()) < 30


def test_a_process_killed_by_a_signal_is_told_from_one_that_exits(tmp_path: Path) -> None:
    end = run(python(tmp_path, "import os; os.kill(os.getpid(), 11)"))
    assert (end.exit_status, end.signal) == (None, 11)


def test_an_executable_that_is_not_there_is_a_start_error(tmp_path: Path) -> None:
    assert "no-such-agent" in run(command(tmp_path, "no-such-agent")).start_error


def test_standard_input_is_closed_and_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    run(python(tmp_path, "import os, sys; print(repr(sys.stdin.read()), sorted(os.environ))"))
    printed = (tmp_path / "launch/stdout").read_text()
    assert printed.startswith("'' ")
    assert set(json.loads(printed[3:].replace("'", '"'))) <= {"PATH", "LC_CTYPE"}


def test_what_is_to_run_is_not_left_on_the_disk(tmp_path: Path) -> None:
    run(python(tmp_path, "pass"))
    assert not (tmp_path / "launch/launch.json").exists()


def test_nothing_runs_before_go(tmp_path: Path) -> None:
    with started(python(tmp_path, "open('ran', 'w')")) as running:
        time.sleep(0.3)  # that nothing happens is seen only over some time
        assert is_running(running.pid, running.start_time)
    assert not (tmp_path / "ran").exists()
    assert read_end(tmp_path / "launch") is None


def test_a_hundred_megabytes_fill_neither_disk_nor_memory(tmp_path: Path) -> None:
    loud = "for _ in range(100): sys.stdout.write('x' * 1000000)"
    code = f"import sys\nsys.stdout.write('HEAD')\n{loud}\nprint('TAIL')"
    end = run(python(tmp_path, code, limit=100_000))
    kept = (tmp_path / "launch/stdout").read_bytes()
    assert end.stdout_bytes == 100_000_009
    assert end.stdout_left_out == 100_000_009 - 100_000
    assert len(kept) < 100_100
    assert kept.startswith(b"HEADxx")
    assert kept.endswith(b"xxTAIL\n")
    assert b"bytes left out" in kept


def test_output_within_the_limit_is_kept_to_the_byte(tmp_path: Path) -> None:
    end = run(python(tmp_path, "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300)", limit=100_000))
    assert (tmp_path / "launch/stdout").read_bytes() == bytes(range(256)) * 300
    assert end.stdout_left_out == 0


def test_a_time_limit_ends_a_whole_tree_that_ignores_being_asked(tmp_path: Path) -> None:
    child = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    code = (
        "import os, signal, subprocess, sys, time; signal.signal(15, signal.SIG_IGN)\n"
        f"below = subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        "open('below', 'w').write(str(below.pid)); time.sleep(60)"
    )
    began = time.monotonic()
    end = run(python(tmp_path, code, time_limit=1.0, grace=0.3))
    assert end.timed_out
    assert (end.exit_status, end.signal) == (None, signal.SIGKILL)
    assert time.monotonic() - began < 10
    assert not is_alive(pid_in(tmp_path / "below"))


def test_a_process_that_ends_when_asked_is_not_killed(tmp_path: Path) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(3)); time.sleep(60)"
    end = run(python(tmp_path, code, time_limit=1.0, grace=20.0))
    assert (end.timed_out, end.exit_status) == (True, 3)


def test_a_stopped_process_says_so(tmp_path: Path) -> None:
    with started(python(tmp_path, "open('up', 'w').write('1'); import time; time.sleep(60)")) as running:
        running.go()
        pid_in(tmp_path / "up")
        running.stop()
        end = running.wait()
    assert end is not None
    assert (end.stopped, end.signal) == (True, signal.SIGTERM)


@needs_proc
def test_a_daemon_left_behind_is_found_and_killed(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        open('daemon', 'w').write(str(os.getpid())); time.sleep(60)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('daemon') or not os.path.getsize('daemon'): time.sleep(0.01)\n"
    )
    end = run(python(tmp_path, code))
    assert end.exit_status == 0
    assert not is_alive(pid_in(tmp_path / "daemon"))


@needs_proc
def test_many_orphans_do_not_hide_the_end(tmp_path: Path) -> None:
    end = run(command(tmp_path, "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (sleep 0.0$i &) ; done; sleep 0.3; exit 5"))
    assert end.exit_status == 5


def test_the_session_cannot_end_its_shim_with_a_polite_signal(tmp_path: Path) -> None:
    code = "import os, time; os.kill(os.getppid(), 15); os.kill(os.getppid(), 2); time.sleep(0.2)"  # to end it in
    assert run(python(tmp_path, code)).exit_status == 0


@needs_proc
def test_a_killed_shim_leaves_no_end_and_its_leftovers_are_found_by_their_mark(tmp_path: Path) -> None:
    code = (
        "import os, signal, subprocess, sys\n"
        "below = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('below', 'w').write(str(below.pid)); os.kill(os.getppid(), 9)\n"
    )
    asked = python(tmp_path, code)
    marked = Command(asked.argv, {**ENVIRONMENT, "MARK": str(tmp_path)}, asked.cwd, asked.folder, 30)
    with started(marked) as running:
        running.go()
        assert running.wait() is None
    below = pid_in(tmp_path / "below")
    kill_marked("MARK", str(tmp_path))
    wait_until(lambda: not is_alive(below), "the process with the mark was gone")


PARENT = """
import sys, time
from pathlib import Path
from agent_fox.system.processes import Command, started
folder, *argv = sys.argv[1:]
asked = Command(tuple(argv), {{"PATH": {path!r}}}, Path(folder), Path(folder) / "launch", 60)
with started(asked) as running:
    Path(folder, "shim").write_text(f"{{running.pid}} {{running.start_time}}")
    running.go()
    running.wait()
    time.sleep(60)
"""


def orchestrator(folder: Path, *argv: str) -> subprocess.Popen[bytes]:
    """A process of its own that runs `argv` under the shim, so that it can be stopped and killed."""
    code = PARENT.format(path=os.environ["PATH"])
    root = Path(__file__).resolve().parents[2]
    return subprocess.Popen([sys.executable, "-c", code, str(folder), *argv], cwd=root)


@needs_proc
def test_a_killed_orchestrator_takes_the_whole_tree_with_it_within_a_second(tmp_path: Path) -> None:
    parent = orchestrator(tmp_path, "sh", "-c", "sleep 60 & echo $! > below; (setsid sleep 60 &); echo $$ > own; wait")
    own, below = pid_in(tmp_path / "own"), pid_in(tmp_path / "below")
    shim = int((tmp_path / "shim").read_text().split()[0])
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(is_alive, (own, below, shim))), "the whole tree was gone", seconds=2.0)
    assert read_end(tmp_path / "launch") is None


@needs_proc
def test_a_session_that_ends_while_the_orchestrator_stands_still_is_written_down(tmp_path: Path) -> None:
    parent = orchestrator(tmp_path, "sh", "-c", "echo $$ > own; sleep 0.5; exit 4")
    pid_in(tmp_path / "own")
    parent.send_signal(signal.SIGSTOP)
    wait_until(lambda: read_end(tmp_path / "launch") is not None, "the end was written down")
    parent.kill()
    parent.wait()
    end = read_end(tmp_path / "launch")
    assert end is not None
    assert end.exit_status == 4


@needs_proc
def test_a_leftover_is_ended_with_all_below_it_and_writes_no_end(tmp_path: Path) -> None:
    parent = orchestrator(tmp_path, "sh", "-c", "sleep 60 & echo $! > below; wait")
    below = pid_in(tmp_path / "below")
    pid, start = (tmp_path / "shim").read_text().split()
    parent.send_signal(signal.SIGSTOP)
    assert kill_leftover(int(pid), start)
    assert not is_alive(below)
    assert read_end(tmp_path / "launch") is None
    parent.kill()
    parent.wait()


@needs_proc
def test_another_process_with_the_same_pid_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        boot, ticks = (start_time(bystander.pid) or "").split(":")
        assert not kill_leftover(bystander.pid, f"{boot}:{int(ticks) - 1}")
        assert not kill_leftover(bystander.pid, "")
        assert is_alive(bystander.pid)
        bystander.kill()


@needs_proc
def test_processes_that_were_started_at_other_times_are_told_apart() -> None:
    with subprocess.Popen(["sleep", "60"]) as young:
        mine, its = ((start_time(pid) or "").rpartition(":") for pid in (os.getpid(), young.pid))
        young.kill()
    assert mine[0] == its[0]
    assert 0 < int(mine[2]) < int(its[2])


@needs_proc
def test_a_process_that_cannot_be_asked_about_is_not_taken_for_dead() -> None:
    """In a child without a free file handle. To be told that nobody knows, it waits a second."""
    known = start_time(os.getpid()) or ""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        answers = []
        for ask in (
            partial(start_time, os.getppid()),
            partial(is_running, os.getppid(), known),
            partial(kill_marked, "A", "b"),
        ):
            try:
                answers.append(str(ask()))
            except OSError as error:
                answers.append(errno.errorcode[error.errno or 0])
        os._exit(0 if answers == ["EMFILE"] * 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_half_an_end_is_no_end(tmp_path: Path) -> None:
    (tmp_path / "exit.json").write_text('{"exit_status": 0, "seco')
    assert read_end(tmp_path) is None


@needs_proc
def test_a_lease_that_is_renewed_keeps_the_process_and_one_that_is_not_ends_its_whole_tree(tmp_path: Path) -> None:
    asked = replace(command(tmp_path, "sh", "-c", "sleep 60 & echo $! > below; echo $$ > own; wait"), lease=0.6)
    with started(asked) as running:
        running.go()
        own, below = pid_in(tmp_path / "own"), pid_in(tmp_path / "below")
        for _ in range(10):
            running.beat()
            time.sleep(0.1)
        assert is_alive(own)
        wait_until(lambda: not is_alive(own) and not is_alive(below), "the tree was gone", seconds=3.0)
        running.beat()
        assert running.wait() is None
    assert read_end(tmp_path / "launch") is None


@needs_proc
def test_a_beat_does_not_stop_a_process_and_a_stop_with_a_beat_does(tmp_path: Path) -> None:
    asked = replace(command(tmp_path, "sh", "-c", "echo $$ > own; exec sleep 60"), lease=20.0)
    with started(asked) as running:
        running.go()
        pid_in(tmp_path / "own")
        running.beat()
        running.stop()
        running.beat()
        end = running.wait()
    assert end is not None
    assert end.stopped


@needs_proc
def test_time_in_which_a_machine_slept_is_not_the_processs(tmp_path: Path) -> None:
    """Shim and process stand still together for longer than the limit, as where a laptop is closed."""
    steps = "for i in $(seq 20); do sleep 0.1; done; echo $$ > done"
    asked = command(tmp_path, "sh", "-c", f"echo $$ > own; {steps}", time_limit=4.0)
    with started(asked) as running:
        running.go()
        own = pid_in(tmp_path / "own")
        for pid in (running.pid, own):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(LONGEST_LATE + 5.0)
        for pid in (own, running.pid):
            os.kill(pid, signal.SIGCONT)
        end = running.wait()
    assert end is not None
    assert (end.exit_status, end.timed_out) == (0, False)
    assert (tmp_path / "done").exists()
