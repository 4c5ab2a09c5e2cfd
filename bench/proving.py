"""What it costs to see that passing tests can fail, beside the verification alone. Real git, real pytest."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent_fox.system.sandbox import SandboxMode
from agent_fox.verifier.checks import run_checks
from agent_fox.verifier.order import CheckOrder, Counterfactual
from bench.figures import Aim, Figure

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
ALONE = "the verification alone"


def measure(requirements: int) -> Iterator[Figure]:
    """One requirement, and a spec of `requirements`: at the first time, and where nothing has changed since."""
    for count, aim in ((1, Aim(ratio=4.0)), (requirements, Aim(ratio=2.0))):
        with tempfile.TemporaryDirectory() as folder:
            order = project(Path(folder), count)
            alone = replace(order, counterfactual=Counterfactual.OFF)
            timed(alone)  # the first one fills caches
            floor = timed(alone)
            name = f"proofs of {count} requirement{'s' if count > 1 else ''}"
            yield Figure(name, timed(order), floor, ALONE, aim)
            yield Figure(f"{name}, again", timed(order), floor, ALONE, Aim(limit=2.0))


def timed(order: CheckOrder) -> float:
    """Seconds. Raises ValueError where not everything passes."""
    begin = time.perf_counter()
    words = {verdict.word.value for verdict in run_checks(order).verdicts}
    if words != {"PASS"}:
        raise ValueError(f"the benchmark's own project: {words}")
    return time.perf_counter() - begin


def project(folder: Path, count: int) -> CheckOrder:
    """A package with a function and a test for each requirement, written since the base commit."""
    root = folder / "repo"
    (root / "tests").mkdir(parents=True)
    (root / "shop.py").write_text("", "utf-8")
    (root / "conftest.py").write_text("", "utf-8")
    (root / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n", "utf-8")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "begin")):
        git(root, *words)
    ids = [f"01-REQ-1.{number}" for number in range(1, count + 1)]
    functions = [f"def tax_{n}(price):\n    return round(price * 1.{n:02})\n" for n in range(count)]
    tests = [f'def test_{n}():\n    """{id}"""\n    assert tax_{n}(100) == {100 + n}\n' for n, id in enumerate(ids)]
    (root / "shop.py").write_text("\n\n".join(functions), "utf-8")
    (root / "tests" / "test_shop.py").write_text("from shop import *\n\n\n" + "\n\n".join(tests), "utf-8")
    return CheckOrder(
        dict.fromkeys(ids, "WHEN asked, it SHALL add the tax."), str(root),
        commands={"Spec tests": "python -m pytest tests"}, repository=str(root),
        base_commit=git(root, "rev-parse", "HEAD"),
        counterfactual=Counterfactual.REQUIRE, proofs_folder=str(folder / "proofs"), sandbox=SandboxMode.AUTO,
    )  # fmt: skip


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *WHO, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
