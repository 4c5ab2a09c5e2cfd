"""What happens next after a report: the decision table, as a pure and total function.

Source of the rules: `docs/decision-table.md`, which a test reads row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.policy import Start
from agent_fox.core.policy import Switch as Switch
from agent_fox.core.retry.progress import Progress
from agent_fox.core.retry.standing import Cause as Cause
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.judgement import Judged, Judgement
from agent_fox.core.verdicts.verdict import Disposition, Word

if TYPE_CHECKING:
    from agent_fox.core.ids import Ticket
    from agent_fox.core.retry import arms
    from agent_fox.core.retry.arms import Arm, Case, Choice
else:
    arms = late_module("agent_fox.core.retry.arms")


@dataclass(frozen=True, slots=True)
class Accept:
    """Everything expected is proven on this tree, or waived."""

    is_waived: bool = False


@dataclass(frozen=True, slots=True)
class Recode:
    """The blamed coders go back, in plan order, each at the rung named here; the verifier waits for all of them.

    `choices`: why this rung and which start, by coder, where the policy is arms.
    """

    blamed: tuple[str, ...]
    rungs: Mapping[str, int]
    choices: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reread:
    """The verifier is asked again about what is unclear. The coders are not charged."""

    unclear: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Work stops here until a person acts."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class Ignore:
    """Late, doubled or foreign: changes nothing."""

    why: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The same node again, with the reason why its last session failed."""

    rung: int


@dataclass(frozen=True, slots=True)
class Land:
    """A coder's work is merged, or there was nothing to merge; what follows it may start."""

    is_unchanged: bool


@dataclass(frozen=True, slots=True)
class SendBack:
    """A reviewer's critical findings send back who is to blame; the reviewer reads again after them."""

    blamed: tuple[str, ...]


Decision = Accept | Recode | Reread | Block | Ignore
ROWS = {"Ignore": 1, "Accept": 3, "Recode": 8, "Reread": 10}  # by kind, of the table; a Block has its cause's
CoderDecision = Land | Retry | Block | Ignore
ReviewerDecision = Accept | SendBack | Reread | Block | Ignore


@dataclass(frozen=True, slots=True)
class Awaited:
    """Which session of a node counts: its ticket, and the commit pinned when it was launched (None: not launched)."""

    ticket: Ticket
    pinned: str | None
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Budget:
    """Totals, the first one included. `readings_spent` counts from the last reopening."""

    readings: int
    readings_spent: int


@dataclass(frozen=True, slots=True)
class Suspect:
    """A coder that would be blamed. `spent` counts its attempts since its last reset; `rung` is its present one.

    `has_second_agent`: the rung above its first names another agent, by backend or model.
    """

    uid: str
    attempts: int
    spent: int
    retry_predecessor: bool = True
    rung: int = 0
    top_rung: int = 0
    has_second_agent: bool = False

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.attempts

    @property
    def has_stronger_rung(self) -> bool:
        return self.rung < self.top_rung

    @property
    def awaits_second_agent(self) -> bool:
        """Whether its first Recode is still to come (none leaves it on the first rung), and another agent is next."""
        return self.rung == 0 and self.has_stronger_rung and self.has_second_agent


@dataclass(frozen=True, slots=True)
class Facts:
    """What the table must know besides the report. `ceiling` says which ceiling of node or spec is reached.

    `arms`: what could be tried next by each suspect, where the policy is arms; `start` is where the ladder starts.
    """

    ticket: Ticket
    commit: str | None
    suspects: tuple[Suspect, ...] = ()
    progress: Progress = Progress.FIRST
    stop_without_progress: bool = True
    ceiling: str | None = None
    switch: Switch = Switch.SECOND
    start: Start = Start.TIP
    arms: Mapping[str, tuple[Case, tuple[Arm, ...]]] = field(default_factory=dict)

    def has_agent_left(self, suspect: Suspect) -> bool:
        """Whether somebody else could try: a stronger rung, or where the choice is by worth any that has not failed."""
        if suspect.uid not in self.arms:
            return suspect.has_stronger_rung
        return self.arms[suspect.uid][0].has_agent_left


def decide(report: Judged, standing: Awaited, budget: Budget, facts: Facts) -> Decision:
    """The first row of the decision table that fits. Pure and total: same values, same decision."""
    if (reason := why_ignored(standing, facts)) is not None:
        return Ignore(reason)
    if (needed := person_needed(report)) is not None:
        return Block(needed)
    match report.judgement:
        case Judgement.SOUND:
            return Accept(is_waived=bool(report.waived))
        case Judgement.FAULTY:
            return decide_faulty(facts)
        case Judgement.UNCLEAR:
            return decide_unclear(report, budget)


def why_ignored(standing: Awaited, facts: Facts) -> str | None:
    """Row 1: settled already, or not the awaited session, or about another commit than it was launched on."""
    if not standing.is_open:
        return "the node is settled already"
    if facts.ticket != standing.ticket:
        return f"ticket {facts.ticket} is not the awaited {standing.ticket}"
    if facts.commit != standing.pinned:
        return "the report is not about the commit pinned at its launch"
    return None


