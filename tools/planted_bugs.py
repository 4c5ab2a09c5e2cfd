"""`python -m tools.planted_bugs`: proof that the tests catch defects. Fails where a planted bug lives without a reason.

Each bug of `planted_bugs.toml` is one line of the product changed for the worse, in a copy of the work tree. There the
tests of the bug's own package run, then all others, the likeliest first, until the first failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUGS = ROOT / "tools" / "planted_bugs.toml"
LIKELY = ("stories", "cli", "engine", "contracts")
SILENT = (0, 5)
"""Exit codes of pytest where nothing failed: all passed, or there was nothing to run."""

_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+?\[.*?\](?= - |$)|.+?)(?: - .*)?$", re.MULTILINE)
"""`FAILED tests/core/test_ids.py::test_it[a b] - assert 1 == 2`; no line that only holds the word."""


@dataclass(frozen=True, slots=True)
class Bug:
    """`was` stands exactly once in `file`. `lives`: why it may live; empty where it may not."""

    name: str
    file: str
    was: str
    becomes: str
    harm: str
    lives: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a bug: `caught` by the test `by`; else `lives`, `timeout`, or `broken`: pytest itself broke down."""

    name: str
    file: str
    result: str
    by: str
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Plant every bug that is selected. The exit code is 1 where one is not caught and has no reason to live."""
    options = parser().parse_args(arguments)
    bugs = read_bugs(BUGS, options.select)
    for bug in bugs:
        planted(bug)
    if options.baseline and not is_sound(bugs, options):
        return 1
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(partial(tried, options=options), bugs))
    print("\n".join(rows(found)))
    if options.out:
        options.out.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    return 1 if any(one.result != "caught" and not bug.lives for bug, one in zip(bugs, found, strict=True)) else 0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.planted_bugs", description=__doc__)
    found.add_argument("--select", nargs="+", default=[], metavar="NAME", help="these bugs only")
    found.add_argument("--jobs", type=int, default=1, help="how many bugs are tried at the same time")
    found.add_argument("--targets", type=shlex.split, metavar="ARGS", help="what pytest is to run, instead of all")
    found.add_argument("--marks", default="not agents and not slow", help="pytest's -m; that of `make test`")
    found.add_argument("--ignore-file", type=Path, metavar="FILE", help="ids of tests that fail without a bug too")
    found.add_argument("--timeout", type=float, default=1200.0, metavar="SECONDS", help="for one bug")
    found.add_argument("--baseline", action="store_true", help="first run the bugs' own tests without a bug")
    found.add_argument("--out", type=Path, metavar="FILE", help="write what was found as JSON")
    return found


def read_bugs(path: Path, names: Sequence[str]) -> list[Bug]:
    """The bugs of these names, or all. Raises SystemExit for a name that is not there, or stands twice."""
    bugs = [Bug(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["bug"]]
    known = [bug.name for bug in bugs]
    wrong = sorted({*names} - {*known}) or [name for name in known if known.count(name) > 1]
    if wrong:
        raise SystemExit(f"{path.name}: no bug, or more than one, is called {', '.join(wrong)}")
    return [bug for bug in bugs if bug.name in (names or known)]


def planted(bug: Bug) -> str:
    """The text of the file with the bug in it. Raises SystemExit where its line is not there exactly once."""
    text = (ROOT / bug.file).read_text(encoding="utf-8")
    count = text.count(bug.was)
    if count != 1 or bug.was == bug.becomes:
        raise SystemExit(f"{bug.name}: its line stands {count} times in {bug.file}, or is not changed")
    return text.replace(bug.was, bug.becomes)


def is_sound(bugs: Sequence[Bug], options: argparse.Namespace) -> bool:
    """Whether the tests that are to catch the bugs pass without any; those that do not are told."""
    own = list(dict.fromkeys(target for bug in bugs for target in own_tests(bug)))
    with copy() as tree:
        code, output = run_tests(tree, options.targets or own, options)
    if code in SILENT:
        return True
    failing = _FAILURE.findall(output) or [output[-2000:]]
    print("\n".join(["without any bug these fail; name them in --ignore-file:", *failing]))
    return False


def tried(bug: Bug, options: argparse.Namespace) -> Found:
    """Plant one bug, and run the tests until one fails."""
    start = time.monotonic()
    result, by = "lives", ""
    with copy() as tree:
        place = tree / bug.file
        place.unlink()
        place.write_text(planted(bug), encoding="utf-8")
        try:
            for targets in [options.targets] if options.targets else [own_tests(bug), other_tests(bug)]:
                left = options.timeout - (time.monotonic() - start)
                code, output = run_tests(tree, targets, options, "-x", seconds=left)
                if code not in SILENT:
                    failing = _FAILURE.findall(output)
                    result, by = ("caught", failing[0]) if failing else ("broken", f"pytest ended with {code}")
                    break
        except subprocess.TimeoutExpired:
            result = "timeout"
    found = Found(bug.name, bug.file, result, by, round(time.monotonic() - start, 1))
    print(f"{found.result}: {found.name} ({found.seconds:.0f} s) {found.by}", flush=True)
    return found


@contextmanager
def copy() -> Iterator[Path]:
    """A copy of the work tree with its history, in which nothing is a link to ours, and whose code is what runs."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    with tempfile.TemporaryDirectory(prefix="planted-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder).resolve() / "tree"
        shutil.copytree(ROOT / ".git", tree / ".git", symlinks=True)
        for name in names:
            if name and os.path.lexists(ROOT / name):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
        copy_compiled(tree)
        argv = [sys.executable, "-c", "import agent_fox; print(agent_fox.__file__)"]
        run = subprocess.run(argv, cwd=folder, env=environment(tree), check=True, capture_output=True, text=True)
        if Path(run.stdout.strip()) != tree / "agent_fox" / "__init__.py":
            raise SystemExit(f"the copy's code would not run, but {run.stdout.strip()}")
        yield tree


