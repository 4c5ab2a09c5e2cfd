"""One random history of issues: what fails, who acts, what breaks and where processes end. Made from a number alone.

`python -m tests.engine.issue_history SEED` plays one and tells what happened.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from random import Random

from agent_fox.testing.github import Fault, Grant, Request, Role, faults
from agent_fox.testing.github.faults import Break, Say, When
from agent_fox.trackers.github.marker import Marker
from tests.engine.issue_rules import EDITED_TITLE, Guard, Truth, is_ours, verdict
from tests.engine.issue_world import KEY, Crash, World, connected, template, world

WHENS: dict[str, When] = {
    "anything": faults.anything,
    "writes": faults.writes,
    "creates": faults.creates,
    "comments": faults.comments,
    "edits": faults.edits,
    "lists": faults.lists,
}
BROKEN: dict[str, Callable[[float], Break | Say]] = {
    "answer dropped": lambda now: faults.dropped(),
    "dropped before it arrived": lambda now: faults.dropped(is_applied=False),
    "answer timed out": lambda now: faults.timed_out(),
    "timed out before it arrived": lambda now: faults.timed_out(is_applied=False),
    "502 after": lambda now: faults.gateway(502),
    "502 before": lambda now: faults.gateway(502, is_applied=False),
    "500 before": lambda now: faults.gateway(500, is_applied=False),
    "503 after": lambda now: faults.gateway(503),
    "cut": lambda now: faults.cut(),
    "cut to half its JSON": lambda now: faults.cut(is_clean=True),
    "refused": lambda now: faults.refused(),
}
LIMITS: dict[str, Callable[[float], Break | Say]] = {
    "403, Retry-After 1": lambda now: faults.limited("1"),
    "403, Retry-After 60": lambda now: faults.limited("60"),
    "429, Retry-After 60": lambda now: faults.limited("60", 429),
    "403, Retry-After 7200": lambda now: faults.limited("7200"),
    "403, Retry-After a date": lambda now: faults.limited(formatdate(now + 90, usegmt=True)),
    "429, Retry-After garbage": lambda now: faults.limited("soon", 429),
    "403, Retry-After negative": lambda now: faults.limited("-5"),
    "403, a limit without headers": lambda now: faults.limited(None),
    "429, a limit without headers": lambda now: faults.limited(None, 429),
    "403, the hour is spent": lambda now: faults.exhausted(now + 300),
}
FAULTS = {**BROKEN, **LIMITS}
ERRORS = ("boom", "no rule", None)


@dataclass
class History:
    """A world, what is so in it, and dice."""

    world: World
    truth: Truth
    guard: Guard
    dice: Random
    placed: list[tuple[str, int, Fault]] = field(default_factory=list)
    copied: Truth | None = None
    log: list[str] = field(default_factory=list)
    limit_unheard: bool = False
    jumped: bool = False

    @property
    def counts(self) -> Counter[str]:
        return self.world.counts

    def note(self, what: str, *more: object) -> None:
        self.counts[what] += 1
        self.log.append(" ".join([f"{self.world.times.seconds % 1e6:9.1f}", what, *map(str, more)]))

    # decisions

    def decide(self) -> None:
        """One decision. Where the process ends before it commits, it is made again by the next process."""
        spec = self.dice.choice(list(self.world.spec_nodes))
        if self.dice.random() < 0.06:
            self.world.doom.left = 1 if self.dice.random() < 0.5 else 0
        do = self.dice.choices(
            [self.fails, self.is_blocked, self.is_proven, self.is_waived, self.is_removed], [50, 7, 30, 6, 5]
        )[0]
        do(spec)
        self.world.doom.left = None

    def made(self, decide: Callable[[], None]) -> None:
        try:
            decide()
        except Crash:
            self.restart()
            decide()

    def fails(self, spec: str) -> None:
        parts = self.world.parts(spec)
        failing = self.dice.sample(parts, self.dice.randint(1, len(parts)))
        causes = {part: self.dice.choice(ERRORS) for part in parts if part in failing}
        token = self.token()
        self.made(lambda: self.world.fails(spec, causes, token))
        self.truth.fails(spec, parts, causes, token)
        self.note("decided: fails", spec, causes, token)

    def token(self) -> str:
        return f"token{self.world.decisions_made}x{self.world.runs_begun}x{self.truth.at}"

    def is_blocked(self, spec: str) -> None:
        token = self.token()
        self.made(lambda: self.world.is_blocked(spec, token))
        self.truth.is_blocked(spec, token)
        self.note("decided: blocked", spec, token)

    def is_proven(self, spec: str) -> None:
        self.made(lambda: self.world.is_proven(spec))
        self.truth.is_over(spec)
        self.note("decided: proven", spec)

    def is_waived(self, spec: str) -> None:
        """A person signs for one part; or for all that is left, and then it is over."""
        if self.dice.random() < 0.5:
            part = self.dice.choice(self.world.parts(spec))
            self.made(lambda: self.world.is_waived(spec, part))
            self.note("decided: a part waived", spec, part)
        else:
            self.made(lambda: self.world.is_proven(spec, ("signed by Kim until May",)))
            self.truth.is_over(spec)
            self.note("decided: waived", spec)

    def is_removed(self, spec: str) -> None:
        self.made(lambda: self.world.is_removed(spec))
        self.truth.is_over(spec)
        self.note("decided: removed", spec)

    # what people do

    def person(self) -> None:
        ours = [(cause, issue, where) for cause, issue, where in self.world.ours() if where is not self.world.foreign]
        if not ours:
            return
        cause, issue, where = self.dice.choice(ours)
        alex = self.world.fake.person("alex", repository=where)
        number = issue.number
        what = self.dice.choices(
            ["closes", "refuses", "opens again", "comments", "edits", "removes the mark", "locks", "unlocks",
             "transfers", "transfers away", "deletes", "bot comments", "copies a comment"],
            [12, 8, 10, 12, 6, 4, 4, 4, 3, 2, 3, 3, 2],
        )[0]  # fmt: skip
        if (what in ("closes", "refuses") and not issue.is_open) or (what == "opens again" and issue.is_open):
            return
        self.guard.raced.add(cause)
        is_heard = self.world.db.execute("SELECT 1 FROM tracker_memory WHERE name = ?", [f"filed {cause}"]).fetchone()
        self.truth.acted(cause, issue, what if is_heard else f"{what}, unheard")
        self.note(f"person: {what}", f"#{number}", cause)
        match what:
            case "closes":
                alex.closes(number)
            case "refuses":
                alex.closes(number, self.dice.choice(["not_planned", "duplicate"]))
            case "opens again":
                alex.reopens(number)
                self.guard.opened_again(issue, cause)
            case "comments":
                alex.comments(number, "I am looking at it.")
            case "edits":
                alex.edits(number, f"{issue.face.body}\n\nSee the rota.", EDITED_TITLE)
            case "removes the mark":
                alex.removes_marker(number)
            case "locks":
                alex.locks(number)
            case "unlocks":
                alex.unlocks(number)
            case "transfers":
                assert self.world.other is not None
                alex.transfers(number, self.world.other)
            case "transfers away":
                assert self.world.foreign is not None
                alex.transfers(number, self.world.foreign)
            case "deletes":
                alex.deletes(number)
            case "bot comments":
                self.world.fake.person("ci", is_bot=True, repository=where).comments(number, "The build is red.")
            case "copies a comment":
                text = next((one.body for one in issue.comments if is_ours(one)), "")
                alex.comments(number, text or "a copy")

    def stranger(self) -> None:
        """Somebody else writes: with a mark that is copied, one that is forged, or none."""
        eve = self.world.fake.person("eve")
        cause, issue, _ = next(iter(self.world.ours()), ("0" * 16, None, None))
        mark = Marker(cause, "e" * 24)
        what = self.dice.choice(["copied mark", "forged mark", "pull request", "discussion"])
        self.note(f"stranger: {what}")
        if what == "pull request":
            eve.opens_pull("Mend it")
        elif what == "discussion":
            eve.starts_discussion()
        elif what == "copied mark":
            eve.opens("The same", issue.faces[0].body or "" if issue else mark.above("x", KEY))
        else:
            eve.opens("Another", mark.above("x", bytes(32)))

    # what breaks

    def breaks(self) -> None:
        name = self.dice.choice(list(FAULTS))
        when = self.dice.choice(list(WHENS))
        times = self.dice.randint(1, 3)
        fault = Fault(WHENS[when], FAULTS[name](self.world.times.seconds), times)
        self.placed.append((name, times, fault))
        self.world.fake.faults.append(fault)
        self.log.append(f"{self.world.times.seconds % 1e6:9.1f} fault {name} on {when} x{times}")

    def mode(self) -> None:
        fake, dice = self.world.fake, self.dice
        what = dice.choice(
            ["lag", "comment lag", "empty lists", "a missing page", "labels dropped", "token expired", "no permission",
             "invisible", "issues off", "archived", "all well"]
        )  # fmt: skip
        self.note(f"mode: {what}")
        match what:
            case "lag":
                fake.knobs.lag = dice.uniform(0, 600)
            case "comment lag":
                fake.knobs.comment_lag = dice.uniform(0, 600)
            case "empty lists":
                fake.knobs.empty_chance = 0.6
            case "a missing page":
                fake.knobs.missing_pages = {1}
            case "labels dropped":
                fake.knobs.drops_labels = True
            case "token expired":
                fake.token.expires = fake.clock()
            case "no permission":
                fake.token.grant = Grant.NONE
            case "invisible":
                fake.repository.is_private, fake.token.role = True, Role.NONE
            case "issues off":
                fake.repository.has_issues = False
            case "archived":
                fake.repository.is_archived = True
            case "all well":
                self.all_well()

    def all_well(self) -> None:
        fake = self.world.fake
        knobs = fake.knobs
        knobs.lag = knobs.comment_lag = knobs.empty_chance = 0.0
        knobs.missing_pages, knobs.drops_labels = set(), False
        fake.token.expires, fake.token.grant, fake.token.role = None, Grant.WRITE, Role.WRITE
        fake.repository.has_issues, fake.repository.is_archived, fake.repository.is_private = True, False, False
        fake.faults.clear()

    def time_passes(self) -> None:
        times = self.world.times
        what = self.dice.choices(["jumps on", "jumps back", "hours", "a month"], [3, 3, 3, 1])[0]
        self.note(f"clock: {what}")
        self.jumped = self.jumped or "jumps" in what
        times.pass_by(30.0)
        match what:
            case "jumps on":
                times.ahead += 3600.0
            case "jumps back":
                times.ahead -= 3600.0
            case "hours":
                times.pass_by(7300.0)
            case "a month":
                times.pass_by(31 * 86_400.0)

    def state(self) -> None:
        """The state file is copied; or the copy takes its place."""
        if self.copied is None:
            self.world.copy_state()
            self.copied = copy.deepcopy(self.truth)
            self.note("state: copied")
        else:
            acts, at, failed, gone = self.truth.acts, self.truth.at, self.truth.failed_at, self.truth.withdrawn
            self.world.restore_state()
            self.truth = self.guard.truth = copy.deepcopy(self.copied)
            self.truth.acts, self.truth.restored_at, self.truth.at = acts, at + 1, at + 1
            self.truth.failed_at, self.truth.withdrawn = {**failed, **self.truth.failed_at}, gone
            self.world.start()
            self.limit_unheard = True  # it may have been told since
            self.note("state: restored")

    # what delivers

    def deliver(self) -> None:
        world, dice = self.world, self.dice
        self.guard.raced.clear()
        engine = world.engine or world.start()
        if dice.random() < 0.3:
            world.doom.left = dice.randint(0, 30)
        if dice.random() < 0.12:
            self.meanwhile(self.other_engine, dice.randint(0, 8))
        if dice.random() < 0.08:
            self.meanwhile(self.person, dice.randint(0, 8))
        try:
            if dice.random() < 0.2:
                self.note("a courier begins")
                world.begin(engine)
            for _ in range(dice.randint(1, 3)):
                passed = world.deliver(engine)
                self.log.append(f"{'':10}delivered {passed}")
                if dice.random() < 0.7:
                    world.nap(passed)
        except Crash:
            self.restart()
        world.doom.left = None
        world.watchers[:] = [self.guard.look]

    def restart(self) -> None:
        """What was about to be heard is lost with the process; the lease of the dead is not."""
        self.note("restart")
        said = self.world.fake.exchanges
        if said and said[-1].answer.status in (403, 429):
            self.limit_unheard = True
        if self.dice.random() < 0.6:
            self.world.times.pass_by(self.dice.uniform(1, 200))
        self.world.start()

    def meanwhile(self, act: Callable[[], None], at: int) -> None:
        """Something happens just before the `at`-th request from now on arrives."""
        left = at

        def watch(request: Request) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                doom, self.world.doom.left = self.world.doom.left, None
                act()
                self.world.doom.left = doom

        self.world.watchers.insert(0, watch)
        self.log.append(f"{'':10}something will happen at request {at}")

    def other_engine(self) -> None:
        """Another process delivers, while this one is held up for so long."""
        self.note("another engine")
        world = self.world
        held_up = self.dice.choice([0.0, 50.0, 130.0, 400.0])
        said = world.fake.exchanges
        if held_up and said and said[-1].answer.status in (403, 429):
            self.limit_unheard = True
        world.times.pass_by(held_up)
        mine, watchers, asked = world.engine, list(world.watchers), len(said)
        world.watchers[:] = [self.guard.look]
        db = connected(world.folder / "state.db", world.doom)
        try:
            engine = world.seated(db)
            world.engine = engine
            world.begin(engine)
            world.deliver(engine)
            if self.dice.random() < 0.5:
                engine.desk.leave()
        finally:
            db.close()
            world.engine = mine
            world.watchers[:] = watchers
            self.limit_unheard |= any(one.answer.status in (403, 429) for one in said[asked:])
            world.times.pass_by(2.0)

    # all of it

    def play(self) -> list[str]:
        """Everything, then calm. Gives what is wrong."""
        for _ in range(self.dice.randint(3, 7)):
            self.moment()
        self.note("calm")
        self.calm()
        return [*verdict(self.world, self.truth), *self.offences()]

    def moment(self) -> None:
        roll = self.dice.random
        if roll() < 0.75:
            self.decide()
        for chance, act in (
            (0.3, self.person), (0.06, self.stranger), (0.35, self.breaks), (0.2, self.mode), (0.07, self.time_passes),
            (0.05, self.state), (0.12, self.world.new_run),
        ):  # fmt: skip
            if roll() < chance:
                act()
        if roll() < 0.8:
            self.deliver()

    def calm(self) -> None:
        """Nothing breaks any more, nobody acts, and each spec whose reports were lost is read again."""
        world = self.world
        for name, times, fault in self.placed:
            self.counts[f"fault: {name}"] += times - fault.times
        self.all_well()
        for repository in (world.fake.repository, world.other):
            for number, issue in (repository.issues if repository else {}).items():
                if issue.face.is_locked:
                    world.fake.person(repository=repository).unlocks(number)
        if self.truth.restored_at or self.dice.random() < 0.3:
            world.new_run()
            for spec in world.spec_nodes:
                self.dice.choice([self.fails, self.is_proven])(spec)
        if self.dice.random() < 0.3:
            spec = self.dice.choice(list(world.spec_nodes))
            self.is_proven(spec)
            self.is_proven(spec)
        self.guard.raced.clear()
        world.settle()

    def offences(self) -> list[str]:
        """What GitHub would take offence at. Who has not heard a limit, or whose clock jumps on, comes too early."""
        is_deaf = self.limit_unheard or self.jumped
        is_deaf = is_deaf or self.counts["limit met while looking"] > 0  # only the process that met it knows of it
        forgiven = ["asked before"] * is_deaf
        forgiven += ["after the write before"] * bool(self.counts["another engine"])  # what was held up comes late
        return [one for one in self.world.fake.violations if not any(words in one for words in forgiven)]


@contextmanager
def history(seed: int, folder: Path, state: Path, **settings: object) -> Iterator[History]:
    with world(folder, state, **settings) as found:
        truth = Truth()
        guard = Guard(found, truth)
        found.watchers.append(guard.look)
        yield History(found, truth, guard, Random(seed))


def main() -> None:
    for seed in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "template").mkdir()
            with history(seed, folder, template(folder / "template")) as found:
                try:
                    problems = found.play()
                finally:
                    sys.stdout.write("\n".join([*found.log, ""]))
            asked = len(found.world.fake.exchanges)
            sys.stdout.write(f"history {seed}: {asked} exchanges, {problems or 'all is well'}\n")


if __name__ == "__main__":
    main()
