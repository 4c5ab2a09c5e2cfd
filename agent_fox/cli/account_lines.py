"""The account of a run in words and as JSON: what `status` and the end of a run have in common. Imports little."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.issues.lines import counts_document, issue_counts_line
from agent_fox.cli.place import near
from agent_fox.cli.screen import plain
from agent_fox.core.values import to_document, to_object
from agent_fox.core.verdicts.known import counts_in_words, told_apart
from agent_fox.core.words import counted, listed

if TYPE_CHECKING:
    from agent_fox.engine.account.account import Cost, RunAccount, SpecAccount
    from agent_fox.store.issue_view import IssueView
    from agent_fox.store.waivers import Asked

SHORT_HEAD = 12


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
        **to_object(account, only=("running", "left", "blocked")),
        "issues": [issue_document(root, issue) for issue in account.issues],
        "undelivered": to_document(account.undelivered),
        "issue_counts": counts_document(account.issue_counts),
        "waivers": to_document(account.waivers),
        "asked_for_waivers": to_document(account.asked),
        **to_object(account, only=("gates", "elsewhere")),
        "ledger": {"records": account.ledger.position, "head": account.ledger.head, "disbelieved": account.disbelieved},
    }


def cost_document(cost: Cost) -> dict[str, float]:
    values = {
        "total_usd": cost.total_usd, "known_usd": cost.known_usd, "assumed_usd": cost.assumed_usd,
        "assumed_running_usd": cost.running_usd, "assumed_ended_usd": cost.assumed_usd - cost.running_usd,
    }  # fmt: skip
    return {key: round(value, 6) for key, value in values.items()}


def issue_document(root: Path, issue: IssueView) -> dict[str, str | None]:
    """`number` is null for an issue that was not delivered yet."""
    words = {"title": issue.title, "cause": issue.cause, "state": issue.state}
    return {**words, "number": issue.number or None, "where": near(root, issue.where)}


def spec_document(spec: SpecAccount) -> dict[str, object]:
    """`expected` is null for a spec that could never be read."""
    return {**to_object(spec), "is_proven": spec.is_proven, "expected": spec.expected if spec.is_counted else None}


def spec_lines(specs: tuple[SpecAccount, ...]) -> Iterator[str]:
    """One line a spec: name, standing, how much is proven, on which commit, what is open."""
    counts = [_count(spec) for spec in specs]
    names = max((len(spec.name) for spec in specs), default=0)
    standings = max((len(spec.standing) for spec in specs), default=0)
    widest = max((len(count) for count in counts), default=0)
    for spec, count in zip(specs, counts, strict=True):
        yield plain(f"  {spec.name:<{names}}  {spec.standing:<{standings}}  {count:<{widest}}  {_more(spec)}").rstrip()


def _count(spec: SpecAccount) -> str:
    """`4 of 6 proven, 1 waived: 4 red without, 1 waived by Ada`."""
    known = counts_in_words(spec.known)
    proven = f"{len(spec.proven)} of {spec.expected if spec.is_counted else '?'} proven"
    proven += f", {len(spec.waived)} waived" if spec.waived else ""
    return f"{proven}: {known}" if known else proven


def _more(spec: SpecAccount) -> str:
    lists = (
        ("fails", spec.failing), ("no clear verdict on", spec.unclear), ("passed on an older tree:", spec.stale),
        ("passed without the review or proof that is required:", spec.short),
        ("passed in another environment:", spec.elsewhere),
        ("waived", spec.waived), ("no verdict yet on", spec.unread if spec.unread != spec.open_ids else ()),
    )  # fmt: skip
    on = [f"on {spec.commit[:12]}"] if spec.commit and spec.is_proven else []
    parts = [f"{words} {listed(ids)}" for words, ids in lists if ids]
    if len(spec.known) > 1:
        how = {part: spec.how.get(part, "") for part in spec.proven}
        parts += [f"{word}: {listed(ids)}" for word, ids in told_apart(how).items()]
    if spec.unread and spec.unread == spec.open_ids:
        parts.append("no verdict yet")
    return "; ".join([*on, *parts, *([f"left out: {spec.problem}"] if spec.problem else [])])


READ_AGAIN = "not proven now; the next run reads it again, as `[evidence] environment` has it"
UNTIMED = ", without the time of what was ended from outside"


def asked_line(one: Asked) -> str:
    """How often a waiver was asked for: about one requirement, or a spec as a whole."""
    about = f"{one.spec_name}/{one.requirement_id}" if one.requirement_id else one.spec_name
    return f"waiver asked for: {about}: {counted(one.petitions, 'petition')}, {counted(one.sessions, 'session')}"


def total_lines(account: RunAccount, *, is_lost: bool = False) -> Iterator[str]:
    """`is_lost`: the last run was ended from outside, so that nobody has noted how long it ran."""
    unknown = " + ?" if account.uncounted else ""
    yield f"{account.proven} proven, {account.not_proven}{unknown} not proven, {account.waived} waived"
    if account.known:
        yield plain(f"how it is known: {counts_in_words(account.known)}")
    made = (counted(account.sessions, "session"), counted(account.retries, "retry"), counted(account.rereads, "reread"))
    ran = f"{account.seconds:.0f} s of running{UNTIMED if is_lost else ''}"
    yield f"{', '.join(made)}; {cost_words(account.cost)}; {ran}"


def evidence_line(account: RunAccount) -> str:
    """Where the gates stand, and the end of the ledger."""
    gates = ", ".join(f"{count} {state}" for state, count in account.gates.items()) or "none"
    tip = account.ledger
    return f"gates: {gates}; ledger: {counted(tip.position, 'record')}, head {tip.head[:SHORT_HEAD]}"


def cost_words(cost: Cost) -> str:
    """What was spent, and apart from it what is assumed where no cost is known: their sum would fall when a session
    reports less than was assumed."""
    ended = cost.assumed_usd - cost.running_usd
    parts = ((ended, "where no cost was told"), (cost.running_usd, "for what runs"))
    assumed = [f"${usd:.2f} assumed {why}" for usd, why in parts if usd > 0]
    return ", ".join((f"${cost.known_usd:.2f} spent", *assumed))


def trouble_lines(root: Path, account: RunAccount) -> Iterator[str]:
    """What needs a person: a state that is not that of its ledger, waivers in force, blocked nodes, open issues, and
    one line on all issues together."""
    if account.disbelieved:
        yield plain(f"not believed: {account.disbelieved}")
    if account.elsewhere and not account.disbelieved:
        is_left = any(spec.elsewhere for spec in account.specs)
        now = READ_AGAIN if is_left else 'it counts, as `[evidence] environment = "show"` has it'
        yield plain(f"proven in another environment ({'; '.join(account.elsewhere)}): {now}")
    yield from (plain(waiver.line) for waiver in account.waivers)
    yield from (plain(asked_line(request)) for request in account.asked)
    for blocked in account.blocked:
        yield plain(f"blocked: {blocked.node}: {blocked.reason}")
        if blocked.waiting:
            yield plain(f"  {listed(blocked.waiting)} {'waits' if len(blocked.waiting) == 1 else 'wait'} for it")
    for issue in account.issues:
        if issue.state == "open":
            yield plain(f"issue: {near(root, issue.where) or 'not delivered yet'}  {issue.title}")
    counts = issue_counts_line(account.issue_counts)
    if counts:
        yield plain(counts)
