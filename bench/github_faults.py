"""`python -m bench.github_faults`: each fault of a list, so many rounds of it, and what came of the issues: a table.

A round is the life of the issues of three specs: failing, failing again in another run, proven. In each of these the
fault strikes while that is delivered; then it is over, time passes, and everything must come right. GitHub is our fake
of it, the clock is moved by hand. `--controls` shows what the probe and the witnesses are good for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial
from pathlib import Path

from agent_fox.testing.github import Fault, Grant, Request, Role, faults
from agent_fox.testing.github.faults import Break, Say, When
from agent_fox.testing.github.state import Label
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.github.search import Search
from tests.engine.issue_history import History, history
from tests.engine.issue_rules import verdict
from tests.engine.issue_world import KEY, SPECS, Crash, template

Strike = Callable[[History], None]
CAUSES = ("boom", "no rule", None)
SIXTY = {f"{number:02}_spec": (f"{number:02}-REQ-1.1",) for number in range(1, 61)}
LONG = {f"01_{'long' * 70}": ("01-REQ-1.1",), "02_road": ("02-REQ-1.1",)}
HOSTILE = (
    "@octo/team closes #1, see octo/project#1 and "
    + "a" * 40
    + "\n````\n```\n--> <!-- agent-fox v=1 --> \x00 \U0001f98a"
)


@dataclass(slots=True)
class Row:
    """What came of the rounds of one fault. Seconds are of the clock that is moved by hand. `struck`: answers that were
    spoilt, and processes that ended."""

    name: str
    rounds: int = 0
    filed: int = 0
    twice: int = 0
    lost: int = 0
    left_open: int = 0
    wrong: int = 0
    waited: int = 0
    writes: int = 0
    longest: float = 0.0
    struck: int = 0
    problems: list[str] = field(default_factory=list)

    def cells(self) -> tuple[str, ...]:
        counts = (self.twice, self.lost, self.left_open, self.wrong, self.waited)
        wrongs = ", ".join(f"{count} {word}" for count, word in zip(counts, WRONGS, strict=True) if count)
        issues = (f"{self.rounds:,}", f"{self.filed:,}", wrongs or "nothing")
        return (self.name, *issues, f"{self.writes:,}", f"{self.longest:,.0f}")


WRONGS = ("filed twice", "lost", "open after proof", "other wrongs", "times the run waited")
HEAD = ("fault", "rounds", "issues filed", "went wrong", "writes", "longest, s")


@dataclass(frozen=True, slots=True)
class Case:
    """A fault: how it strikes, and in what it strikes."""

    strike: Strike
    specs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: SPECS)
    token: str = ""
    is_one_cause: bool = False
    is_slow: bool = False


# how faults strike


def answer(when: When, make: Callable[[float], Break | Say], times: tuple[int, int] = (1, 3)) -> Strike:
    """So many answers go wrong; then the way is free again."""

    def strike(at: History) -> None:
        found = Fault(when, make(at.world.times.seconds), at.dice.randint(*times))
        at.world.fake.faults.append(found)
        left = found.times
        passes(at, 2)
        at.counts["struck"] += left - found.times

    return strike


def passes(at: History, most: int) -> None:
    for _ in range(most):
        at.world.nap(at.world.deliver(at.world.engine or at.world.start()))


def killed(at: History, steps: range, times: int = 1) -> None:
    """The process ends somewhere in the delivery, and another begins."""
    for _ in range(times):
        at.world.doom.left = at.dice.choice(steps)
        try:
            passes(at, 1)
        except Crash:
            at.world.times.pass_by(at.dice.uniform(0, 200))
            at.world.start()
        at.world.doom.left = None


def killed_after(at: History, what: Callable[[Request], bool]) -> None:
    """The process ends when GitHub has done what was asked, and before that is noted."""

    def end(request: Request, _: object) -> None:
        if what(request):
            raise Crash

    at.world.hearers.append(end)
    try:
        passes(at, 1)
    except Crash:
        at.counts["struck"] += 1
        at.world.start()
    at.world.hearers.remove(end)


def for_a_while(begin: Strike) -> Strike:
    """Something is wrong for some passes."""

    def strike(at: History) -> None:
        begin(at)
        passes(at, at.dice.randint(1, 4))
        at.all_well()

    return strike


def person(act: Callable[[History, int], None]) -> Strike:
    """A person does something to an issue of ours; before that there must be one."""

    def strike(at: History) -> None:
        at.world.settle()
        here = [issue for _, issue, where in at.world.ours() if where is at.world.fake.repository]
        if here:
            act(at, at.dice.choice(here).number)

    return strike


def noted(what: str, do: Callable[[History, int], None]) -> Strike:
    def act(at: History, number: int) -> None:
        issue = at.world.fake.repository.issues[number]
        cause = next(cause for cause, one, _ in at.world.ours() if one is issue)
        at.truth.acted(cause, issue, what)
        do(at, number)

    return person(act)


def restored(at: History) -> None:
    """Yesterday's state file comes back: what was decided since is decided again, as a run would."""
    at.world.settle()
    at.copied = None if at.copied is None else at.copied
    at.state()


