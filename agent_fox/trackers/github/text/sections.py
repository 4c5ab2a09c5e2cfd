"""The sections of an issue on GitHub, each under the name that a template calls it by. How they are put together, and
what does not fit, is not here.

Several facts are one cause in several specs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from agent_fox.core.markdown import how_many_fit, in_fence
from agent_fox.core.neutral import BREAK
from agent_fox.core.values import dataclass
from agent_fox.trackers.github.text.pen import SHORT, Pen
from agent_fox.trackers.text import AttemptRow, ChangedTest, Exhibit, IssueFacts, Unproven, keys_first

LONGEST_REQUIREMENT = 2_000
LONGEST_COMMAND = 2_000
LONGEST_REASON = 3_000
LONGEST_TABLE = 6_000
LONGEST_LIST = 3_000
LONGEST_WAIVER = 1_000
LONGEST_CHANGED = 15_000
MOST_COMMANDS = 5
EVIDENCE = ((3, 12_000), (20, 4_000))
"""How much evidence one requirement shows where there are up to so many; LEAST_EVIDENCE where there are more."""
LEAST_EVIDENCE = 1_500

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


def blocks(every: All, pen: Pen) -> list[Block]:
    """One for each requirement that is not met, in the order given."""
    count = sum(len(facts.failing) for facts in every)
    limit = next((size for most, size in EVIDENCE if count <= most), LEAST_EVIDENCE)
    return [
        Block(part.id, _unproven(part, facts, pen, limit, is_alone=len(every) == 1))
        for facts in every
        for part in facts.failing
    ]


def where(facts: IssueFacts, pen: Pen) -> str:
    """Spec, node, run and commit, as far as they are known."""
    places = [f"spec {pen.span(facts.spec)}", f"node {pen.span(facts.node)}"]
    places += [f"run {pen.span(facts.run)}"] if facts.run else []
    places += [f"commit {pen.commit(facts.commit)}"] if facts.commit else []
    return ", ".join(places)


def repaired(every: All, pen: Pen) -> str:
    names = [name for facts in every for name in facts.repaired]
    return f"Repaired since this was last told: {pen.ids(names)}" if names else ""


def reason(facts: IssueFacts, pen: Pen) -> str:
    return pen.block(facts.reason, LONGEST_REASON) if facts.reason else ""


def _what_happened(every: All, pen: Pen) -> str:
    first = every[0]
    stopped = "Work has stopped" if len(every) == 1 else f"Work on {len(every)} specs has stopped, for one cause"
    sentence = f"{stopped}: **{pen.words(first.cause)}**. It waits for a person ({where(first, pen)})."
    return "\n\n".join(piece for piece in (sentence, reason(first, pen)) if piece)


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
    pieces = [f"### {name}", pen.lines(part.text, LONGEST_REQUIREMENT)]
    if part.command:
        pieces.append(f"To see it:\n\n{pen.shell(part.command, LONGEST_COMMAND)}{_raw(part, facts, pen)}")
    if part.evidence:
        pieces.append(f"What was seen:\n\n{pen.block(part.evidence, limit)}")
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


def _changed_test(one: ChangedTest, facts: IssueFacts, pen: Pen) -> str:
    reason = pen.lines(one.reason, LONGEST_REQUIREMENT) if one.reason else "No reason was stated."
    agree = f"agent-fox agree {shlex.quote(facts.spec)} {shlex.quote(one.requirement)}"
    return (
        f"### {pen.words(one.requirement)}: {pen.span(one.test)}\n\n"
        f"The committed test fails; the tests of the tree pass. The reason that was stated:\n\n{reason}\n\n"
        f"As it was committed:\n\n{pen.block(one.before, LONGEST_REASON)}\n\n"
        f"As it is now:\n\n{pen.block(one.after, LONGEST_REASON)}\n\n"
        f"A person who agrees with the change signs for it{keys_first(facts.before_waiving)}:\n\n"
        f"{_commands([*facts.before_waiving, agree], pen)}"
    )


def _places(every: All, pen: Pen) -> str:
    places = [pen.place(facts.commit, place) for facts in every for place in facts.places]
    rows = [f"- {line}" for line in dict.fromkeys(places)]
    return "\n".join(["## In the code\n", *_list(rows)]) if rows else ""


def _evidence(every: All, pen: Pen) -> str:
    """The records behind it, and how anybody can check them."""
    rows = [_exhibit(exhibit, facts, pen) for facts in every for exhibit in facts.exhibits]
    end = next((facts.ledger for facts in every if facts.ledger), None)
    if not rows or end is None:
        return ""
    asked = [f"{facts.spec}/{exhibit.requirement}" for facts in every for exhibit in facts.exhibits]
    shows = [f"agent-fox ledger show {shlex.quote(name)}" for name in asked[:MOST_COMMANDS]]
    header = "requirement | verdict | record | session | commit | environment | verifier | gate"
    return (
        f"## Evidence\n\n{_table(header, rows)}\n\n"
        f"These records stand in the evidence ledger; after {end.records:,} of them its head was {pen.span(end.head)}. "
        f"The whole chain of each, and whether anything of it was changed:\n\n"
        f"{_commands([*shows, 'agent-fox ledger verify'], pen)}"
    )


def _exhibit(one: Exhibit, facts: IssueFacts, pen: Pen) -> str:
    commit = pen.commit(one.commit) if one.commit else ""
    cells = [
        pen.words(f"{facts.spec}/{one.requirement}"),
        pen.words(one.verdict),
        pen.span_in_cell(one.record, SHORT + 1),
        pen.span_in_cell(one.session),
        commit,
        pen.span_in_cell(one.environment),
        pen.words(one.verifier, 100),
        pen.words(one.gate),
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
    return f"## What was tried\n\n{last}{left_out}\n\n{_spent(every)}\n\n{_logs(every, pen)}"


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
    return f"Together: {len(costs)} sessions, {sum(known):.2f} USD{unknown}."


def _attempt(row: AttemptRow, facts: IssueFacts, pen: Pen) -> str:
    cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.2f} USD"
    commit = pen.commit(row.commit) if row.commit else ""
    cells = f"{pen.words(row.failed, 400)} | {pen.words(row.summary, 400)}"
    return f"| {pen.words(facts.spec, 100)} | {row.attempt} | {commit} | {cost} | {cells} |"


def _logs(every: All, pen: Pen) -> str:
    nodes = dict.fromkeys(facts.node for facts in every)
    return f"The logs of it:\n\n{_commands((f'agent-fox logs {shlex.quote(node)}' for node in nodes), pen)}"


def _blocked(every: All, pen: Pen) -> str:
    names = dict.fromkeys(name for facts in every for name in facts.blocked)
    return f"## What waits for it\n\n{pen.ids(names)}" if names else ""


def _next_step(every: All, pen: Pen) -> str:
    nodes = list(dict.fromkeys(shlex.quote(facts.node) for facts in every))
    story = _commands((f"agent-fox explain {node}" for node in nodes), pen)
    resets = _commands([*(f"agent-fox reset {node}" for node in nodes[: MOST_COMMANDS - 1]), "agent-fox run"], pen)
    return (
        f"## What would unblock it\n\nThe whole story:\n\n{story}\n\n"
        f"**Mend it**: what stands in the way is in the work or in its environment. Then give it a new budget:\n\n"
        f"{resets}{_beyond(len(nodes))}\n\n"
        "**Change the spec**, where it asks for the wrong thing; what changed is read again by itself:\n\n"
        f"{_commands(['agent-fox plan', 'agent-fox run'], pen)}\n\n"
        f"{_waive(every, pen)}"
        "This issue is closed with the proof once everything in it is proven."
    )


def _waive(every: All, pen: Pen) -> str:
    """Every requirement that stands open can be signed for, whoever could not decide it."""
    open_ids = [
        f"{shlex.quote(name)} --spec {shlex.quote(facts.spec)}"
        for facts in every
        for name in (*(part.id for part in facts.failing), *facts.unknown)
    ]
    if not open_ids:
        return ""
    before = tuple(dict.fromkeys(command for facts in every for command in facts.before_waiving))
    waive = (f"agent-fox waive {name} --reason '...' --expires 30d" for name in open_ids)
    signs = f"a person signs for that{keys_first(before)}"
    return f"**Waive it**, where it is to be accepted unproven; {signs}:\n\n{_commands((*before, *waive), pen)}\n\n"


def _commands(lines: Iterable[str], pen: Pen) -> str:
    """Commands of ours, the first ones of many, each on one line."""
    every = list(lines)
    shown = [pen.command(line) for line in every[:MOST_COMMANDS]]
    more = [f"# and {len(every) - MOST_COMMANDS:,} more like these"] if len(every) > MOST_COMMANDS else []
    parted = f"\n\n{PARTED} Take it out before you run this." if any(BREAK in line for line in shown) else ""
    return in_fence("\n".join([*shown, *more]), "sh") + parted


def _beyond(nodes: int) -> str:
    return f"\n\n(and {nodes - MOST_COMMANDS + 1:,} more nodes alike)" if nodes >= MOST_COMMANDS else ""


def _table(header: str, rows: Sequence[str]) -> str:
    shown = how_many_fit(rows, LONGEST_TABLE)
    rule = "|".join("---" for _ in header.split(" | "))
    more = f"\n\nAnd {len(rows) - shown:,} more." if shown < len(rows) else ""
    return "\n".join([f"| {header} |", f"|{rule}|", *rows[:shown]]) + more


def _list(rows: Sequence[str], how: str = "") -> list[str]:
    shown = how_many_fit(rows, LONGEST_LIST)
    return [*rows[:shown], *([f"- and {len(rows) - shown:,} more{how}"] if shown < len(rows) else [])]
