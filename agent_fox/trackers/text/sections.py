"""The sections of an issue, each under the name that a template calls it by. How they are put together, and what does
not fit, is not here.

Several facts are one cause in several specs, or the causes of a digest.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_fox.core.markdown import how_many_fit, in_fence
from agent_fox.core.neutral import BREAK
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted
from agent_fox.trackers.facts import AttemptRow, ChangedTest, Exhibit, IssueFacts, IssueStatus, StatusPart, Unproven
from agent_fox.trackers.text.pen import SHORT, Pen

LONGEST_REQUIREMENT = 2_000
LONGEST_COMMAND = 2_000
LONGEST_REASON = 3_000
LONGEST_TABLE = 6_000
LONGEST_LIST = 3_000
LONGEST_WAIVER = 1_000
LONGEST_CHANGED = 15_000
LONGEST_LOG = 4_000
FIRST_LINES = 3
LONGEST_STATUS = 6_000
SHORT_REQUIREMENT = 120
LONGEST_SEEN = 120
LONGEST_HEADLINE = 300
MOST_COMMANDS = 5
EVIDENCE = ((3, 12_000), (20, 4_000))
"""How much evidence one requirement shows where there are up to so many; LEAST_EVIDENCE where there are more."""
LEAST_EVIDENCE = 1_500

OPEN_FOLD, END_FOLD = "<details>", "</details>"
PARTED = "An invisible character (U+200B) stands in it, so that nobody is notified."

All = Sequence[IssueFacts]


@dataclass(frozen=True, slots=True)
class Block:
    """What is said of one requirement that is not met."""

    id: str
    text: str


def sections(every: All, title: str, pen: Pen) -> dict[str, str]:
    """Everything but what fails, by name; a section about nothing is empty."""
    return {
        "title": pen.words(title),
        "spec": pen.ids(facts.spec for facts in every),
        "node": pen.words(every[0].node),
        "cause": pen.words(every[0].cause),
        "run": pen.words(every[0].run),
        "commit": pen.commit(every[0].commit) if every[0].commit else "",
        "what_happened": _what_happened(every, pen),
        "specs": _specs(every, pen),
        "repaired": repaired(every, pen),
        "unknown": "\n\n".join(filter(None, (_unknown(every, pen), _changed_tests(every, pen)))),
        "places": _places(every, pen),
        "evidence": _evidence(every, pen),
        "known": _known(every, pen),
        "waivers": _waivers(every, pen),
        "attempts": "\n\n".join(filter(None, (_attempts(every, pen), _last_attempt(every, pen)))),
        "blocked": _blocked(every, pen),
        "next_step": _next_step(every, pen),
    }


def status_text(status: IssueStatus, pen: Pen) -> str:
    """The block at the top of an issue: where it stands, and each of its requirements, those that are open first."""
    parts = sorted(status.parts, key=lambda part: not part.is_open)
    rows = [_status_row(part, pen) for part in parts]
    is_open = sum(part.is_open for part in parts)
    about = [
        *([f"{is_open} of {len(parts)} open"] if parts else []),
        *([pen.words(f"spent {status.spent}")] if status.spent else []),
        *([f"commit {pen.commit(status.commit)}"] if status.commit else []),
        *([pen.words(f"run {status.run}")] if status.run else []),
        *([pen.words(f"{status.at[:16].replace('T', ' ')} UTC")] if status.at else []),
    ]
    shown = how_many_fit(rows, LONGEST_STATUS)
    more = [f"And {len(rows) - shown:,} more: `agent-fox issues show` lists all."] if shown < len(rows) else []
    table = [_table("requirement | what it asks for | now", rows[:shown])] if rows else []
    return "\n\n".join([f"**{pen.words(status.headline, LONGEST_HEADLINE)}**", ", ".join(about), *table, *more])


def _status_row(part: StatusPart, pen: Pen) -> str:
    name = f"{part.spec}/{part.requirement}" if part.requirement else part.spec
    seen = f": {pen.span_in_cell(part.seen, LONGEST_SEEN)}" if part.seen else ""
    return f"| {pen.words(name)} | {pen.words(part.text, SHORT_REQUIREMENT)} | {pen.words(part.state)}{seen} |"


def blocks(every: All, pen: Pen, *, is_first_shown: bool = False) -> list[Block]:
    """One for each requirement that is not met, in the order given; each log and each command once. `is_first_shown`:
    the first command stands above."""
    count = sum(len(facts.failing) for facts in every)
    limit = next((size for most, size in EVIDENCE if count <= most), LEAST_EVIDENCE)
    first = _first_shown(every) if is_first_shown else None
    known = {("command", first[0].command)} if first else set()
    made = []
    for facts, part in [(spec, part) for spec in every for part in spec.failing]:
        texts = {("command", part.command), ("log", part.log)}
        fresh = replace(part, **{name: "" for name, _ in texts & known})
        known |= texts
        made.append(Block(part.id, _unproven(fresh, facts, pen, limit, is_alone=len(every) == 1)))
    return made


def where(facts: IssueFacts, pen: Pen) -> str:
    """Spec, node, run and commit, as far as they are known."""
    places = [f"spec {pen.span(facts.spec)}", f"node {pen.span(facts.node)}"]
    places += [f"run {pen.span(facts.run)}"] if facts.run else []
    places += [f"commit {pen.commit(facts.commit)}"] if facts.commit else []
    return ", ".join(places)


def repaired(every: All, pen: Pen) -> str:
    names = [name for facts in every for name in facts.repaired]
    return f"Fixed since the last update: {pen.ids(names)}" if names else ""


def reason(facts: IssueFacts, pen: Pen) -> str:
    return pen.block(facts.reason, LONGEST_REASON) if facts.reason else ""


def _what_happened(every: All, pen: Pen) -> str:
    """Where it stopped, what is wrong, and one command that shows it."""
    first = every[0]
    others = f" and {counted(len(every) - 1, 'more spec')}" if len(every) > 1 else ""
    pieces = [f"Stopped in {where(first, pen)}{others}: {pen.words(first.cause)}.", reason(first, pen)]
    shown = _first_shown(every)
    if shown:
        part, facts = shown
        seen = "\n".join(part.evidence.splitlines()[:FIRST_LINES])
        pieces += [pen.block(seen, LEAST_EVIDENCE) if seen else "", _see(part, facts, pen)]
    return "\n\n".join(piece for piece in pieces if piece)


def _first_shown(every: All) -> tuple[Unproven, IssueFacts] | None:
    """The first that a command shows."""
    return next(((part, facts) for facts in every for part in facts.failing if part.command), None)


def _see(part: Unproven, facts: IssueFacts, pen: Pen) -> str:
    """The command that shows what is wrong, in any checkout of the commit."""
    where_seen = f", in any checkout of commit {pen.commit(facts.commit)}" if facts.commit else ""
    command = f"{pen.shell(part.command, LONGEST_COMMAND)}{_raw(part, facts, pen)}"
    return f"To see that {pen.words(part.id)} fails{where_seen}:\n\n{command}"


def _specs(every: All, pen: Pen) -> str:
    if len(every) == 1:
        return ""
    rows = [
        f"| {pen.words(facts.spec)} | {pen.span_in_cell(facts.node)} | {len(facts.failing) or ''} "
        f"| {pen.ids((part.id for part in facts.failing), 100)} |"
        for facts in every
    ]
    return f"## Specs\n\n{_table('spec | node | not met | which', rows)}"


def _unproven(part: Unproven, facts: IssueFacts, pen: Pen, limit: int, is_alone: bool) -> str:
    name = pen.words(part.id) if is_alone else f"{pen.words(part.id)} ({pen.words(facts.spec)})"
    pieces = [f"### {name}", pen.lines(part.text, LONGEST_REQUIREMENT), pen.lines(part.doubt, LONGEST_REQUIREMENT)]
    if part.command:
        pieces.append(_see(part, facts, pen))
    if part.evidence:
        pieces.append(f"What was seen:\n\n{pen.block(part.evidence, limit)}")
    if part.log:
        pieces.append(folded("The end of the log", pen.block(part.log, LONGEST_LOG)))
    return "\n\n".join(piece for piece in pieces if piece)


def _raw(part: Unproven, facts: IssueFacts, pen: Pen) -> str:
    """Said where a command cannot simply be copied."""
    if not pen.is_parted(part.command):
        return ""
    explain = pen.span(f"agent-fox explain {shlex.quote(facts.node)}")
    return f"\n\n{PARTED} {explain} prints it without."


def _unknown(every: All, pen: Pen) -> str:
    names = [name for facts in every for name in facts.unknown]
    lead = "## No clear verdict\n\nNeither PASS nor FAIL could be established for: "
    return f"{lead}{pen.ids(names)}" if names else ""


def _changed_tests(every: All, pen: Pen) -> str:
    """Both versions of each committed test that fails, and the command with which a person agrees."""
    parts = [_changed_test(test, facts, pen) for facts in every for test in facts.changed_tests]
    shown = how_many_fit(parts, LONGEST_CHANGED)
    more = [f"And {len(parts) - shown:,} more."] if shown < len(parts) else []
    return "\n\n".join(["## Changed tests", *parts[:shown], *more]) if parts else ""


def _changed_test(test: ChangedTest, facts: IssueFacts, pen: Pen) -> str:
    reason = pen.lines(test.reason, LONGEST_REQUIREMENT) if test.reason else "No reason was stated."
    agree = f"agent-fox agree {shlex.quote(facts.spec)} {shlex.quote(test.requirement)}"
    return (
        f"### {pen.words(test.requirement)}: {pen.span(test.test)}\n\n"
        f"The committed test fails; the tests of the tree pass. The stated reason:\n\n{reason}\n\n"
        f"As it was committed:\n\n{pen.block(test.before, LONGEST_REASON)}\n\n"
        f"As it is now:\n\n{pen.block(test.after, LONGEST_REASON)}\n\n"
        f"To agree with the change, sign for it ({needed_key(facts.before_waiving)}):\n\n"
        f"{_commands([*facts.before_waiving, agree], pen)}"
    )


def _places(every: All, pen: Pen) -> str:
    places = [pen.place(facts.commit, place) for facts in every for place in facts.places]
    rows = [f"- {line}" for line in dict.fromkeys(places)]
    return "\n".join(["## In the code\n", *_list(rows)]) if rows else ""


def _evidence(every: All, pen: Pen) -> str:
    """The records behind it, and how to check them."""
    rows = [_exhibit(exhibit, facts, pen) for facts in every for exhibit in facts.exhibits]
    end = next((facts.ledger for facts in every if facts.ledger), None)
    if not rows or end is None:
        return ""
    asked = [f"{facts.spec}/{exhibit.requirement}" for facts in every for exhibit in facts.exhibits]
    shows = [f"agent-fox ledger show {shlex.quote(name)}" for name in asked[:MOST_COMMANDS]]
    header = "requirement | verdict | record | session | commit | environment | verifier | gate"
    audit = f"Audit: `agent-fox ledger verify` ({end.records:,} records, head {pen.span(end.head, SHORT)})"
    return folded("Evidence and environment", f"{_table(header, rows)}\n\n{audit}\n\n{_commands(shows, pen)}")


def folded(summary: str, text: str) -> str:
    """A part that is opened by a click; `summary` is words of ours."""
    return f"{OPEN_FOLD}<summary>{summary}</summary>\n\n{text}\n\n{END_FOLD}"


def _exhibit(exhibit: Exhibit, facts: IssueFacts, pen: Pen) -> str:
    commit = pen.commit(exhibit.commit) if exhibit.commit else ""
    cells = [
        pen.words(f"{facts.spec}/{exhibit.requirement}"),
        pen.words(exhibit.verdict),
        pen.span_in_cell(exhibit.record, SHORT + 1),
        pen.span_in_cell(exhibit.session),
        commit,
        pen.span_in_cell(exhibit.environment),
        pen.words(exhibit.verifier, 100),
        pen.words(exhibit.gate),
    ]
    return f"| {' | '.join(cells)} |"


def _known(every: All, pen: Pen) -> str:
    """How what does hold of each spec is known."""
    lines = ((f"{facts.spec}: {line}" if len(every) > 1 else line) for facts in every for line in facts.known)
    rows = [f"- {pen.words(line, LONGEST_WAIVER)}" for line in lines]
    return "\n".join(["## What holds, and how it is known\n", *_list(rows)]) if rows else ""


def _waivers(every: All, pen: Pen) -> str:
    lines = dict.fromkeys(line for facts in every for line in facts.waivers)
    rows = [f"- {pen.words(line, LONGEST_WAIVER)}" for line in lines]
    return "\n".join(["## Waivers in force\n", *_list(rows, ": `agent-fox waive --list`")]) if rows else ""


def _attempts(every: All, pen: Pen) -> str:
    """The last ones, where not all of them fit."""
    rows = [_attempt(row, facts, pen) for facts in every for row in facts.attempts]
    if not rows:
        return ""
    shown = how_many_fit(reversed(rows), LONGEST_TABLE)
    left_out = f"\n\nEarlier attempts left out: {len(rows) - shown}." if shown < len(rows) else ""
    header = "spec | attempt | commit | cost | what failed | what was done"
    last = _table(header, rows[len(rows) - shown :])
    return folded(f"What was tried: {_spent(every)}", f"{last}{left_out}\n\n{_logs(every, pen)}")


def _last_attempt(every: All, pen: Pen) -> str:
    """Where the branch stands instead of the last attempt, and what was seen of that."""
    parts = [
        (facts, [_unproven(part, facts, pen, LEAST_EVIDENCE, is_alone=len(every) == 1) for part in facts.lost])
        for facts in every
        if facts.best
    ]
    if not parts:
        return ""
    pieces = [piece for facts, lost in parts for piece in (pen.lines(facts.best, LONGEST_REASON), *lost)]
    shown = max(1, how_many_fit(pieces, LONGEST_TABLE))
    more = [f"And {len(pieces) - shown} more."] if shown < len(pieces) else []
    return "\n\n".join(["## The last attempt", *pieces[:shown], *more])


def _spent(every: All) -> str:
    """What all of it took, however many rows are shown."""
    costs = [row.cost_usd for facts in every for row in facts.attempts]
    known = [cost for cost in costs if cost is not None]
    unknown = f", and {len(costs) - len(known)} of unknown cost" if len(known) < len(costs) else ""
    return f"{counted(len(costs), 'session')}, {sum(known):.2f} USD{unknown}"


def _attempt(row: AttemptRow, facts: IssueFacts, pen: Pen) -> str:
    cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.2f} USD"
    commit = pen.commit(row.commit) if row.commit else ""
    cells = f"{pen.words(row.failed, 400)} | {pen.words(row.summary, 400)}"
    return f"| {pen.words(facts.spec, 100)} | {row.attempt} | {commit} | {cost} | {cells} |"


def _logs(every: All, pen: Pen) -> str:
    nodes = dict.fromkeys(facts.node for facts in every)
    return f"The logs:\n\n{_commands((f'agent-fox logs {shlex.quote(node)}' for node in nodes), pen)}"


def _blocked(every: All, pen: Pen) -> str:
    names = dict.fromkeys(name for facts in every for name in facts.blocked)
    return f"## What it holds back\n\n{pen.ids(names)}" if names else ""


def _next_step(every: All, pen: Pen) -> str:
    nodes = list(dict.fromkeys(shlex.quote(facts.node) for facts in every))
    explain = [f"agent-fox explain {shlex.quote(node)}" for node in nodes[:1]]
    resets = [f"agent-fox reset {shlex.quote(node)}" for node in nodes[: MOST_COMMANDS - 2]]
    again = _commands([*explain, *resets, "agent-fox run"], pen)
    return (
        "## What you must decide\n\n"
        "**Fix it**: read the whole story, clarify the spec, set a stronger agent or help by hand, then give it new "
        f"attempts:\n\n{again}{_beyond(len(nodes))}\n\n"
        "**Change the spec**, where it asks for the wrong thing; `agent-fox run` reads what changed:\n\n"
        f"{_commands(['agent-fox plan', 'agent-fox run'], pen)}\n\n"
        f"{_waive(every, pen)}"
        "Run `agent-fox` in the checkout where this run was made: its state (`.agent-fox/`) is not in git. Any other "
        "checkout shows what fails by the test command, once the commit is pushed.\n\n"
        "agent-fox closes this issue when all of the above pass."
    )


def _waive(every: All, pen: Pen) -> str:
    """Every open requirement can be signed for, also one without a clear verdict."""
    open_ids = [
        f"{shlex.quote(name)} --spec {shlex.quote(facts.spec)}"
        for facts in every
        for name in (*(part.id for part in facts.failing), *facts.unknown)
    ]
    if not open_ids:
        return ""
    before = tuple(dict.fromkeys(command for facts in every for command in facts.before_waiving))
    waive = (f"agent-fox waive {name} --reason '...' --expires 30d" for name in open_ids)
    return f"**Accept the gap**: sign a waiver ({needed_key(before)}):\n\n{_commands((*before, *waive), pen)}\n\n"


def needed_key(before: Sequence[str]) -> str:
    """What has to be there before anybody can sign; `before` are the commands that make it."""
    return "needs a key; none is trusted here yet, so the first lines make one" if before else "needs your key"


def _commands(lines: Iterable[str], pen: Pen) -> str:
    """Commands of ours, the first ones of many, each on one line."""
    every = list(lines)
    shown = [pen.command(line) for line in every[:MOST_COMMANDS]]
    more = [f"# and {len(every) - MOST_COMMANDS:,} more like these"] if len(every) > MOST_COMMANDS else []
    parted = f"\n\n{PARTED} Take it out before you run this." if any(BREAK in line for line in shown) else ""
    return in_fence("\n".join([*shown, *more]), "sh") + parted


def _beyond(nodes: int) -> str:
    more = nodes - MOST_COMMANDS + 2
    return f"\n\n(and {counted(more, 'more node')} alike)" if more > 0 else ""


def _table(header: str, rows: Sequence[str]) -> str:
    shown = how_many_fit(rows, LONGEST_TABLE)
    rule = "|".join("---" for _ in header.split(" | "))
    more = f"\n\nAnd {len(rows) - shown:,} more." if shown < len(rows) else ""
    return "\n".join([f"| {header} |", f"|{rule}|", *rows[:shown]]) + more


def _list(rows: Sequence[str], how: str = "") -> list[str]:
    shown = how_many_fit(rows, LONGEST_LIST)
    return [*rows[:shown], *([f"- and {len(rows) - shown:,} more{how}"] if shown < len(rows) else [])]
