"""Running one test command: with the report it is asked for, again where it hangs, some of its tests alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.system.sandbox.bubblewrap import is_used
from agent_fox.verifier.ground.command_line import Command, CommandRefused, expanded, split_command
from agent_fox.verifier.running.commands import Bounds, Ended, Ground, Place
from agent_fox.verifier.running.output import Live
from agent_fox.verifier.suites.asking import with_report, with_tests
from agent_fox.verifier.suites.builds import own_cache
from agent_fox.verifier.suites.calls import Call, call_of
from agent_fox.verifier.suites.controls import with_controls
from agent_fox.verifier.suites.suite import SuiteRun, Unattempted
from agent_fox.verifier.suites.suite_reading import OWN_REPORT, Attempt, read_attempt

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.ground.order import CheckOrder

_BUILD_REPORTS = {
    "maven": ("**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"),
    "gradle": ("**/build/test-results/**/TEST-*.xml",),
}
FIRST = "-first"
_KEEPING = "agent_fox.verifier.artifacts.kept_logs"
_HOLDING = "agent_fox.verifier.proof.held"
REPORTERS = Path(__file__).parents[1] / "reporters"
_JOINED = {"PYTHONPATH": os.pathsep, "NODE_OPTIONS": " "}


def run_suite(line: str, ground: Ground, name: str) -> SuiteRun:
    """Run one command line; `name` is unique among the runs of one verification.

    Never raises for what the command does. One that ran into its time limit is run again: a hang must repeat.
    """
    try:
        command = split_command(line)
    except CommandRefused as error:
        return SuiteRun(line, unattempted=Unattempted(str(error), Disposition.ENVIRONMENT))
    call = call_of(command.argv, ground.workspace)
    first = attempt_of(command, call, ground, f"{name}{FIRST}", ground.order.timeout)
    if not first.ended.is_timed_out:
        return read_attempt(first)
    return read_attempt(attempt_of(command, call, ground, f"{name}-second", ground.order.timeout))


def run_tests(run: SuiteRun, tests: Sequence[Case], ground: Ground, name: str, timeout: float) -> SuiteRun | None:
    """Run some tests of a run alone; None where the tool's tests can't be named. A time-out here is no hang yet."""
    selected = with_tests(run.call, tests) if run.call else None
    if run.command is None or selected is None:
        return None
    return read_attempt(attempt_of(run.command, selected, ground, name, timeout))


def run_again(run: SuiteRun, ground: Ground, name: str) -> SuiteRun | None:
    """Run the whole command of a run once more."""
    if run.command is None:
        return None
    return read_attempt(attempt_of(run.command, run.call, ground, name, ground.order.timeout))


def attempt_of(command: Command, call: Call | None, ground: Ground, name: str, timeout: float) -> Attempt:
    private = ground.folder(name)
    globs = (*ground.order.reports, *_BUILD_REPORTS.get(call.tool if call else "", ()))
    own, live = private / OWN_REPORT, Live(Path(ground.order.live)) if ground.order.live else None
    place = Place(ground.workspace, private, live)
    asked, controls = (
        with_controls(with_report(call, own), private / "controls", ground.workspace) if call else (None, None)
    )
    before = _stamps(ground.workspace, globs)
    if live is not None:
        live.write(f"$ {shlex.join(command.argv)}{'' if name.endswith(FIRST) else ' (again)'}\n".encode())
    argv = asked.argv if asked else command.argv
    with own_cache(call, ground, private) as caches:
        variables = _variables(command, asked, ground, caches)
        started = time_ns()
        ended = ground.launch(expanded(argv, ground.workspace), place, variables, timeout, _bounds(ground), ground.stop)
    written = [path for path, stamp in _stamps(ground.workspace, globs).items() if before.get(path) != stamp]
    reports = ([own] if own.is_file() and not own.is_symlink() else []) + sorted(written)
    kept = _kept(ground.order, place.log, name, ended)
    return Attempt(command, call, ended, tuple(reports), timeout, place.log, ground.workspace, started, kept, controls)


def _bounds(ground: Ground) -> Bounds:
    order = ground.order
    lent = (*(Path(folder) for folder in order.readable), *ground.also)
    own = Bounds(order.sandbox, order.network, order.memory, order.processes, (*lent, REPORTERS))
    if order.network or not is_used(order.sandbox):
        return own  # it may install; and outside of a sandbox nothing is held
    held: tuple[Path, ...] = import_module(_HOLDING).held(ground.workspace)
    emptied: tuple[Path, ...] = import_module(_HOLDING).emptied((*held, *lent))
    return replace(own, kept=held, emptied=emptied)


def _variables(command: Command, asked: Call | None, ground: Ground, caches: Mapping[str, str]) -> Mapping[str, str]:
    added = {**toolchain(asked.tool), **caches, **asked.variables} if asked else {}
    return joined(added, {**ground.order.environment, **command.variables})


def joined(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """What they set counts over what we set; but a path or options of ours stand before theirs."""
    both = {
        name: between.join([ours[name], theirs[name]])
        for name, between in _JOINED.items()
        if {name} <= ours.keys() & theirs.keys()
    }
    return {**ours, **theirs, **both}


def _stamps(workspace: Path, globs: Iterable[str]) -> dict[Path, tuple[int, int, int]]:
    """Report files as they stand: a file that was there before and did not change is not of this run."""
    paths = {path for pattern in globs for path in workspace.glob(pattern) if path.is_file() and not path.is_symlink()}
    return {path: (s.st_ino, s.st_size, s.st_ctime_ns) for path in paths for s in [path.stat()]}


def _kept(order: CheckOrder, log: Path, name: str, ended: Ended) -> str:
    """The name of the log as an artifact, empty if the order keeps none."""
    if not order.artifacts or ended.not_started:
        return ""
    keep: Callable[[CheckOrder, Path, str], str] = import_module(_KEEPING).keep_log
    return keep(order, log, name)


def toolchain(tool: str) -> dict[str, str]:
    """Variables for a tool. None of them leads to a folder with credentials."""
    if tool == "cargo" or tool == "rustc":
        rustup = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
        return {"CARGO_TERM_COLOR": "never", **({"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {})}
    if tool == "go":
        return {"GOFLAGS": "-modcacherw"}
    return {}
