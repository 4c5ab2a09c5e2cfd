"""The judge `memory`: the pre-reading of what once failed. Runs single tests by the runner of `checks`, for seconds.

As a process: `python -m agent_fox.verifier.judging.remembered ORDER.json` prints the answer, one JSON document, on
standard output and exits 0; it exits 1 where the order can't be read. A test that fails fails its requirement; one that
passes says nothing of it; one that is not there any more is told, and is no failure.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.memory import Ending, ReadItem
from agent_fox.core.values import dataclass, to_object
from agent_fox.core.verdicts.verdict import Disposition, Word
from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.ground.cases import SHOWN, Case, Outcome
from agent_fox.verifier.ground.command_line import CommandRefused, split_command
from agent_fox.verifier.judging.memory_order import KEY, ORDER, Asked, MemoryOrder
from agent_fox.verifier.judging.reruns import MOST_FAILING, Suspects, retried
from agent_fox.verifier.running.commands import Ground
from agent_fox.verifier.suites.calls import call_of
from agent_fox.verifier.suites.evidence_text import evidence_of, evidence_of_broken, first_error, headed
from agent_fox.verifier.suites.evidence_text import first_error_of_broken as error_of_broken
from agent_fox.verifier.suites.running_suites import run_tests
from agent_fox.verifier.suites.suite import SuiteRun

if TYPE_CHECKING:
    from types import FrameType

    from agent_fox.core.verdicts.verdict import RunTest

MOST_SEARCHED = 2_000
LARGEST_SEARCHED = 1_000_000
"""How many files, of how many bytes each, are searched for a test that is not in its file any more."""

_SIDES = "agent_fox.verifier.proof.sides"


@dataclass(frozen=True, slots=True)
class Seen:
    """An item with what its run shows: the failing case of it, or why there is none."""

    asked: Asked
    read: ReadItem
    run: SuiteRun | None = None
    case: Case | None = None
    evidence: str = ""
    error: str = ""


def read_items(order: MemoryOrder) -> tuple[Seen, ...]:
    """Run the items, the tests of one command line together. Raises nothing for what the commands do."""
    workspace = Path(order.order.workspace)
    with own_folder("memory") as private:
        own = replace(order.order, timeout=min(order.order.timeout, order.seconds))
        ground = Ground(own, workspace, Path(private))
        bench = Bench(ground, time.monotonic() + order.seconds)
        placed = [(asked, place(asked, workspace)) for asked in order.items]
        by_line: dict[str, list[tuple[Asked, RunTest]]] = {}
        for asked, test in placed:
            if test is not None:
                by_line.setdefault(asked.test.line, []).append((asked, test))
        seen = {each.asked.id: each for line, items in by_line.items() for each in bench.read(line, items)}
    return tuple(seen.get(asked.id) or lost(asked, "its test is in no file of the tree") for asked, _ in placed)


def place(asked: Asked, workspace: Path) -> RunTest | None:
    """Where the test stands now: in its file, else in the only other file that has a test of that name; None where it
    is nowhere. What names no file is looked for by its tool."""
    test = asked.test
    if not test.file or _has(workspace / test.file, test):
        return test
    files: frozenset[str] = import_module(_SIDES).files_of(workspace)
    ending = PurePosixPath(test.file).suffix
    others = sorted(path for path in files if path.endswith(ending) and path != test.file)[:MOST_SEARCHED]
    places = [path for path in others if _has(workspace / path, test)]
    return replace(test, file=places[0]) if len(places) == 1 else None


def _has(path: Path, test: RunTest) -> bool:
    """Whether a file has the name of a test, and of the classes around it that are no path of the file."""
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST_SEARCHED:
            return False
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return Case(test.classes, test.name, test.file).function in text


@dataclass(frozen=True)
class Bench:
    """Where items are run, and until when."""

    ground: Ground
    until: float

    @property
    def left(self) -> float:
        return self.until - time.monotonic()

    def read(self, line: str, items: Sequence[tuple[Asked, RunTest]]) -> Iterator[Seen]:
        """All items of a command line in one run. Where that names tests that are not there, nothing of it ran: the
        others are run without them."""
        run = self.run(line, items)
        gone = [(asked, test) for asked, test in items if is_named_absent(test, run)]
        left = [each for each in items if each not in gone]
        if gone and left:
            run = self.run(line, left)
        yield from (lost(asked, "its command ran, and has no such test any more") for asked, _ in gone)
        yield from (shown(asked, test, run) for asked, test in left)

    def run(self, line: str, items: Sequence[tuple[Asked, RunTest]]) -> SuiteRun | None:
        """The tests of these items alone, of which those that fail were run again; None where time is up, or nobody can
        name tests to the tool."""
        if self.left <= 0:
            return None
        name = f"{items[0][0].id}-{len(items)}"
        try:
            command = split_command(line)
        except CommandRefused:
            return None
        whole = SuiteRun(line, command, call_of(command.argv, self.ground.workspace))
        tests = list(dict.fromkeys(case_of(test) for _, test in items))
        run = run_tests(whole, tests, self.ground, name, self.left)
        return None if run is None else self.again(replace(run, line=line), name)

    def again(self, run: SuiteRun, name: str) -> SuiteRun:
        """The run in which a failure counts that was seen again: chance is none. A few at a time are run again."""
        failed = [case for case in run.cases if case.outcome is Outcome.FAILED]
        for at in range(0, len(failed), MOST_FAILING):
            if self.left > 0:
                suspects = Suspects(tuple(failed[at : at + MOST_FAILING]), ())
                run = retried(run, suspects, self.ground, f"{name}-{at}")
        return run


def case_of(test: RunTest) -> Case:
    return Case(test.classes, test.name, test.file)


def shown(asked: Asked, test: RunTest, run: SuiteRun | None) -> Seen:
    """What a run shows of one item."""
    if run is None:
        return unread(asked, "there was no time left for it, or its command cannot run single tests")
    file = test.file if test.file != asked.test.file else ""
    case = next((case for case in run.cases if is_same(case, test)), None)
    broken = next((each for each in run.broken if each.file == test.file and each.file), None)
    if case is not None and case.outcome is Outcome.FAILED:
        error = first_error(case)
        return Seen(
            asked, ReadItem(asked.id, Ending.FAILED, asked.is_touched, file), run, case,
            headed(run, error, evidence_of([case])), error,
        )  # fmt: skip
    if case is not None and case.outcome in SHOWN:
        note = "failed, and passed its reruns" if case.outcome is Outcome.FLAKY else ""
        return Seen(asked, ReadItem(asked.id, Ending.PASSED, asked.is_touched, file, note), run, case)
    if case is not None:
        return unread(asked, f"its test was not run: {case.outcome}")
    if broken is not None:
        error = error_of_broken(broken)
        return Seen(
            asked, ReadItem(asked.id, Ending.FAILED, asked.is_touched, file), run, None,
            headed(run, error, evidence_of_broken(broken)), error,
        )  # fmt: skip
    if run.unattempted is not None or any(not each.is_absent for each in run.broken):
        return unread(asked, run.unattempted.reason if run.unattempted else run.broken[0].what)
    return lost(asked, "its command ran, and has no such test any more")


def is_same(case: Case, test: RunTest) -> bool:
    """Whether a case is the test. A file that moved is a package by another name, where the tool has packages."""
    if (case.file, case.name) != (test.file, test.name):
        return False
    return case.classes == test.classes or case.id == case_of(test).id or test.classes[:1] != case.classes[:1]


def is_named_absent(test: RunTest, run: SuiteRun | None) -> bool:
    """Whether a run says of a test that it is not there."""
    name = case_of(test).id.partition("[")[0]
    words = " ".join(each.what for each in run.broken if each.is_absent) if run is not None else ""
    return any(word.endswith(name) for word in words.split(" and ") for word in word.split(" is not there"))


def lost(asked: Asked, why: str) -> Seen:
    return Seen(asked, ReadItem(asked.id, Ending.LOST, asked.is_touched, note=why))


def unread(asked: Asked, why: str) -> Seen:
    return Seen(asked, ReadItem(asked.id, Ending.UNREAD, asked.is_touched, note=why))


def answer(order: MemoryOrder) -> dict[str, object]:
    """The answer of a verifier about the requirements whose items fail or could not be read, and what came of each
    item."""
    seen = read_items(order)
    by_part: dict[str, list[Seen]] = {}
    for each in seen:
        by_part.setdefault(each.asked.requirement, []).append(each)
    rows = [row for requirement, own in by_part.items() if (row := row_of(requirement, own))]
    counts = ", ".join(f"{sum(each.read.ending is ending for each in seen)} {ending}" for ending in Ending)
    return {
        "verdicts": rows,
        "overall_verdict": Word.FAIL.value if any(row["verdict"] == Word.FAIL for row in rows) else Word.UNKNOWN.value,
        "summary": f"regression memory: {counts}" + (f", {order.left_out} left out" if order.left_out else ""),
        KEY: [to_object(each.read) for each in seen],
    }


def row_of(requirement: str, seen: Sequence[Seen]) -> dict[str, object] | None:
    """What the items of a requirement say of it: FAIL by the first that fails, UNKNOWN where one could not be read,
    else nothing."""
    failed = [each for each in seen if each.read.ending is Ending.FAILED]
    if failed:
        return failing_row(requirement, failed)
    kept = [each for each in seen if each.read.ending is Ending.UNREAD]
    if not kept:
        return None
    return {
        "requirement_id": requirement, "verdict": Word.UNKNOWN.value, "disposition": Disposition.ENVIRONMENT.value,
        "evidence": "\n".join(f"{each.asked.words}\nnot read: {each.read.note}" for each in kept),
    }  # fmt: skip


def failing_row(requirement: str, failed: Sequence[Seen]) -> dict[str, object]:
    """One row for what fails: the cause is that of the first item, so that it joins the issue which that belongs to."""
    first = next((each for each in failed if each.asked.is_regression), failed[0])
    others = [f"also: {each.asked.words}" for each in failed if each is not first]
    word = Disposition.REGRESSION_DETECTED if first.asked.is_regression else Disposition.REPAIRABLE
    tests = [each.asked.test for each in failed]
    run = first.run
    return {
        "requirement_id": requirement, "verdict": Word.FAIL.value, "disposition": word.value,
        "evidence": "\n".join([first.asked.words, first.evidence, *others]),
        "check": first.asked.test.line,
        "command": run.reproduction([first.case]) if run and first.case else first.asked.test.line,
        "first_error": first.asked.first_error or first.error,
        "failing_tests": len(failed),
        "ran": [to_object(test) for test in tests],
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    """Read the order in the file named by the only argument; print the answer."""
    signal.signal(signal.SIGTERM, end_process)
    try:
        (path,) = arguments
        order = ORDER.validate_json(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"memory: the order cannot be read: {error}\n")
        return 1
    json.dump(answer(order), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def end_process(number: int, frame: FrameType | None) -> None:
    """Asked to end: leave through every `finally`, so that the command's process group ends too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
