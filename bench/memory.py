"""A process of its own that holds a plan of so many nodes, as a run does, and tells the most memory that it had.

Linux only: the figure of `getrusage` would count what the parent held when it started this process.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bench.stub import Stub
from bench.worlds import plan_with, planned, temporary_folder

COMPLETIONS = 200


def hold(folder: Path, nodes: int) -> None:
    """The plan stays in memory until the end: a run keeps it too."""
    plan = plan_with(nodes)
    with planned(folder / "state.db", plan) as world:
        stub = Stub(world)
        for _ in range(COMPLETIONS):
            stub.complete()
    assert plan.nodes


def main() -> None:
    nodes = int(sys.argv[1])
    if nodes:
        with temporary_folder() as folder:
            hold(folder, nodes)
    print(peak_kilobytes())


def peak_kilobytes(process: int | str = "self") -> int:
    status = Path(f"/proc/{process}/status")
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
    assert found is not None, f"{status} does not tell the peak"
    return int(found[1])


if __name__ == "__main__":
    main()