def two_engines(at: History) -> None:
    at.meanwhile(at.other_engine, at.dice.randint(0, 12))
    passes(at, 2)
    at.world.watchers[:] = [at.guard.look]


def jumps(at: History) -> None:
    at.world.fake.faults.append(Fault(faults.creates, faults.dropped(), 1))
    passes(at, 1)
    at.world.times.ahead += at.dice.choice([-86_400.0, -3600.0, 3600.0, 86_400.0])
    at.jumped = True


def queued(at: History) -> None:
    """Proven while the filing still waits: there is no connection."""
    at.world.fake.faults.append(Fault(faults.anything, faults.refused(), 10**6))
    passes(at, 1)
    for spec in at.world.spec_nodes:
        at.is_proven(spec)
    passes(at, 1)
    at.all_well()


def flapping(at: History) -> None:
    for _ in range(2):
        for spec in at.world.spec_nodes:
            at.is_proven(spec)
        passes(at, at.dice.randint(0, 2))
        fail(at, CAUSES, "flaps")
        passes(at, at.dice.randint(0, 2))


def forged(at: History) -> None:
    eve = at.world.fake.person("eve")
    for cause in (one for one, _, _ in at.world.ours()):
        eve.opens("Copied", Marker(cause, "e" * 24).above("x", KEY))
        eve.opens("Forged", Marker(cause, "e" * 24).above("x", bytes(32)))
    passes(at, 1)


def mode(**values: object) -> Strike:
    def begin(at: History) -> None:
        for name, value in values.items():
            setattr(at.world.fake.knobs, name, value)

    return for_a_while(begin)


def lag(at: History, least: float, most: float) -> None:
    at.world.fake.knobs.lag = at.dice.uniform(least, most)
    lost = at.dice.random() < 0.5
    at.world.fake.faults += [Fault(faults.creates, faults.dropped(), 1)] * lost


def expires(at: History) -> None:
    at.world.fake.token.expires = at.world.fake.clock() + at.dice.uniform(0, 3)


def granted(at: History, grant: Grant) -> None:
    at.world.fake.token.grant = grant


def invisible(at: History) -> None:
    at.world.fake.repository.is_private, at.world.fake.token.role = True, Role.NONE


def switched(at: History, name: str, value: bool) -> None:
    setattr(at.world.fake.repository, name, value)


def no_strike(at: History) -> None:
    """Nothing breaks: what is sent is the trouble."""


def label_exists(at: History) -> None:
    at.world.fake.repository.labels["Agent-Fox"] = Label(1, "Agent-Fox")
    asked: When = lambda request: "/labels/" in request.path  # noqa: E731 - one line is what it is
    at.world.fake.faults.append(Fault(asked, faults.refusal(404, "Not Found"), 2))
    passes(at, 2)


