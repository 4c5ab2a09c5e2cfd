"""`agent-fox explain`: one screen about one node or requirement. What is to be said comes from the engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent_fox.cli.evidence.evidence_lines import SHORT, tell_chains, trial_lines
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.opening import before_waiving, signed_in
from agent_fox.cli.place import here, near
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.run.telling import about_ruling, about_saved, about_session
from agent_fox.cli.screen import json_option, plain, print_json, shown_time, title
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.verdict import Unproven
from agent_fox.engine.account.explanation import Explanation, explain
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.store.plan import load_nodes, load_parts
from agent_fox.store.state import read_state
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import chains
    from agent_fox.store.history import LastRead, OpenPart
else:
    chains = late_module("agent_fox.cli.evidence.chains")

RECENT = 6  # sessions and decisions shown without --all
MOST_PARTS = 8
EVIDENCE_LINES = 2
TESTS_AT_FAULT = frozenset(map(str, Unproven))


@click.command("explain", short_help="Tell why a node or requirement is where it is, and what would help.")
@click.argument("name", metavar="NODE|REQ", shell_complete=nodes_and_specs)
@click.option("--all", "is_whole", is_flag=True, help="The whole story, however long.")
@json_option
def command(name: str, is_whole: bool, as_json: bool) -> None:
    """Tell why NODE (or the verifier of a spec, named by the spec) is where it is: its sessions, verdicts and
    decisions with their row of the decision table, the evidence, the budget left, and what would change it.

    For a requirement REQ (`04-REQ-1.2`, or `SPEC/04-REQ-1.2`): its chain of evidence, as `ledger show` tells it.
    """
    root = here()
    policy = policy_of(load(root, os.environ))
    with closing(read_state(root / STATE)) as db:
        if is_requirement(db, name):
            tell_chains(chains.chains_named(db, root, name), is_whole=is_whole, as_json=as_json)
            return
        planned = find_node(db, name, others=[part.id for part in load_parts(db)])
        story = explain(db, planned, policy, signed_in(root, db), lambda: before_waiving(root))
    if as_json:
        print_json(to_document(story))
    else:
        click.echo("\n".join(_screen(story, is_whole=is_whole)))


def is_requirement(db: Database, name: str) -> bool:
    """Whether a requirement is meant, one or several. A node or a spec of the same name comes first."""
    if any(name in (planned.node.id, planned.node.spec_name) for planned in load_nodes(db)):
        return False
    return "/" in name or any(name in (part.id, part.requirement_id) for part in load_parts(db))


def _screen(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    stands = f"{story.status}, {story.outcome}" if story.outcome else story.status
    role = story.mode or story.archetype
    yield f"{title(story.node)}  {role}{f' · {plain(story.title)}' if story.title else ''}"
    yield f"{stands}: {plain(story.why)}"
    if story.issue:
        yield f"issue: {plain(near(here(), story.issue))}"
    yield from _story(story, is_whole=is_whole)
    yield from _open_parts(story.open_parts, is_whole=is_whole)
    yield from _evidence(story, is_whole=is_whole)
    if story.budgets:
        yield title("budget")
        yield from (
            f"  {budget.node}: {budget.spent} of {budget.total} {budget.what} spent, {budget.left} left"
            for budget in story.budgets
        )
    if story.saved:
        yield title("what stopping saved")
        yield from (f"  {plain(line)}" for line in about_saved(story.saved, story.spec))
    yield title("what would change it")
    yield from (f"  {plain(remedy)}" for remedy in story.remedies)


def _story(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    entries = [(s.started_at, 0, about_session(s, story.archetype)) for s in story.sessions]
    entries += [(r.at, r.id, about_ruling(r, story.node)) for r in story.rulings]
    if not entries:
        return
    entries.sort()
    left_out = 0 if is_whole else max(0, len(entries) - RECENT)
    yield title("what happened") + (f" (the last {RECENT} of {len(entries)}; --all shows all)" if left_out else "")
    for at, _, lines in entries[left_out:]:
        for number, line in enumerate(lines):
            yield f"  {shown_time(at) if number == 0 else ' ' * 8}  {plain(line)}"


def _evidence(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    """What is not proven first: who looks here wants to know about that."""
    parts = sorted(story.evidence, key=lambda part: part.word == "PASS")
    if not parts:
        return
    shown = parts if is_whole else parts[:MOST_PARTS]
    cut = f" ({len(shown)} of {len(parts)}; --all shows all)" if len(shown) < len(parts) else ""
    yield title("evidence") + cut
    names, widest = max(len(part.requirement) for part in shown), max(len(part.how) for part in shown)
    for part in shown:
        by = f"record {part.record[:SHORT]} by {part.session} on {part.commit[:SHORT]}"
        record = by if part.record else "no record"
        how = f"  {part.how:<{widest}}" if widest else ""
        yield plain(f"  {part.requirement:<{names}}  {part.gate:<8}  {part.word or 'unread':<7}{how}  {record}")
        lines = list(trial_lines(part.trials, is_whole=is_whole))
        yield from (plain(f"  {'':<{names}}  {line.strip()}") for line in (lines if is_whole else lines[1:]))
    yield f"  the whole chain: agent-fox ledger show {plain(story.spec)}/{plain(shown[0].requirement)}"


def _open_parts(parts: tuple[OpenPart, ...], *, is_whole: bool) -> Iterator[str]:
    if not parts:
        return
    shown = parts if is_whole else parts[:MOST_PARTS]
    yield title("not proven") + (f" ({len(shown)} of {len(parts)}; --all shows all)" if len(shown) < len(parts) else "")
    for part in shown:
        fault = f"({part.disposition}) " if part.disposition in TESTS_AT_FAULT else ""
        yield f"  {part.word:<7} {part.requirement}  {plain(fault)}{plain(part.text)}"
        evidence = [line for line in part.evidence.splitlines() if line.strip()]
        yield from (f"          {plain(line)}" for line in (evidence if is_whole else evidence[:EVIDENCE_LINES]))
        if part.last_read is not None:
            yield from _last_read(part, part.last_read, is_whole=is_whole)
        if part.command:
            yield f"          $ {plain(part.command)}"


def _last_read(part: OpenPart, last: LastRead, *, is_whole: bool) -> Iterator[str]:
    """A FAIL stands until a reading says PASS or FAIL; who reads only it would mend what was seen no more."""
    fault = f": {last.disposition}" if last.disposition else ""
    last_word = f"the last reading, of attempt {last.attempt}, said UNKNOWN{fault}"
    yield plain(f"          that was attempt {part.attempt}; {last_word}")
    evidence = [line for line in last.evidence.splitlines() if line.strip()]
    yield from (f"          {plain(line)}" for line in (evidence if is_whole else evidence[:EVIDENCE_LINES]))
