"""What the tests that ran say about each requirement: PASS, FAIL or UNKNOWN. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.signals import normalise_line
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Disposition, Signal, Verdict, Word
from agent_fox.verifier.ground.cases import SHOWN, Case, Outcome
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS, RerunTree
from agent_fox.verifier.judging.reruns import Suspects
from agent_fox.verifier.suites.evidence_text import (
    CASES_SHOWN,
    capped,
    evidence_of,
    evidence_of_broken,
    first_error,
    first_error_of_broken,
    headed,
)
from agent_fox.verifier.suites.mapping import Mapped, Ownership

if TYPE_CHECKING:
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.ground.sources import Source
    from agent_fox.verifier.suites.suite import Broken, SuiteRun, Unattempted

_LAST_LINES = 8
_LONGEST_LINE = 100  # characters; all of the last lines fit into the evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, and how to see it again: `command` shows this finding alone, `run` is what it rests on, with
    `cases` of it where they are single tests."""

    verdict: Verdict
    command: str = ""
    run: SuiteRun | None = None
    cases: tuple[Case, ...] = ()

    @property
    def check(self) -> str:
        """The command line that was run."""
        return self.run.line if self.run else ""

    @property
    def exit_code(self) -> int | None:
        return self.run.exit_code if self.run else None


