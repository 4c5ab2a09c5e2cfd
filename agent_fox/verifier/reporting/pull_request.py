"""A report as the Verification section of a pull request, in Markdown. Pure; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.verifier.ground.results import Artifact, Status, Tool, VerificationResult
from agent_fox.verifier.reporting.report import StepOutcome, VerificationReport, place_of

if TYPE_CHECKING:
    from agent_fox.verifier.reporting.comparison import Comparison

MOST_FAILURES = 10
LONGEST_LINE = 300


def verification_section(report: VerificationReport) -> str:
    """The section, ending in a line feed: results, evidence, artifacts, and notes about base commit and mutation."""
    parts = [
        ["## Verification", "", f"**{report.status}**, plan `{report.plan}` ({_text(report.why)})", ""],
        [_step_line(outcome) for outcome in report.outcomes] or ["- nothing ran"],
        _titled("Blocking failures", _blocking_lines(report)),
        _titled("Warnings", [f"- {_text(warning)}" for warning in report.warnings]),
        _titled("Artifacts", [_artifact_line(artifact) for artifact in report.artifacts]),
        _titled("Notes", [f"- {line}" for line in _notes(report)]),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def _titled(title: str, lines: list[str]) -> list[str]:
    return ["", f"{title}:", *lines] if lines else []


def _step_line(outcome: StepOutcome) -> str:
    result = outcome.result
    optional = "" if outcome.step.required else " (optional)"
    return (
        f"- `{outcome.step.title}`{optional}: {result.status} in {result.seconds:.1f} s{_counts(result)}{_why(result)}"
    )


def _counts(result: VerificationResult) -> str:
    counts = result.test_summary
    if counts is None:
        return ""
    broken = f", {counts.errors} errors" if counts.errors else ""
    return f", {counts.tests} tests, {counts.failures} failures{broken}, {counts.skipped} skipped"


def _why(result: VerificationResult) -> str:
    return "" if result.status is Status.PASSED else f": {_text(result.summary)}"


def _blocking_lines(report: VerificationReport) -> list[str]:
    shown = report.blocking[:MOST_FAILURES]
    lines = [
        f"- {place_of(each.failure)}{_text(each.failure.message)}"
        + (f" [{_text(each.failure.test_name)}]" if each.failure.test_name else "")
        + (f" ({each.disposed.disposition}: {_text(each.disposed.reason)})" if each.disposed else "")
        for each in shown
    ]
    more = len(report.blocking) - len(shown)
    return [*lines, f"- and {more} more"] if more else lines


def _artifact_line(artifact: Artifact) -> str:
    suspicion = "; may hold a secret, look before you pass it on" if artifact.is_secret_suspected else ""
    return f"- {artifact.kind}: {artifact.uri} ({artifact.bytes} bytes, sha256 {artifact.sha256[:12]}{suspicion})"


def _notes(report: VerificationReport) -> Iterator[str]:
    if report.comparison is None:
        yield "The base commit was not verified, so nothing is said about failures that were there before."
    else:
        yield from _baseline(report.comparison)
    yield from _mutation(report)
    yield from sorted({f"Isolation: {outcome.result.isolation}" for outcome in report.outcomes if _is_run(outcome)})
    yield from (_text(note) for note in report.notes)
    for outcome in report.outcomes:
        yield from (f"`{outcome.step.title}`: {_text(note)}" for note in outcome.result.notes)


def _is_run(outcome: StepOutcome) -> bool:
    return bool(outcome.result.isolation)


def _baseline(comparison: Comparison) -> Iterator[str]:
    base = comparison.base[:12]
    if comparison.was_broken:
        known, resolved = len(comparison.unchanged), len(comparison.resolved)
        yield f"The base commit {base} was failing already: {known} failures are unchanged, {resolved} resolved."
    elif not comparison.incomparable:
        yield f"The same plan passed on the base commit {base}."
    yield f"New failures compared with {base}: {len(comparison.new)}."
    yield from (f"Worse than on {base}: {each.step}, {_text(each.reason)}." for each in comparison.worsened)
    yield from (f"Not compared with {base}: {_text(line)}." for line in comparison.incomparable)


def _mutation(report: VerificationReport) -> Iterator[str]:
    changed = [outcome for outcome in report.outcomes if outcome.result.source_mutation_detected]
    for outcome in changed:
        paths = ", ".join(f"`{_text(path)}`" for path in outcome.result.changed_sources[:MOST_FAILURES])
        yield f"`{outcome.step.title}` changed source files, which it must not: {paths}."
    formatted = [o for o in report.outcomes if o.result.tool is Tool.FORMAT_APPLY and o.result.changed_sources]
    for outcome in formatted:
        yield f"`{outcome.step.title}` formatted {len(outcome.result.changed_sources)} files; the diff is an artifact."
    if not changed and any(_is_run(outcome) for outcome in report.outcomes):
        yield "No source file changed while read-only tools ran."


def _text(text: str) -> str:
    """One line that cannot become a heading, a link or HTML of its own."""
    return one_line(text, LONGEST_LINE).replace("<", "&lt;").replace("[", "\\[").replace("`", "'")
