"""What is put into the outbox for GitHub beside issues: the pull request, checks of a commit, and one comment.

Each says how the run stands now. What says the same as the last of its kind is not put again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.markdown import cut, one_line
from agent_fox.core.retry.filing import Says
from agent_fox.engine.account import freshness
from agent_fox.engine.account.overview import quoted
from agent_fox.engine.handlers import waiving
from agent_fox.engine.reports.run_table import SHORT, as_markdown, read_table
from agent_fox.engine.reports.source_comment import (
    known_lines,
    open_lines,
    proven_line,
    summary_line,
    waiver_lines,
)
from agent_fox.engine.reports.spec_findings import findings_of
from agent_fox.engine.reports.spec_report import block, kinds_of
from agent_fox.store import outbox
from agent_fox.store.sessions import recorded_tip
from agent_fox.system import git
from agent_fox.trackers.facts import places_in
from agent_fox.trackers.protocol import EffectKind

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.engine.account.account import SpecAccount
    from agent_fox.engine.record.docket import Docket
    from agent_fox.engine.record.ending import Stop
    from agent_fox.engine.reports.run_table import RunTable
    from agent_fox.engine.reports.spec_findings import SpecFindings
    from agent_fox.engine.reports.spec_report import Given
    from agent_fox.evidence.waivers import Grounds

LONGEST_SUMMARY = 50_000
LONGEST_TITLE = 200
GOES_ON = ("running", "waiting")


def is_asked_for(settings: Settings) -> bool:
    """Whether the settings want anything of it."""
    github = settings.github
    is_wanted = github.pull_request or github.checks or github.comment_on is not None
    return settings.tracker.kind == "github" and is_wanted


def tell_github(
    transaction: Docket, settings: Settings, root: Path, grounds: Callable[[], Grounds], stop: Stop | None = None
) -> tuple[str, ...]:
    """Put what the settings ask for, about the branch as it is, in the open transaction. `stop`: how a run is about to
    end.

    Gives the ids of what was put. Nothing is said of a state that cannot be believed.
    """
    commit = recorded_tip(transaction.db)
    if commit is None or not is_asked_for(settings):
        return ()
    table = table_at(transaction, settings, root, grounds, commit, stop)
    return put_all(transaction, settings, root, commit, table)


def table_at(
    transaction: Docket, settings: Settings, root: Path, grounds: Callable[[], Grounds], commit: str,
    stop: Stop | None = None,
) -> RunTable:  # fmt: skip
    in_force = partial(waiving.notes_in_force, transaction.db, grounds(), transaction.at)
    tree = git.tree_of(root, commit)
    untouched = freshness.untouched(transaction.db, root, tree, lambda: settings)
    return read_table(transaction, tree, in_force, stop, untouched)


def findings_now(
    transaction: Docket, settings: Settings, root: Path, grounds: Callable[[], Grounds]
) -> Callable[[str], SpecFindings | None]:
    """How a spec stands on the branch as it is, as `status` and the pull request tell it. Read when first asked for."""

    @cache
    def all_findings() -> dict[str, SpecFindings]:
        commit = recorded_tip(transaction.db)
        table = table_at(transaction, settings, root, grounds, commit) if commit else None
        return {each.account.name: each for each in table.findings} if table else {}

    return lambda name: all_findings().get(name) or findings_of(transaction, name)


def put_all(transaction: Docket, settings: Settings, root: Path, commit: str, table: RunTable) -> tuple[str, ...]:
    if not is_asked_for(settings) or table.account.disbelieved:
        return ()
    branch, github = settings.git.integration_branch, settings.github
    text = as_markdown(table, branch, commit)
    put = []
    if github.pull_request:
        target = ":".join(("pull", branch, *([github.base] if github.base else [])))
        put.append(_put(transaction, target, table.title, text))
    if github.comment_on is not None:
        put.append(_put(transaction, f"#{github.comment_on}", table.title, text))
    if github.checks:
        body = json.dumps(list(checks(table, root, commit)), ensure_ascii=False)
        put.append(_put(transaction, f"checks:{commit}", f"checks of {commit[:SHORT]}", body))
    return tuple(id for id in put if id)


def _put(transaction: Docket, target: str, title: str, body: str) -> str | None:
    """None where the last one of this kind says the same, or nothing was ever decided."""
    kind, at = target.partition(":")[0], transaction.at
    payload = {"title": title, "body": body, "at": at, "says": Says.PROGRESS.value, "target": target}
    return outbox.put_current(transaction.db, EffectKind.COMMENT, f"run:{kind}", {**payload, "slot": f"run {kind}"}, at)


def checks(table: RunTable, root: Path, commit: str) -> Iterator[dict[str, object]]:
    """What is said of each spec, as `trackers.github.work.checks.Check` reads it."""
    for findings in table.findings:
        spec, statements = findings.account, table.statements[findings.account.name]
        yield {
            "name": one_line(f"agent-fox / {spec.name}", LONGEST_TITLE),
            "conclusion": conclusion(spec),
            "title": title(findings),
            "summary": summary(findings, statements),
            "is_open": not spec.is_proven and spec.standing in GOES_ON,
            "remarks": list(remarks(spec, statements, root, commit)),
        }


def conclusion(spec: SpecAccount) -> str:
    """What is not proven and does not fail waits for a person or another run, and is no success."""
    return "success" if spec.is_proven else "failure" if spec.failing else "action_required"


def title(findings: SpecFindings) -> str:
    spec = findings.account
    waived = f", {len(spec.waived)} waived" if spec.waived else ""
    rest = f"; {'; '.join(open_lines(findings))}" if not spec.is_proven else ""
    return one_line(f"{len(spec.proven)} of {spec.expected} proven{waived}{rest}".replace("`", ""), LONGEST_TITLE)


def summary(findings: SpecFindings, statements: dict[str, Given]) -> str:
    if findings.is_proven:
        return "\n".join((proven_line(findings), "", *(f"- {line}" for line in known_lines(findings))))
    lines = (*open_lines(findings), *waiver_lines(findings), *known_lines(findings))
    kinds = kinds_of(findings.account)
    parts = [part for part in findings.account.open_ids if part in statements]
    blocks = [block(part, kinds.get(part, "not read"), statements[part]) for part in parts]
    return cut(
        "\n\n".join((summary_line(findings), "\n".join(f"- {line}" for line in lines), *blocks)), LONGEST_SUMMARY
    )


def remarks(spec: SpecAccount, statements: dict[str, Given], root: Path, commit: str) -> Iterator[dict[str, object]]:
    """A line for each place that the evidence of what fails names, where the commit has that file."""
    for part in spec.failing:
        evidence = statements[part].evidence if part in statements else ""
        text = one_line(f"{part}: {next(iter(quoted(evidence)), 'not met')}", LONGEST_TITLE)
        for place in places_in(evidence):
            if git.look(root, f"{commit}:{place.path}", allowed=(0, 128)) is not None:
                yield {"path": place.path, "line": place.line, "text": text}
