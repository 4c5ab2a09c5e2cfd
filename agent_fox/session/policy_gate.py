"""Whether a coder's work may count: its change is checked before anything lands, for weakened tests and checks, and for
files of other specs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from agent_fox.session.order import LaunchOrder, Work
from agent_fox.session.other_specs import foreign_changes
from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.git_change import change_between
from agent_fox.verifier.policy.values import PolicyContext, PolicyFinding, PolicyReport, Ruling, Severity

FINDINGS_NAMED = 3
REFUSE = "refuse"


class Changes(StrEnum):
    """What is done about a change that weakens tests or checks (`[verify] changes`)."""

    REFUSE = "refuse"
    REPORT = "report"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Gate:
    """What the checks came to: why the work is refused (empty: it is not), and what is to be noted about it."""

    refusal: str = ""
    notes: tuple[str, ...] = ()


def look_at(order: LaunchOrder, work: Work, summary: str) -> Gate:
    """Check what the work changes against the commit it began at. `summary`: the coder's own words. Raises GitError."""
    foreign = () if work.is_unchanged else foreign_changes(order, work)
    if foreign and order.other_specs == REFUSE:
        return Gate(f"refused by policy ([policy] other_specs): {'; '.join(foreign)}")
    gate = _weakening(order, work, summary)
    return replace(gate, notes=(*foreign, *gate.notes))


def _weakening(order: LaunchOrder, work: Work, summary: str) -> Gate:
    changes = Changes(order.changes)
    if changes is Changes.IGNORE or work.is_unchanged:
        return Gate()
    report = check_change(change_between(order.repo, order.pinned, work.commit), PolicyContext(summary=summary))
    if report.verdict is Ruling.BLOCKED and changes is Changes.REFUSE:
        return Gate(_refusal(report))
    return Gate(notes=tuple(_noted(finding) for finding in report.findings if finding.severity is not Severity.NOTE))


def _refusal(report: PolicyReport) -> str:
    """In words that a coder can act on; the whole finding, with what to do about it."""
    found = [finding for finding in report.findings if finding.severity is Severity.BLOCK]
    more = f"; and {len(found) - FINDINGS_NAMED} more" if len(found) > FINDINGS_NAMED else ""
    named = "; ".join(f"{_place(finding)}: {finding.message} ({finding.remedy})" for finding in found[:FINDINGS_NAMED])
    return f"refused by policy, tests or checks were weakened: {named}{more}"


def _noted(finding: PolicyFinding) -> str:
    wanted = " and no reason was stated" if finding.severity is Severity.NEEDS_REASON else ""
    return f"policy: {_place(finding)}: {finding.message}{wanted}"


def _place(finding: PolicyFinding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file
