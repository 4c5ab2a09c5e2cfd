"""`python -m tools.simulation`: the engine on a made world, seed by seed, while everything goes wrong that can.

What was run stands in a file, so that the next call goes on behind it. A seed that fails is told with what is wrong;
`--seed N` tells it again, step by step, with the least trouble that is still enough.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tools.planted_bugs import Bug, planted, read_bugs
from tools.simulation.seeds import shrunk, tell

ROOT = Path(__file__).resolve().parents[2]
BUGS = Path(__file__).with_name("planted.toml")
RESULTS = ROOT / "build" / "simulation.jsonl"
BLOCK = 50
LONGEST = 300
"""Characters that are told of what is wrong."""


@dataclass
class Block:
    """Seeds that were run one after the other. `wrong`: seed → what is. `ends`: how their orchestrators ended."""

    first: int
    count: int
    seconds: float = 0.0
    steps: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    ends: Counter[str] = field(default_factory=Counter)


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if options.planted is not None:
        return plant(options)
    if options.seed is not None:
        return show(options.seed)
    return run(options)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.simulation", description=__doc__)
    found.add_argument("--seeds", type=int, default=1000, help="how many more to run")
    found.add_argument("--first", type=int, help="the first one, in place of the one behind all that were run")
    found.add_argument("--seconds", type=float, help="begin no block after so many")
    found.add_argument("--jobs", type=int, default=1, help="processes")
    found.add_argument("--block", type=int, default=BLOCK, help="seeds that are written down together")
    found.add_argument("--results", type=Path, default=RESULTS, help="where it is written down what was run")
    found.add_argument("--stop", action="store_true", help="end at the first seed that is wrong")
    found.add_argument("--seed", type=int, help="tell this one, step by step")
    found.add_argument("--planted", nargs="*", metavar="NAME", help="in how many seeds is each planted bug found?")
    return found


def run(options: argparse.Namespace) -> int:
    """Run seeds, block by block. The exit code is 1 where one is wrong."""
    before = read_blocks(options.results)
    first = options.first if options.first is not None else max((one.first + one.count for one in before), default=0)
    starts = range(first, first + options.seeds, options.block)
    print(
        f"seeds {first} to {first + options.seeds - 1}, {sum(one.count for one in before)} were run before", flush=True
    )
    began, done = time.monotonic(), list[Block]()
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = iter([(start, min(options.block, first + options.seeds - start)) for start in starts])
        for block in blocks(pool, waiting, options):
            done.append(block)
            note(options.results, block)
            for seed, what in block.wrong.items():
                print(f"seed {seed}: {what}\n    again: python -m tools.simulation --seed {seed}", flush=True)
            if options.stop and block.wrong:
                break
    print(table(done, time.monotonic() - began))
    return 1 if any(block.wrong for block in done) else 0


def blocks(
    pool: ProcessPoolExecutor, waiting: Iterator[tuple[int, int]], options: argparse.Namespace
) -> Iterator[Block]:
    """As many at a time as there are processes; none is begun once the time is over, or somebody stops asking."""
    began = time.monotonic()
    while options.seconds is None or time.monotonic() - began < options.seconds:
        some = [*islice(waiting, options.jobs)]
        if not some:
            return
        yield from pool.map(block_of, some, [options.stop] * len(some))


def block_of(which: tuple[int, int], is_stopping: bool = False) -> Block:
    block, began = Block(*which), time.monotonic()
    for seed in range(block.first, block.first + block.count):
        whole = tell(seed)
        block.steps += sum(map(len, whole.trace))
        block.ends.update(how.partition(":")[0] for how in whole.parts)
        if whole.wrong:
            block.wrong[str(seed)] = whole.wrong[:LONGEST]
            if is_stopping:
                block.count = seed + 1 - block.first
                break
    block.seconds = time.monotonic() - began
    return block


def read_blocks(path: Path) -> list[Block]:
    if not path.exists():
        return []
    return [Block(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def note(path: Path, block: Block) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(vars(block)) + "\n")


def table(done: Sequence[Block], seconds: float) -> str:
    """What was run, in lines."""
    count, wrong = sum(one.count for one in done), sum(len(one.wrong) for one in done)
    ends: Counter[str] = sum((Counter(one.ends) for one in done), Counter())
    lines = [
        f"{count} seeds in {seconds:.0f} s ({count / seconds:.1f} in a second), "
        f"{sum(one.steps for one in done):,} steps, "
        f"{sum(ends.values()):,} orchestrators; {wrong} wrong",
        *(f"    {number:6,} ended with: {how}" for how, number in ends.most_common()),
    ]
    return "\n".join(lines)


def show(seed: int) -> int:
    """A seed, step by step; one that is wrong with the least trouble that is enough."""
    whole = tell(seed)
    if whole.wrong:
        bounds = shrunk(seed)
        print(
            f"seed {seed} is still wrong with trouble in {bounds.parts} orchestrators, without {sorted(bounds.without)}"
        )
        whole = tell(seed, bounds)
    for how, steps in zip([*whole.parts, ""], whole.trace, strict=False):
        print("\n".join(["an orchestrator begins", *steps, f"it ends: {how}" if how else ""]))
    print(whole.wrong or "nothing is wrong")
    return 1 if whole.wrong else 0


def plant(options: argparse.Namespace) -> int:
    """Each bug in a copy of the code, until a seed finds it. The exit code is 1 where one is not found."""
    bugs = read_bugs(BUGS, options.planted)
    found = {bug.name: first_wrong(bug, options.seeds) for bug in bugs}
    for bug in bugs:
        told = f"found in {found[bug.name]} seeds" if found[bug.name] else f"not found in {options.seeds} seeds"
        print(f"{bug.name:40} {told}{f'; {bug.lives}' if bug.lives else ''}")
    print(f"{sum(1 for number in found.values() if number)} of {len(bugs)} found")
    return 1 if any(not found[bug.name] and not bug.lives for bug in bugs) else 0


def first_wrong(bug: Bug, seeds: int) -> int:
    """How many seeds were run until one was wrong; 0 where none was."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        for name in ("agent_fox", "tools"):
            shutil.copytree(ROOT / name, Path(folder) / name)
        (Path(folder) / bug.file).write_text(planted(bug), encoding="utf-8")
        results = Path(folder) / "results.jsonl"
        argv = (sys.executable, "-m", "tools.simulation", "--stop", "--seeds", str(seeds), "--results", str(results))
        environment = {**os.environ, "PYTHONPATH": folder}
        done = subprocess.run(argv, cwd=folder, env=environment, check=False, capture_output=True, text=True)
        counts = [one.count for one in read_blocks(results)]
    print(f"{bug.name}: {done.stdout.splitlines()[1][:LONGEST] if done.returncode else 'lives'}", flush=True)
    return sum(counts) if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
