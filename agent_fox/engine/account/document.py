"""The account of a run as one JSON object: the same for `status --json`, the end of `run`, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import to_document, to_object
from agent_fox.store.issue_view import told_members

if TYPE_CHECKING:
    from agent_fox.engine.account.account import Cost, RunAccount, SpecAccount
    from agent_fox.engine.account.overview import Overview
    from agent_fox.store.issue_view import IssueCounts, IssueView


def account_document(root: Path, account: RunAccount) -> dict[str, object]:
    """The account as one JSON object."""
    return {
        **to_object(account, only=("run", "status", "exit_code", "reason", "started_at")),
        "seconds": round(account.seconds, 3),
        "tip": account.tip,
        "requirements": {"proven": account.proven, "not_proven": account.not_proven, "waived": account.waived},
        "known": account.known,
        "specs": [spec_document(spec) for spec in account.specs],
        **to_object(account, only=("nodes", "sessions", "retries", "rereads")),
        "cost": cost_document(account.cost),
        **to_object(account, only=("running", "left", "waits", "blocked")),
        "issues": [issue_document(root, issue) for issue in account.issues],
        "undelivered": to_document(account.undelivered),
        "issue_counts": counts_document(account.issue_counts),
        "waivers": to_document(account.waivers),
        "asked_for_waivers": to_document(account.asked),
        **to_object(account, only=("gates", "elsewhere")),
        "ledger": {"records": account.ledger.position, "head": account.ledger.head, "disbelieved": account.disbelieved},
    }


def overview_document(overview: Overview) -> dict[str, object]:
    """The answer, what needs a person, worst first, and the commands to type next."""
    return {
        "banner": to_document(overview.banner),
        "needs_you": to_document(overview.needs_you),
        "next": [step.command for step in overview.next],
    }


def cost_document(cost: Cost) -> dict[str, float]:
    values = {
        "total_usd": cost.total_usd, "known_usd": cost.known_usd, "assumed_usd": cost.assumed_usd,
        "assumed_running_usd": cost.running_usd, "assumed_ended_usd": cost.assumed_usd - cost.running_usd,
    }  # fmt: skip
    return {key: round(value, 6) for key, value in values.items()}


def issue_document(root: Path, issue: IssueView) -> dict[str, object]:
    """`number` is null for an issue that was not delivered yet; a part without a requirement is its spec as a whole."""
    words = {"title": issue.title, "cause": issue.cause, "state": issue.state}
    where = issue.where.replace(f"{root.resolve().as_uri()}/", "")
    members = told_members((member.spec, member.requirement, member.is_open) for member in issue.members)
    parts = [{"spec": spec, "requirement": part, "is_open": is_open} for spec, part, is_open in members]
    return {**words, "number": issue.number or None, "where": where, "parts": parts}


def spec_document(spec: SpecAccount) -> dict[str, object]:
    """`expected` is null for a spec that could never be read."""
    return {**to_object(spec), "is_proven": spec.is_proven, "expected": spec.expected if spec.is_counted else None}


def counts_document(counts: IssueCounts) -> dict[str, object]:
    """The same as JSON: how many issues stand how, and what waits, by reason."""
    standings = {standing.value: count for standing, count in counts.standings.items()}
    return {"standings": standings, "waiting": to_document(counts.waiting)}
