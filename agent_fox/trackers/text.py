"""The text of an issue: what is not proven, how to see it, what was tried, what to do next. Decides nothing.

What came from sessions and tests is fenced; secrets must be masked before the facts get here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from agent_fox.core.markdown import cell, code, cut, fenced, how_many_fit, one_line, printable, quoted
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

LONGEST_TITLE = 200
LONGEST_BODY = 60_000
LONGEST_UNPROVEN = 30_000
LONGEST_TABLE = 8_000
LONGEST_BEST = 1_000
LONGEST_LOST = 8_000
LONGEST_CHANGED = 12_000
LONGEST_WAIVERS = 4_000
LONGEST_WAIVER = 1_000
MOST_COMMANDS = 5
SHORT = 12
LONGEST_EVIDENCE = 4_000
LONGEST_REQUIREMENT = 2_000
LONGEST_IDS = 2_000
MOST_PLACES = 20

_PARENT = ".."
_PLACE = regex(
    r'File "(?P<quoted>(?:\./)?[^"/\\\n:<][^"\\\n:]{0,300})", line (?P<row>\d{1,7})'
    r"|(?<![\w./\\@+:~-])(?P<path>(?:\./)?\.?\w[\w./@+-]{0,300}\.[A-Za-z]\w{0,9})(?::|\()(?P<line>\d{1,7})(?![\d/])"
)


@dataclass(frozen=True, slots=True)
class Unproven:
    """One requirement that failed, in its own words: what was seen, and the command that shows it again."""

    id: str
    text: str
    evidence: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt at the work: `commit` and `cost_usd` where known, what failed and what was done."""

    attempt: int
    commit: str = ""
    cost_usd: float | None = None
    failed: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What the evidence ledger holds about one requirement: the record of its verdict, and what that is about.

    `gate` is where the requirement stands; `session` the ticket of who said it.
    """

    requirement: str
    verdict: str
    record: str = ""
    session: str = ""
    commit: str = ""
    environment: str = ""
    verifier: str = ""
    gate: str = ""


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A committed test that fails although the tests of the tree pass: both its versions, and the reason, if any."""

    requirement: str
    test: str
    reason: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEnd:
    """The ledger when the issue was written: its head, and how many records stand before it."""

    head: str
    records: int


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file at the commit that the evidence is about."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """Everything an issue says. `cause` in words (`attempts spent`), `commit` what the evidence is about.

    `blocked` names the nodes that wait for it, `reason` says more than the cause where there is more to say. `exhibits`
    are the records behind what is not proven, `waivers` those in force, in words. `repaired` failed when the issue was
    last spoken of and pass now; `places` are lines of code that the evidence names. `best` says where the branch stands
    when the last attempt was worse than an earlier one, `lost` what it lost. `changed_tests`: what a person could agree
    to.
    """

    title: str
    spec: str
    node: str
    cause: str
    run: str = ""
    commit: str = ""
    failing: tuple[Unproven, ...] = ()
    unknown: tuple[str, ...] = ()
    attempts: tuple[AttemptRow, ...] = ()
    blocked: tuple[str, ...] = ()
    reason: str = ""
    exhibits: tuple[Exhibit, ...] = ()
    ledger: LedgerEnd | None = None
    waivers: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    best: str = ""
    lost: tuple[Unproven, ...] = ()
    changed_tests: tuple[ChangedTest, ...] = ()
    known: tuple[str, ...] = ()
    """How what does hold of the spec is known, a line for each word."""

    before_waiving: tuple[str, ...] = ()
    """Commands without which nobody could sign anything here; empty where somebody is trusted to."""


def places_in(text: str) -> tuple[Place, ...]:
    """Lines of code that an output names, as test runners, compilers and tracebacks write them; each once, in order.

    Only what may be a file below the root; whether there is one, the commit must tell.
    """
    places = (
        Place((match["quoted"] or match["path"]).removeprefix("./"), int(match["row"] or match["line"]))
        for match in _PLACE.finditer(text)
    )
    is_fit = (place for place in places if place.line and _PARENT not in place.path.split("/"))
    return tuple(islice(dict.fromkeys(is_fit), MOST_PLACES))


def issue_text(facts: IssueFacts) -> tuple[str, str]:
    """Title and body, of at most LONGEST_TITLE and LONGEST_BODY characters. No code block is left open."""
    sections = (
        _what_happened(facts),
        _failing(facts.failing),
        (
            f"## No clear verdict\n\nNeither PASS nor FAIL could be established for: {_ids(facts.unknown)}"
            if facts.unknown
            else ""
        ),
        _changed_tests(facts),
        _evidence(facts),
        _known(facts.known),
        _waivers(facts.waivers),
        _attempts(facts.attempts),
        _last_attempt(facts),
        (f"## What waits for it\n\n{_ids(facts.blocked)}" if facts.blocked else ""),
        _next_step(facts),
    )
    return one_line(facts.title, LONGEST_TITLE), "\n\n".join(section for section in sections if section) + "\n"


def _what_happened(facts: IssueFacts) -> str:
    where = [f"spec {code(facts.spec)}", f"node {code(facts.node)}"]
    where += [f"run {code(facts.run)}"] if facts.run else []
    where += [f"commit {code(facts.commit)}"] if facts.commit else []
    reason = f"\n\n{fenced(cut(printable(facts.reason), LONGEST_EVIDENCE))}" if facts.reason else ""
    cause = one_line(facts.cause, LONGEST_TITLE)
    return f"Work has stopped: **{cause}**. It waits for a person ({', '.join(where)}).{reason}"


def _failing(failing: Sequence[Unproven]) -> str:
    if not failing:
        return ""
    blocks = [_unproven(part) for part in failing]
    shown = how_many_fit(blocks, LONGEST_UNPROVEN)
    more = [f"And {len(failing) - shown} more: {_ids([part.id for part in failing[shown:]])}"]
    return "\n\n".join(["## What fails", *blocks[:shown], *(more if shown < len(failing) else [])])


def _unproven(part: Unproven) -> str:
    pieces = [f"### {one_line(part.id, LONGEST_TITLE)}", quoted(cut(part.text, LONGEST_REQUIREMENT))]
    if part.command:
        pieces.append(f"To see it:\n\n{fenced(cut(part.command, LONGEST_EVIDENCE), 'sh')}")
    if part.evidence:
        pieces.append(f"What was seen:\n\n{fenced(cut(printable(part.evidence), LONGEST_EVIDENCE))}")
    return "\n\n".join(piece for piece in pieces if piece)


def _changed_tests(facts: IssueFacts) -> str:
    """Both versions of each, and the command with which a person agrees."""
    if not facts.changed_tests:
        return ""
    blocks = [_changed_test(test, facts) for test in facts.changed_tests]
    shown = how_many_fit(blocks, LONGEST_CHANGED)
    more = [f"And {len(blocks) - shown} more: `agent-fox explain {facts.node}`"] if shown < len(blocks) else []
    return "\n\n".join(["## Changed tests", *blocks[:shown], *more])


def _changed_test(one: ChangedTest, facts: IssueFacts) -> str:
    reason = quoted(cut(one.reason, LONGEST_REQUIREMENT)) if one.reason else "No reason was stated."
    agree = f"agent-fox agree {one_line(facts.spec, LONGEST_TITLE)} {one_line(one.requirement, LONGEST_TITLE)}"
    commands = "\n".join((*facts.before_waiving, agree))
    return "\n\n".join(
        (
            f"### {one_line(one.requirement, LONGEST_TITLE)}: {code(one.test)}",
            f"The committed test fails; the tests of the tree pass. The reason that was stated:\n\n{reason}",
            f"As it was committed:\n\n{fenced(cut(printable(one.before), LONGEST_EVIDENCE))}",
            f"As it is now:\n\n{fenced(cut(printable(one.after), LONGEST_EVIDENCE))}",
            f"A person who agrees with the change signs for it{keys_first(facts.before_waiving)}:\n\n"
            f"{fenced(commands, 'sh')}",
        )
    )


def _evidence(facts: IssueFacts) -> str:
    """The records behind it, and how anybody can check them."""
    if not facts.exhibits or facts.ledger is None:
        return ""
    rows = [_exhibit(exhibit) for exhibit in facts.exhibits]
    shown = how_many_fit(rows, LONGEST_TABLE)
    header = [
        "| requirement | verdict | record | session | commit | environment | verifier | gate |",
        "|---|---|---|---|---|---|---|---|",
    ]
    more = f"\n\nAnd {len(rows) - shown} more." if shown < len(rows) else ""
    shows = [f"agent-fox ledger show {facts.spec}/{exhibit.requirement}" for exhibit in facts.exhibits[:MOST_COMMANDS]]
    return (
        "## Evidence\n\n" + "\n".join([*header, *rows[:shown]]) + more + "\n\n"
        f"These records stand in the evidence ledger; after {facts.ledger.records:,} of them its head was "
        f"{code(facts.ledger.head)}. The whole chain of each, and whether anything of it was changed:\n\n"
        + fenced("\n".join(one_line(line, LONGEST_TITLE) for line in (*shows, "agent-fox ledger verify")), "sh")
    )


def _exhibit(one: Exhibit) -> str:
    short = (one.record[:SHORT], one.session, one.commit[:SHORT], one.environment)
    spans = (cell(code(text, 100)) for text in short)
    cells = (cell(one.requirement), cell(one.verdict), *spans, cell(one.verifier, 100), cell(one.gate))
    return f"| {' | '.join(cells)} |"


def _known(lines: Sequence[str]) -> str:
    rows = [f"- {one_line(line, LONGEST_WAIVER)}" for line in lines]
    return "\n".join(["## What holds, and how it is known\n", *rows]) if rows else ""


def _waivers(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    rows = [f"- {one_line(line, LONGEST_WAIVER)}" for line in lines]
    shown = how_many_fit(rows, LONGEST_WAIVERS)
    more = [f"- and {len(rows) - shown} more: `agent-fox waive --list`"] if shown < len(rows) else []
    return "\n".join(["## Waivers in force\n", *rows[:shown], *more])


def _attempts(attempts: Sequence[AttemptRow]) -> str:
    if not attempts:
        return ""
    rows = [_attempt(row) for row in attempts]
    shown = how_many_fit(reversed(rows), LONGEST_TABLE)
    left_out = f"\n\nEarlier attempts left out: {len(rows) - shown}." if shown < len(rows) else ""
    header = ["| attempt | commit | cost | what failed | what was done |", "|---|---|---|---|---|"]
    return "## What was tried\n\n" + "\n".join([*header, *rows[len(rows) - shown :]]) + left_out


def _attempt(row: AttemptRow) -> str:
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.2f}"
    commit = cell(code(row.commit[:12]))
    return f"| {row.attempt} | {commit} | {cost} | {cell(row.failed, 400)} | {cell(row.summary, 400)} |"


def _last_attempt(facts: IssueFacts) -> str:
    """Where the branch stands instead of the last attempt, and what was seen of that."""
    if not facts.best:
        return ""
    blocks = [_unproven(part) for part in facts.lost]
    shown = how_many_fit(blocks, LONGEST_LOST)
    more = [f"And {len(blocks) - shown} more: {_ids([part.id for part in facts.lost[shown:]])}"]
    text = f"## The last attempt\n\n{quoted(cut(facts.best, LONGEST_BEST))}"
    return "\n\n".join([text, *blocks[:shown], *(more if shown < len(blocks) else [])])


def _next_step(facts: IssueFacts) -> str:
    commands = f"agent-fox explain {facts.node}\nagent-fox reset {facts.node}\nagent-fox run"
    return (
        "## Next step\n\n"
        "Read the whole story, mend what stands in the way (work, spec or environment), then give it "
        f"a new budget:\n\n{fenced(commands, 'sh')}\n\n"
        f"{_other_ways(facts)}"
        "This issue is closed with the proof once everything in it is proven."
    )


def _other_ways(facts: IssueFacts) -> str:
    open_ids = [exhibit.requirement for exhibit in facts.exhibits[:MOST_COMMANDS]]
    if not open_ids:
        return ""
    waive = (
        f"agent-fox waive {one_line(name, LONGEST_TITLE)} --spec {one_line(facts.spec, LONGEST_TITLE)} "
        "--reason '...' --expires 30d"
        for name in open_ids
    )
    commands = "\n".join((*facts.before_waiving, *waive))
    return (
        "Where the spec asks for the wrong thing, change its text: `agent-fox run` then reads it again by itself. "
        f"Where it is to be accepted unproven, a person signs for that{keys_first(facts.before_waiving)}:\n\n"
        f"{fenced(commands, 'sh')}\n\n"
    )


def keys_first(commands: Sequence[str]) -> str:
    """Why other commands stand above the one that signs."""
    return ", once a key is made and trusted, which nobody's is where this was found" if commands else ""


def _ids(ids: Sequence[str]) -> str:
    return cut(", ".join(one_line(name, LONGEST_TITLE) for name in ids), LONGEST_IDS)
