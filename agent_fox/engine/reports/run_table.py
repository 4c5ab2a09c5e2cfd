"""A run as Markdown for a place where work is reviewed: how much is proven, what is not, how the rest is known, what it
cost. What does not fit is cut and counted, what is proven first. Made from the state alone; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.markdown import cell, code, how_many_fit, one_line
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import added, counts_in_words
from agent_fox.core.words import counted
from agent_fox.engine.account.explanation import PartEvidence, evidence_of
from agent_fox.engine.reports.spec_findings import SpecFindings, findings_of
from agent_fox.engine.reports.spec_report import Said, kinds_of, what_was_said
from agent_fox.store.plan import spec_names
from agent_fox.store.sessions import cost_of_spec

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Docket

LONGEST_SPECS = 8_000
LONGEST_OPEN = 20_000
LONGEST_PROVEN = 20_000
LONGEST_CELL = 160
SHORT = 12
SETTLED = ("PASS", "waived")
ALL = "`agent-fox status --all` shows every one"


@dataclass(frozen=True, slots=True)
class SpecLine:
    """A spec with its cost over all runs: dollars that sessions told, and how many sessions told none."""

    findings: SpecFindings
    known_usd: float
    untold: int


@dataclass(frozen=True, slots=True)
class PartLine:
    """One requirement: its text, what is to be said of it, how that is known, and what was seen."""

    spec: str
    id: str
    text: str
    kind: str
    how: str
    seen: str
    record: str
    commit: str

    @property
    def is_settled(self) -> bool:
        return self.kind in SETTLED


@dataclass(frozen=True, slots=True)
class RunTable:
    """The specs that have a verifier, in the order of the plan, and their requirements."""

    specs: tuple[SpecLine, ...]
    parts: tuple[PartLine, ...]

    @property
    def proven_specs(self) -> int:
        return sum(line.findings.account.is_proven for line in self.specs)

    @property
    def title(self) -> str:
        return f"agent-fox: {self.proven_specs} of {counted(len(self.specs), 'spec')} proven"


def read_table(docket: Docket) -> RunTable:
    findings = [found for name in spec_names(docket.db) if (found := findings_of(docket, name)) is not None]
    specs = [SpecLine(found, *cost_of_spec(docket.db, found.account.name)[1:]) for found in findings]
    return RunTable(tuple(specs), tuple(part for found in findings for part in _parts(docket, found)))


def _parts(docket: Docket, findings: SpecFindings) -> Iterator[PartLine]:
    kinds, said = kinds_of(findings.account), what_was_said(docket.db, findings.account.name)
    for part in evidence_of(docket.db, findings.verifier, findings.account.how):
        yield _part(findings.account.name, part, kinds.get(part.requirement, "not read"), said[part.requirement])


def _part(spec: str, part: PartEvidence, kind: str, said: Said) -> PartLine:
    seen = next((line for line in said.evidence.splitlines() if line.strip()), "")
    return PartLine(
        spec, part.requirement, said.text, kind, part.how or ("waived" if kind == "waived" else ""), seen, part.record,
        part.commit,
    )  # fmt: skip


def as_markdown(table: RunTable, branch: str, commit: str) -> str:
    """All of it, in less than 60,000 characters."""
    is_open = [part for part in table.parts if not part.is_settled]
    settled = [part for part in table.parts if part.is_settled]
    sections = (
        _head(table, is_open, branch, commit),
        _section("Specs", SPECS, [_spec(line) for line in _worst_first(table.specs)], LONGEST_SPECS),
        _section("Not proven", OPEN, [_open(part) for part in sorted(is_open, key=_rank)], LONGEST_OPEN),
        _section("Proven", PROVEN, [_proven(part) for part in settled], LONGEST_PROVEN),
        "agent-fox keeps this text current. It never merges, and never changes what you write beside it.",
    )
    return "\n\n".join(section for section in sections if section) + "\n"


SPECS = ("spec", "proven", "standing", "cost")
OPEN = ("requirement", "what it asks for", "verdict", "what was seen")
PROVEN = ("requirement", "what it asks for", "how it is known", "evidence")


def _head(table: RunTable, is_open: Sequence[PartLine], branch: str, commit: str) -> str:
    word = "NOT PROVEN" if is_open or table.proven_specs < len(table.specs) else "PROVEN"
    known = counts_in_words(added(line.findings.account.known for line in table.specs))
    settled = len(table.parts) - len(is_open)
    lines = [
        f"**{word}**: {table.proven_specs} of {counted(len(table.specs), 'spec')}, {settled} of "
        f"{counted(len(table.parts), 'requirement')}{f' ({one_line(known, 1_000)})' if known else ''}.",
        f"{code(branch)} is at {code(commit[:SHORT])}. Cost over all runs: {_dollars(table)}.",
    ]
    return "\n".join(lines)


def _dollars(table: RunTable) -> str:
    untold = sum(line.untold for line in table.specs)
    more = f", not counting {counted(untold, 'session')} whose cost is unknown" if untold else ""
    return f"${sum(line.known_usd for line in table.specs):.2f}{more}"


def _section(title: str, columns: tuple[str, ...], rows: Sequence[str], limit: int) -> str:
    if not rows:
        return ""
    shown = how_many_fit(rows, limit)
    head = [f"### {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    more = [f"\n{len(rows) - shown:,} of {len(rows):,} are not shown here; {ALL}."] if shown < len(rows) else []
    return "\n".join([*head, *rows[:shown], *more])


def _worst_first(specs: Sequence[SpecLine]) -> list[SpecLine]:
    return sorted(specs, key=lambda line: line.findings.account.is_proven)


def _spec(line: SpecLine) -> str:
    found = line.findings.account
    settled = len(found.proven) + len(found.waived)
    cost = f"${line.known_usd:.2f}{' and more' if line.untold else ''}"
    return f"| {cell(code(found.name))} | {settled} of {found.expected} | {cell(found.standing)} | {cost} |"


def _rank(part: PartLine) -> int:
    return {"FAIL": 0, "UNKNOWN": 1}.get(part.kind, 2)


def _open(part: PartLine) -> str:
    seen = cell(code(part.seen, LONGEST_CELL)) if part.seen else ""
    return f"| {_named(part)} | {cell(part.text, LONGEST_CELL)} | {cell(part.kind)} | {seen} |"


def _proven(part: PartLine) -> str:
    about = (("record", part.record), ("commit", part.commit))
    evidence = ", ".join(f"{word} {code(value[:SHORT])}" for word, value in about if value)
    return f"| {_named(part)} | {cell(part.text, LONGEST_CELL)} | {cell(part.how)} | {cell(evidence)} |"


def _named(part: PartLine) -> str:
    return cell(code(f"{part.spec}/{part.id}"))
