"""What a command loads before its own work: modules and patterns, each held to a budget that only goes down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.cli.main import COMMANDS
from tests.cli.conftest import Finished, story
from tests.cli.program import SOURCE, repository

MEASURE = """
import json, re._compiler, sys
patterns, compiled = 0, re._compiler.compile
def counting(pattern, flags=0):
    global patterns
    patterns += 1
    return compiled(pattern, flags)
re._compiler.compile, before = counting, len(sys.modules)
from agent_fox.cli.main import run
run(sys.argv[1:])
ours = {name for name in sys.modules if name.partition(".")[0] == "agent_fox"}
rooms = {name for name in ours if hasattr(sys.modules[name], "__path__")}
found = [len(ours - rooms), len(sys.modules) - len(rooms) - before, patterns, sorted(sys.modules)]
print(json.dumps(found), file=sys.stderr)
"""
LIGHTEST = 0.8
"""A command that loads less than this part of its budget for own modules has got lighter: its budget goes down."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a command may load: modules of ours, all modules, and patterns that it compiles. Rooms hold no code."""

    where: str
    arguments: str
    own: int
    modules: int
    patterns: int


STARTS = (
    Start("fresh", "plan", 57, 217, 77),
    Start("finished", "plan", 81, 246, 77),
    Start("fresh", "run --dry-run", 118, 303, 78),
    Start("finished", "run --dry-run", 115, 303, 78),
    Start("fresh", "run --help", 10, 83, 22),
    Start("fresh", "verify --help", 9, 79, 22),
    Start("finished", "explain 01_calc:1", 51, 205, 31),
    Start("finished", "trace 01_calc:1", 41, 182, 25),
    Start("fresh", "replay-from --help", 21, 94, 21),
    Start("finished", "status", 39, 122, 22),
    Start("fresh", "lint", 61, 241, 99),
    Start("fresh", "parse-log --tool pytest README.md", 40, 132, 38),
    Start("fresh", "gate --help", 13, 87, 22),
    Start("finished", "waive --list", 45, 211, 31),
    Start("finished", "ledger show", 26, 95, 17),
    Start("finished", "ledger verify", 57, 213, 28),
    Start("finished", "library list", 33, 188, 26),
    Start("finished", "logs 01_calc:1", 35, 105, 19),
    Start("finished", "reset --help", 20, 97, 22),
    Start("finished", "doctor", 98, 289, 84),
    Start("finished", "issues list", 24, 92, 17),
    Start("fresh", "keys list", 12, 80, 18),
    Start("empty", "init", 39, 215, 34),
    Start("fresh", "mcp --help", 27, 190, 31),
    Start("finished", "review tasks", 53, 216, 32),
    Start("fresh", "replay --help", 9, 107, 29),
    Start("fresh", "hook --help", 18, 172, 31),
    Start("fresh", "completion bash", 9, 82, 19),
    Start("fresh", "--help", 8, 78, 22),
    Start("fresh", "--version", 9, 130, 38),
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, finished: Finished) -> dict[str, Path]:
    """A repository for each `where`, and a home whose plugins are remembered already."""
    empty = repository(tmp_path_factory.mktemp("empty"))
    fresh = story().build(tmp_path_factory.mktemp("fresh") / "world")
    found = {"empty": empty, "fresh": fresh, "finished": finished.root, "home": tmp_path_factory.mktemp("home")}
    (found["home"] / ".cache").mkdir()
    measure(found, "fresh", "plan")
    return found


def measure(places: dict[str, Path], where: str, arguments: str) -> tuple[int, int, int]:
    """Modules of ours, all modules, patterns."""
    own, modules, patterns, _ = _measured(places[where], places["home"], arguments)
    return own, modules, patterns


def loaded(places: dict[str, Path], where: str, arguments: str) -> set[str]:
    return set(_measured(places[where], places["home"], arguments)[3])


def _measured(folder: Path, home: Path, arguments: str) -> tuple[int, int, int, list[str]]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(SOURCE)}
    argv = [sys.executable, "-P", "-c", MEASURE, *arguments.split()]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    own, modules, patterns, names = json.loads(done.stderr.splitlines()[-1])
    return own, modules, patterns, names


@pytest.mark.parametrize("start", STARTS, ids=lambda start: f"{start.arguments} ({start.where})")
def test_a_command_loads_no_more_than_its_budget(places: dict[str, Path], start: Start) -> None:
    own, modules, patterns = measure(places, start.where, start.arguments)
    assert own <= start.own, "table by name, late_module, or an import where it is used: docs/adr/0041"
    assert modules <= start.modules
    assert patterns <= start.patterns
    assert own >= start.own * LIGHTEST, f"it loads {own} modules of ours by now: lower its budget"


@pytest.mark.parametrize(
    ("arguments", "needless"),
    [
        ("--help", {"pydantic", "rich", "sqlite3", "sqlite_utils", "github", "tenacity", "agent_fox.config"}),
        (
            "plan",
            {
                "rich",
                "importlib.metadata",
                "github",
                "sqlite_utils",
                "agent_fox.engine.running.run",
                "agent_fox.engine.record.docket",
            },
        ),
        (
            "lint",
            {"rich", "github", "sqlite_utils", "agent_fox.engine.running.run", "agent_fox.verifier.running.guarded"},
        ),
    ],
)
def test_what_takes_long_to_load_is_not_loaded_where_nobody_needs_it(
    places: dict[str, Path], arguments: str, needless: set[str]
) -> None:
    assert not loaded(places, "fresh", arguments) & needless


def test_the_help_loads_no_command(places: dict[str, Path]) -> None:
    assert not loaded(places, "fresh", "--help") & {entry.module for entry in COMMANDS.values()}
