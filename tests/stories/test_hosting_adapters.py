"""LangGraph and Prefect as hosts of the verdict-driven retry: the examples are run, where the package is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEN = {
    "langgraph": ["01_gate:1 Land", "01_gate:2 Recode", "01_gate:1 Land", "01_gate:2 Accept", "proven: True"],
    "prefect": [
        *("01_gate:1 Land", "02_bell:1 Land", "01_gate:2 Recode", "02_bell:2 Accept", "01_gate:1 Land"),
        *("01_gate:2 Accept", "02_bell:2 Accept", "proven"),
    ],
}
"""What each prints. Prefect's bell is read twice: the second attempt at the gate moves the tip."""


@pytest.mark.parametrize("package", sorted(SEEN))
def test_an_example_brings_its_plan_to_proof(package: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {requirement(package)}")
    quiet = {
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240",
    }
    done = subprocess.run(
        [sys.executable, "-P", str(EXAMPLES / f"{package}_host.py")], cwd=tmp_path, capture_output=True, text=True,
        timeout=400, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(EXAMPLES.parent), **quiet},
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()) == (0, SEEN[package]), done.stderr[-2000:]


@pytest.mark.parametrize("package", sorted(SEEN))
def test_an_example_is_short_and_names_what_it_needs(package: str) -> None:
    lines = (EXAMPLES / f"{package}_host.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert requirement(package).startswith(f"{package}>=")


def requirement(package: str) -> str:
    """The example's own line of requirements."""
    lines = (EXAMPLES / f"{package}_host.py").read_text(encoding="utf-8").splitlines()
    (needed,) = (line.removeprefix("Needs: ") for line in lines if line.startswith("Needs: "))
    return needed
