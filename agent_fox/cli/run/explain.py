"""`agent-fox explain`: one screen about one node or requirement. What is to be said comes from the engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent_fox.cli.evidence.evidence_lines import SHORT, tell_chains, trial_lines, why_not
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.opening import before_waiving, signed_in
from agent_fox.cli.place import here, near
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.run.telling import about_ruling, about_saved, about_session
from agent_fox.cli.screen import columns, cut, json_option, link, plain, print_json, shown_time, title, wrapped
from agent_fox.config import load
from agent_fox.core.late import late_module
from agent_fox.core.values import to_document
from agent_fox.core.verdicts.verdict import Unproven
from agent_fox.core.words import quote
from agent_fox.engine.account.explanation import Explanation, explain
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.store.plan import load_nodes, load_parts
from agent_fox.store.state import read_state
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.cli.evidence import chains
    from agent_fox.engine.account import overview
    from agent_fox.evidence.chain import Chain
    from agent_fox.store.history import LastRead, OpenPart
else:
    chains = late_module("agent_fox.cli.evidence.chains")
    overview = late_module("agent_fox.engine.account.overview")

RECENT = 6  # sessions and decisions shown without --all
MOST_PARTS = 8
MOST_NAMED = 3
"""Requirements that are told in their own words beside one decision."""
TESTS_AT_FAULT = frozenset(map(str, Unproven))


@click.command("explain", short_help="Show why a node or requirement stands as it does, and what to do.")
@click.argument("name", metavar="NODE|REQ", shell_complete=nodes_and_specs)
@click.option("--all", "is_whole", is_flag=True, help="Show everything: every session, hash and table row.")
@json_option
def command(name: str, is_whole: bool, as_json: bool) -> None:
    """Show why NODE stands as it does (a spec's name means its verifier): what is not proven, what happened and was
    decided, how the rest is known, the budget left, and what to do.

    For a requirement REQ (`04-REQ-1.2`, or `SPEC/04-REQ-1.2`): everything that was recorded about it, as `ledger show`
    does.
    """
    root = here()
    policy = policy_of(load(root, os.environ))
    with closing(read_state(root / STATE)) as db:
        if is_requirement(db, name):
            named = chains.chains_named(db, root, name)
            if as_json or is_whole:
                tell_chains(named, is_whole=is_whole, as_json=as_json)
            else:
                click.echo("\n\n".join("\n".join(_requirement(chain)) for chain in named))
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


def _requirement(chain: Chain) -> Iterator[str]:
    """A requirement for a person on call: what each reading said, whether it counts, and what would change it."""
    address = f"{chain.spec}/{chain.requirement}"
    state = f"proven: {chain.how or 'it passed'}" if chain.is_proven_now else f"not proven now: {why_not(chain)}"
    yield f"{title(address)}  {plain(state)}"
    yield from (f"  {line}" for line in wrapped(chain.text, columns() - 2))
    shown = chain.proofs[-RECENT:]
    hidden = chain.left_out + len(chain.proofs) - len(shown)
    yield title("what was seen") + (
        f" (the last {len(shown)} of {len(shown) + hidden}; --all shows all)" if hidden else ""
    )
    for proof in shown:
        stale = f"; does not count: {'; '.join(proof.why_stale)}" if proof.why_stale else ""
        how = f", {proof.how}" if proof.how else ""
        by = proof.ticket.partition("@")[0] or proof.kind
        yield plain(f"  {shown_time(proof.at)}  {proof.status:<7}  by {by}{how}{stale}")
        if proof.is_current:
            yield from (cut(f"            {line}", columns()) for line in overview.quoted(proof.said))
            if proof.command:
                yield plain(f"            $ {proof.command}")
    if not shown:
        yield "  nothing was recorded about it"
    if not chain.is_proven_now:
        yield title("what to do")
        yield from (f"  first, to sign: {command}" for command in before_waiving(here()))
        yield from (f"  {plain(move.why)}" for move in chain.promotion.blocked)
        yield f"  agent-fox explain {quote(plain(chain.spec))}"
    yield f"  everything that was recorded: agent-fox ledger show {quote(plain(address))}"


def _screen(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    role = story.mode or story.archetype
    yield f"{title(story.node)}  {role}{f' · {plain(story.title)}' if story.title else ''}"
    yield from wrapped(f"{stands(story)}: {story.why}", columns(), "  ")
    if story.issue:
        yield f"issue: {link(near(here(), story.issue), story.issue)}"
    yield from _open_parts(story.open_parts, is_whole=is_whole)
    yield from _story(story, is_whole=is_whole)
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
    yield title("what to do")
    yield from (f"  {plain(remedy)}" for remedy in story.remedies)


def stands(story: Explanation) -> str:
    """How the node stands, in one word or two."""
    if story.outcome:
        return overview.STANDINGS.get(story.outcome, story.outcome) if story.archetype == "verifier" else story.outcome
    return {"pending": "waiting"}.get(story.status, story.status)


def _story(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    entries = [(s.started_at, 0, about_session(s, story.archetype, is_whole=is_whole)) for s in story.sessions]
    parts = {part.requirement: part.text for part in story.evidence}
    parts |= {part.requirement: part.text for part in story.open_parts}
    for ruling in story.rulings:
        about = about_ruling(ruling, story.node, is_whole=is_whole)
        named = [f"  {part}  {parts[part]}" for part in (*ruling.failing, *ruling.unknown) if parts.get(part)]
        guessed = [
            f"  {part}: {story.doubts[part]}" for part in ruling.failing if ruling.blamed and part in story.doubts
        ]
        guessed = [line for each in guessed for line in wrapped(each, columns() - 12, "  ")]
        entries.append((ruling.at, ruling.id, [*about, *(named if is_whole else few(named)), *guessed]))
    if not entries:
        return
    entries.sort()
    left_out = 0 if is_whole else max(0, len(entries) - RECENT)
    yield title("what happened") + (f" (the last {RECENT} of {len(entries)}; --all shows all)" if left_out else "")
    for at, _, lines in entries[left_out:]:
        for number, line in enumerate(lines):
            yield f"  {shown_time(at) if number == 0 else ' ' * 8}  {plain(line)}"


def few(lines: list[str]) -> list[str]:
    """The texts of requirements beside a time: the first, each in one line of the screen, and how many more."""
    shown = [cut(line, columns() - 12) for line in lines[:MOST_NAMED]]
    return [*shown, *([f"  and {len(lines) - MOST_NAMED} more"] if len(lines) > MOST_NAMED else [])]


def _evidence(story: Explanation, *, is_whole: bool) -> Iterator[str]:
    """How each requirement is known; what is not proven stands above already, and comes first with everything shown."""
    parts = sorted(story.evidence, key=lambda part: part.word == "PASS")
    named = {part.requirement for part in story.open_parts}
    parts = parts if is_whole else [part for part in parts if part.requirement not in named]
    if not parts:
        return
    shown = parts if is_whole else parts[:MOST_PARTS]
    cut_off = f" ({len(shown)} of {len(parts)}; --all shows all)" if len(shown) < len(parts) else ""
    yield title("evidence") + cut_off
    names, widest = max(len(part.requirement) for part in shown), max(len(part.how) for part in shown)
    for part in shown:
        how = f"{part.how:<{widest}}  " if widest else ""
        line = f"  {part.word or 'not read':<8}  {part.requirement:<{names}}  {how}{part.text}"
        yield plain(line) if is_whole else cut(line, columns())
        if is_whole:
            by = f"record {part.record[:SHORT]} by {part.session} on {part.commit[:SHORT]}"
            yield plain(f"  {'':<8}  {part.gate}; {by if part.record else 'no record'}")
            yield from (plain(f"  {'':<8}  {line.strip()}") for line in trial_lines(part.trials, is_whole=True))
    yield f"  the whole chain: agent-fox ledger show {quote(plain(f'{story.spec}/{shown[0].requirement}'))}"


def _open_parts(parts: tuple[OpenPart, ...], *, is_whole: bool) -> Iterator[str]:
    if not parts:
        return
    shown = parts if is_whole else parts[:MOST_PARTS]
    yield title("not proven") + (f" ({len(shown)} of {len(parts)}; --all shows all)" if len(shown) < len(parts) else "")
    for part in shown:
        fault = f"({part.disposition}) " if part.disposition in TESTS_AT_FAULT else ""
        line = f"  {part.word:<7} {part.requirement}  {fault}{part.text}"
        yield plain(line) if is_whole else cut(line, columns())
        evidence = (
            [line for line in part.evidence.splitlines() if line.strip()]
            if is_whole
            else overview.quoted(part.evidence)
        )
        yield from (f"          {plain(line)}" for line in evidence)
        if part.last_read is not None:
            yield from _last_read(part, part.last_read, is_whole=is_whole)
        if part.command:
            yield f"          $ {plain(part.command)}"


def _last_read(part: OpenPart, last: LastRead, *, is_whole: bool) -> Iterator[str]:
    """A FAIL stands until a reading says PASS or FAIL; who reads only it would mend what was seen no more."""
    fault = f": {last.disposition}" if last.disposition else ""
    last_word = f"the last reading, of attempt {last.attempt}, said UNKNOWN{fault}"
    yield plain(f"          that was attempt {part.attempt}; {last_word}")
    evidence = (
        [line for line in last.evidence.splitlines() if line.strip()] if is_whole else overview.quoted(last.evidence)
    )
    yield from (f"          {plain(line)}" for line in evidence)


def _lines_of(evidence: str, *, is_whole: bool) -> Iterable[str]:
    return filter(str.strip, evidence.splitlines()) if is_whole else overview.quoted(evidence)
