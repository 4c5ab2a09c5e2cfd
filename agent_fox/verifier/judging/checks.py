"""The verifier without a model: runs a spec's tests and says, for each requirement, what they show.

As a process: `python -m agent_fox.verifier.judging.checks ORDER.json` prints the answer, one JSON document, on
standard output and exits 0; it exits 1 where the order can't be read.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from agent_fox.core.values import dataclass, to_document, to_object
from agent_fox.core.verdicts.answer import MOST_TESTS
from agent_fox.core.verdicts.hidden import COMMAND
from agent_fox.core.verdicts.verdict import Disposition, Verdict, Word
from agent_fox.system import git
from agent_fox.system.git import GitError
from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.ground.command_line import suites
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual, OrderError, read_order
from agent_fox.verifier.ground.sources import Source, read_source
from agent_fox.verifier.judging.reruns import check_fails_on_base, fails_on_base, retried
from agent_fox.verifier.judging.verdicts import Bench, Finding
from agent_fox.verifier.running.commands import Ground
from agent_fox.verifier.running.output import Live
from agent_fox.verifier.source.base_tree import base_tree
from agent_fox.verifier.suites.evidence_text import capped
from agent_fox.verifier.suites.mapping import Ownership
from agent_fox.verifier.suites.running_suites import run_suite
from agent_fox.verifier.suites.suite import Retried, SuiteRun, Unattempted

if TYPE_CHECKING:
    from agent_fox.core.retry.replay import Finding as Began

_NO_COMMAND = (
    "the spec names no test command, and no build system here has tests that are known; "
    "add its Test Commands, or [verify] commands to the configuration"
)

TRYING = b"--- the tests have run; now it is tried whether they can fail, in copies of the code\n"

# Loaded where they are needed: they cost the start.
_LIST = "agent_fox.verifier.dispositions.flaky"
_PROOF = "agent_fox.verifier.proof.weighing"
_ONSETS = "agent_fox.verifier.proof.onsets"
_SIDES = "agent_fox.verifier.proof.sides"
_WARM = "agent_fox.verifier.proof.warm"
_HIDDEN = "agent_fox.verifier.proof.hidden_checks"
_PLAN = "agent_fox.verifier.running.planned_commands"
_UNWRITABLE = "agent_fox.verifier.proof.unwritable"
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a verification found: one finding for each expected id, the runs they rest on, and where what fails began to
    fail.
    """

    findings: tuple[Finding, ...]
    runs: tuple[SuiteRun, ...]
    onsets: tuple[Began, ...] = ()

    @property
    def verdicts(self) -> list[Verdict]:
        return [finding.verdict for finding in self.findings]

    @property
    def overall(self) -> Word:
        """FAIL if anything fails, PASS if there is something and all of it passes, else UNKNOWN."""
        words = {verdict.word for verdict in self.verdicts}
        if Word.FAIL in words:
            return Word.FAIL
        return Word.PASS if words == {Word.PASS} else Word.UNKNOWN


def run_checks(order: CheckOrder) -> CheckReport:
    """Run the order's test commands and judge every expected id. Raises nothing for what the commands do.

    Failing tests that an id rests on are run again before they are believed.
    """
    order = replace(order, flaky=(*order.flaky, *_listed(order)))
    with own_folder("checks") as private:
        ground = _ground(order, Path(private))
        with _warm(ground) as warm:
            runs = _older(order, _rerun(order, _runs(order, ground), ground), ground)
            bench = _bench(order, runs)
            findings = _hidden(order, Path(private), bench, _writable(ground, _proven(ground, bench, warm)))
            onsets = onsets_of(ground, bench, findings)
    if order.flaky_file and any(again.is_proof for run in runs for again in run.reruns):
        import_module(_LIST).add_proven(Path(order.flaky_file), order.commit, runs)
    return CheckReport(findings, runs, onsets)


def onsets_of(ground: Ground, bench: Bench, findings: tuple[Finding, ...]) -> tuple[Began, ...]:
    if not ground.order.trail or ground.order.only:
        return ()
    searched: tuple[Began, ...] = import_module(_ONSETS).findings(ground, bench, findings)
    return searched


def _ground(order: CheckOrder, private: Path) -> Ground:
    """Where the commands run, with what is there before, for copies in which trials are made."""
    ground = Ground(order, Path(order.workspace), private)
    if order.counterfactual is Counterfactual.OFF:
        return ground
    sides = import_module(_SIDES)
    files: frozenset[str] = sides.files_of(ground.workspace)
    return replace(ground, was_there=files, stamps=sides.stamps_of_tests(ground.workspace, files))


def _lines(order: CheckOrder, workspace: Path) -> tuple[str, ...]:
    return order.configured or suites(order.commands) or _planned(workspace)


