"""How fast logs and reports are read, beside splitting them into lines, and how much memory that takes."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from agent_fox.verifier.logs import decode
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.reading import Run, read_run
from agent_fox.verifier.logs.registry import BUILT_IN
from agent_fox.verifier.logs.status import Ending, Outcome
from bench.figures import Aim, Figure, best
from bench.made_logs import KINDS, write
from bench.memory import peak_kilobytes
from bench.worlds import temporary_folder

SPEED = 50e6  # bytes a second to aim for
FLAT = Aim(ratio=1.3)
IN_MEMORY = ("JUnit XML", "maven", "go test -v")
ROUNDS = 2
PACKAGE_PARENT = Path(__file__).resolve().parents[1]


def measure(size: int) -> Iterator[Figure]:
    """Every kind of log, `size` bytes of it, read as the verifier reads the log of a run."""
    with temporary_folder() as folder:
        path = folder / "log.txt"
        for name, kind in KINDS.items():
            write(path, kind, size)
            yield parsing(f"{name}, {size / 1e6:g} MB", path, kind.tool)
        for name in IN_MEMORY:
            write(path, KINDS[name], size // 10)
            small = memory_of(path, KINDS[name].tool)
            write(path, KINDS[name], size)
            large = memory_of(path, KINDS[name].tool)
            yield Figure(f"memory for {name}, {size / 1e6:g} MB", large, small, "a tenth of it", FLAT, unit="MB")


def parsing(name: str, path: Path, tool: str) -> Figure:
    lines, whole = best(ROUNDS, lambda: split(path), lambda: read(path, tool))
    return Figure(name, whole, lines, "its lines", Aim(limit=path.stat().st_size / SPEED))


def split(path: Path) -> None:
    with path.open("rb") as file:
        deque(decode.Lines(file), maxlen=0)


def read(path: Path, tool: str) -> Outcome:
    return read_run(Run(Ending(tool, 1), path), Workspace(PurePosixPath("/w")), BUILT_IN)


def memory_of(path: Path, tool: str) -> float:
    """The most memory, in MB, that a process of its own takes that reads the log."""
    command = [sys.executable, "-m", "bench.parsing", str(path), tool]
    told = subprocess.run(command, cwd=PACKAGE_PARENT, capture_output=True, check=True, text=True)
    return int(told.stdout) / 1024


def main() -> None:
    read(Path(sys.argv[1]), sys.argv[2])
    print(peak_kilobytes())


if __name__ == "__main__":
    main()
