"""What a reading of a small Go project takes in a fresh checkout: where nothing was compiled before, and later.

Real Go, in the sandbox where there is one. Without Go there is no figure, which is said.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual
from bench.figures import Aim, Figure
from bench.proving import git, timed
from bench.worlds import temporary_folder

ADDED = 3.0
"""Seconds that a reading with trials may take over `go test` where both find compiled what they can."""

SHOP = (
    'package shop\n\nimport "IMPORTED"\n\nvar Used = IMPORTED.NAME\n\nfunc Tax(price int) int { return price + RATE }\n'
)
TEST = """package shop

import "testing"

func Test_01_REQ_1_1(t *testing.T) {
	if Tax(1) != 3 {
		t.Fatal("the tax is wrong")
	}
}
"""


def measure(imported: tuple[str, str]) -> Iterator[Figure]:
    """`imported`: a package of Go's library that the project uses, and a name in it."""
    if shutil.which("go") is None:
        print("no figure of build caches: go is not on this machine", file=sys.stderr)
        return
    with temporary_folder() as folder:
        order = project(folder, imported)
        cold_floor, warm_floor = (bare(Path(order.workspace), folder / "bare") for _ in range(2))
        cold, cold_work = timed(order)
        warm, warm_work = timed(checked_out(order, folder / "again"))
        alone, _ = timed(replace(checked_out(order, folder / "alone"), counterfactual=Counterfactual.OFF))
        name = f"a reading of Go that uses {imported[0]}"
        yield Figure(f"{name}, nothing compiled yet", cold, cold_floor, "go test, likewise")
        yield Figure(f"{name}, a later one", warm, warm_floor, "go test again", Aim(limit=warm_floor + ADDED))
        yield Figure(f"{name}, a later one without trials", alone, warm_floor, "go test again")
        yield Figure(f"{name}, a later one, in processor time", warm_work, cold_work, "the first one")


def bare(root: Path, cache: Path) -> float:
    begin = time.perf_counter()
    environment = {**os.environ, "GOCACHE": str(cache)}
    subprocess.run(["go", "test", "-count=1", "./..."], cwd=root, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def project(folder: Path, imported: tuple[str, str]) -> CheckOrder:
    """A module whose committed test fails on its base commit, and the work that makes it pass."""
    root = folder / "repo"
    root.mkdir()
    package, name = imported
    shop = SHOP.replace('"IMPORTED"', f'"{package}"').replace("IMPORTED.NAME", f"{package.split('/')[-1]}.{name}")
    files = {"go.mod": "module shop\n\ngo 1.19\n", "shop.go": shop.replace("RATE", "1"), "shop_test.go": TEST}
    for path, text in files.items():
        (root / path).write_text(text, "utf-8")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "begin")):
        git(root, *words)
    base = git(root, "rev-parse", "HEAD")
    (root / "shop.go").write_text(shop.replace("RATE", "2"), "utf-8")
    git(root, "commit", "-qam", "work")
    order = CheckOrder(
        {"01-REQ-1.1": "WHEN asked, it SHALL add the tax."}, "", commands={"Spec tests": "go test ./..."},
        repository=str(root), base_commit=base, counterfactual=Counterfactual.REQUIRE, sandbox=SandboxMode.AUTO,
        caches_folder=str(folder / "caches"), readable=(str(root),),
    )  # fmt: skip
    return checked_out(order, folder / "first")


def checked_out(order: CheckOrder, place: Path) -> CheckOrder:
    """The same order about a checkout of its own, as each reading of a run has one."""
    git(Path(order.repository), "clone", "-q", "--shared", order.repository, str(place))
    return replace(order, workspace=str(place))
