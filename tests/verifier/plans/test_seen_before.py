from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.ground.request import Prepared, Request
from agent_fox.verifier.ground.results import (
    Failure,
    FailureKind,
    Status,
    TestSummary,
    Tool,
    VerificationResult,
)
from agent_fox.verifier.plans.carried_out import PlanRun
from agent_fox.verifier.plans.seen_before import SeenBefore
from agent_fox.verifier.plans.standing import ASKS, Standing, ground
from agent_fox.verifier.plans.steps import Plan
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.context import RunContext
from agent_fox.verifier.reporting.report import Step, StepOutcome
from tests.verifier.language_projects import LANGUAGES, PYTHON, Language
from tests.verifier.made_projects import OWN_PATH, committed, context, git, verifier, write
from tests.verifier.made_projects import PYTHON as MADE_PYTHON
from tests.verifier.profiles.projects import needs

pytestmark = pytest.mark.skipif(bool(why_missing()), reason="without a sandbox nothing is taken again")

TESTS, LINT, COMPILE = Step(Tool.UNIT_TESTS), Step(Tool.LINT), Step(Tool.COMPILE)
SETTLED = 0.1
"""Seconds after which nobody takes a change for one of now."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folders of the machine's tools are listed, once for all tests here."""
    return tmp_path_factory.mktemp("seen") / "folders.json"


@pytest.fixture
def tools(project: Path, tmp_path: Path) -> Path:
    """An environment outside of the project, to which `.venv` leads; its folder of packages."""
    packages = tmp_path / "env/lib/python3/site-packages"
    write(tmp_path / "env", {"pyvenv.cfg": "", "lib/python3/site-packages/cart_tax/__init__.py": "RATE = 1\n"})
    (tmp_path / "env/bin").mkdir()
    (tmp_path / "env/bin/python").symlink_to(sys.executable)
    (project / ".venv").symlink_to(tmp_path / "env")
    return packages


def commands(place: RunContext, *tools: Tool) -> list[Prepared]:
    available = [Verifier(place).available(Request(tool)) for tool in tools or (Tool.UNIT_TESTS,)]
    return [command for command in available if isinstance(command, Prepared)]


def looked_at(place: RunContext, folders: Path) -> Standing:
    found = ground(place, commands(place), folders)
    assert found is not None
    return replace(found.standing, newest=0)


def differing(before: Standing, after: Standing) -> set[str]:
    names = ("source", "rest", "products", "environment")
    return {name for name in names if getattr(before, name) != getattr(after, name)}


def rewritten_in_place(file: Path, text: str) -> None:
    """Other bytes, as many as before, and the old time of change, as far as that can be set."""
    stamp = file.stat()
    assert stamp.st_size == len(text)
    file.write_text(text)
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def hidden(project: Path, name: str) -> Path:
    return write(project, {name: "1\n"}) / name


WITHIN: dict[str, tuple[Callable[[Path], object], str]] = {
    "an untracked file that a test may read": (lambda root: write(root, {"data.txt": "2\n"}), "source"),
    "a data file, of the same size and time": (lambda root: rewritten_in_place(root / "rates.csv", "2\n"), "source"),
    "a file that git is told to overlook": (lambda root: rewritten_in_place(root / "hidden.log", "2\n"), "source"),
    "a conftest": (lambda root: write(root, {"conftest.py": "import cart\n"}), "source"),
    "whether a file may be executed": (lambda root: (root / "rates.csv").chmod(0o755), "source"),
    "where a link leads": (lambda root: (root / "link").symlink_to("rates.csv"), "source"),
    "an empty folder": (lambda root: (root / "inbox").mkdir(), "rest"),
    "an installed package, in place": (lambda root: rewritten_in_place(root / "venv/lib/tax.py", "2\n"), "rest"),
    "what a build has left": (lambda root: rewritten_in_place(root / "build/made", "2\n"), "products"),
    "a compiled file": (lambda root: write(root, {"__pycache__/cart.pyc": "2"}), "products"),
    "the commit that is checked out": (lambda root: git(root, "commit", "-q", "--allow-empty", "-m", "x"), "source"),
}


