"""The report on a spec for people: each requirement with its verdict, its evidence and what they are about, and an
overall one. Made from the state alone, whole each time: a lost file is written again, and nothing is read from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.markdown import cell, code, cut, fenced, one_line, printable, quoted
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.known import counts_in_words
from agent_fox.core.words import quote
from agent_fox.engine.account.explanation import PartEvidence, evidence_of
from agent_fox.engine.launching.closing import REPORTS, reports_in
from agent_fox.engine.reports.spec_findings import SpecFindings, findings_of
from agent_fox.store import history
from agent_fox.store.history import LastRead, unclear_after_fail
from agent_fox.store.plan import load_parts, spec_names
from agent_fox.store.records import verdicts_now
from agent_fox.store.sessions import was_read
from agent_fox.system.files import read_regular, replace_file

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.account.account import SpecAccount
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.plan import PlannedNode

NAME = "verification.md"
LONGEST_EVIDENCE = 4_000
LONGEST_TEXT = 2_000
LONGEST_LINE = 1_000
LARGEST_REPORT = 64 * 1024**2
SHORT = 12


def follow(tx: Docket, repo: Path, planned: PlannedNode) -> None:
    """Write the report of a node's spec anew, after the commit of a decision about the node. A coder's says nothing."""
    if planned.node.archetype is not Archetype.CODER:
        publish(tx, repo, planned.node.spec_name)


def publish_all(tx: Docket, repo: Path) -> None:
    """Write every report that is lost or does not say what the state says."""
    for name in spec_names(tx.db):
        publish(tx, repo, name)


def publish(tx: Docket, repo: Path, spec_name: str) -> None:
    """Write `.agent-fox/verification/SPEC/verification.md` for a spec that was read.

    A file that cannot be written is left alone: it is for people, and the state has all of it.
    """
    findings = findings_of(tx, spec_name) if was_read(tx.db, spec_name) else None
    if findings is not None:
        with suppress(OSError):
            write(reports_in(repo) / spec_name / NAME, report_of(tx.db, findings))


def path_of(repo: Path, spec_name: str) -> Path:
    return repo / REPORTS / spec_name / NAME


def write(path: Path, text: str) -> None:
    """Put the text in the place of what is there, at once, where it says something else. Raises OSError."""
    content = text.encode("utf-8", "replace")
    link = next((folder for folder in path.parents[:2] if folder.is_symlink()), None)
    if link is not None:
        raise FileExistsError(f"{link} is a link")
    if read_regular(path, LARGEST_REPORT) != content:
        replace_file(path, content)


@dataclass(frozen=True, slots=True)
class Given:
    """The current verdict on one requirement as it was given: what was seen, and the command that shows it again."""

    text: str
    evidence: str
    command: str


def report_of(db: Database, findings: SpecFindings) -> str:
    """The report as Markdown."""
    texts = what_was_said(db, findings.account.name)
    parts = tuple(evidence_of(db, findings.verifier, findings.account.how))
    kinds = kinds_of(findings.account)
    sections = (
        f"# Verification of {one_line(findings.account.name, LONGEST_LINE)}",
        head(db, findings),
        table(parts, kinds),
        not_proven(parts, kinds, texts),
        passing(parts, kinds, texts),
        waivers(findings),
        "Written from the state of the run after each report; what counts is the state. "
        f"The whole story: `agent-fox explain {quote(findings.verifier.node.id)}`; "
        "the records: `agent-fox ledger show`.",
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def what_was_said(db: Database, spec_name: str) -> dict[str, Given]:
    later, now, texts = unclear_after_fail(db, spec_name), verdicts_now(db, spec_name), dict[str, Given]()
    for part in load_parts(db, spec_name):
        row = now.get(part.id)
        evidence, command = (row.evidence, row.command) if row else ("", "")
        texts[part.id] = Given(part.text, _with_last(evidence, later.get(part.id)), command)
    return texts


def _with_last(evidence: str, last: LastRead | None) -> str:
    """What was said of a requirement; of a FAIL that stands, with what a later reading without a clear word saw."""
    if last is None:
        return evidence
    words = f": {last.disposition}" if last.disposition else ""
    return f"{evidence}\n\nThe last reading, of attempt {last.attempt}, said UNKNOWN{words}\n{last.evidence}"


def kinds_of(found: SpecAccount) -> dict[str, str]:
    """What is to be said of each expected id: its verdict, and where that does not count, why."""
    lists = (
        (found.proven, "PASS"),
        (found.failing, "FAIL"),
        (found.unclear, "UNKNOWN"),
        (found.unread, "not read"),
        (found.waived, "waived"),
        (found.stale, "PASS, not of the last reading"),
        (found.short, "PASS, but not what is required"),
    )
    return {part: word for ids, word in lists for part in ids}


def overall(findings: SpecFindings) -> str:
    """PASS where evidence stands for everything; FAIL where anything fails; else UNKNOWN, or WAIVED by a person."""
    if findings.is_proven:
        return "PASS"
    if findings.account.failing:
        return "FAIL"
    return "WAIVED" if findings.account.is_proven else "UNKNOWN"


def head(db: Database, findings: SpecFindings) -> str:
    account, node = findings.account, findings.verifier.node
    held = history.held(db, node.uid) if account.standing in ("escalated", "blocked") else None
    why = f": {one_line(held.reason, LONGEST_LINE)}" if held else ""
    issue = history.open_issue_of(db, account.name)
    lines = [
        f"**Overall: {overall(findings)}**, {len(account.proven)} of {account.expected} requirements pass"
        + (f": {one_line(counts_in_words(account.known), LONGEST_LINE)}." if account.known else "."),
        "",
        f"- verifier {code(node.id)}: {account.standing}{why}",
        f"- commit {code(findings.commit)}" if findings.commit else "- no commit was read",
        *([f"- issue: {one_line(issue, LONGEST_LINE)}"] if issue else []),
    ]
    return "\n".join(lines)


def table(parts: tuple[PartEvidence, ...], kinds: dict[str, str]) -> str:
    columns = ("requirement", "verdict", "how it is known", "gate", "commit", "session", "record", "at")
    header = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    rows = (row(part, kinds.get(part.requirement, "not read")) for part in parts)
    return "\n".join([*header, *rows])


def row(part: PartEvidence, kind: str) -> str:
    about = (
        cell(code(text[:length])) for text, length in ((part.commit, SHORT), (part.session, 200), (part.record, SHORT))
    )
    return f"| {cell(part.requirement)} | {kind} | {cell(part.how)} | {part.gate} | {' | '.join(about)} | {part.at} |"


def not_proven(parts: tuple[PartEvidence, ...], kinds: dict[str, str], texts: dict[str, Given]) -> str:
    open_parts = [part.requirement for part in parts if kinds.get(part.requirement) != "PASS"]
    blocks = [block(name, kinds.get(name, "not read"), texts[name]) for name in open_parts]
    return "\n\n".join(["## What is not proven", *blocks]) if blocks else ""


def block(name: str, kind: str, text: Given) -> str:
    pieces = [f"### {one_line(name, LONGEST_LINE)}: {kind}", quoted(cut(text.text, LONGEST_TEXT)), *shown(text)]
    return "\n\n".join(piece for piece in pieces if piece)


def shown(text: Given) -> Iterator[str]:
    if text.command:
        yield f"To see it:\n\n{fenced(cut(text.command, LONGEST_EVIDENCE), 'sh')}"
    if text.evidence:
        yield f"What was seen:\n\n{fenced(cut(printable(text.evidence), LONGEST_EVIDENCE))}"


def passing(parts: tuple[PartEvidence, ...], kinds: dict[str, str], texts: dict[str, Given]) -> str:
    names = [part.requirement for part in parts if kinds.get(part.requirement) == "PASS"]
    rows = [
        f"| {cell(name)} | {cell(texts[name].text)} | {cell(texts[name].evidence, LONGEST_LINE)} |" for name in names
    ]
    header = ["| requirement | what it asks for | what was seen |", "|---|---|---|"]
    return "\n".join(["## What passes", "", *header, *rows]) if rows else ""


def waivers(findings: SpecFindings) -> str:
    lines = [f"- {one_line(line, LONGEST_LINE)}" for line in findings.waivers]
    return "\n".join(["## Waivers in force", "", *lines]) if lines else ""
