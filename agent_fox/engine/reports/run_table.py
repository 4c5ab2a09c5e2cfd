"""A run as Markdown for a place where work is reviewed: how much is proven, what is not, how the rest is known, what it
cost. It renders the account and its overview; what does not fit is cut and counted, what is proven first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.markdown import cell, code, how_many_fit, one_line
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import counts_in_words
from agent_fox.core.words import counted
from agent_fox.engine.account.account import Holds, RunAccount, SpecAccount, on_its_tree, read_account
from agent_fox.engine.account.explanation import PartEvidence, evidence_of
from agent_fox.engine.account.overview import STANDINGS, STATES, Banner, NeedsYou, quoted, read_overview
from agent_fox.engine.account.run_document import states_of
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.reports.spec_findings import SpecFindings, findings_of
from agent_fox.engine.reports.spec_report import Given, what_was_said
from agent_fox.store.account import spent

if TYPE_CHECKING:
    from agent_fox.engine.account.account import WaiverNote
    from agent_fox.engine.record.docket import Docket

LONGEST_SPECS = 8_000
LONGEST_OPEN = 20_000
LONGEST_PROVEN = 20_000
LONGEST_CELL = 160
MOST_CARDS = 5
SHORT = 12
SETTLED = ("proven", "waived")
ALL = "`agent-fox status --all` shows every one"


@dataclass(frozen=True, slots=True)
class PartLine:
    """One requirement: its text, the list of the account that it is in, how it is known, and what was seen."""

    spec: str
    id: str
    text: str
    state: str
    how: str
    seen: str
    record: str
    commit: str

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED


@dataclass(frozen=True, slots=True)
class RunTable:
    """`costs`: by spec, dollars that sessions told over all runs, and those assumed where they told none. `findings`
    are those of specs that have a verifier; `statements` what was said of their requirements, by spec.
    """

    account: RunAccount
    banner: Banner
    costs: dict[str, tuple[float, float]]
    findings: tuple[SpecFindings, ...]
    statements: dict[str, dict[str, Given]]
    parts: tuple[PartLine, ...]
    needs: tuple[NeedsYou, ...] = ()

    @property
    def proven_specs(self) -> int:
        return sum(spec.is_proven for spec in self.account.specs)

    @property
    def title(self) -> str:
        return f"agent-fox: {self.proven_specs} of {counted(len(self.account.specs), 'spec')} proven"


def read_table(
    transaction: Docket, tip_tree: str, in_force: Callable[[], tuple[WaiverNote, ...]], stop: Stop | None = None,
    untouched: Holds = on_its_tree,
) -> RunTable:  # fmt: skip
    """The last run on this tree of the integration branch. `stop`: how it is about to end; `untouched` as in
    `read_account`."""
    account = read_account(transaction.db, tip_tree=tip_tree, in_force=in_force, untouched=untouched).at_rest()
    if stop is not None:
        status = "ended" if stop.exit in (RunExit.PROVEN, RunExit.NOT_PROVEN) else "paused"
        account = replace(account, status=status, exit_code=stop.exit.value, reason=stop.reason)
    findings = tuple(findings_on(transaction, account))
    statements = {each.account.name: what_was_said(transaction.db, each.account.name) for each in findings}
    parts = (part for each in findings for part in part_lines(transaction, each, statements[each.account.name]))
    overview = read_overview(transaction.db, account, is_alive=False, work=lambda: None)
    costs = spent(transaction.db)
    return RunTable(account, overview.banner, costs, findings, statements, tuple(parts), overview.needs_you)


def findings_on(transaction: Docket, account: RunAccount) -> Iterator[SpecFindings]:
    for spec in account.specs:
        findings = findings_of(transaction, spec.name)
        if findings is not None:
            yield replace(findings, account=spec)


def part_lines(transaction: Docket, findings: SpecFindings, statements: dict[str, Given]) -> Iterator[PartLine]:
    spec, states = findings.account, states_of(findings.account)
    for part in evidence_of(transaction.db, findings.verifier, spec.how):
        yield part_line(spec.name, part, states.get(part.requirement, "unread"), statements[part.requirement])


def part_line(spec: str, part: PartEvidence, state: str, statement: Given) -> PartLine:
    seen = next(iter(quoted(statement.evidence)), "")
    return PartLine(spec, part.requirement, statement.text, state, part.how, seen, part.record, part.commit)


def as_markdown(table: RunTable, branch: str, commit: str) -> str:
    """All of it, in less than 60,000 characters."""
    is_open = sorted((part for part in table.parts if not part.is_settled), key=rank)
    settled = [part for part in table.parts if part.is_settled]
    is_settled = [spec for spec in table.account.specs if spec.is_proven]
    waiting = [spec for spec in table.account.specs if not spec.is_proven]
    sections = (
        banner_lines(table, branch, commit),
        _needs(table.needs),
        section("Not proven", OPEN, [open_row(part) for part in is_open], LONGEST_OPEN),
        section("Specs that are not proven", SPECS, [spec_row(spec, table) for spec in waiting], LONGEST_SPECS),
        section("Proven specs", SPECS, [spec_row(spec, table) for spec in is_settled], LONGEST_SPECS),
        section("Proven", PROVEN, [proven_row(part) for part in settled], LONGEST_PROVEN),
        "agent-fox keeps this text current. It never merges, and never changes what you write beside it.",
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _needs(cards: Sequence[NeedsYou]) -> str:
    """What only a person can settle: the requirement in its words, what was seen, and the command to begin with."""
    if not cards:
        return ""
    more = [f"- {len(cards) - MOST_CARDS} more; {ALL}"] if len(cards) > MOST_CARDS else []
    return "\n".join(("### Needs you", "", *map(_card, cards[:MOST_CARDS]), *more))


def _card(card: NeedsYou) -> str:
    part = next(iter(card.cited), None)
    about = (
        f"{code(f'{card.spec}/{part.requirement}')} {cell(part.text, LONGEST_CELL)}"
        if part
        else cell(card.spec or card.need)
    )
    seen = f": {code(part.quoted[0], LONGEST_CELL)}" if part and part.quoted else ""
    begin = f" {code(card.commands[0])}" if card.commands else ""
    return f"- {about}{seen} ({cell(card.because, LONGEST_CELL)}; {money(card.known_usd, card.assumed_usd)}){begin}"


SPECS = ("spec", "proven", "standing", "cost")
OPEN = ("requirement", "what it asks for", "state", "what was seen")
PROVEN = ("requirement", "what it asks for", "how it is known", "evidence")


def banner_lines(table: RunTable, branch: str, commit: str) -> str:
    known = counts_in_words(table.account.known)
    return "\n".join(
        (
            f"**{table.banner.answer}**: {one_line(table.banner.because, 1_000)}.",
            *([f"How it is known: {one_line(known, 1_000)}."] if known else []),
            f"{code(branch)} is at {code(commit[:SHORT])}. Cost over all runs: {dollars(table)}.",
        )
    )


def dollars(table: RunTable) -> str:
    known, assumed = (sum(cost[place] for cost in table.costs.values()) for place in (0, 1))
    return money(known, assumed)


def money(known: float, assumed: float) -> str:
    """Dollars that were told, and apart those assumed for sessions that told none."""
    return f"${known:.2f}" + (f", and ${assumed:.2f} assumed where no cost was told" if assumed else "")


def section(title: str, columns: tuple[str, ...], rows: Sequence[str], limit: int) -> str:
    if not rows:
        return ""
    shown = how_many_fit(rows, limit)
    head = [f"### {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    more = [f"\n{len(rows) - shown:,} of {len(rows):,} are not shown here; {ALL}."] if shown < len(rows) else []
    return "\n".join([*head, *rows[:shown], *more])


def spec_row(spec: SpecAccount, table: RunTable) -> str:
    settled = len(spec.proven) + len(spec.waived)
    known, assumed = table.costs.get(spec.name, (0.0, 0.0))
    cost = f"${known:.2f}" + (f" and ${assumed:.2f} assumed" if assumed else "")
    count = f"{settled} of {spec.expected}" if spec.is_counted else "unknown"
    return f"| {cell(code(spec.name))} | {count} | {cell(STANDINGS.get(spec.standing, spec.standing))} | {cost} |"


def rank(part: PartLine) -> int:
    return {"failing": 0, "unclear": 1}.get(part.state, 2)


def open_row(part: PartLine) -> str:
    seen = cell(code(part.seen, LONGEST_CELL)) if part.seen else ""
    return f"| {address_of(part)} | {cell(part.text, LONGEST_CELL)} | {cell(STATES[part.state])} | {seen} |"


def proven_row(part: PartLine) -> str:
    about = (("record", part.record), ("commit", part.commit))
    evidence = ", ".join(f"{word} {code(value[:SHORT])}" for word, value in about if value)
    how = part.how or part.state
    return f"| {address_of(part)} | {cell(part.text, LONGEST_CELL)} | {cell(how)} | {cell(evidence)} |"


def address_of(part: PartLine) -> str:
    return cell(code(f"{part.spec}/{part.id}"))
