"""`python -m tools.mutants`: mutation tests of the core. Fails if a mutant lives that has no written reason.

mutmut makes the mutants and runs the core's tests on them, in a copy under `build/mutants`. Two things are added here.
A property is written in the copy as a plain method beside its name, since mutmut passes over what is decorated. And
what survives is tried again in a process of its own, where nothing is remembered of the original: with the tests that
mirror its module and those that cover its function, and, where the function runs before any test does, with all.
"""

from __future__ import annotations

import argparse
import json
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
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
REASONS = ROOT / "tools" / "equivalent_mutants.toml"
PACKAGE = "agent_fox.core"
COPIED = (
    "agent_fox",
    "docs",
    "tests/__init__.py",
    "tests/github_reader.py",
    "tests/sarif_schema.py",
    "fixtures/owners",
    "fixtures/sarif",
    "tests/core",
    "pyproject.toml",
    "README.md",
)
DEAD = frozenset({"killed", "timeout", "caught by type check"})
ALONE_SECONDS = 300
SILENT = (0, 5)
"""Exit codes of pytest where nothing failed: all passed, or there was nothing to run."""

NOT_RUN = 4
"""The exit code of pytest for arguments that it cannot follow: this says nothing about a mutant."""

UNHURRIED = {"CI": "true"}
"""Hypothesis takes the same examples each time then, and sets no deadlines."""

MOST_BYTES = 2 << 30
"""What a test may take of memory: some mutants never end, and keep what they find."""

EARLY = """
import contextlib, os, sys
os.environ["MUTANT_UNDER_TEST"] = "stats"
import pytest
from mutmut.state import state
with contextlib.redirect_stdout(sys.stderr):
    code = pytest.main([*sys.argv[1:], "--collect-only"])
print(*sorted(state()._stats), sep="\\n")
sys.exit(code)
"""
"""Names the functions that are called while the tests are read: by the import of a module, or of a test's file."""