class Bench:
    """Everything that is known after the runs; judges one id after the other."""

    def __init__(self, order: CheckOrder, runs: tuple[SuiteRun, ...], sources: Mapping[str, Source]) -> None:
        self._order = order
        self._runs = runs
        self._sources = sources
        self._ownership = Ownership(order)
        self._run_of = {case: run for run in reversed(runs) for case in run.cases}
        self._mapped = self._ownership.map(self._run_of, sources)

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each expected id, in the order's order."""
        return tuple(self._judge(id, mapped) for id, mapped in self._mapped.items())

    def shown(self, id: str) -> tuple[Case, ...]:
        """The tests that passed and name this id, or are named for it."""
        return tuple(case for case in self._mapped[id].cases if case.outcome in SHOWN)

    def is_untested(self, id: str) -> bool:
        """Whether no test that ran is about this id, nor any test is claimed to be."""
        return not (self._mapped[id].cases or self._mapped[id].claims)

    def tests(self, id: str) -> tuple[Case, ...]:
        """The tests that name this id, or are named for it, however they ended."""
        return self._mapped[id].cases

    def is_broken_about(self, id: str) -> bool:
        """Whether a file that is about this id could not be run at all."""
        return self._broken_about(id) is not None

    def run_of(self, case: Case) -> SuiteRun:
        return self._run_of[case]

    def is_settled(self) -> bool:
        """Whether every id was tested or failed, so that no further command could say more."""
        return all(_failed(mapped) or _is_tested(mapped) for mapped in self._mapped.values())

    def suspects(self, run: SuiteRun) -> Suspects:
        """The tests of a run that some id rests on and that are to be run again before they are believed."""
        mine = dict.fromkeys(case for mapped in self._mapped.values() for case in _every(mapped))
        here = [case for case in mine if self._run_of[case] is run]
        listed = (case for case in here if case.outcome is Outcome.PASSED and case.id in self._order.flaky)
        return Suspects(tuple(case for case in here if case.outcome is Outcome.FAILED), tuple(listed))

    def foreign_failures(self, run: SuiteRun) -> tuple[Case, ...]:
        """Failing tests of a run that hold back an id whose own tests pass."""
        failing = {case for case in self._run_of if case.outcome is Outcome.FAILED}
        held = [mapped for mapped in self._mapped.values() if _is_tested(mapped) and failing.isdisjoint(mapped.cases)]
        failed = dict.fromkeys(case for mapped in held for case in _failed(mapped))
        return tuple(case for case in failed if self._run_of[case] is run)

    def _judge(self, id: str, mapped: Mapped) -> Finding:
        failed = [case for case in _failed(mapped) if not self._is_older(case, mapped)]
        if failed:
            return self._fail(id, failed)
        broken = self._broken_about(id)
        if broken is None and _is_tested(mapped):
            return self._tested(id, mapped)
        return self._undecided(id, mapped, broken)

    def _is_older(self, case: Case, mapped: Mapped) -> bool:
        """Whether the base tree has the failure too. A requirement's own tests have no such excuse."""
        return case not in mapped.cases and failed_on_base(self._run_of[case], case.id)

    def _tested(self, id: str, mapped: Mapped) -> Finding:
        """Its tests passed, which counts where no other command failed: a check that can't run proves nothing."""
        older: list[str] = []
        for run in self._runs:
            if run.kept_back is not None and not failed_on_base(run, ""):
                return self._fail_by_broken(id, run, run.kept_back)
            older += [f"`{run.line}`: {run.kept_back.what}"] if run.kept_back is not None else []
        for run in self._runs:
            if run.unattempted is not None and not run.unattempted.is_silent_pass:
                return _unknown(id, run, run.unattempted)
        return self._excused(id, mapped, older) or self._pass(id, mapped)

    def _excused(self, id: str, mapped: Mapped, older: list[str]) -> Finding | None:
        """Something failed and does not count against it: shown as the failure it is, with the proof."""
        flaky = [case for case in mapped.cases if case.outcome is Outcome.FLAKY]
        if flaky:
            count = f"{PROOF_RUNS} of {PROOF_RUNS}"
            why = f"failed, and passed {count} reruns on the same tree: {', '.join(case.id for case in flaky)}"
            finding = self._fail(id, flaky)
            return _proven(finding, Disposition.FLAKY, why)
        tests = [case for case in _failed(mapped) if self._is_older(case, mapped)]
        if not (tests or older):
            return None
        finding = self._fail(id, tests) if tests else self._pass(id, mapped)
        why = f"fails on the base tree too: {', '.join([*(case.id for case in tests), *older])}"
        return _proven(finding, Disposition.PRE_EXISTING, why)

    def _undecided(self, id: str, mapped: Mapped, broken: tuple[SuiteRun, Broken] | None) -> Finding:
        """Not tested, or not wholly: what kept it back decides."""
        obstacle = broken or next(self._all_broken(), None)
        if obstacle is not None:
            return self._fail_by_broken(id, *obstacle)
        for run in self._runs:
            if run.unattempted is not None and not self._counts_as_passed(run.unattempted):
                return _unknown(id, run, run.unattempted)
        if mapped.absent:
            return self._fail_absent(id, mapped)
        return self._untested(id, mapped)

    def _counts_as_passed(self, why: Unattempted) -> bool:
        """A configured linter or build that passed says nothing of tests, where another command does."""
        another = any(run.unattempted is None for run in self._runs)
        return why.is_silent_pass and another and bool(self._order.configured)

    def _pass(self, id: str, mapped: Mapped) -> Finding:
        passed = [case for case in mapped.cases if case.outcome in SHOWN]
        skipped = len(mapped.cases) - len(passed)
        names = ", ".join(case.id for case in passed[:CASES_SHOWN])
        note = f"{skipped} skipped" if skipped else ""
        evidence = capped(f"{len(passed)} of {len(mapped.cases)} tests passed: {names}")
        verdict = Verdict(id, Word.PASS, said="PASS", evidence=evidence, note=note, failing_tests=0)
        return self._finding(verdict, passed)

    def _fail(self, id: str, failed: list[Case]) -> Finding:
        run, error = self._run_of[failed[0]], first_error(failed[0])
        rerun_lines = [line for case in failed[:CASES_SHOWN] if (line := _reruns(self._run_of[case], case))]
        verdict = Verdict(
            id,
            Word.FAIL,
            said="FAIL",
            evidence=headed(run, error, "\n".join([*rerun_lines, evidence_of(failed)])),
            signal=Signal(run.line, normalise_line(error)),
            failing_tests=len(failed),
        )
        return self._finding(verdict, failed)

    def _fail_by_broken(self, id: str, run: SuiteRun, broken: Broken) -> Finding:
        error = first_error_of_broken(broken)
        evidence = headed(run, error, evidence_of_broken(broken))
        verdict = Verdict(id, Word.FAIL, said="FAIL", evidence=evidence, signal=Signal(run.line, normalise_line(error)))
        return Finding(verdict, run.reproduction_of_file(broken.file), run)

    def _fail_absent(self, id: str, mapped: Mapped) -> Finding:
        names = ", ".join(claim.text for claim in mapped.absent)
        evidence = capped(f"the traceability table names tests that did not run because they are absent: {names}")
        return self._by_all_runs(Verdict(id, Word.FAIL, said="FAIL", evidence=evidence))

    def _untested(self, id: str, mapped: Mapped) -> Finding:
        word = self._order.untested.word
        return self._by_all_runs(Verdict(id, word, said=word.value, evidence=capped(self._why_untested(id, mapped))))

    def _why_untested(self, id: str, mapped: Mapped) -> str:
        """Why nothing proves it, and how a test names an id that cannot stand in a test's name."""
        why = _why_untested(id, mapped)
        if mapped.cases or "REQ-" in id or not self._order.spec:
            return why
        return f"{why}; a test names it by `Requirement {id}` and `Feature: {self._order.spec}` in its docstring"

    def _by_all_runs(self, verdict: Verdict) -> Finding:
        lines = "; ".join(run.line for run in self._runs)
        return Finding(verdict, lines, replace(self._runs[-1], line=lines) if self._runs else None)

    def _finding(self, verdict: Verdict, cases: list[Case]) -> Finding:
        run = self._run_of[cases[0]]
        tests = dict.fromkeys(case for case in cases if self._run_of[case] is run)
        return Finding(verdict, run.reproduction(list(tests)[:CASES_SHOWN]), run, tuple(tests))

    def _broken_about(self, id: str) -> tuple[SuiteRun, Broken] | None:
        return next(((run, broken) for run, broken in self._all_broken() if self._is_about(id, broken)), None)

    def _is_about(self, id: str, broken: Broken) -> bool:
        source = self._sources.get(broken.file)
        return bool(broken.file) and self._ownership.is_about(id, broken.file, source.text if source else "")

    def _all_broken(self) -> Iterator[tuple[SuiteRun, Broken]]:
        return ((run, broken) for run in self._runs for broken in run.broken)