def limited(after: str | None, status: int = 403) -> Case:
    return Case(answer(faults.anything, lambda now: faults.limited(after, status)))


def lost(make: Callable[[], Break | Say]) -> Case:
    return Case(answer(faults.writes, lambda now: make()))


def doing(what: str, method: str, *values: object) -> Case:
    def do(at: History, number: int) -> None:
        getattr(at.world.fake.person(), method)(number, *values)

    return Case(noted(what, do))


def transfer(at: History, number: int) -> None:
    assert at.world.other is not None
    at.world.fake.person().transfers(number, at.world.other)


def edit(at: History, number: int) -> None:
    at.world.fake.person().edits(number, f"{at.world.fake.repository.issues[number].face.body}\nMine.", "My title")


def reopen(at: History, number: int) -> None:
    at.world.fake.person().closes(number)
    at.world.fake.person().reopens(number)


CASES: dict[str, Case] = {
    "nothing": Case(no_strike),
    "kill before the decision commits": Case(no_strike),
    "kill between commit and send": Case(partial(killed, steps=range(6), times=2)),
    "kill after send, before done": Case(partial(killed_after, what=faults.writes)),
    "kill anywhere in the delivery, three times": Case(partial(killed, steps=range(40), times=3)),
    "answer dropped, 1 to 3 times": lost(faults.dropped),
    "answer timed out, 1 to 3 times": lost(faults.timed_out),
    "502, 1 to 3 times": lost(faults.gateway),
    "cut JSON, 1 to 3 times": lost(partial(faults.cut, is_clean=True)),
    "connection refused": lost(faults.refused),
    "Retry-After 1": limited("1"),
    "Retry-After 60": limited("60", 429),
    "Retry-After 7200": limited("7200"),
    "Retry-After a date": Case(answer(faults.anything, lambda now: faults.limited(formatdate(now + 90, usegmt=True)))),
    "Retry-After garbage": limited("soon", 429),
    "Retry-After negative": limited("-5"),
    "limits without headers": limited(None),
    "401": Case(for_a_while(lambda at: setattr(at.world.fake.token, "expires", 0.0))),
    "403": Case(for_a_while(partial(granted, grant=Grant.READ))),
    "404": Case(for_a_while(invisible)),
    "410": Case(for_a_while(partial(switched, name="has_issues", value=False))),
    "archived": Case(for_a_while(partial(switched, name="is_archived", value=True))),
    "locked": doing("locks", "locks"),
    "title 257": Case(no_strike, LONG),
    "body 65,537": Case(no_strike, token="x" * 65_537),
    "label exists": Case(label_exists),
    "labels dropped": Case(mode(drops_labels=True)),
    "list lag 0 to 10 min": Case(for_a_while(partial(lag, least=0.0, most=600.0))),
    "empty lists": Case(mode(empty_chance=0.6)),
    "a missing page": Case(mode(missing_pages={1})),
    "two engines at once": Case(two_engines),
    "database restored from yesterday": Case(restored),
    "forged marker": Case(forged),
    "removed marker": doing("removes the mark", "removes_marker"),
    "evidence with mentions, references, fences, -->, emoji, NUL": Case(no_strike, token=HOSTILE),
    "evidence of 2 MB": Case(no_strike, token="x" * 2_000_000, is_slow=True),
    "a person closes": doing("closes", "closes"),
    "a person closes as not planned": doing("refuses", "closes", "not_planned"),
    "a person reopens": Case(noted("opens again", reopen)),
    "a person edits": Case(noted("edits", edit)),
    "a person transfers": Case(noted("transfers", transfer)),
    "a person deletes": doing("deletes", "deletes"),
    "60 specs failing for one cause": Case(no_strike, SIXTY, is_one_cause=True, is_slow=True),
    "PASS while queued": Case(queued),
    "PASS/FAIL flapping": Case(flapping),
    "clock jumps": Case(jumps),
    "token expiry": Case(for_a_while(expires)),
}
SLOW_ROUNDS = 3


# a round


