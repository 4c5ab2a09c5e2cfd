"""What the tests that ran say about each requirement: PASS, FAIL or UNKNOWN. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent_fox.core.signals import normalise_line
from agent_fox.core.verdict import Signal, Verdict, Word
from agent_fox.verifier.command_line import reproduction
from agent_fox.verifier.evidence_text import (
    CASES_SHOWN,
    capped,
    evidence_of,
    evidence_of_broken,
    first_error,
    first_error_of_broken,
)
from agent_fox.verifier.junit import Case, Outcome
from agent_fox.verifier.mapping import Mapped, Ownership
from agent_fox.verifier.order import CheckOrder
from agent_fox.verifier.sources import Source
from agent_fox.verifier.suite import Broken, SuiteRun, Unattempted

_LAST_LINES = 8
_LONGEST_LINE = 100  # characters; all of the last lines fit into the evidence


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, and how to see it again.

    `check` is the command line that was run, with its `exit_code`; `command` shows this finding alone.
    """

    verdict: Verdict
    command: str = ""
    check: str = ""
    exit_code: int | None = None


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

    def is_settled(self) -> bool:
        """Whether every id was tested or failed, so that no further command could say more."""
        return all(_failed(mapped) or _is_tested(mapped) for mapped in self._mapped.values())

    def _judge(self, id: str, mapped: Mapped) -> Finding:
        failed = _failed(mapped)
        if failed:
            return self._fail(id, failed)
        broken = self._broken_about(id)
        if broken is None and _is_tested(mapped):
            return self._tested(id, mapped)
        return self._untold(id, mapped, broken)

    def _tested(self, id: str, mapped: Mapped) -> Finding:
        """Its tests passed, which counts where no other command failed: a check that can't run proves nothing."""
        for run in self._runs:
            if run.kept_back is not None:
                return self._fail_by_broken(id, run, run.kept_back)
        for run in self._runs:
            if run.unattempted is not None and not run.unattempted.is_silent_pass:
                return _unknown(id, run, run.unattempted)
        return self._pass(id, mapped)

    def _untold(self, id: str, mapped: Mapped, broken: tuple[SuiteRun, Broken] | None) -> Finding:
        """Not tested, or not wholly: what kept it back decides."""
        obstacle = broken or self._any_broken()
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
        passed = [case for case in mapped.cases if case.outcome is Outcome.PASSED]
        skipped = len(mapped.cases) - len(passed)
        names = ", ".join(case.id for case in passed[:CASES_SHOWN])
        note = f"{skipped} skipped" if skipped else ""
        evidence = capped(f"{len(passed)} of {len(mapped.cases)} tests passed: {names}")
        verdict = Verdict(id, Word.PASS, said="PASS", evidence=evidence, note=note, failing_tests=0)
        return self._finding(verdict, passed)

    def _fail(self, id: str, failed: list[Case]) -> Finding:
        run = self._run_of[failed[0]]
        verdict = Verdict(
            id,
            Word.FAIL,
            said="FAIL",
            evidence=evidence_of(failed),
            signal=Signal(run.line, normalise_line(first_error(failed[0]))),
            failing_tests=len(failed),
        )
        return self._finding(verdict, failed)

    def _fail_by_broken(self, id: str, run: SuiteRun, broken: Broken) -> Finding:
        signal = Signal(run.line, normalise_line(first_error_of_broken(broken)))
        verdict = Verdict(id, Word.FAIL, said="FAIL", evidence=evidence_of_broken(broken), signal=signal)
        return Finding(verdict, _reproduction(run, [broken.file] if broken.file else []), run.line, run.exit_code)

    def _fail_absent(self, id: str, mapped: Mapped) -> Finding:
        names = ", ".join(claim.text for claim in mapped.absent)
        evidence = capped(f"the traceability table names tests that did not run because they are absent: {names}")
        return self._by_all_runs(Verdict(id, Word.FAIL, said="FAIL", evidence=evidence))

    def _untested(self, id: str, mapped: Mapped) -> Finding:
        word = self._order.untested.word
        return self._by_all_runs(Verdict(id, word, said=word.value, evidence=capped(_why_untested(id, mapped))))

    def _by_all_runs(self, verdict: Verdict) -> Finding:
        lines = "; ".join(run.line for run in self._runs)
        return Finding(verdict, lines, lines, self._runs[-1].exit_code if self._runs else None)

    def _finding(self, verdict: Verdict, cases: list[Case]) -> Finding:
        run = self._run_of[cases[0]]
        tests = dict.fromkeys(case.id for case in cases if self._run_of[case] is run)
        return Finding(verdict, _reproduction(run, list(tests)[:CASES_SHOWN]), run.line, run.exit_code)

    def _broken_about(self, id: str) -> tuple[SuiteRun, Broken] | None:
        return next(((run, broken) for run, broken in self._all_broken() if self._is_about(id, broken)), None)

    def _is_about(self, id: str, broken: Broken) -> bool:
        source = self._sources.get(broken.file)
        return bool(broken.file) and self._ownership.is_about(id, broken.file, source.text if source else "")

    def _any_broken(self) -> tuple[SuiteRun, Broken] | None:
        return next(self._all_broken(), None)

    def _all_broken(self) -> Iterator[tuple[SuiteRun, Broken]]:
        return ((run, broken) for run in self._runs for broken in run.broken)


def _failed(mapped: Mapped) -> list[Case]:
    """A requirement's failing tests; one that is about its parent fails each of the parent's criteria."""
    every = dict.fromkeys((*mapped.cases, *mapped.of_parent))
    return [case for case in every if case.outcome is Outcome.FAILED]


def _is_tested(mapped: Mapped) -> bool:
    """Whether something passed: for each claim, or else among the tests that name the id.

    An expected failure shows that the requirement is not met, so nothing beside it makes it tested.
    """
    if any(case.outcome is Outcome.EXPECTED_FAILURE for case in mapped.cases):
        return False
    wanted = [cases for _, cases in mapped.claims] or [mapped.named]
    return all(any(case.outcome is Outcome.PASSED for case in cases) for cases in wanted)


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


def _unknown(id: str, run: SuiteRun, why: Unattempted) -> Finding:
    evidence = capped("\n".join([f"`{run.line}`: {why.reason}" if run.line else why.reason, *_last_lines(run.output)]))
    verdict = Verdict(id, Word.UNKNOWN, said="UNKNOWN", evidence=evidence, disposition=why.disposition)
    return Finding(verdict, run.line, run.line, run.exit_code)


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return [line[:_LONGEST_LINE] for line in lines[-_LAST_LINES:]]


def _reproduction(run: SuiteRun, tests: list[str]) -> str:
    return reproduction(run.command, tests) if run.command is not None else run.line
