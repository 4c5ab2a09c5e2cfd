"""`python -m tools.mutants`: mutation tests of the core. Fails if a mutant lives that has no written reason.

mutmut makes the mutants and runs the core's tests on them, in a copy under `build/mutants`. Two things are added here.
A property is written in the copy as a plain method beside its name, since mutmut passes over what is decorated. And
what survives is tried again in a process of its own, where code that runs at import is a mutant too.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
REASONS = ROOT / "tools" / "equivalent_mutants.toml"
COPIED = (
    "agent_fox",
    "docs",
    "tests/__init__.py",
    "tests/github_reader.py",
    "tests/core",
    "pyproject.toml",
    "README.md",
)
DEAD = frozenset({"killed", "timeout", "caught by type check"})
ALONE_SECONDS = 300
UNHURRIED = {"CI": "true"}
"""Hypothesis takes the same examples each time then, and sets no deadlines."""

MOST_BYTES = 2 << 30
"""What a test may take of memory: some mutants never end, and keep what they find."""

_PROPERTY = re.compile(r"^    @property\n    def (\w+)\(self\) -> (.+):\n((?:(?:        .*)?\n)+)", re.MULTILINE)
_RESULT = re.compile(r"^\s+(\S+): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function: the lines that it takes out, and those that it puts there instead."""

    function: str
    was: str
    becomes: str


def main(arguments: Sequence[str]) -> int:
    """Run it all. The exit code is 1 where a mutant lives without a reason, or a reason has no mutant any more."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are tested at the same time")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    copy_project(WORK)
    mutmut("run", "--max-children", str(options.jobs))
    results = dict(_RESULT.findall(mutmut("results", "--all", "true", quiet=True)))
    doubtful = [name for name, result in results.items() if result not in DEAD]
    with ThreadPoolExecutor(options.jobs) as pool:
        alive = {shown(name) for name, lives in zip(doubtful, pool.map(lives_alone, doubtful), strict=True) if lives}
    return report(Counter(results.values()), alive, read_reasons(REASONS))


def copy_project(work: Path) -> None:
    """The core, its tests and what they read, as new; properties become methods that can be mutated."""
    shutil.rmtree(work, ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    for path in (work / "agent_fox" / "core").glob("*.py"):
        path.write_text(_PROPERTY.sub(as_method, path.read_text(encoding="utf-8")), encoding="utf-8")


def as_method(found: re.Match[str]) -> str:
    name, kind, body = found.groups()
    return f"    def get_{name}(self) -> {kind}:\n{body.rstrip()}\n\n    {name} = property(get_{name})\n\n"


def mutmut(*arguments: str, quiet: bool = False) -> str:
    """Run mutmut in the copy; what it printed where it is to be `quiet`. Raises CalledProcessError."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    output = subprocess.PIPE if quiet else None
    done = subprocess.run(command, cwd=WORK, env={**os.environ, **UNHURRIED}, check=True, text=True, stdout=output)
    return done.stdout or ""


def lives_alone(name: str) -> bool:
    """Whether the core's tests pass on the mutant in a process of its own. One that never ends is dead."""
    with (WORK / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)["tool"]["mutmut"]
    tests = [*settings["pytest_add_cli_args"], *settings["pytest_add_cli_args_test_selection"]]
    command = [sys.executable, "-m", "pytest", "-x", *tests]
    environment = {**os.environ, **UNHURRIED, "MUTANT_UNDER_TEST": name, "PYTHONPATH": str(WORK / "mutants")}
    try:
        done = subprocess.run(
            command, cwd=WORK / "mutants", env=environment, capture_output=True, timeout=ALONE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def shown(name: str) -> Mutant:
    """What a mutant changes, as mutmut shows it."""
    lines = mutmut("show", name, quiet=True).splitlines()
    was = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    becomes = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    return Mutant(function_of(name), "\n".join(was), "\n".join(becomes))


def function_of(name: str) -> str:
    """`agent_fox.core.blame.x__in_order__mutmut_2` is a mutant of `agent_fox.core.blame._in_order`."""
    module, _, mangled = name.rpartition("__mutmut_")[0].rpartition(".")
    parts = mangled.split("ǁ")
    return f"{module}.{'.'.join(parts[1:])}" if len(parts) > 1 else f"{module}.{mangled.removeprefix('x_')}"


def read_reasons(path: Path) -> dict[Mutant, str]:
    """Mutants that may live, each with why nobody could tell it from the original."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {Mutant(row["function"], row["was"], row["becomes"]): row["reason"] for row in rows}


def report(counts: Counter[str], alive: set[Mutant], reasons: dict[Mutant, str]) -> int:
    unexplained = alive - reasons.keys()
    gone = reasons.keys() - alive
    print(f"\n{counts.total()} mutants: {', '.join(f'{count} {what}' for what, count in counts.most_common())}")
    print(f"tried again alone: {len(alive)} live, {len(alive & reasons.keys())} of them with a reason")
    tell(
        "lives without a reason; write a test that fails on it, or a reason in tools/equivalent_mutants.toml",
        unexplained,
    )
    tell("has a reason but does not live; take it out of tools/equivalent_mutants.toml", gone)
    return 1 if unexplained or gone else 0


def tell(what: str, mutants: Iterable[Mutant]) -> None:
    for mutant in sorted(mutants, key=str):
        print(f"\n{mutant.function} {what}\n- {mutant.was}\n+ {mutant.becomes}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