def _warm(ground: Ground) -> AbstractContextManager[object]:
    """A start that the trials of the first command may share, begun beside the reading."""
    lines = _lines(ground.order, ground.workspace)
    if ground.order.counterfactual is Counterfactual.OFF or not lines:
        return nullcontext()
    prepared: AbstractContextManager[object] = import_module(_WARM).prepared(ground, lines[0])
    return prepared


def bench_on(ground: Ground) -> Bench:
    """What the order's tests show on a ground, of which those that failed were run once more. Nothing is weighed."""
    order = ground.order
    return _bench(order, _rerun(order, _runs(order, ground), ground))


def _proven(ground: Ground, bench: Bench, warm: object) -> tuple[Finding, ...]:
    """The findings, of which those that pass by tests count only as far as these tests can fail."""
    order, findings = ground.order, bench.findings()
    if order.counterfactual is Counterfactual.OFF:
        return findings
    if order.live:  # trials print what nobody can follow: tests that are to fail, many at once
        Live(Path(order.live)).write(TRYING)
    quiet = replace(ground, order=replace(order, live=""))
    weighed: tuple[Finding, ...] = import_module(_PROOF).weighed(quiet, bench, findings, warm)
    return weighed


def _writable(ground: Ground, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, of which none fails for want of a place that its tests may write."""
    if all(finding.verdict.word is not Word.FAIL for finding in findings):
        return findings
    excused: tuple[Finding, ...] = import_module(_UNWRITABLE).excused(ground, findings)
    return excused


def _hidden(order: CheckOrder, private: Path, bench: Bench, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings with what checks say that no coder sees, where there are any."""
    if not order.hidden:
        return findings
    judged: tuple[Finding, ...] = import_module(_HIDDEN).judged(order, private, bench, findings, run_checks)
    return judged


def _listed(order: CheckOrder) -> tuple[str, ...]:
    """The tests on the list of flaky tests, where there is one."""
    if not (order.flaky_file and Path(order.flaky_file).is_file()):
        return ()
    names: tuple[str, ...] = import_module(_LIST).listed(Path(order.flaky_file))
    return names


def answer(report: CheckReport) -> dict[str, Any]:
    """The report as the JSON document that verifiers answer with, and beside it the runs."""
    counts = {word: sum(v.word is word for v in report.verdicts) for word in Word}
    return {
        "verdicts": [_row(finding) for finding in report.findings],
        "overall_verdict": report.overall.value,
        "summary": ", ".join(f"{count} {word.value}" for word, count in counts.items()) + _unprotected(report),
        "runs": [_run_row(run) for run in report.runs],
        **({"onsets": to_document(report.onsets)} if report.onsets else {}),
    }


def _unprotected(report: CheckReport) -> str:
    """Said loudly: that commands of the repository ran with nothing between them and the machine."""
    words = sorted({run.isolation for run in report.runs if run.isolation.startswith("none")})
    return f"; isolation: {words[0]}" if words else ""


def main(arguments: list[str]) -> int:
    """Run the order in the file named by the only argument; print the answer."""
    signal.signal(signal.SIGTERM, _end)
    if len(arguments) != 1:
        return _complain("usage: python -m agent_fox.verifier.judging.checks ORDER.json")
    try:
        order = read_order(Path(arguments[0]).read_bytes())
    except (OSError, OrderError) as error:
        return _complain(f"{arguments[0]}: {error}")
    with git.serving(Path(order.repository)):
        document = answer(run_checks(order))
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def _runs(order: CheckOrder, ground: Ground) -> tuple[SuiteRun, ...]:
    """All configured commands; or the spec's suites, else the project's own tests, until nothing is left untested."""
    if not ground.workspace.is_dir():
        return (_nothing_ran(f"the workspace {order.workspace} is not there"),)
    runs: list[SuiteRun] = []
    for number, line in enumerate(_lines(order, ground.workspace)):
        runs.append(_only(order, run_suite(line, ground, str(number))))
        if not order.configured and _is_enough(order, runs):
            break
    return tuple(runs) or (_nothing_ran(_NO_COMMAND),)


def _only(order: CheckOrder, run: SuiteRun) -> SuiteRun:
    """The run with those of its tests that count."""
    return replace(run, cases=tuple(case for case in run.cases if case.file in order.only)) if order.only else run


def _planned(workspace: Path) -> tuple[str, ...]:
    """The commands that run all tests of the project, found by its manifests where none is configured."""
    lines: tuple[str, ...] = import_module(_PLAN).planned_lines(workspace)
    return lines


def _rerun(order: CheckOrder, runs: tuple[SuiteRun, ...], ground: Ground) -> tuple[SuiteRun, ...]:
    """The runs with the outcomes that count after failing tests were run again on the same tree."""
    bench = _bench(order, runs)
    return tuple(retried(run, bench.suspects(run), ground, str(number)) for number, run in enumerate(runs))


def _older(order: CheckOrder, runs: tuple[SuiteRun, ...], ground: Ground) -> tuple[SuiteRun, ...]:
    """The runs with the record of what fails on the base tree too, as far as that could excuse anything."""
    bench = _bench(order, runs)
    if not any(run.kept_back is not None or bench.foreign_failures(run) for run in runs):
        return runs
    with _base(order, ground) as base:
        if base is None:
            return runs
        return tuple(_with_base(run, bench, base, f"{number}-base") for number, run in enumerate(runs))


@contextmanager
def _base(order: CheckOrder, ground: Ground) -> Iterator[Ground | None]:
    """The base tree to run in, made now where the order says of what; None where there is none to be had."""
    if order.base:
        yield replace(ground, workspace=Path(order.base)) if Path(order.base).is_dir() else None
    elif not order.base_commit:
        yield None
    else:
        with ExitStack() as stack:
            made = base_tree(Path(order.repository), order.base_commit, ground.workspace, order.brought)
            with suppress(GitError):
                tree = stack.enter_context(made)
                ground = replace(ground, workspace=tree.folder, also=(*ground.also, *tree.lent))
            yield ground if ground.workspace != Path(order.workspace) else None


def _with_base(run: SuiteRun, bench: Bench, base: Ground, name: str) -> SuiteRun:
    if run.kept_back is not None:
        whole = check_fails_on_base(run, base, name)
        return replace(run, reruns=(*run.reruns, whole)) if whole else run
    tests = bench.foreign_failures(run)
    return replace(run, reruns=(*run.reruns, *fails_on_base(run, tests, base, name))) if tests else run


def _is_enough(order: CheckOrder, runs: list[SuiteRun]) -> bool:
    if order.only:
        return bool(runs[-1].cases)
    return bool(runs[-1].broken) or _bench(order, tuple(runs)).is_settled()


def _bench(order: CheckOrder, runs: tuple[SuiteRun, ...]) -> Bench:
    return Bench(order, runs, _sources(order, runs))


def _sources(order: CheckOrder, runs: Iterable[SuiteRun]) -> dict[str, Source]:
    """The test files that reports and claims name, as they stand in the workspace."""
    paths = set(Ownership(order).claimed_files())
    for run in runs:
        paths |= {case.file for case in run.cases} | {broken.file for broken in run.broken}
    sources = (read_source(Path(order.workspace), path) for path in sorted(paths - {""}))
    return {source.path: source for source in sources if source is not None}


def _nothing_ran(reason: str) -> SuiteRun:
    return SuiteRun("", unattempted=Unattempted(reason, Disposition.ENVIRONMENT))


def _row(finding: Finding) -> dict[str, Any]:
    verdict = finding.verdict
    return {
        "requirement_id": verdict.requirement_id,
        "verdict": verdict.word.value,
        "evidence": verdict.evidence,
        **to_object(finding, only=("command", "check", "exit_code")),
        "first_error": verdict.signal.first_error if verdict.signal else "",
        "failing_tests": verdict.failing_tests,
        "disposition": verdict.disposition.value,
        "disposition_proven": verdict.is_proven,
        **to_object(verdict, only=("needs_person", "how")),
        "expectation": to_document(verdict.expectation),
        "note": verdict.note if verdict.expectation or COMMAND in verdict.note else "",
        "test_files": to_document(verdict.tests),
        "trials": to_document(verdict.trials),
        "rests_on": to_document(verdict.rests_on),
        "ran": [test_row(finding.check, case) for case in finding.cases[:MOST_TESTS]],
        "artifact": finding.run.log if finding.run else "",
    }


def test_row(line: str, case: Case) -> dict[str, Any]:
    return {"line": line, **to_object(case, only=("file", "classes", "name", "id"))}


def _run_row(run: SuiteRun) -> dict[str, Any]:
    return {
        "command": run.line,
        "tool": run.call.tool if run.call else None,
        "exit_code": run.exit_code,
        "seconds": run.seconds,
        "tests": len(run.cases),
        "failing": [case.id for case in run.cases if case.outcome is Outcome.FAILED][:_MOST_NAMED],
        "reruns": [_rerun_row(record) for record in run.reruns],
        "broken": [broken.what for broken in run.broken],
        "not_attempted": run.unattempted.reason if run.unattempted else None,
        "output_tail": capped(run.output[-1_500:]),
        "artifact": run.log,
        "isolation": run.isolation,
    }


def _rerun_row(one: Retried) -> dict[str, Any]:
    return {"test": one.test, "tree": one.rerun.tree.value, "passed": list(one.rerun.outcomes), "note": one.note}


def _end(number: int, frame: FrameType | None) -> None:
    """Asked to end: leave through every `finally`, so that the command's process group ends too."""
    sys.exit(128 + number)


def _complain(what: str) -> int:
    sys.stderr.write(f"checks: {what}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
