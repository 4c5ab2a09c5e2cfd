"""What is put into the outbox for GitHub beside issues: the pull request, checks of a commit, and one comment.

Each says how the run stands now. What says the same as the last of its kind is not put again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.markdown import cut, one_line
from agent_fox.core.retry.filing import Says
from agent_fox.engine.reports import run_table
from agent_fox.engine.reports.source_comment import known_lines, named, open_lines, proven_line, summary_line
from agent_fox.engine.reports.spec_report import block, kinds_of, what_was_said
from agent_fox.store import outbox
from agent_fox.system import git
from agent_fox.trackers.protocol import EffectKind
from agent_fox.trackers.text import places_in

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.engine.record.docket import Docket
    from agent_fox.engine.reports.run_table import RunTable, SpecLine
    from agent_fox.engine.reports.spec_report import Said
    from agent_fox.store.ledger import journal
else:
    journal = late_module("agent_fox.store.ledger.journal")

LONGEST_SUMMARY = 50_000
LONGEST_TITLE = 200
LONGEST_REMARK = 200
GOES_ON = ("running", "waiting")


def is_asked_for(settings: Settings) -> bool:
    """Whether the settings want anything of it."""
    github = settings.github
    is_wanted = github.pull_request or github.checks or github.comment_on is not None
    return settings.tracker.kind == "github" and is_wanted


def tell_github(docket: Docket, settings: Settings, root: Path, commit: str) -> tuple[str, ...]:
    """Put what the settings ask for, about the branch as it is at `commit`, in the open transaction.

    Gives the ids of what was put. Nothing is said of a state that cannot be believed.
    """
    if not commit or not is_asked_for(settings) or journal.why_others(docket.db):
        return ()
    table = run_table.read_table(docket)
    branch = settings.git.integration_branch
    text = run_table.as_markdown(table, branch, commit)
    github = settings.github
    put = []
    if github.pull_request:
        target = ":".join(("pull", branch, *([github.base] if github.base else [])))
        put.append(_put(docket, target, table.title, text))
    if github.comment_on is not None:
        put.append(_put(docket, f"#{github.comment_on}", table.title, text))
    if github.checks:
        body = json.dumps(list(checks(docket, table, root, commit)), ensure_ascii=False)
        put.append(_put(docket, f"checks:{commit}", f"checks of {commit[: run_table.SHORT]}", body))
    return tuple(id for id in put if id)


def _put(docket: Docket, target: str, title: str, body: str) -> str | None:
    """None where the last one of this kind says the same, or nothing was ever decided."""
    kind = target.partition(":")[0]
    payload = {"title": title, "body": body, "at": docket.at, "says": Says.PROGRESS.value, "target": target}
    slot = f"run {kind}"
    return outbox.put_current(docket.db, EffectKind.COMMENT, f"run:{kind}", {**payload, "slot": slot}, docket.at)


def checks(docket: Docket, table: RunTable, root: Path, commit: str) -> Iterator[dict[str, object]]:
    """What is said of each spec, as `trackers.github.work.checks.Check` reads it."""
    for line in table.specs:
        said = what_was_said(docket.db, line.findings.account.name)
        yield {
            "name": one_line(f"agent-fox / {line.findings.account.name}", LONGEST_TITLE),
            "conclusion": _conclusion(line),
            "title": _title(line),
            "summary": _summary(line, said),
            "is_open": not line.findings.account.is_proven and line.findings.account.standing in GOES_ON,
            "remarks": list(_remarks(line, said, root, commit)),
        }


def _conclusion(line: SpecLine) -> str:
    """What is not proven and does not fail waits for a person or another run, and is no success."""
    found = line.findings.account
    return "success" if found.is_proven else "failure" if found.failing else "action_required"


def _title(line: SpecLine) -> str:
    found = line.findings.account
    count = f"{len(found.proven)} of {found.expected} proven"
    waived = f", {len(found.waived)} waived" if found.waived else ""
    failing = f"; {'; '.join(open_lines(line.findings))}" if not found.is_proven else ""
    return one_line(f"{count}{waived}{failing}".replace("`", ""), LONGEST_TITLE)


def _summary(line: SpecLine, said: dict[str, Said]) -> str:
    findings, kinds = line.findings, kinds_of(line.findings.account)
    if findings.is_proven:
        return "\n".join((proven_line(findings), "", *(f"- {text}" for text in known_lines(findings))))
    rows = [f"- {text}" for text in (*open_lines(findings), *known_lines(findings))]
    waived = [f"- waived: {named(findings.account.waived)}"] if findings.account.waived else []
    blocks = [
        block(part, kinds.get(part, "not read"), said[part]) for part in findings.account.open_ids if part in said
    ]
    whole = "\n\n".join((summary_line(findings), "\n".join([*rows, *waived]), *blocks))
    return cut(whole, LONGEST_SUMMARY)


def _remarks(line: SpecLine, said: dict[str, Said], root: Path, commit: str) -> Iterator[dict[str, object]]:
    """A line for each place that the evidence of what fails names, where the commit has that file."""
    for part in line.findings.account.failing:
        evidence = said[part].evidence if part in said else ""
        first = next((text for text in evidence.splitlines() if text.strip()), "")
        for place in places_in(evidence):
            if git.look(root, f"{commit}:{place.path}", allowed=(0, 128)) is not None:
                text = one_line(f"{part}: {first or 'not met'}", LONGEST_REMARK)
                yield {"path": place.path, "line": place.line, "text": text}
