"""The options of this test suite: a part by seed, flaky tests named, budgets held. Each in a suite made for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.choosing import PARTS

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = ("conftest.py", "choosing.py", "counting.py")
SETTINGS = '[tool.pytest.ini_options]\nmarkers = ["slow: s", "agents: a", "landing: l"]\n'


def suite(folder: Path, **files: str) -> None:
    """Our conftest with tests of its own."""
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "tests" / "__init__.py").write_text("")
    (folder / "tests" / "budgets.toml").write_text("python = 1\n")
    (folder / "tests" / "long.txt").write_text("# none\n")
    for name in CONFTEST:
        (folder / "tests" / name).write_text((ROOT / "tests" / name).read_text())
    for name, text in files.items():
        (folder / "tests" / f"{name}.py").write_text(text)


def pytest_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_long_test_is_in_one_part_and_no_other_test_in_any(tmp_path: Path) -> None:
    long = "import pytest\n@pytest.mark.slow\ndef test_long(): pass\n@pytest.mark.agents\ndef test_agent(): pass\n"
    short = "import pytest\ndef test_short(): pass\n"
    landing = "@pytest.mark.agents\n@pytest.mark.landing\ndef test_each_time(): pass\n"
    suite(tmp_path, **{f"test_{number}": long for number in range(12)}, test_short=short + landing)
    collected = [
        [
            line
            for line in pytest_in(tmp_path, "--collect-only", "-q", "--part", str(seed)).stdout.split()
            if "::" in line
        ]
        for seed in range(PARTS)
    ]
    everything = [name for part in collected for name in part]
    assert sorted(everything) == sorted(
        f"tests/test_{number}.py::test_{kind}" for number in range(12) for kind in ("agent", "long")
    )
    assert len([part for part in collected if part]) > 1
    again = pytest_in(tmp_path, "--collect-only", "-q", "--part", str(PARTS)).stdout
    assert [line for line in again.split() if "::" in line] == collected[0]


def test_what_the_list_names_is_slow_and_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    cases = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_cases(n): pass\ndef test_one(): pass\n"
    suite(tmp_path, test_a=cases)
    (tmp_path / "pyproject.toml").write_text(SETTINGS + 'testpaths = ["tests"]\n')
    long = tmp_path / "tests" / "long.txt"
    long.write_text("# some\ntests/test_a.py::test_one\ntests/test_a.py::test_cases[2]\n")
    chosen = pytest_in(tmp_path, "--collect-only", "-q", "-m", "slow").stdout
    assert [line for line in chosen.splitlines() if "::" in line] == [
        *("tests/test_a.py::test_cases[2]", "tests/test_a.py::test_one"),
    ]
    long.write_text("tests/test_a.py::test_gone\n")
    gone = pytest_in(tmp_path, "--collect-only", "-q")
    assert (gone.returncode, "names tests that are not there: tests/test_a.py::test_gone" in gone.stderr) == (4, True)
    assert pytest_in(tmp_path, "--collect-only", "-q", "tests/test_a.py").returncode == 0


def test_what_passes_the_second_time_is_named_until_the_end_and_what_fails_again_has_failed(tmp_path: Path) -> None:
    once = (
        "from pathlib import Path\ndef test_once():\n    mark = Path(__file__).with_name('mark')\n"
        "    was_there = mark.exists()\n    mark.touch()\n    assert was_there\n"
    )
    suite(tmp_path, test_once=once, test_never="def test_never(): assert False\n", test_well="def test_well(): pass\n")
    (tmp_path / "pyproject.toml").write_text(SETTINGS + 'testpaths = ["tests"]\n')
    (tmp_path / "tests" / "long.txt").write_text("tests/test_well.py::test_well\n")  # it is not met the second time
    assert pytest_in(tmp_path).returncode == 1
    second = pytest_in(tmp_path, "--last-failed", "--last-failed-no-failures", "none", "--flaky=build/flaky.txt")
    assert (second.returncode, "1 failed, 1 passed" in second.stdout) == (1, True)
    told = "FLAKY: tests/test_once.py::test_once failed, and passed when it was tried once more, alone"
    assert told in second.stdout
    # A file that is there must not be taken for a test's: `--flaky FILE`, without `=`, was.
    last = pytest_in(tmp_path, "-m", "slow", "--flaky=build/flaky.txt").stdout.splitlines()
    assert (told in last, last[-1].strip("= ").startswith("1 passed")) == (True, True)
    assert "test_well" not in (tmp_path / "build" / "flaky.txt").read_text()


@pytest.mark.parametrize(("starts", "code"), [(1, 0), (2, 1)])
@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["alone", "spread"])
def test_more_processes_than_the_budget_fail_a_run_that_passed(
    tmp_path: Path, starts: int, code: int, spread: tuple[str, ...]
) -> None:
    start = "import subprocess, sys\ndef test_it(): subprocess.run([sys.executable, '-c', ''])\n"
    suite(tmp_path, **{f"test_{number}": start for number in range(starts)})
    held = pytest_in(tmp_path, "--budgets", *spread)
    assert (held.returncode, f"{starts} of 1 python" in held.stdout) == (code, True), held.stdout
    assert ("OVER BUDGET: 2 python processes, 1 allowed" in held.stdout) == (code == 1)
    assert pytest_in(tmp_path, *spread).returncode == 0