_ONLY = re.compile(r"^only_mutate = .*$", re.MULTILINE)
_PROPERTY = re.compile(r"^    @property\n    def (\w+)\(self\) -> (.+):\n((?:(?:        .*)?\n)+)", re.MULTILINE)
_RESULT = re.compile(r"^\s+(\S+): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function: the lines that it takes out, and those that it puts there instead."""

    function: str
    was: str
    becomes: str


@dataclass(frozen=True, slots=True)
class Tests:
    """Which tests concern a function: the ids that `cover` it, by its mangled name; `early`, see EARLY."""

    cover: dict[str, list[str]]
    early: frozenset[str]


def main(arguments: Sequence[str]) -> int:
    """Run it all. The exit code is 1 where a mutant lives without a reason, or a reason has no mutant any more."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="mutate these modules of the core only, such as `waivers`")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are tested at the same time")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.modules if not (ROOT / path_of(name)).is_file()]:
        parser.error(f"the core has no module {', '.join(unknown)}")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    copy_project(WORK, options.modules)
    mutmut("run", "--max-children", str(options.jobs))
    results = dict(_RESULT.findall(mutmut("results", "--all", "true", quiet=True)))
    doubtful = [name for name, result in results.items() if result not in DEAD]
    reasons = {mutant: why for mutant, why in read_reasons(REASONS).items() if is_among(mutant, options.modules)}
    return report(Counter(results.values()), set(survivors(doubtful, options.jobs)), reasons)


def path_of(module: str) -> str:
    """Where the core has the module of this name, in whichever of its rooms; at the top, where it has none."""
    core = PACKAGE.replace(".", "/")
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / core).rglob(f"{module}.py"))
    return found[0] if found else f"{core}/{module}.py"


def module_of(function: str) -> str:
    """The module's name in a function's: `waivers` in `agent_fox.core.ledger.waivers.ending`."""
    names = function.removeprefix(f"{PACKAGE}.").split(".")
    return next((name for name in names if (ROOT / path_of(name)).is_file()), names[0])


def is_among(mutant: Mutant, modules: Sequence[str]) -> bool:
    return not modules or module_of(mutant.function) in modules


def copy_project(work: Path, modules: Sequence[str]) -> None:
    """The core, its tests and what they read, as new; properties become methods that can be mutated.

    Only the `modules` are mutated where there are any.
    """
    shutil.rmtree(work, ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    if modules:
        path = work / "pyproject.toml"
        only = f"only_mutate = {json.dumps([path_of(name) for name in modules])}"
        path.write_text(_ONLY.sub(only, path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in (work / "agent_fox" / "core").rglob("*.py"):
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


def survivors(doubtful: Sequence[str], jobs: int) -> list[Mutant]:
    """Those that live in a process of their own as well."""
    if not doubtful:
        return []
    stats = json.loads((WORK / "mutants" / "mutmut-stats.json").read_text(encoding="utf-8"))
    tests = Tests(stats["tests_by_mangled_function_name"], early())
    with ThreadPoolExecutor(jobs) as pool:
        lives = pool.map(partial(lives_alone, tests=tests), doubtful)
        return [shown(name) for name, is_alive in zip(doubtful, lives, strict=True) if is_alive]


def early() -> frozenset[str]:
    """The functions that run before any test does, by their mangled names."""
    arguments = [*settings("pytest_add_cli_args"), *settings("pytest_add_cli_args_test_selection")]
    command = [sys.executable, "-c", EARLY, *arguments]
    where = WORK / "mutants"
    environment = {**os.environ, **UNHURRIED, "PYTHONPATH": str(where)}
    done = subprocess.run(command, cwd=where, env=environment, check=False, text=True, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"the tests could not be read: {done.stderr.strip()}")
    return frozenset(done.stdout.split())


def lives_alone(name: str, tests: Tests) -> bool:
    """Whether no test tells the mutant from the original: first those nearest to it, then all where these may too.

    What runs before the tests do is part of their making, so that the tests which cover it cannot be named one by one.
    """
    function = name.rpartition("__mutmut_")[0]
    mirror = f"test_{module_of(function)}.py"
    nearest = [path.relative_to(WORK).as_posix() for path in (WORK / "tests" / "core").rglob(mirror)]
    if function in tests.early:
        return passes(name, nearest) and passes(name, settings("pytest_add_cli_args_test_selection"))
    return passes(name, [*nearest, *tests.cover.get(function, ())])


def passes(name: str, tests: Sequence[str]) -> bool:
    """Whether these tests pass on the mutant in a process of its own. One that never ends is dead."""
    if not tests:
        return True
    command = [sys.executable, "-m", "pytest", "-x", *settings("pytest_add_cli_args"), *tests]
    where = WORK / "mutants"
    environment = {**os.environ, **UNHURRIED, "MUTANT_UNDER_TEST": name, "PYTHONPATH": str(where)}
    try:
        done = subprocess.run(
            command, cwd=where, env=environment, capture_output=True, timeout=ALONE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode == NOT_RUN:
        raise SystemExit(f"the tests of {name} could not be run: {done.stderr.decode(errors='replace').strip()}")
    return done.returncode in SILENT


def settings(key: str) -> list[str]:
    """What stands at `key` in mutmut's part of the copied pyproject.toml."""
    with (WORK / "pyproject.toml").open("rb") as file:
        found: list[str] = tomllib.load(file)["tool"]["mutmut"][key]
    return found


def shown(name: str) -> Mutant:
    """What a mutant changes, as mutmut shows it."""
    lines = mutmut("show", name, quiet=True).splitlines()
    was = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    becomes = [line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")]
    return Mutant(function_of(name), "\n".join(was), "\n".join(becomes))


def function_of(name: str) -> str:
    """`agent_fox.core.plan.blame.x__in_order__mutmut_2` is a mutant of `agent_fox.core.plan.blame._in_order`."""
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