@pytest.mark.parametrize("what", WITHIN)
def test_a_change_within_the_workspace_is_seen(project: Path, folders: Path, what: str) -> None:
    write(project, {"rates.csv": "1\n", "hidden.log": "1\n", "venv/lib/tax.py": "1\n", "build/made": "1\n"})
    write(project, {".git/info/exclude": "hidden.log\n"})
    before = looked_at(context(project), folders)
    assert looked_at(context(project), folders) == before
    change, where = WITHIN[what]
    change(project)
    assert differing(before, looked_at(context(project), folders)) == {where}


def test_a_package_that_is_installed_outside_of_the_workspace_is_seen(
    project: Path, tools: Path, tmp_path: Path
) -> None:
    own = tmp_path / "folders.json"
    before = looked_at(context(project), own)
    write(tools, {"cart_tax-2/METADATA": "Version: 2\n"})
    assert differing(before, looked_at(context(project), own)) == {"environment"}
    before = looked_at(context(project), own)
    (tools / "cart_tax/__init__.py").rename(tools / "cart_tax/old.py")
    assert differing(before, looked_at(context(project), own)) == {"environment"}


def test_a_program_on_the_search_path_that_is_replaced_or_comes_first_is_seen(
    project: Path, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = looked_at(context(project), folders)
    programs = write(tmp_path / "bin", {"tax": "1\n"})
    monkeypatch.setenv("PATH", f"{OWN_PATH}{os.pathsep}{programs}")
    first = looked_at(context(project), folders)
    rewritten_in_place(programs / "tax", "2\n")
    assert differing(before, first) == differing(first, looked_at(context(project), folders)) == {"environment"}


def test_other_limits_and_what_else_commands_may_read_are_seen(project: Path, folders: Path, tmp_path: Path) -> None:
    shared = write(tmp_path / "shared", {"rates.csv": "1\n"})
    place = context(project, readable=(shared,))
    before = looked_at(place, folders)
    assert differing(before, looked_at(replace(place, memory=1 << 30), folders)) == {"environment"}
    rewritten_in_place(shared / "rates.csv", "2\n")
    assert differing(before, looked_at(place, folders)) == {"environment"}


def test_without_a_sandbox_nobody_knows_what_a_command_reads(project: Path, folders: Path) -> None:
    place = context(project, sandbox=SandboxMode.OFF)
    assert ground(place, commands(place), folders) is None


@pytest.mark.parametrize(
    "line",
    [
        "stamp = datetime.now(UTC)", "if date.today() > DUE:", "began = time.time()", "from time import time",
        "x = random.choice(y)", "import uuid", "secrets.token_hex()", "from hypothesis import given",
        "start := time.Now()", 'import "math/rand"', "let now = Instant::now();", "SystemTime::now()",
        "long t = System.currentTimeMillis();", "LocalDate.now()", "new Random(7)", "const t = Date.now()",
        "const d = new Date()", "Math.random()", "srand(7);", "time(NULL)", "performance.now()",
    ],
)  # fmt: skip
def test_words_that_ask_a_clock_or_chance_are_known(line: str) -> None:
    assert ASKS.search(f"a\n    {line}\n".encode())


@pytest.mark.parametrize(
    "line", ["total = price * times", "def knows(x):", "timeout = 5", "operand.brand", "const runtime = 3", "known()"]
)
def test_words_that_only_look_like_it_are_no_such(line: str) -> None:
    assert not ASKS.search(f"a\n    {line}\n".encode())


def result(tool: Tool = Tool.UNIT_TESTS, status: Status = Status.PASSED, **fields: object) -> VerificationResult:
    counts = TestSummary(2, 2) if tool.runs_tests else None
    return replace(
        VerificationResult(tool, status, "python", ("pytest",), "passed", test_summary=counts),
        **fields,  # type: ignore[arg-type]
    )


class World:
    """A workspace whose results are kept in a file."""

    def __init__(self, root: Path, folders: Path, *, is_flaky: bool = False) -> None:
        self.seen = SeenBefore(context(root), root.parent / "seen/python.json", is_flaky)
        self.seen.file.parent.mkdir(exist_ok=True)
        self.folders, self.own_folders = folders, self.seen.file.with_name("python-folders.json")
        if folders.exists():
            self.own_folders.write_bytes(folders.read_bytes())
        by_step = {TESTS: Tool.UNIT_TESTS, COMPILE: Tool.COMPILE, LINT: Tool.LINT}
        found = {step: Verifier(self.seen.context).available(Request(tool)) for step, tool in by_step.items()}
        self.commands = {step: command for step, command in found.items() if isinstance(command, Prepared)}

    def keep(self, *results: VerificationResult, began: int | None = None) -> None:
        outcomes = [StepOutcome(Step(each.tool), each) for each in results]
        self.seen.look(self.commands).keep(outcomes, began or time.time_ns())

        if not self.folders.exists():
            self.folders.write_bytes(self.own_folders.read_bytes())

    def taken(self) -> set[Tool]:
        return {step.tool for step in self.seen.look(self.commands).taken}


@pytest.fixture
def world(bare: Path, folders: Path) -> World:
    write(bare, MADE_PYTHON)
    time.sleep(SETTLED)
    return World(bare, folders)


def test_a_result_is_taken_again_and_says_where_it_was_seen(project: Path, folders: Path) -> None:
    time.sleep(SETTLED)
    world = World(project, folders)
    assert world.taken() == set()
    world.keep(result(), result(Tool.COMPILE))
    again = world.seen.look(world.commands).taken
    assert set(again) == {TESTS, COMPILE}
    head = git(project, "rev-parse", "HEAD")
    assert again[TESTS].seen_at == head
    assert again[TESTS].notes[-1].startswith(f"reused: 2 of 2 tests, seen at commit {head[:12]} at ")
    world.keep(*again.values())
    assert world.taken() == {Tool.UNIT_TESTS, Tool.COMPILE}


@pytest.mark.parametrize(
    "doubtful",
    [
        result(status=Status.FAILED),
        result(status=Status.ERRORED),
        result(changed_sources=("cart.py",)),
        result(warnings=(Failure(FailureKind.TEST_FAILURE, "failed, then passed 3 of 3 reruns"),)),
    ],
    ids=["failed", "errored", "changed source", "passed after reruns"],
)
def test_what_did_not_plainly_pass_is_run_again(world: World, doubtful: VerificationResult) -> None:
    world.keep(doubtful, result(Tool.COMPILE))
    assert world.taken() == {Tool.COMPILE}


def test_tests_run_where_some_are_known_to_be_flaky(bare: Path, folders: Path) -> None:
    write(bare, MADE_PYTHON)
    time.sleep(SETTLED)
    world = World(bare, folders, is_flaky=True)
    world.keep(result(), result(Tool.COMPILE))
    assert world.taken() == {Tool.COMPILE}


def test_tests_run_where_source_asks_what_time_it_is(bare: Path, folders: Path) -> None:
    write(
        bare,
        {**MADE_PYTHON, "due.py": "import datetime\n\nDUE = datetime.date.today() > datetime.date(2026, 1, 1)\n"},
    )
    time.sleep(SETTLED)
    world = World(bare, folders)
    world.keep(result(), result(Tool.COMPILE))
    assert world.taken() == {Tool.COMPILE}


def test_nothing_of_another_day_or_of_another_command_is_taken(world: World) -> None:
    world.keep(result())
    other = {
        step: replace(command, display=(*command.display, "-k", "total")) for step, command in world.commands.items()
    }
    assert world.seen.look(other).taken == {}
    document = json.loads(world.seen.file.read_text())
    world.seen.file.write_text(json.dumps({**document, "day": "2020-02-29"}))
    assert world.taken() == set()


def test_where_everything_is_to_run_nothing_is_taken_and_all_is_kept(world: World) -> None:
    world.keep(result(Tool.COMPILE))
    usual, world.seen = world.seen, replace(world.seen, is_fresh=True)
    assert world.taken() == set()
    world.keep(result(), result(Tool.COMPILE))
    assert world.taken() == set()
    world.seen = usual
    assert world.taken() == {Tool.UNIT_TESTS, Tool.COMPILE}


def test_what_cannot_be_read_was_not_seen(world: World) -> None:
    world.keep(result())
    world.seen.file.write_text("{ damaged")
    assert world.taken() == set()


def test_what_was_changed_meanwhile_is_run_again(world: World, bare: Path) -> None:
    began = time.time_ns()
    write(bare, {"cart.py": "def total(prices):\n    return 0\n"})
    time.sleep(SETTLED)
    world.keep(result(), began=began)
    assert world.taken() == set()


def test_what_a_run_itself_left_is_no_reason_to_run_again_and_what_came_later_is(world: World, bare: Path) -> None:
    began = time.time_ns()
    write(bare, {"build/report.txt": "1\n"})
    world.keep(result(), began=began)
    assert world.taken() == {Tool.UNIT_TESTS}
    rewritten_in_place(bare / "build/report.txt", "2\n")
    assert world.taken() == set()


def test_nor_is_what_a_step_left_that_had_to_run_beside_results_that_were_taken(world: World, bare: Path) -> None:
    world.keep(result(), result(Tool.COMPILE, Status.FAILED))
    again = world.seen.look(world.commands).taken[TESTS]
    began = time.time_ns()
    write(bare, {"build/of-the-compiler": "2\n"})
    world.keep(again, result(Tool.COMPILE, Status.FAILED), began=began)
    assert world.taken() == {Tool.UNIT_TESTS}
    assert world.seen.look(world.commands).taken[TESTS].seen_at == again.seen_at


def verified(root: Path, profile: str, plan: Plan) -> dict[str, tuple[Status, bool]]:
    """How each step ended, and whether it was executed."""
    tools = verifier(root, profile, caches=root.parent / "caches")
    seen = SeenBefore(tools.context, root.parent / "seen.json")
    report = PlanRun(tools, plan, seen=seen).report()
    return {each.step.title: (each.result.status, not each.result.seen_at) for each in report.outcomes}


@pytest.mark.parametrize("language", [pytest.param(one, id=one.name) for one in LANGUAGES])
def test_an_unchanged_tree_is_not_run_again_and_a_changed_one_is(language: Language, bare: Path) -> None:
    needs(*language.programs)
    committed(bare, {**language.files, **language.repair})
    plan = Plan("mine", (Step(Tool.COMPILE), Step(Tool.UNIT_TESTS)), "asked for")
    time.sleep(SETTLED)
    first = verified(bare, language.profile, plan)
    if {status for status, _ in first.values()} != {Status.PASSED}:
        pytest.skip(f"it does not pass here: {first}")
    assert set(first.values()) == {(Status.PASSED, True)}
    assert set(verified(bare, language.profile, plan).values()) == {(Status.PASSED, False)}
    write(bare, {"more.txt": "1\n"})
    assert set(verified(bare, language.profile, plan).values()) == {(Status.PASSED, True)}


def test_a_failing_suite_is_run_again(bare: Path) -> None:
    committed(bare, PYTHON.files)
    plan = Plan("mine", (Step(Tool.COMPILE), Step(Tool.UNIT_TESTS)), "asked for")
    time.sleep(SETTLED)
    verified(bare, "python", plan)
    assert verified(bare, "python", plan) == {
        "run_compile": (Status.PASSED, False),
        "run_unit_tests": (Status.FAILED, True),
    }