def person_needed(report: Judged) -> Cause | None:
    """Row 2: what no coder may or can repair, and no further reading can tell. A spec fault counts only where shown.

    What is unclear blocks only once nothing fails: until then there is work for coders.
    """
    verdicts = [report.counted[part].verdict for part in report.failing]
    if any(v.disposition is Disposition.SPEC_FAULT and v.is_proven for v in verdicts):
        return Cause.SPEC_FAULT
    if any(v.needs_person and v.word is Word.FAIL for v in verdicts):
        return Cause.NEEDS_PERSON
    unclear = [] if report.failing else [report.counted[part].verdict for part in report.unknown]
    return Cause.NEEDS_PERSON if any(v.needs_person and v.word is Word.UNKNOWN for v in unclear) else None


def decide_faulty(facts: Facts) -> Block | Recode:
    """Rows 4 to 8. With nobody to blame there is no attempt to spend."""
    if any(not suspect.retry_predecessor for suspect in facts.suspects):
        return Block(Cause.RETRY_DISABLED)
    if facts.ceiling is not None:
        return Block(Cause.CEILING)
    if not facts.suspects or any(suspect.is_spent for suspect in facts.suspects):
        return Block(Cause.ATTEMPTS_SPENT)
    climbs = not facts.progress.is_converging
    if climbs and facts.stop_without_progress and not any(map(facts.has_agent_left, facts.suspects)):
        return Block(Cause.NO_PROGRESS)
    rungs = {suspect.uid: next_rung(suspect, climbs, facts.switch) for suspect in facts.suspects}
    choices = {
        uid: arms.choose(*facts.arms[uid], rung, facts.start) for uid, rung in rungs.items() if uid in facts.arms
    }
    return Recode(tuple(rungs), rungs | {uid: choice.arm.rung for uid, choice in choices.items()}, choices)


def next_rung(suspect: Suspect, climbs: bool, switch: Switch = Switch.SECOND) -> int:
    """One rung up where the last one did not help, or where another agent is to have the second attempt; never past
    the top.
    """
    is_due = climbs or (switch is Switch.SECOND and suspect.awaits_second_agent)
    return min(suspect.rung + is_due, suspect.top_rung)


def decide_unclear(report: Judged, budget: Budget) -> Block | Reread:
    """Rows 9 to 11."""
    if not report.is_expecting:
        return Block(Cause.NOTHING_TO_PROVE)
    if budget.readings_spent < budget.readings:
        return Reread(report.unknown)
    return Block(Cause.NO_CLEAR_VERDICT)


def decide_coder_failed(
    suspect: Suspect, ceiling: str | None, *, is_too_long: bool = False, was_short: bool = False
) -> Block | Retry:
    """A coder's session failed (exit status, time out, conflict, refused): again with the reason, or blocked.

    is_too_long: it did not fit into its model's context, and the same again would not. Then the next stronger agent has
    the next attempt; where there is none, and the brief `was_short` already, a person is needed.
    """
    if ceiling is not None:
        return Block(Cause.CEILING)
    if is_too_long and was_short and not suspect.has_stronger_rung:
        return Block(Cause.NEEDS_PERSON)
    if suspect.is_spent:
        return Block(Cause.ATTEMPTS_SPENT)
    return Retry(min(suspect.rung + is_too_long, suspect.top_rung))


def decide_review(
    is_readable: bool, has_critical: bool, blamed: tuple[Suspect, ...], budget: Budget, ceiling: str | None = None,
    *, is_agreed: bool = True,
) -> ReviewerDecision:  # fmt: skip
    """A reviewer's end. No critical finding: accepted. Unreadable: read again, then blocked (fail closed).

    Critical findings of an audit-review send its test-writing group back, those of a final review the owners of what
    they are about (`blamed`); those of a pre- or drift-review hold the first coder group, since only a person can
    change the spec (`blamed` is empty). `ceiling` says which ceiling of node or spec is reached, if one is. Not
    `is_agreed`: a final review does not agree to every changed expectation that it was asked about; that is a person's.
    """
    if not is_readable:
        return Reread(()) if budget.readings_spent < budget.readings else Block(Cause.NO_CLEAR_VERDICT)
    if not has_critical:
        return Accept() if is_agreed else Block(Cause.NEEDS_PERSON)
    if not blamed:
        return Block(Cause.NEEDS_PERSON)
    if any(not suspect.retry_predecessor for suspect in blamed):
        return Block(Cause.RETRY_DISABLED)
    if ceiling is not None:
        return Block(Cause.CEILING)
    if any(suspect.is_spent for suspect in blamed):
        return Block(Cause.ATTEMPTS_SPENT)
    return SendBack(tuple(suspect.uid for suspect in blamed))
