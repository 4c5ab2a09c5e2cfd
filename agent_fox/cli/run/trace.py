"""`agent-fox trace`: what a session did, step by step, and where it broke. What a trace is stands in the core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.opening import reading
from agent_fox.cli.place import here
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.screen import columns, cut, json_option, plain, print_json, title
from agent_fox.core.late import late_module
from agent_fox.core.trace import Node, NodeKind, children
from agent_fox.core.values import to_document
from agent_fox.core.words import quote
from agent_fox.store.sessions import sessions_where

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core import words
    from agent_fox.core.retry.replay import Finding
    from agent_fox.store import traces
    from agent_fox.store.sessions import SessionRow
    from agent_fox.store.traces import TraceRow
else:
    traces = late_module("agent_fox.store.traces")
    words = late_module("agent_fox.core.words")

DIGITS = 12


@click.command("trace", short_help="Show what a session did step by step, and at which step it broke.")
@click.argument("node", shell_complete=nodes_and_specs)
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Which attempt. Unset: the last.")
@click.option("--tree", "is_tree", is_flag=True, help="Show every node under the one that it hangs under.")
@json_option
def command(node: str, attempt: int | None, is_tree: bool, as_json: bool) -> None:
    """Show the last session of NODE as the states that its files had (a spec's name means its verifier), and below it
    where failing tests began to fail. `agent-fox replay-from` starts a session from one of the steps.

    With --tree also what was looked at and tested between, as far as it is kept; docs/traces.md says what is.
    """
    with reading(here()) as db:
        planned = find_node(db, node)
        session = session_with_trace(db, planned.node.uid, planned.node.id, attempt)
        trace = traces.trace_of(db, session.id)
        assert trace is not None
        findings = traces.onsets_in(db, session.id) or traces.findings_of(db, session.id)
    if as_json:
        print_json(document_of(session, trace, findings))
    else:
        click.echo("\n".join(lines_of(session, trace, findings, is_tree=is_tree)))


def session_with_trace(db: Database, uid: str, node: str, attempt: int | None) -> SessionRow:
    """The newest session of a node that has a trace, of an attempt where one is named. Raises UserError."""
    rows = [row for row in sessions_where(db, "node_uid = ?", [uid]) if attempt in (None, row.ticket.attempt)]
    known = (row for row in reversed(rows) if traces.trace_of(db, row.id) is not None)
    session = next(known, None)
    if session is None:
        which = f", attempt {attempt}" if attempt else ""
        raise UserError(
            f"{node}{which}: no trace was recorded; it is written when a coder's or a verifier's session ends. "
            f"`agent-fox explain {quote(node)}` shows its sessions"
        )
    return session


def document_of(session: SessionRow, trace: TraceRow, findings: Sequence[Finding]) -> dict[str, object]:
    about = {"node": session.node_id, "attempt": session.ticket.attempt, "reading": session.ticket.reading}
    kept = {"digest": trace.digest, "ref": trace.ref, "kept_until": trace.until, "counts": dict(trace.counts)}
    return {**about, "session": session.id, **kept, **trace.document, "onsets": to_document(findings)}


def lines_of(session: SessionRow, trace: TraceRow, findings: Sequence[Finding], *, is_tree: bool) -> Iterator[str]:
    ticket = session.ticket
    which = f"attempt {ticket.attempt}" + (f", reading {ticket.reading}" if session.archetype == "verifier" else "")
    yield f"{title(session.node_id)}  {which} · {counts_in_words(trace)}"
    if not trace.document:
        yield "  its nodes are not what was recorded: agent-fox ledger verify"
    nodes = trace.nodes
    broken = {finding.step for finding in findings if finding.session == session.id}
    yield from (
        tree_lines(nodes, broken)
        if is_tree
        else (shown(node, broken) for node in nodes if node.is_state or node.subject)
    )
    for finding in findings:
        yield title("where it broke") + f"  {plain(finding.requirement)}"
        yield f"  {plain(finding.words)}"
        yield f"  {words.counted(finding.runs, 'run')} over {words.counted(finding.states, 'state')}"
    for reason, count in trace.left_out.items():
        yield f"not in it: {plain(reason)} ({count})"
    if trace.ref:
        yield f"its states, until {trace.until}: git log {trace.ref}"


def counts_in_words(trace: TraceRow) -> str:
    counts = trace.counts
    states = counts.get(NodeKind.STATE_CHANGE, 0) + counts.get(NodeKind.ROLLBACK, 0)
    checks = words.counted(counts.get(NodeKind.VERIFICATION, 0), "verification")
    return f"{words.counted(states, 'state')}, {checks}, {words.counted(counts.get('calls', 0), 'call')}"


def tree_lines(nodes: Sequence[Node], broken: set[int | None]) -> Iterator[str]:
    """Each node below its parent; states stand under each other, for each hangs under the one before it."""
    under = children(nodes)
    stack = [(node, 0) for node in reversed(under.get("", []))]
    while stack:
        node, depth = stack.pop()
        yield "  " * depth + shown(node, broken)
        below = sorted(under.get(node.id, []), key=lambda each: (each.is_state, each.number))
        stack += [(each, depth + (not each.is_state)) for each in reversed(below)]


def shown(node: Node, broken: set[int | None]) -> str:
    """One node in a line."""
    mark = "✗" if node.is_state and node.step in broken else " "
    place = f"step {node.step}" if node.is_state else str(node.kind)
    about = node.subject or node.action or ", ".join(f"{count} {tool}" for tool, count in node.tools.items())
    back = f", back to step {node.back_to}" if node.back_to is not None else ""
    unnamed = [path for path in node.files if path not in about]
    files = f"  ({', '.join(unnamed)}{f' and {node.more_files} more' if node.more_files else ''})" if unnamed else ""
    red = f"  ✗ {node.observation.red[0]}" if node.observation.red else ""
    return cut(plain(f"{mark} {place:<12} {about}{back}{files}{red}"), columns())
