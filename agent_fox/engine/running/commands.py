"""What people ask for in comments on our issues: explain, retry, agree, waive. Each is done once, in one transaction
with its answer; everything else is refused with a reason.

A command is kept when it is read (`issues.kept_commands`), and done where nothing else writes the plan: in the loop of
a run, or by `issues sync` while no run is on. No text of a comment reaches a plan, a brief or an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.waivers import AboutExpectation, AboutRequirement, describe
from agent_fox.core.markdown import code, cut, fenced, one_line
from agent_fox.core.regex import regex
from agent_fox.core.retry.filing import Says
from agent_fox.core.retry.standing import Outcome as Ended
from agent_fox.core.retry.standing import Status
from agent_fox.core.values import dataclass
from agent_fox.core.words import listed, quote
from agent_fox.engine.handlers import agreeing, waiving
from agent_fox.engine.handlers.reset import NothingToReset, reset
from agent_fox.engine.issues.kept_commands import kept, note_done
from agent_fox.engine.record.watch import moves_in_words
from agent_fox.engine.reports.source_comment import open_lines, summary_line
from agent_fox.engine.reports.spec_findings import findings_of
from agent_fox.engine.reports.spec_report import block, kinds_of, what_was_said
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.evidence.signing import dsse
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.evidence.waivers import statement_of
from agent_fox.store import outbox, state
from agent_fox.store.desk import recall, remember
from agent_fox.store.plan import PlannedNode, StoredPart, load_parts, nodes_of_spec
from agent_fox.store.records import last_block
from agent_fox.trackers.protocol import EffectKind

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.ledger.waivers import Statement
    from agent_fox.engine.record.docket import Docket, Handled
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.trackers.upkeep import Command

MOST_REFUSALS = 5
"""Answers to those who may ask for nothing, for each issue; what they ask beyond that is refused in silence."""
LONGEST_ANSWER = 20_000
MOST_BLOCKS = 10
ALL = "`/agent-fox explain [REQUIREMENT]`, `retry [NODE]`, `agree` and `waive`, each the first line of a new comment"

_FENCE = regex(r"(?s)\s*(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<inner>.*?)\n(?P=fence)\s*")


Outcome = tuple[str, "list[Handled]"]
"""The text of an answer, and what moved in the plan."""


class Refused(ValueError):
    """What is asked for cannot be done. Its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What came of one command: what moved in the plan, and a line for who watches."""

    command: Command
    handled: tuple[Handled, ...]
    line: str


def carry_out(
    db: Database, place: str, transaction_at: Callable[[Database], Docket], grounds: Callable[[], Grounds]
) -> Iterator[CarriedOut]:
    """Do what is kept, each in a transaction of its own. `transaction_at` makes the docket of one, with its time."""
    for command in kept(db, place):
        try:
            with state.transaction(db):
                transaction = transaction_at(db)
                answer, handled = Acting(transaction, grounds, command).act()
                _finish(transaction, place, command, answer)
        except (Refused, WaiverRefused, KeyTrouble, NothingToReset) as refusal:
            answer, handled = f"Not done: {refusal}.", []
            with state.transaction(db):
                refuse(transaction_at(db), place, command, answer)
        what = one_line(" ".join(command.words), 100) or "nothing"
        yield CarriedOut(
            command,
            tuple(handled),
            f"{command.author} asked for {what} in issue #{command.number}: {answer.splitlines()[0]}",
        )


@dataclass(frozen=True, slots=True)
class Acting:
    """One command in one transaction. Each method gives the answer, and what moved. They raise Refused, WaiverRefused,
    KeyTrouble and NothingToReset, and then the transaction must not be committed."""

    transaction: Docket
    grounds: Callable[[], Grounds]
    command: Command

    def act(self) -> Outcome:
        if self.command.refusal:
            raise Refused(self.command.refusal)
        acts = {"explain": self.explain, "retry": self.retry, "agree": self.agree, "waive": self.waive}
        act = acts.get(next(iter(self.command.words), ""))
        if act is None:
            raise Refused(f"{code(' '.join(self.command.words) or 'nothing')} is no command; there are {ALL}")
        return act()

    @property
    def argument(self) -> str:
        return self.command.words[1] if len(self.command.words) > 1 else ""

    @property
    def specs(self) -> list[str]:
        """The specs that the issue is about."""
        return list(
            dict.fromkeys(spec for spec, *_ in outbox.members_of(self.transaction.db, self.command.fingerprint))
        )

    def explain(self) -> Outcome:
        """How the specs of the issue stand, and what was seen of each requirement that is not proven, or of the one
        named."""
        texts = [text for spec in self.specs for text in explanation(self.transaction, spec, self.argument)]
        if not texts:
            wanted = self.argument
            raise Refused(f"{code(wanted)} is no requirement of this issue" if wanted else "nothing was read of it yet")
        return cut("\n\n".join(texts), LONGEST_ANSWER), []

    def retry(self) -> Outcome:
        """A new budget for the node that is named, or for those of the issue that wait for a person by themselves."""
        db = self.transaction.db
        nodes = [node for spec in self.specs for node in nodes_of_spec(db, spec)]
        names = [self.argument] if self.argument else [node.node.id for node in nodes if is_stuck(db, node)]
        known = {node.node.id for node in nodes}
        if not names:
            raise Refused("nothing of this issue is blocked or ended without proof, so there is nothing to try again")
        if names[0] not in known:
            raise Refused(f"{code(names[0])} is no node of this issue; there are {listed(sorted(known))}")
        reason = f"{self.command.author} asked for it in issue #{self.command.number}"
        handled = [reset(self.transaction, name, reason) for name in names]
        return with_moves(f"{listed(names)} {'has' if len(names) == 1 else 'have'} a new budget", handled), handled

    def waive(self) -> Outcome:
        envelope, statement = signed_below(self.command)
        subject = statement.subject
        if not isinstance(subject, AboutRequirement):
            raise Refused("what is signed waives no requirement")
        part = self.part(subject)
        if waiving.waivable(self.transaction, self.grounds(), part) != subject:
            raise Refused(f"the text of {code(part.id)} is another than the one that is signed for")
        _, handled = waiving.grant(self.transaction, self.grounds(), envelope)
        return with_moves(describe(statement), handled), handled

    def agree(self) -> Outcome:
        envelope, statement = signed_below(self.command)
        subject = statement.subject
        if not isinstance(subject, AboutExpectation):
            raise Refused("what is signed agrees to no changed test")
        if agreeing.agreeable(self.transaction, self.grounds(), self.part(subject))[0] != subject:
            raise Refused("what is signed is about another version of the test or the text than the last reading")
        _, handled = agreeing.grant(self.transaction, self.grounds(), envelope)
        return with_moves(describe(statement), handled), handled

    def part(self, subject: AboutRequirement | AboutExpectation) -> StoredPart:
        """The requirement that is signed for, which this issue must be about."""
        address = code(f"{subject.spec}/{subject.requirement}")
        members = {member[:2] for member in outbox.members_of(self.transaction.db, self.command.fingerprint)}
        if not {(subject.spec, subject.requirement), (subject.spec, "")} & members:
            raise Refused(f"{address} is not what this issue is about")
        parts = load_parts(self.transaction.db, subject.spec)
        part = next((part for part in parts if part.id == subject.requirement), None)
        if part is None:
            raise Refused(f"{address} is no requirement of the plan")
        return part


def explanation(transaction: Docket, spec: str, wanted: str) -> Iterator[str]:
    """How a spec stands, and the requirement that is wanted, or all that are not proven. Nothing for another's."""
    findings = findings_of(transaction, spec)
    if findings is None:
        return
    kinds, statements = kinds_of(findings.account), what_was_said(transaction.db, spec)
    if wanted and wanted not in statements:
        return
    parts = [wanted] if wanted else [part for part in findings.account.open_ids if part in statements]
    yield "\n".join((summary_line(findings), "", *(f"- {line}" for line in open_lines(findings))))
    yield from (block(part, kinds.get(part, "not read"), statements[part]) for part in parts[:MOST_BLOCKS])
    if len(parts) > MOST_BLOCKS:
        yield f"{len(parts) - MOST_BLOCKS} more are not shown here."
    yield f"The whole story: {code(f'agent-fox explain {quote(findings.verifier.node.id)}')}."