def failed_on_base(run: SuiteRun, test: str) -> bool:
    """Whether it is on record that the test (or, without a name, the command) fails on the base tree too."""
    records = (record for record in run.reruns if record.test == test and record.rerun.tree is RerunTree.BASE)
    return any(record.rerun.outcomes == (False,) for record in records)


def _every(mapped: Mapped) -> dict[Case, None]:
    return dict.fromkeys((*mapped.cases, *mapped.of_parent))


def _failed(mapped: Mapped) -> list[Case]:
    """A requirement's failing tests; one that is about its parent fails each of the parent's criteria."""
    return [case for case in _every(mapped) if case.outcome is Outcome.FAILED]


def _is_tested(mapped: Mapped) -> bool:
    """Whether something passed: for each claim, or else among the tests that name the id.

    An expected failure shows that the requirement is not met, so nothing beside it makes it tested.
    """
    if any(case.outcome is Outcome.EXPECTED_FAILURE for case in mapped.cases):
        return False
    wanted = [cases for _, cases in mapped.claims] or [mapped.named]
    return all(any(case.outcome in SHOWN for case in cases) for cases in wanted)


def _why_untested(id: str, mapped: Mapped) -> str:
    if any(case.outcome is Outcome.EXPECTED_FAILURE for case in mapped.cases):
        return f"{_names(mapped, Outcome.EXPECTED_FAILURE)} is expected to fail, which proves nothing"
    if mapped.cases:
        return f"{_names(mapped, Outcome.SKIPPED)} was skipped, so {id} is not tested"
    odd = f" (its traceability names {', '.join(mapped.odd)}, which is no test)" if mapped.odd else ""
    whole = "; only the requirement as a whole is tested" if mapped.of_parent else ""
    return f"no test that ran names {id}{odd}{whole}"


def _names(mapped: Mapped, outcome: Outcome) -> str:
    return ", ".join([case.id for case in mapped.cases if case.outcome is outcome][:CASES_SHOWN])


def _proven(finding: Finding, disposition: Disposition, why: str) -> Finding:
    verdict = finding.verdict
    evidence = capped(f"{why}\n{verdict.evidence}")
    proven = replace(verdict, word=Word.FAIL, said="FAIL", evidence=evidence, disposition=disposition, is_proven=True)
    return replace(finding, verdict=proven)


def _reruns(run: SuiteRun, case: Case) -> str:
    """What running a test again came to, in words; empty if it was not run again."""
    record = next((each for each in run.reruns if each.test == case.id and each.rerun.tree is RerunTree.SAME), None)
    if record is None:
        return ""
    outcomes = record.rerun.outcomes
    again = "re-run once" if len(outcomes) == 1 else f"re-run {len(outcomes)} times"
    has_failed = set(outcomes) == {False}
    ending = "failed again, so not flaky" if has_failed else f"passed {sum(o is True for o in outcomes)} of them"
    note = f"; {record.note}" if record.note else ""
    return f"{case.name}: {again}: {ending}{note}"


def _unknown(id: str, run: SuiteRun, why: Unattempted) -> Finding:
    body = "\n".join(_last_lines(run.output))
    evidence = headed(run, why.reason, body) if run.line else capped(why.reason)
    verdict = Verdict(id, Word.UNKNOWN, said="UNKNOWN", evidence=evidence, disposition=why.disposition)
    return Finding(verdict, run.line, run)


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return [line[:_LONGEST_LINE] for line in lines[-_LAST_LINES:]]
