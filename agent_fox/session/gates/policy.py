"""What a coder's change does to tests and checks, and to files of other specs: the rules of its close-out, looked at
before anything lands.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.gates.other_specs import foreign_changes
from agent_fox.verifier.policy.change_under_check import change_between
from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import PolicyContext, PolicyFinding, Severity

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder, Work

FINDINGS_NAMED = 3
REFUSE = "refuse"
OTHER_SPECS = "other-specs"
REFUSED = (Severity.BLOCK, Severity.NEEDS_REASON)
"""What refuses a session; one that was given its reason is a note by then."""


class Changes(StrEnum):
    """What is done about a change that weakens tests or checks (`[verify] changes`)."""

    REFUSE = "refuse"
    REPORT = "report"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that fired. `rule`: its name for the report, with the place; `message`: words that a coder can act on."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What the checks came to: changes of other specs' files and weakened tests that refuse the work, and what is only
    to be noted.
    """

    foreign: tuple[Breach, ...] = ()
    weakened: tuple[Breach, ...] = ()
    noted: tuple[Breach, ...] = ()

    @property
    def refusing(self) -> tuple[Breach, ...]:
        return (*self.foreign, *self.weakened)

    def refusals(self, open_rules: Container[str]) -> tuple[str, ...]:
        """Why the work is refused, a sentence for each kind, naming the rules that nobody signed for."""
        foreign = [breach.message for breach in self.foreign if breach.rule in open_rules]
        weakened = [breach.message for breach in self.weakened if breach.rule in open_rules]
        reasons = [f"refused by policy ([policy] other_specs): {'; '.join(foreign)}"] if foreign else []
        return (*reasons, *([_refused_weakening(weakened)] if weakened else []))


def look_at(order: LaunchOrder, work: Work, summary: str) -> Gate:
    """Check what the work changes against the commit it began at. `summary`: the coder's own words. Raises GitError."""
    if work.is_unchanged:
        return Gate()
    foreign = tuple(Breach(f"{OTHER_SPECS}: {change}", change) for change in foreign_changes(order, work))
    gate = _weakening(order, work, summary)
    if order.other_specs == REFUSE:
        return Gate(foreign, gate.weakened, gate.noted)
    return Gate((), gate.weakened, (*foreign, *gate.noted))


def _weakening(order: LaunchOrder, work: Work, summary: str) -> Gate:
    changes = Changes(order.changes)
    if changes is Changes.IGNORE:
        return Gate()
    report = check_change(change_between(order.repo, order.pinned, work.commit), PolicyContext(summary=summary))
    refusing = (
        [finding for finding in report.findings if finding.severity in REFUSED] if changes is Changes.REFUSE else []
    )
    noted = [
        finding for finding in report.findings if finding.severity is not Severity.NOTE and finding not in refusing
    ]
    return Gate((), tuple(map(_refused, refusing)), tuple(map(_noted, noted)))


def _refused(finding: PolicyFinding) -> Breach:
    """The whole finding, with what to do about it."""
    return Breach(_rule(finding), f"{_place(finding)}: {finding.message}{_unstated(finding)} ({finding.remedy})")


def _noted(finding: PolicyFinding) -> Breach:
    return Breach(_rule(finding), f"policy: {_place(finding)}: {finding.message}{_unstated(finding)}")


def _unstated(finding: PolicyFinding) -> str:
    return " and no reason was stated" if finding.severity is Severity.NEEDS_REASON else ""


def _refused_weakening(named: Sequence[str]) -> str:
    more = f"; and {len(named) - FINDINGS_NAMED} more" if len(named) > FINDINGS_NAMED else ""
    return f"refused by policy, tests or checks were weakened: {'; '.join(named[:FINDINGS_NAMED])}{more}"


def _rule(finding: PolicyFinding) -> str:
    test = f" [{finding.test}]" if finding.test else ""
    return f"{finding.rule.value}: {_place(finding)}: {finding.message}{test}"


def _place(finding: PolicyFinding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file