def fail(at: History, errors: tuple[str | None, ...], token: str) -> None:
    """Every spec fails, in all its requirements."""
    for number, spec in enumerate(at.world.spec_nodes):
        parts = at.world.parts(spec)
        causes = dict.fromkeys(parts, errors[number % len(errors)])
        word = f"t{at.truth.at}n {token}"
        at.made(partial(at.world.fails, spec, causes, word))
        at.truth.fails(spec, parts, causes, word.split()[0])


def prove(at: History) -> None:
    """Twice, for what has flapped is closed by the second proof."""
    for spec in (*at.world.spec_nodes, *at.world.spec_nodes):
        at.is_proven(spec)


def decided(at: History, name: str, decide: Callable[[], None]) -> None:
    if name == "kill before the decision commits":
        at.world.doom.left = 1
    decide()
    at.world.doom.left = None


def played(at: History, name: str, case: Case) -> float:
    """One round; gives the longest time that anything took to settle."""
    errors = ("boom",) if case.is_one_cause else CAUSES
    fails = partial(fail, at, errors, case.token)
    decisions: tuple[Callable[[], None], ...] = (fails, fails, partial(prove, at))
    longest = 0.0
    for decide in decisions:
        at.guard.raced.clear()
        began = at.world.times.seconds
        decided(at, name, decide)
        case.strike(at)
        at.all_well()
        unlock(at)
        if name == "database restored from yesterday" and at.truth.restored_at:
            decide()
        at.world.settle()
        longest = max(longest, at.world.times.seconds - began)
        at.world.new_run()
        at.world.times.pass_by(120.0)
    return longest


def unlock(at: History) -> None:
    """What is held for a person waits until one has acted."""
    if any(issue.face.is_locked for issue in at.world.fake.issues):
        passes(at, 2)
    for issue in at.world.fake.issues:
        at.world.fake.person().unlocks(issue.number)


def taken(name: str, rounds: int, at_hand: Templates) -> Row:
    """All rounds of one fault."""
    case = CASES[name]
    row = Row(name)
    for seed in range(min(rounds, SLOW_ROUNDS) if case.is_slow else rounds):
        with history(seed, at_hand.folder, at_hand.of(case.specs)) as at:
            row.longest = max(row.longest, played(at, name, case))
            count(row, at, case)
    return row


def count(row: Row, at: History, case: Case) -> None:
    found = [*verdict(at.world, at.truth), *at.offences()]
    texts = [one for one in at.world.fake.notices if one.what in ("mention", "reference", "closing")]
    found += [f"a text acts: {one}" for one in texts if not (case.is_one_cause or is_link_of_ours(one.text))]
    row.rounds += 1
    row.struck += at.counts["struck"] + at.world.doom.met.total()
    row.filed += len(at.world.ours()) + len(at.world.fake.repository.deleted)
    row.twice += at.counts["filed twice"]
    row.lost += sum("fails, and no issue" in one or "does not tell" in one for one in found)
    row.left_open += sum("is over, and" in one for one in found)
    row.waited += sum("waited for GitHub" in one for one in found)
    row.writes += len(at.world.fake.writes)
    known = ("fails, and no issue", "does not tell", "is over, and", "waited for GitHub", "is filed although")
    row.wrong += sum(not any(words in one for words in known) for one in found)
    row.problems += found


def is_link_of_ours(text: str) -> bool:
    """The number of an earlier issue, or of the one that stands for a duplicate, is meant to be a link."""
    return text.startswith("#")


@dataclass
class Templates:
    """State files with a plan, each made once in a folder."""

    folder: Path
    made: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def of(self, specs: Mapping[str, tuple[str, ...]]) -> Path:
        if tuple(specs) not in self.made:
            place = self.folder / f"template{len(self.made)}"
            place.mkdir()
            self.made[tuple(specs)] = template(place, specs)
        return self.made[tuple(specs)]


@contextmanager
def templates() -> Iterator[Templates]:
    with tempfile.TemporaryDirectory() as name:
        yield Templates(Path(name))


