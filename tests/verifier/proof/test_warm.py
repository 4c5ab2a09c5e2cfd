"""One start of pytest for many runs: each sees what it would see if it had been started by itself, and nothing of what
ran before. Real sandbox, real pytest; what runs say is in the messages of their tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.proof.lab import Lab, Seen
from agent_fox.verifier.proof.warm import MOST_STARTS, Warm, prepared
from agent_fox.verifier.running.commands import Ground
from agent_fox.verifier.suites.running_suites import run_suite
from agent_fox.verifier.suites.suite import SuiteRun

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")

FILES = {
    "conftest.py": "import pytest\n\n@pytest.fixture\ndef price():\n    return 100\n",
    "shop.py": "def total(price):\n    return price + 19\n\ndef unused():\n    return 0\n",
    "data.txt": "119",
    "tests/test_shop.py": "from shop import total\n\n\nclass TestIt:\n    def test_total(self, price):\n"
    "        assert total(price) == int(open('data.txt').read())\n\n\n"
    "def test_wrong(price):\n    assert total(price) == 1\n",
}
SAID = "import os, pathlib, subprocess, sys\n\n\ndef test_it():\n{}\n    raise AssertionError(repr(said))\n"


class World:
    """A tree, the reading of its tests, and what runs in copies of it show, forked or not."""

    def __init__(self, ground: Ground, warm: Warm | None, run: SuiteRun) -> None:
        self.warm, self.run = warm, replace(run, seconds=0.5)
        self._ground = ground
        self._forked, self._alone = (
            Lab(ground, ground.workspace, "forked", warm),
            Lab(ground, ground.workspace, "alone"),
        )

    def forked(self, changes: dict[str, str | None] | None = None, *, is_recorded: bool = False) -> Seen:
        return self._forked.run(self.run, None, changes or {}, is_recorded=is_recorded)

    def alone(self, changes: dict[str, str | None] | None = None, *, is_recorded: bool = False) -> Seen:
        return self._alone.run(self.run, None, changes or {}, is_recorded=is_recorded)

    def says(self, *lines: str) -> str:
        """What a forked run of these lines of a test has in `said` at their end."""
        text = SAID.format("\n".join(f"    {line}" for line in lines))
        (end,) = self.forked({"tests/test_shop.py": text}).ends.values()
        return end.message

    @property
    def starts(self) -> int:
        assert self.warm is not None
        return self.warm._starts


@contextmanager
def world(folder: Path) -> Iterator[World]:
    root, private = folder / "repo", folder / "private"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    private.mkdir()
    line = "python -m pytest tests"
    order = CheckOrder({}, str(root), commands={"Spec tests": line}, sandbox=SandboxMode.REQUIRE)
    ground = Ground(order, root, private)
    run = run_suite(line, ground, "reading")
    with prepared(ground, line) as warm:
        yield World(ground, warm, run)


def outcomes(seen: Seen) -> dict[str, object]:
    return {id: (end.outcome, end.kind, end.message, end.frames, end.is_unbegun) for id, end in seen.ends.items()}


def of_tests(seen: Mapping[str, object]) -> dict[str, object]:
    """Without our own tests, whose names are made for each run."""
    return {id: value for id, value in seen.items() if "::afx_" not in id}


def test_a_forked_run_shows_what_one_by_itself_shows(tmp_path: Path) -> None:
    with world(tmp_path) as it:
        cases: list[dict[str, str | None]] = [
            {},
            {"shop.py": "def total(price):\n    raise KeyError(price)\n"},
            {"shop.py": "def total(:"},
        ]
        for changes in cases:
            forked, alone = it.forked(changes, is_recorded=True), it.alone(changes, is_recorded=True)
            assert outcomes(forked) == outcomes(alone)
            assert [of_tests(forked.executed), of_tests(forked.opened)] == [
                of_tests(alone.executed), of_tests(alone.opened)
            ]  # fmt: skip
            assert forked.broken_files.keys() == alone.broken_files.keys()
        assert ("shop.py", 1) in it.forked(is_recorded=True).executed["tests/test_shop.py::TestIt::test_total"]
        assert it.starts == 1


def test_runs_are_forked_from_one_process_that_has_read_nothing_of_the_project(tmp_path: Path) -> None:
    with world(tmp_path) as it:
        parents = {it.says("said = os.getppid()") for _ in range(3)}
        assert (len(parents), it.starts) == (1, 1)
        assert it.says("said = [m for m in sys.modules if m in ('shop', 'conftest')]") == "['conftest']"


def test_a_run_finds_nothing_of_the_one_before(tmp_path: Path) -> None:
    left = (
        "for folder in ('/tmp', '/dev/shm', os.environ['HOME'], os.environ['TMPDIR'], '.'):",
        "    pathlib.Path(folder, 'left').mkdir(mode=0o000)",
        "subprocess.Popen(['sh', '-c', 'setsid sleep 60 & trap \"\" TERM; while :; do echo x > shop.py; done'])",
        "said = 'left'",
    )
    look = (
        "folders = ('/tmp', '/dev/shm', os.environ['HOME'], os.environ['TMPDIR'], '.')",
        "there = [str(p) for folder in folders for p in pathlib.Path(folder).iterdir() if p.name == 'left']",
        "others = {p for p in os.listdir('/proc') if p.isdigit()} - {'1', str(os.getpid()), str(os.getppid())}",
        "said = there, others, pathlib.Path('shop.py').read_text().count('total')",
    )
    with world(tmp_path) as it:
        assert it.says(*left) == "'left'"
        assert it.says(*look) == "([], set(), 1)"
        assert it.starts == 1


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            ("import resource", "resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (1000, 1000))"), id="a limit"
        ),
        pytest.param(
            ("os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))",), id="how it is scheduled"
        ),
        pytest.param(("import ctypes", "assert ctypes.CDLL(None).shmget(7, 4096, 0o1666) >= 0"), id="shared memory"),
        pytest.param(("os.chmod('.', 0o500)",), id="the folder's own mode"),
    ],
)
def test_what_cannot_be_taken_back_ends_the_start_and_the_next_run_has_another(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    with world(tmp_path) as it:
        assert it.says(*lines, "said = 'done'") == "'done'"
        assert it.says("import resource", "said = resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 1000") == "False"
        assert it.starts == 2


def test_a_run_cannot_look_into_the_process_that_forks(tmp_path: Path) -> None:
    tries = (
        "said = []",
        "for name in ('mem', 'environ', 'maps', *(f'fd/{number}' for number in range(10))):",
        "    try:",
        "        pathlib.Path('/proc', str(os.getppid()), name).open('rb').read(1)",
        "        said.append(name)",
        "    except OSError as error:",
        "        pass",
        "import ctypes",
        "said.append(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))",
    )
    with world(tmp_path) as it:
        assert it.says(*tries) == "[-1]"


def test_a_run_that_ends_the_process_that_forks_is_made_by_itself(tmp_path: Path) -> None:
    lines = (
        "import signal",
        "parent = os.getppid()",
        "parent != 1 and os.kill(parent, signal.SIGKILL)",
        "said = parent",
    )
    with world(tmp_path) as it:
        assert [it.says(*lines) for _ in range(MOST_STARTS + 1)] == ["1"] * (MOST_STARTS + 1)
        assert it.says("said = os.getppid()") == "1"


def test_a_module_of_the_tree_is_not_hidden_by_one_that_is_loaded_already(tmp_path: Path) -> None:
    test = SAID.format("    from queue import said")
    with world(tmp_path) as it:
        (end,) = it.forked(
            {
                "queue.py": "from _queue import *\nclass Full(Exception): pass\nQueue = SimpleQueue\n"
                "LifoQueue = PriorityQueue = SimpleQueue\nsaid = 'ours'\n",
                "tests/test_shop.py": test,
            }
        ).ends.values()
        assert end.message == "'ours'"
        assert (it.says("said = os.getppid() != 1"), it.starts) == ("True", 1)


def test_a_run_that_changes_settings_of_tests_is_made_where_it_cannot(tmp_path: Path) -> None:
    changed = ("pathlib.Path('conftest.py').write_text('')", "said = 'changed'")
    with world(tmp_path) as it:
        (end,) = it.forked(
            {"tests/test_shop.py": SAID.format("".join(f"    {line}\n" for line in changed))}
        ).ends.values()
        assert (end.kind, "Read-only" in end.message) == ("OSError", True)


def test_a_run_that_hangs_is_ended_and_the_next_one_is_forked(tmp_path: Path) -> None:
    with world(tmp_path) as it:
        it.run = replace(it.run, cases=())
        order = replace(it._ground.order, timeout=1.0)
        it._forked._ground = replace(it._ground, order=order)
        assert it.forked({"tests/test_shop.py": "import time\ntime.sleep(60)\n"}).why_not
        assert it.says("said = os.getppid() != 1") == "True"
