"""How fast specs of all dialects are read and planned, real ones and generated ones, and how much memory that takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from shutil import copytree

from agent_fox.config import Settings
from agent_fox.core.graph import Plan
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.specs.reader import BUILT_IN, read_specs
from bench.figures import Aim, Figure, best, seconds
from bench.memory import peak_kilobytes
from bench.worlds import temporary_folder
from tests.specs.made.forms import FORMS, made_by
from tests.specs.made.forms import write as write_made
from tests.specs.made.spelling import spelling_of
from tests.specs.made.truth import truth_of

PACKAGE_PARENT = Path(__file__).resolve().parents[1]
REAL = PACKAGE_PARENT.parent / "shared" / "data" / "specs"
ROUNDS = 3
FLAT = Aim(ratio=1.15)
LINEAR = Aim(ratio=3)
"""Twice the size takes twice the time; four times, where something is quadratic."""


def measure_real(count: int) -> Iterator[Figure]:
    """So many copies of real specs, planned; beside reading their bytes."""
    folders = sorted({path.parent for path in REAL.rglob("tasks.*")})
    if not folders:
        print(f"no real specs at {REAL}: they are left out", file=sys.stderr)
        return
    with temporary_folder() as root:
        for number in range(count):
            copy(folders[number % len(folders)], root, number)
        yield planning(f"planning {count} real specs", root, count, Aim(limit=3.0))


def copy(folder: Path, root: Path, number: int) -> None:
    """A real spec, in the usual place of its dialect, under a name of its own."""
    is_kiro = "kiro" in folder.relative_to(REAL).parts
    name = folder.name.partition("_")[2] or folder.name
    place = f".kiro/specs/{name}-{number:03}" if is_kiro else f".agent-fox/specs/{number:03}_{name}"
    copytree(folder, root / place)


def planning(name: str, root: Path, count: int, aim: Aim) -> Figure:
    files = [path for path in root.rglob("*") if path.is_file()]
    took, floor = best(ROUNDS, lambda: plan(root, count), lambda: [path.read_bytes() for path in files])
    return Figure(name, took, floor, f"reading {len(files):,} files", aim)


HOSTILE = {
    "brackets": "[" * 40,
    "closed brackets": "[]" * 40,
    "backticks": "` " * 40,
    "boxes": "- [ ] ",
    "boxes on lines": "- [ ] 1.1 a\n",
    "numbers on lines": "1. a\n",
    "bars": "|",
    "bars on lines": "| a | b |\n",
    "references": "_Requirements: 1.1, ",
    "references on lines": "  - _Requirements: 1.1_\n",
    "stars": "**",
    "underlines": "__ ",
    "bold words": "**a** ",
    "headings": "### Requirement: a\n",
    "numbered headings": "### Requirement 1: a\n",
    "scenarios": "#### Scenario: a\n- **WHEN** a **THEN** b\n",
    "spaces": " ",
    "colons": ": ",
    "comments": "<!-- ",
    "fences": "```\n",
    "digits": "1",
    "numbers": "1.",
    "ids": "FR-001 ",
    "tasks": "- [ ] T001 [P] [US1] a (depends on T001)\n",
    "words": "requirement depends on ",
    "full-width colons": "\uff1a",
    "quotes": '"',
    "brackets of toml": "[[a]]\n",
}


def measure_hostile(size: int) -> Iterator[Figure]:
    """Documents of one piece, over and over: those of the worst dialect for each piece, beside half of them."""
    for piece_name, piece in HOSTILE.items():
        with temporary_folder() as root:
            (small, large), form = max(hostile(root, piece, size), key=lambda found: found[0][1])
        yield Figure(f"{size:,} bytes of {piece_name}, {form}", large, small, "half of them", LINEAR)


def hostile(root: Path, piece: str, size: int) -> Iterator[tuple[list[float], str]]:
    """For each form the seconds for half the size, and for the whole."""
    for form in FORMS:
        made = made_by(form, 1)
        roots = [root / form / half for half in ("small", "large")]
        for where, length in zip(roots, (size // 2, size), strict=True):
            text = piece * (length // len(piece))
            content = {path: good + text.encode() for path, good in made.files.items()}
            write_made(replace(made, files=content), where)
        yield best(ROUNDS, *(partial(read_specs, roots[n] / Path(made.folder).parent, roots[n]) for n in (0, 1))), form


def plan(root: Path, count: int) -> Plan:
    found = read_plan(root, Settings(), BUILT_IN)
    assert len(found.specs) == count, f"{len(found.specs)} of {count} specs were read"
    return found


def measure_generated(counts: Sequence[int]) -> Iterator[Figure]:
    """Generated specs over all dialects: the memory that each takes, the more there are, and the time for most."""
    with temporary_folder() as root:
        imports = kilobytes(root, 0)
        each: list[float] = []
        for before, count in pairwise((0, *counts)):
            for number in range(before, count):
                write(root, number)
            each.append((kilobytes(root, count) - imports) / count)
            name = f"memory of each of {count:,} generated specs"
            yield Figure(name, each[-1], each[0], f"of {counts[0]:,}", FLAT, unit="kB")
        files = [path for path in root.rglob("*") if path.is_file()]
        floor = seconds(lambda: [path.read_bytes() for path in files])
        took = seconds(lambda: plan(root, counts[-1]))
        yield Figure(f"planning {counts[-1]:,} generated specs", took, floor, f"reading {len(files):,} files")


def write(root: Path, number: int) -> None:
    """A generated spec of one dialect after the other, under a name of its own; it waits for no other."""
    form = list(FORMS)[number % len(FORMS)]
    rng = Random(f"{form} {number}")
    made = FORMS[form](replace(truth_of(rng), waits=()), spelling_of(rng))
    name = f"{number:05}{'_' if made.dialect == 'agent-fox' else '-'}part"
    for path, content in made.files.items():
        file = root / made.folder_called(name) / Path(path).relative_to(made.folder)  # `.` where a file is the spec
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def kilobytes(root: Path, count: int) -> float:
    """The most kilobytes that a process of its own takes which plans the specs there; none are the imports alone."""
    command = [sys.executable, "-m", "bench.spec_reading", str(root), str(count)]
    done = subprocess.run(command, cwd=PACKAGE_PARENT, capture_output=True, check=True, text=True)
    return int(done.stdout)


def main() -> None:
    root, count = Path(sys.argv[1]), int(sys.argv[2])
    held = plan(root, count) if count else None
    assert held is None or held.specs
    print(peak_kilobytes())


if __name__ == "__main__":
    main()