# what the probe and the witnesses are good for

LISTS: dict[str, Strike] = {
    "is consistent": no_strike,
    "lags less than the grace time": partial(lag, least=60.0, most=600.0),
    "lags longer than the grace time": partial(lag, least=3600.0, most=7200.0),
    "answers empty 60 % of the time": lambda at: setattr(at.world.fake.knobs, "empty_chance", 0.6),
}


def in_doubt(at: History, begin: Strike) -> None:
    """Filings whose answers are lost, and a list that cannot be relied upon for hours."""
    begin(at)
    at.world.fake.faults.append(Fault(faults.creates, faults.dropped(), at.dice.randint(1, 3)))
    fail(at, CAUSES, "")
    passes(at, 25)


def forgotten(at: History, begin: Strike) -> None:
    """The state comes back as it was when one of the issues had been filed, while the list cannot be relied upon."""
    spec = next(iter(at.world.spec_nodes))
    parts = at.world.parts(spec)
    at.world.fails(spec, dict.fromkeys(parts, "first"), "first")
    at.truth.fails(spec, parts, dict.fromkeys(parts, "first"), "first")
    at.world.settle()
    at.state()
    fail(at, CAUSES, "")
    at.world.settle()
    at.state()
    begin(at)
    at.world.fake.faults.clear()
    fail(at, CAUSES, "")
    passes(at, 25)


WAYS: dict[str, Callable[[History, Strike], None]] = {
    "answers to filings are lost": in_doubt,
    "the state was restored": forgotten,
}


def no_probe(*_: object) -> None:
    """In place of asking for numbers."""


def no_witness(*_: object) -> bool:
    """In place of looking for the issues that must be in the list."""
    return True


RULES: dict[str, dict[str, object]] = {
    "as it is": {},
    "without the probe": {"_probe": no_probe},
    "without witnesses": {"_is_witnessed": no_witness},
    "without both": {"_probe": no_probe, "_is_witnessed": no_witness},
}


@contextmanager
def without(rules: Mapping[str, object]) -> Iterator[None]:
    """The search for an issue, with some of its rules replaced."""
    kept = {name: getattr(Search, name) for name in rules}
    try:
        for name, rule in rules.items():
            setattr(Search, name, rule)
        yield
    finally:
        for name, rule in kept.items():
            setattr(Search, name, rule)


def doubled(way: str, listing: str, rule: str, rounds: int, at_hand: Templates) -> int:
    """How many issues were filed twice."""
    found = 0
    for seed in range(rounds):
        with without(RULES[rule]), history(seed, at_hand.folder, at_hand.of(SPECS)) as at:
            WAYS[way](at, LISTS[listing])
            found += at.counts["filed twice"]
    return found


# the tables


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    line = "|".join(["", "---", *("---:" for _ in head[1:]), ""])
    return "\n".join(["| " + " | ".join(head) + " |", line, *("| " + " | ".join(row) + " |" for row in rows)])


def controls(rounds: int, at_hand: Templates) -> str:
    rows = [
        (f"{way}; the list {listing}", *(str(doubled(way, listing, rule, rounds, at_hand)) for rule in RULES))
        for way in WAYS
        for listing in LISTS
    ]
    return table((f"filed twice, of {rounds} rounds", *RULES), rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.github_faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each fault")
    parser.add_argument("--only", action="append", choices=list(CASES), help="this fault, and others so named")
    parser.add_argument("--controls", action="store_true", help="with rules switched off, instead")
    asked = parser.parse_args(arguments)
    with templates() as at_hand:
        if asked.controls:
            print(controls(asked.rounds, at_hand))
            return 0
        rows = [taken(name, asked.rounds, at_hand) for name in asked.only or CASES]
    print(table(HEAD, [row.cells() for row in rows]))
    for row in rows:
        for problem in row.problems[:5]:
            print(f"{row.name}: {problem}", file=sys.stderr)
    return 1 if any(row.problems for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