def is_stuck(db: Database, planned: PlannedNode) -> bool:
    """Whether a node waits for a person by itself: it ended without proof, or is blocked through no other node."""
    at, node = planned.standing, planned.node
    if at.status is Status.COMPLETED:
        return node.archetype is Archetype.VERIFIER and at.outcome is Ended.ESCALATED
    _, root = last_block(db, node.uid) or ("", node.id)
    return at.status is Status.BLOCKED and root == node.id


def signed_below(command: Command) -> tuple[str, Statement]:
    """The signed envelope below the command, in a code block or bare, and what it says. Whether the signature counts is
    looked at where it is kept. Raises Refused.
    """
    fence = _FENCE.fullmatch(command.below)
    try:
        envelope = dsse.Envelope.from_json(fence["inner"] if fence else command.below.strip())
        return envelope.to_json(), statement_of(envelope)
    except ValueError as error:
        how = f"{code(f'agent-fox {command.words[0]} ... --comment')} prints the comment, signed with your key"
        raise Refused(f"a signature must stand below the command ({one_line(str(error), 200)}); {how}") from None


def with_moves(text: str, handled: Iterable[Handled]) -> str:
    lines = moves_in_words(handled)
    return f"{text}.\n\n{fenced(chr(10).join(lines))}" if lines else f"{text}."


def _finish(transaction: Docket, place: str, command: Command, answer: str) -> None:
    """Note the command as done, with its answer in the outbox, in the open transaction."""
    fingerprint = f"command:{command.id}"
    payload = {
        "title": f"answer to {command.author} in issue #{command.number}", "body": f"{answer}\n", "at": transaction.at,
        "says": Says.PROGRESS.value, "target": f"#{command.number}", "slot": fingerprint,
    }  # fmt: skip
    outbox.put_current(transaction.db, EffectKind.COMMENT, fingerprint, payload, transaction.at)
    note_done(transaction.db, place, command)


def refuse(transaction: Docket, place: str, command: Command, answer: str) -> None:
    """The same for a refusal. Those who may ask for nothing cannot make us write without end."""
    name = f"refusals {command.number}"
    given = int(recall(transaction.db, place, name) or 0) if command.refusal else 0
    if given >= MOST_REFUSALS:
        note_done(transaction.db, place, command)
        return
    if command.refusal:
        remember(transaction.db, place, name, str(given + 1))
    _finish(transaction, place, command, answer)
