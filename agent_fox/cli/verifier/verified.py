"""What `verify` shows a person: each step as it ends, with what failed, and a summary at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

import click
from rich.console import Console

from agent_fox.cli.screen import duration, plain
from agent_fox.verifier.ground.results import Disposed, Failure, FailureKind, Status, VerificationResult
from agent_fox.verifier.reporting.report import ReportStatus, Step, StepOutcome, VerificationReport, place_of

if TYPE_CHECKING:
    from rich.status import Status as Spinner

    from agent_fox.verifier.plans.steps import Plan
    from agent_fox.verifier.profiles.context import Progress
    from agent_fox.verifier.reporting.comparison import Comparison

SIGNS = {Status.PASSED: ("✓", "green"), Status.SKIPPED: ("-", "yellow")}
FAILED, WARNING = ("✗", "red"), ("!", "yellow")
COLOURS = {ReportStatus.PASSED: "green", ReportStatus.FAILED: "red", ReportStatus.ERRORED: "yellow"}
MOST_FAILURES = 10
MOST_OPTIONAL = 3
EVIDENCE_LINES = 4
_LINES_SHOWN = (FailureKind.LINT_FAILURE, FailureKind.FORMAT_FAILURE)
LONGEST_LINE = 200
INDENT = "      "


@dataclass
class Screen:
    """Lines on standard output as steps end; on a terminal, a line on standard error that shows what runs now."""

    is_silent: bool = False
    _console: Console = field(default_factory=lambda: Console(stderr=True))
    _spinner: Spinner | None = None

    def opens(self, plan: Plan, profiles: Sequence[str]) -> None:
        title = click.style(f"plan {plan.name}", bold=True)
        self._say(f"{title} ({plain(plan.why)}), {_profiles(profiles)}")

    def begins(self, step: Step) -> None:
        if self.is_silent or not self._console.is_terminal:
            return
        self.closes()
        self._spinner = self._console.status(step.title)
        self._spinner.start()

    def runs(self, step: Step, progress: Progress) -> None:
        if (spinner := self._spinner) is not None:
            spinner.update(f"{step.title} {duration(progress.seconds)} of {duration(progress.limit)}")

    def ended(self, outcome: StepOutcome) -> None:
        self.closes()
        for line in step_lines(outcome):
            self._say(line)

    def sums_up(self, report: VerificationReport) -> None:
        for line in closing_lines(report):
            self._say(line)

    def closes(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _say(self, line: str) -> None:
        if not self.is_silent:
            click.echo(line)


def step_lines(outcome: StepOutcome) -> Iterator[str]:
    """One line for the step, and below it what failed, with the first lines of evidence."""
    result = outcome.result
    sign, colour = SIGNS.get(result.status, FAILED if outcome.step.required else WARNING)
    optional = "" if outcome.step.required else "optional: "
    summary = plain(_short(f"{optional}{result.summary}"))
    yield f"  {click.style(sign, fg=colour)} {plain(outcome.step.title):<26} {result.seconds:6.1f} s  {summary}"
    most = MOST_FAILURES if outcome.step.required else MOST_OPTIONAL
    pairs = list(zip_longest(result.failures, result.dispositions))[:most]
    for failure, why in pairs:
        yield from _failure_lines(failure, why)
    more = len(result.failures) - len(pairs)
    if more > 0:
        yield f"{INDENT}and {more} more, see the report"
    yield from (f"{INDENT}note: {plain(_short(note))}" for note in _telling(result))


def closing_lines(report: VerificationReport) -> Iterator[str]:
    """The status, what is known of the base commit, isolation, and where the artifacts are."""
    warnings = (f"{o.step.title}: {place_of(w)}{w.message}" for o in report.outcomes for w in o.result.warnings)
    for line in (*report.notes, *(f"warning: {line}" for line in warnings)):
        yield f"  {plain(_short(line))}"
    if report.comparison is not None:
        yield from (f"  {plain(_short(line))}" for line in _baseline(report.comparison))
    isolation = {outcome.result.isolation for outcome in report.outcomes if outcome.result.isolation}
    yield from (f"  isolation: {plain(words)}" for words in sorted(isolation))
    yield click.style(report.status.value, fg=COLOURS[report.status], bold=True) + plain(
        report.summary.removeprefix(report.status.value)
    )


def _failure_lines(failure: Failure, why: Disposed | None) -> Iterator[str]:
    name = f" [{failure.test_name}]" if failure.test_name else ""
    cause = f" ({why.disposition})" if why else ""
    yield f"{INDENT}{plain(_short(place_of(failure) + failure.message + name))}{cause}"
    if failure.kind in _LINES_SHOWN:
        return
    shown = [line for line in failure.evidence.splitlines() if line.strip() and line.strip() not in failure.message]
    yield from (
        click.style(f"{INDENT}  | {plain(line.rstrip()[:LONGEST_LINE])}", dim=True) for line in shown[:EVIDENCE_LINES]
    )


def _telling(result: VerificationResult) -> list[str]:
    suspicious = [artifact.uri for artifact in result.artifacts if artifact.is_secret_suspected]
    return [*result.notes, *(f"{uri} may hold a secret" for uri in suspicious)]


def _baseline(comparison: Comparison) -> Iterator[str]:
    base = comparison.base[:12]
    known, fresh = len(comparison.unchanged), len(comparison.new)
    yield f"compared with {base}: {fresh} new, {known} unchanged, {len(comparison.resolved)} resolved failures"
    yield from (f"worse than on {base}: {change.step}: {change.reason}" for change in comparison.worsened)
    yield from (f"not compared with {base}: {line}" for line in comparison.incomparable)


def _profiles(ids: Sequence[str]) -> str:
    return f"profile {ids[0]}" if len(ids) == 1 else f"profiles {', '.join(ids)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
