"""What the verifier adds to a command that it runs, and how long it prepares one.

What is run are tests of a made project, by pytest of the Python that runs the benchmark.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from agent_fox.system.sandbox.bubblewrap import SandboxMode, is_used, why_missing
from agent_fox.verifier.ground.request import Prepared, Request
from agent_fox.verifier.ground.results import Status, Tool, VerificationResult
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.context import RunContext
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.prepare import prepare
from agent_fox.verifier.running.guarded import environment_of
from bench.checkout import make_repository
from bench.figures import Aim, Figure, best
from bench.source_watch import listed
from bench.worlds import temporary_folder

SHARE, ADDED = 1.05, 0.060
"""A run may take so many times the bare command, and so many seconds more."""

WHOLE_ADDED, AGAIN, CHANGED = 1.0, 1.0, 1.5
"""`verify` of a small project: seconds over pytest; seconds where nothing changed; times the tests of what changed."""

SETTLED = 0.2
"""Seconds after which what was written is no change of now."""

PREPARING_ROUNDS = 20
UNIT_TESTS = Request(Tool.UNIT_TESTS)
SUITES = {"a small suite": 0.0, "a suite of 2 s": 2.0}
MANIFEST = '[project]\nname = "bench"\nversion = "1"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
TESTS = "import time\n\n\ndef test_first():\n    time.sleep({seconds})\n\n\ndef test_second():\n    assert 1 + 1 == 2\n"


def measure(rounds: int, files: int) -> Iterator[Figure]:
    """`files` are those of a large project that a command is prepared for."""
    with temporary_folder() as folder:
        for number, (name, seconds) in enumerate(SUITES.items()):
            yield from running(folder / str(number), name, seconds, rounds)
        small = make_project(folder / "small", TESTS.format(seconds=0))
        large = make_repository(folder / "large", files)
        (large / "pyproject.toml").write_text(MANIFEST, encoding="utf-8")
        yield from whole(folder / "whole", rounds)
        yield preparing("a small project", small, folder)
        yield preparing(f"a project of {files:,} files", large, folder)


def running(folder: Path, name: str, seconds: float, rounds: int) -> Iterator[Figure]:
    """Without and, where there is one, with a sandbox. The bare command has the same words and environment."""
    root = make_project(folder / "project", TESTS.format(seconds=seconds))
    modes = [mode for mode in (SandboxMode.OFF, SandboxMode.AUTO) if mode is SandboxMode.OFF or is_used(mode)]
    verifiers = [Verifier(context_of(folder, root, mode)) for mode in modes]
    bare, *verified = best(rounds, bare_run(folder, root), *(verified_run(verifier) for verifier in verifiers))
    aim = Aim(limit=SHARE * bare + ADDED)
    for mode, took in zip(modes, verified, strict=True):
        how = "no sandbox" if mode is SandboxMode.OFF else "sandbox"
        yield Figure(f"run_unit_tests, {name}, {how}", took, bare, "the bare command", aim)
    if len(modes) == 1:
        print(f"no figure with a sandbox: {why_missing()}", file=sys.stderr)


def whole(folder: Path, rounds: int) -> Iterator[Figure]:
    """`agent-fox verify` of a project of 50 tests: everything, after one line was changed, and again with no change.

    Each beside pytest by itself, in the same folder: of the five tests that the change concerns, which take half a
    second each, or of all of them.
    """
    root = make_project(folder / "project", "")
    (root / "tests/test_bench.py").unlink()
    for number in range(10):
        (root / f"part{number}.py").write_text(f"def add(a):\n    return a + {number}\n", encoding="utf-8")
        lines = (f"def test_{k}():\n    assert add({k}) == {k + number}\n" for k in range(5))
        wait = (
            "" if number else "import pytest, time\n\n@pytest.fixture(autouse=True)\ndef slow():\n    time.sleep(0.5)\n"
        )
        text = f"from part{number} import add\n\n\n{wait}\n" + "\n\n".join(lines)
        (root / f"tests/test_part{number}.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(root)}
    environment.pop("CI", None)
    changes = count(1)

    def ran(*words: str) -> Callable[[], None]:
        return lambda: verified_by(words, root, environment)

    def edited(*words: str) -> Callable[[], None]:
        def run() -> None:
            line = f"def add(a):\n    return a + {next(changes)} - {next(changes)} + 1\n"
            (root / "part0.py").write_text(line, encoding="utf-8")
            verified_by(words, root, environment)

        return run

    pytest, verify = (
        ("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        ("-c", "from agent_fox.cli.door import main; main()", "verify"),
    )
    one = (*pytest, "tests/test_part0.py")
    bare, alone, fresh = best(rounds, ran(*pytest), ran(*one), ran(*verify, "--fresh"))
    for action in (edited(*verify), edited(*verify)):
        time.sleep(SETTLED)
        action()
    (again,) = best(rounds, ran(*verify))
    (changed,) = best(rounds, edited(*verify))
    yield Figure("verify, 50 tests", fresh, bare, "pytest alone", Aim(limit=bare + WHOLE_ADDED))
    yield Figure("verify again, nothing changed", again, bare, "pytest alone", Aim(limit=AGAIN))
    yield Figure(
        "verify after a change of one line", changed, alone, "pytest, the 5 tests concerned", Aim(ratio=CHANGED)
    )


def verified_by(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> None:
    """Raises CalledProcessError where it does not pass."""
    subprocess.run([sys.executable, *words], cwd=root, env=environment, check=True, capture_output=True)


def make_project(root: Path, tests: str) -> Path:
    """A small Python project whose interpreter is ours."""
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text(MANIFEST, encoding="utf-8")
    (root / "tests" / "test_bench.py").write_text(tests, encoding="utf-8")
    (root / ".venv").symlink_to(sys.prefix)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return root


def context_of(folder: Path, root: Path, mode: SandboxMode) -> RunContext:
    return RunContext(f"bench-{mode}", 1, root, folder / "artifacts", load_profile("python"), sandbox=mode)


def prepared_in(root: Path, reports: Path) -> Prepared:
    prepared = prepare(load_profile("python"), root, UNIT_TESTS, reports)
    if not isinstance(prepared, Prepared):
        raise TypeError(prepared.reason)
    return prepared


def bare_run(folder: Path, root: Path) -> Callable[[], None]:
    """The very command, its output in a file as the verifier keeps it."""
    private, log = folder / "private", folder / "log"
    for name in ("home", "tmp", "reports"):
        (private / name).mkdir(parents=True)
    prepared = prepared_in(root, private / "reports")
    environment = environment_of(private, prepared.environment)

    def run() -> None:
        with log.open("wb") as output:
            subprocess.run(
                prepared.argv,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=True,
            )

    return run


def verified_run(verifier: Verifier) -> Callable[[], None]:
    """A run as a client asks for it: watched, masked, read, judged and kept. Raises ValueError where it fails."""

    def run() -> None:
        refuse_failure(verifier.run(UNIT_TESTS))

    return run


def refuse_failure(result: VerificationResult) -> None:
    if result.status is not Status.PASSED:
        raise ValueError(f"{result.summary}: {result.failures}")


def preparing(name: str, root: Path, reports: Path) -> Figure:
    """Detection, and the command from it: anew each time, as each command has it."""
    took, floor = best(PREPARING_ROUNDS, lambda: prepared_in(root, reports), lambda: listed(root))
    return Figure(f"preparing a command in {name}", took, floor, "scandir and lstat")