def copy_compiled(tree: Path) -> None:
    """What Python has compiled of the package already; it compiles anew what has changed since."""
    for path in (ROOT / "agent_fox").rglob("__pycache__"):
        place = tree / path.relative_to(ROOT)
        if place.parent.exists():
            shutil.copytree(path, place)


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree)}


def own_tests(bug: Bug) -> list[str]:
    """The tests that mirror the file that the bug is in, then those of its package."""
    place = Path(bug.file).relative_to("agent_fox")
    mirror = Path("tests") / place.parent / f"test_{place.name}"
    package = [] if len(place.parts) == 1 else [f"tests/{place.parts[0]}"]
    return [*([str(mirror)] if (ROOT / mirror).exists() else []), *package]


def other_tests(bug: Bug) -> list[str]:
    """All other tests, the likeliest to catch a bug first; but those of the tools, which look at this very list."""
    there = [path.name for path in sorted((ROOT / "tests").iterdir()) if is_tests(path) and path.name != "tools"]
    ordered = sorted(there, key=lambda name: LIKELY.index(name) if name in LIKELY else len(LIKELY))
    return [f"tests/{name}" for name in ordered if f"tests/{name}" not in own_tests(bug)]


def is_tests(path: Path) -> bool:
    return path.match("test_*.py") or (path.is_dir() and any(path.rglob("test_*.py")))


def run_tests(
    tree: Path, targets: Sequence[str], options: argparse.Namespace, *more: str, seconds: float | None = None
) -> tuple[int, str]:
    """Pytest's exit code and output. Raises TimeoutExpired after `seconds`; what it started ends with it."""
    words = ("-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", f"--basetemp={tree.parent / 'made'}", "-m")
    ignored = options.ignore_file.read_text(encoding="utf-8").splitlines() if options.ignore_file else []
    left_out = [f"--deselect={name.strip()}" for name in ignored if name.strip() and not name.startswith("#")]
    argv = [sys.executable, "-m", "pytest", *words, options.marks, *more, *left_out, *targets]
    said = tree.parent / "said"  # a file: what a test left running would keep a pipe open
    with said.open("wb") as file:
        process = subprocess.Popen(
            argv, cwd=tree, env=environment(tree), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, said.read_text(encoding="utf-8", errors="replace")


def rows(found: Sequence[Found]) -> Iterator[str]:
    """The table, and how many bugs were caught."""
    width = max((len(one.name) for one in found), default=0)
    yield ""
    for one in found:
        yield f"{one.name:<{width}}  {one.result:<7}  {one.seconds:>6.0f} s  {one.by}".rstrip()
    yield f"{sum(one.result == 'caught' for one in found)} of {len(found)} bugs were caught"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
