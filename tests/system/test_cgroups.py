"""Control groups: bounds that hold, counters that tell, folders that go away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.cgroups import Group, grouped, places

bounded = {place.resource.controller for place in places()}
needs_memory = pytest.mark.skipif("memory" not in bounded, reason="no control group for memory can be made here")
needs_processes = pytest.mark.skipif("pids" not in bounded, reason="no control group for processes can be made here")

JOIN = "import sys\nfor name in sys.argv[1:]: open(name + '/cgroup.procs', 'w').write('0')\n"


def run_in(group: Group, code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-I", "-S", "-c", JOIN + code, *map(str, group.folders)]
    return subprocess.run(words, capture_output=True, text=True, timeout=20)


def ours() -> list[Path]:
    return [folder for place in places() for folder in place.folder.glob("agent-fox-*")]


@needs_memory
def test_more_memory_than_the_bound_is_not_to_be_had() -> None:
    with grouped(64 << 20, None) as group:
        ended = run_in(group, "x = bytearray(200 << 20)")
        assert group.is_bounding("memory")
        assert group.is_out_of_memory()
    assert ended.returncode == -9


@needs_processes
def test_more_processes_than_the_bound_are_not_to_be_had() -> None:
    with grouped(None, 5) as group:
        staying = "os.close(told); os.read(ends, 1); os._exit(0)"  # until the parent has ended
        run_in(group, f"import os\nends, told = os.pipe()\nfor _ in range(9):\n    if os.fork() == 0: {staying}")
        assert group.is_bounding("pids")
        assert group.is_process_limit_hit()


@needs_processes
@needs_memory
def test_what_stays_within_its_bounds_is_not_blamed() -> None:
    with grouped(256 << 20, 20) as group:
        assert run_in(group, "print('fine')").stdout == "fine\n"
        assert not group.is_out_of_memory()
        assert not group.is_process_limit_hit()


@needs_processes
def test_everything_in_a_group_can_be_killed() -> None:
    with grouped(None, 20) as group:
        words = [sys.executable, "-I", "-S", "-c", JOIN + "print('in', flush=True)\nimport time; time.sleep(60)"]
        with subprocess.Popen([*words, *map(str, group.folders)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            group.kill()
            assert process.wait(5) == -9


def test_groups_are_removed() -> None:
    before = ours()
    with grouped(64 << 20, 20) as group:
        assert all(folder.is_dir() for folder in group.folders)
    assert not any(folder.exists() for folder in group.folders)
    assert ours() <= before


def test_nothing_is_made_where_nothing_is_asked_for() -> None:
    with grouped(None, None) as group:
        assert group.folders == ()
        assert not group.is_bounding("memory")
        assert not group.is_out_of_memory()
