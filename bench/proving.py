"""What it costs to see that passing tests can fail, beside the verification alone. Real git, real pytest."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual
from agent_fox.verifier.judging.checks import run_checks
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
            floor, worked = timed(alone)
            took, work = timed(order)
            again, _ = timed(order)
            name = f"proofs of {count} requirement{'s' if count > 1 else ''}"
            yield Figure(name, took, floor, ALONE, aim)
            yield Figure(f"{name}, in processor time", work, worked, ALONE)
            yield Figure(f"{name}, again", again, floor, ALONE, Aim(limit=2.0))


def measure_plan(specs: int) -> Iterator[Figure]:
    """A run of a plan with so many specs under `checks`, beside the same run with nothing asked of its tests."""
    took = {}
    for word in (Counterfactual.OFF, Counterfactual.REQUIRE):
        with tempfile.TemporaryDirectory() as folder:
            took[word] = run(plan(Path(folder), specs), word)
    name = f"a run of {specs} specs with proofs"
    yield Figure(name, took[Counterfactual.REQUIRE], took[Counterfactual.OFF], "without proofs", Aim(ratio=1.5))


def run(root: Path, counterfactual: Counterfactual) -> float:
    """Seconds. Raises CalledProcessError where it does not end proven."""
    environment = {**os.environ, "AGENT_FOX__VERIFY__COUNTERFACTUAL": counterfactual.value}
    begin = time.perf_counter()
    command = [str(Path(sys.executable).parent / "agent-fox"), "run"]
    subprocess.run(command, cwd=root, check=True, capture_output=True, env=environment)
    return time.perf_counter() - begin


CODER = """\
import os, pathlib
name = os.environ["AGENT_FOX_SPEC"]
pathlib.Path(f"tax_{name[:2]}.py").write_text(f"def tax(price):\\n    return price + {int(name[:2])}\\n")
"""
SETTINGS = """\
[plan]
pre_review = false
audit_review = false
[agents.coder]
command = [{python}, {coder}]
[agents.verifier]
backend = "checks"
"""


def plan(folder: Path, specs: int) -> Path:
    """A repository with so many specs, each with a committed test, and a script for a coder that makes it pass."""
    root = folder / "repo"
    (folder / "coder.py").write_text(CODER, "utf-8")
    files = {
        ".gitignore": ".agent-fox/*\n!.agent-fox/specs\n!.agent-fox/config.toml\n__pycache__/\n.pytest_cache/\n",
        "conftest.py": "",
        ".agent-fox/config.toml": SETTINGS.format(
            python=json.dumps(sys.executable), coder=json.dumps(str(folder / "coder.py"))
        ),
    }
    for number in range(1, specs + 1):
        id, place = f"{number:02}-REQ-1.1", f".agent-fox/specs/{number:02}_tax"
        asks = f'def test_it():\n    """{id}"""\n    assert tax(1) == {number + 1}\n'
        test = f"from tax_{number:02} import tax\n\n\n{asks}"
        command = f"{sys.executable} -m pytest -q tests/test_{number:02}.py"
        files |= {
            f"tests/test_{number:02}.py": test,
            f"{place}/requirements.md": f"### Requirement 1: Tax\n1. [{id}] WHEN asked, `tax` SHALL add {number}.\n",
            f"{place}/tasks.md": f"## Test Commands\n- Spec tests: `{command}`\n\n"
            f"## Tasks\n- [ ] 1. Build it\n  - [ ] 1.1 Do so\n    - _Requirements: {id}_\n",
        }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "begin")):
        git(root, *words)
    return root


def timed(order: CheckOrder) -> tuple[float, float]:
    """Seconds of the clock, and of processors in commands: a busy machine stretches the former alone.

    Raises ValueError where not everything passes.
    """
    begin, worked = time.perf_counter(), _worked()
    words = {verdict.word.value for verdict in run_checks(order).verdicts}
    if words != {"PASS"}:
        raise ValueError(f"the benchmark's own project: {words}")
    return time.perf_counter() - begin, _worked() - worked


def _worked() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
