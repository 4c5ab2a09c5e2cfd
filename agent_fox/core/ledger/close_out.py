"""The close-out gate: what ran, where the change went and what its rules said become findings, and those a verdict.

Deterministic: no model, no clock, no file. The names and severities of the findings are what reports and waivers use.
Source: ADR 0027.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from enum import StrEnum

from agent_fox.core.ledger.close_out_scope import Boundary, ScopeReport
from agent_fox.core.values import dataclass

LONGEST_STDERR = 200
"""Characters of what a failed command said that its finding quotes."""

MOST_NAMED = 200
"""Findings of one check; the rest are one more, which is named by their hash."""

HASH_DIGITS = 16
RULE_BLOCKS = "Rule '{}' failed at block severity"
RULE_WARNS = "Rule '{}' failed at warn severity"


class Check(StrEnum):
    """What a finding is about."""

    ACCEPTANCE_RAN = "acceptance_ran"
    NULL_EXIT_CODE = "null_exit_code"
    NONZERO_EXIT = "nonzero_exit"
    FORBIDDEN_WRITE = "forbidden_write"
    OFF_SCOPE_WRITE = "off_scope_write"
    RULE_BLOCK = "rule_block"
    RULE_WARN = "rule_warn"
    TOUCHED_OUTSIDE = "touched_outside"
    INPUT = "input"
    REPORT_EDITED = "report_edited"
    REVIEW_UNKNOWN = "review_unknown"
    REVIEW_REGISTERED = "review_registered"
    REVIEW_REJECTED = "review_rejected"
    REVIEW_FAILED = "review_failed"
    REVIEW_CLEARED = "review_cleared"
    REVIEW_DAMAGED = "review_damaged"
    REVIEW_CHANGED = "review_changed"


PATHS = {
    Check.FORBIDDEN_WRITE: "Wrote to forbidden path: {}",
    Check.OFF_SCOPE_WRITE: "Wrote outside allowed scope: {}",
    Check.TOUCHED_OUTSIDE: "Touched a file that is not among the allowed files: {}",
}
"""The words of findings that are about one path."""


class Severity(StrEnum):
    """A block holds the task back until a person signs for it; a warning is shown."""

    BLOCK = "block"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """One command that ran, in the order of running. `exit_code` None: it never came to an end of its own."""

    command: str
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class RuleReport:
    """The rules that fired, by name."""

    block_failures: tuple[str, ...] = ()
    warn_failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    check: Check
    severity: Severity
    detail: str

    @property
    def detail_hash(self) -> str:
        """What a waiver of this finding is bound to."""
        return detail_hash(self.detail)


def detail_hash(detail: str) -> str:
    """The hash of a finding's detail: 16 hex digits."""
    return hashlib.sha256(detail.encode(errors="surrogatepass")).hexdigest()[:HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class Contract:
    """What a task is held to.

    expected: acceptance commands, each of which must have run; their last run counts. off_scope: what a write outside
    of what a person allowed is. needs_feedback: a task of which no command is recorded is not done.
    """

    boundary: Boundary = field(default_factory=Boundary)
    expected: tuple[str, ...] = ()
    off_scope: Severity = Severity.BLOCK
    needs_feedback: bool = True


@dataclass(frozen=True, slots=True)
class FindingWaiver:
    """A person's signed acceptance of one finding, already verified by who hands it in."""

    check: str
    detail_hash: str
    id: str
    signer: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        return (self.check, self.detail_hash) == (finding.check.value, finding.detail_hash)


@dataclass(frozen=True, slots=True)
class CloseOut:
    """Everything that a task is judged by. `troubles`: what is wrong with the inputs themselves."""

    task_id: str
    feedback: tuple[FeedbackRecord, ...] = ()
    scope: ScopeReport = field(default_factory=ScopeReport)
    rules: RuleReport = RuleReport()
    contract: Contract = Contract()
    troubles: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What a task came to. `waivers`: those that took effect."""

    task_id: str
    findings: tuple[Finding, ...]
    waivers: tuple[FindingWaiver, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.blocking

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """What holds the task back: block findings that nobody signed for."""
        return tuple(
            finding
            for finding in self.findings
            if finding.severity is Severity.BLOCK and self.waiver_of(finding) is None
        )

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARN)

    def waiver_of(self, finding: Finding) -> FindingWaiver | None:
        return next((waiver for waiver in self.waivers if waiver.covers(finding)), None)


def judge(given: CloseOut, waivers: Sequence[FindingWaiver] = ()) -> Verification:
    """The findings in the order of the table, and the waivers that cover any that blocks."""
    findings = tuple(
        dict.fromkeys(
            (
                *given.troubles,
                *_about_commands(given.feedback, given.contract),
                *_about_scope(given.scope, given.contract),
                *_each(Check.RULE_BLOCK, Severity.BLOCK, RULE_BLOCKS, given.rules.block_failures),
                *_each(Check.RULE_WARN, Severity.WARN, RULE_WARNS, given.rules.warn_failures),
            )
        )
    )
    blocks = [finding for finding in findings if finding.severity is Severity.BLOCK]
    used = tuple(waiver for waiver in waivers if any(waiver.covers(finding) for finding in blocks))
    return Verification(given.task_id, findings, used)


def _about_commands(feedback: Sequence[FeedbackRecord], contract: Contract) -> Iterator[Finding]:
    if not feedback and (contract.needs_feedback or contract.expected):
        yield Finding(Check.ACCEPTANCE_RAN, Severity.BLOCK, "No feedback records — no commands executed")
    ran = {record.command.strip() for record in feedback}
    missing = [command for command in contract.expected if command.strip() not in ran]
    yield from _each(Check.ACCEPTANCE_RAN, Severity.BLOCK, "Expected command '{}' has not run", missing)
    last = {record.command.strip(): number for number, record in enumerate(feedback)}
    for number, record in enumerate(feedback):
        yield from _about_run(record, is_last=last[record.command.strip()] == number)


def _about_run(record: FeedbackRecord, *, is_last: bool) -> Iterator[Finding]:
    """One run of a command. A failure that a later run of the same command made good is a warning; a null never is."""
    if record.exit_code is None:
        yield Finding(Check.NULL_EXIT_CODE, Severity.BLOCK, f"Command '{record.command}' has null exit code")
    elif record.exit_code != 0:
        complaint = record.stderr[:LONGEST_STDERR]
        severity = Severity.BLOCK if is_last else Severity.WARN
        later = "" if is_last else " (it ran again later)"
        yield Finding(
            Check.NONZERO_EXIT, severity, f"Command '{record.command}' exited {record.exit_code}{later}: {complaint}"
        )


def _about_scope(scope: ScopeReport, contract: Contract) -> Iterator[Finding]:
    for check, severity, paths in (
        (Check.FORBIDDEN_WRITE, Severity.BLOCK, scope.forbidden_writes),
        (Check.OFF_SCOPE_WRITE, contract.off_scope, scope.off_scope_writes),
        (Check.TOUCHED_OUTSIDE, Severity.WARN, scope.touched_outside),
    ):
        yield from _each(check, severity, PATHS[check], paths)


def _each(check: Check, severity: Severity, words: str, names: Iterable[str]) -> Iterator[Finding]:
    """A finding for each name; those that are too many are one, which holds for exactly these names."""
    ordered = list(dict.fromkeys(names))
    for name in ordered[:MOST_NAMED]:
        yield Finding(check, severity, words.format(name))
    rest = ordered[MOST_NAMED:]
    if rest:
        digest = hashlib.sha256("\0".join(rest).encode(errors="surrogatepass")).hexdigest()
        yield Finding(check, severity, words.format(f"{len(rest)} more (sha256 {digest})"))
