"""What policies of retrying would have solved over recorded attempts, at how many sessions (`make backtest DATA=...`).

Each attempt is drawn as it was recorded, in the order of its agent, and knows nothing of those before it: this bounds
what asking again, and asking another, is worth; it says nothing of a report in the brief. Intervals hold 95 % of 1,000
resamplings, once of the tasks and once of the agents. Format of the recordings: `bench/streams.py`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from agent_fox.core.policy import Start
from agent_fox.core.retry.arms import Case, Chances, Cost, History, Stage, Try, choose, stage_of, weighed
from agent_fox.core.retry.decision import Suspect, next_rung
from agent_fox.engine.planning.from_settings import shipped_chances
from bench.streams import Attempt, NoStreams, Stream, read

RESAMPLED, SEED = 1_000, 7
MOST_LADDERS = 300
"""Of three agents."""
ATTEMPTS = 3
"""Of the policies that may ask two agents."""
WORTH_USD, SESSION_USD = 20.0, 1.0
"""Of a task that is solved, and of a session whose cost is not recorded."""


@dataclass(frozen=True, slots=True)
class Played:
    """How a task ended under a policy."""

    is_solved: bool
    sessions: int
    usd: float = 0.0


@dataclass
class Player:
    """Plays one task with a ladder of agents: each `ask` takes the next recorded attempt of the agent on a rung."""

    streams: Sequence[Stream]
    asked: list[int] = field(default_factory=list)
    failing: list[frozenset[str]] = field(default_factory=list)
    is_solved: bool = False
    usd: float = 0.0

    def ask(self, rung: int) -> bool:
        """Whether it passed. One that has no recorded attempt left fails."""
        attempts = self.streams[rung].attempts
        number = self.asked.count(rung)
        attempt = attempts[number] if number < len(attempts) else Attempt(passed=False, failing=frozenset())
        self.asked.append(rung)
        self.failing.append(attempt.failing)
        self.usd += SESSION_USD if attempt.cost_usd is None else attempt.cost_usd
        self.is_solved = attempt.passed
        return attempt.passed

    @property
    def is_repeat(self) -> bool:
        return len(self.failing) > 1 and self.failing[-1] == self.failing[-2]

    @property
    def played(self) -> Played:
        return Played(self.is_solved, len(self.asked), self.usd)


Plays = Callable[[Player], None]


def fixed(attempts: int) -> Plays:
    def play(player: Player) -> None:
        while len(player.asked) < attempts and not player.ask(0):
            pass

    return play


def stopping(player: Player) -> None:
    """One agent, until the same tests fail again."""
    while len(player.asked) < ATTEMPTS and not player.ask(0) and not player.is_repeat:
        pass


def other_second(player: Player) -> None:
    if not player.ask(0):
        player.ask(1)


def ladder(player: Player) -> None:
    """As `[retry]` has it by default: another agent at the second attempt, a stop where nothing moves at the top."""
    climb(player, stops=True)


def ladder_without_stop(player: Player) -> None:
    climb(player, stops=False)


def climb(player: Player, *, stops: bool) -> None:
    rung, top = 0, len(player.streams) - 1
    while len(player.asked) < ATTEMPTS and not player.ask(rung):
        if stops and player.is_repeat and rung == top:
            return
        suspect = Suspect("", ATTEMPTS, len(player.asked), rung=rung, top_rung=top, has_second_agent=True)
        rung = next_rung(suspect, player.is_repeat)


@dataclass
class ByWorth:
    """`[retry] policy = "arms"` over one ladder: it learns from the tasks that it has played before."""

    chances: Chances
    attempts: int = ATTEMPTS
    stops: bool = True
    tries: list[Try] = field(default_factory=list)
    costs: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __call__(self, player: Player) -> None:
        names = tuple(stream.agent for stream in player.streams)
        rung, failed, stage = 0, list[str](), Stage(is_new=True, failures=0)
        while len(player.asked) < self.attempts:
            before = player.usd
            has_passed = player.ask(rung)
            self.costs[names[rung]].append(player.usd - before)
            if failed:
                self.tries.append(Try(names[rung], Start.TIP, stage, has_passed))
            if has_passed:
                return
            failed.append(names[rung])
            if self.stops and player.is_repeat and set(failed) == set(names):
                return
            rung = self.chosen(names, failed, rung)
            stage = stage_of(names[rung], failed, self.chances.stages)

    def chosen(self, names: tuple[str, ...], failed: Sequence[str], rung: int) -> int:
        case = Case(names, tuple(failed), WORTH_USD)
        costs = {name: Cost(statistics.fmean(paid), len(paid)) for name, paid in self.costs.items()}
        arms = weighed(case, self.chances, History(tuple(self.tries), costs))
        top = len(names) - 1
        suspect = Suspect("", self.attempts, len(failed), rung=rung, top_rung=top, has_second_agent=True)
        return choose(case, arms, next_rung(suspect, climbs=False), Start.TIP).arm.rung


Cells = Mapping[tuple[str, ...], Mapping[str, Played]]
"""By ladder, then by task."""


def alone(streams: Mapping[tuple[str, str], Stream], play: Plays) -> Cells:
    cells: dict[tuple[str, ...], dict[str, Played]] = defaultdict(dict)
    for (agent, task), stream in streams.items():
        player = Player([stream])
        play(player)
        cells[agent,][task] = player.played
    return cells


def by_ladders(
    streams: Mapping[tuple[str, str], Stream], make: Callable[[], Plays], ladders: Sequence[tuple[str, ...]]
) -> Cells:
    """Each ladder plays the tasks that all of its agents have, in an order drawn by SEED; nothing is known before."""
    every = sorted({task for _, task in streams})
    cells: dict[tuple[str, ...], dict[str, Played]] = {}
    for agents in ladders:
        tasks = [task for task in every if all((agent, task) in streams for agent in agents)]
        random.Random(f"{SEED} {agents}").shuffle(tasks)
        play, ended = make(), dict[str, Played]()
        for task in tasks:
            player = Player([streams[agent, task] for agent in agents])
            play(player)
            ended[task] = player.played
        cells[agents] = ended
    return cells


Values = Mapping[tuple[str, ...], Mapping[str, float]]
"""A number for each ladder and task."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean, and the intervals that hold it by tasks and by agents."""

    mean: float
    by_task: tuple[float, float]
    by_agent: tuple[float, float]

    def shown(self, digits: int) -> str:
        low, high = (f"{end:.{digits}f}" for end in self.by_task)
        least, most = (f"{end:.{digits}f}" for end in self.by_agent)
        return f"{self.mean:.{digits}f} | {low} to {high} | {least} to {most}"


@dataclass(frozen=True, slots=True)
class Row:
    """A policy: the part of tasks solved; how much that is more than another policy has on the same ladders and tasks;
    sessions and dollars a task.
    """

    policy: str
    solved: Spread
    more: Spread
    sessions: float
    usd: float


def row_of(policy: str, cells: Cells, beside: Cells) -> Row:
    every = [played for tasks in cells.values() for played in tasks.values()]
    solved = values_of(cells)
    other = values_of(beside)
    more = {who: {task: won - other[who][task] for task, won in tasks.items()} for who, tasks in solved.items()}
    return Row(
        policy, spread_of(solved), spread_of(more), statistics.fmean(played.sessions for played in every),
        statistics.fmean(played.usd for played in every),
    )  # fmt: skip


def values_of(cells: Cells) -> Values:
    return {who: {task: float(played.is_solved) for task, played in tasks.items()} for who, tasks in cells.items()}


def spread_of(values: Values) -> Spread:
    of_tasks: dict[str, list[float]] = defaultdict(list)
    for tasks in values.values():
        for task, value in tasks.items():
            of_tasks[task].append(value)
    means = {who: statistics.fmean(tasks.values()) for who, tasks in values.items() if tasks}
    by_task = interval(resampled([statistics.fmean(each) for each in of_tasks.values()]))
    return Spread(statistics.fmean(means.values()), by_task, interval(by_agents(means)))


def resampled(values: Sequence[float]) -> Iterator[float]:
    draw = random.Random(SEED)
    for _ in range(RESAMPLED):
        yield statistics.fmean(draw.choices(values, k=len(values)))


def by_agents(means: Mapping[tuple[str, ...], float]) -> Iterator[float]:
    """Agents are drawn; a ladder counts as often as all of its agents were. A draw without any ladder is left out."""
    agents = sorted({agent for who in means for agent in who})
    draw = random.Random(SEED)
    for _ in range(RESAMPLED):
        drawn = draw.choices(agents, k=len(agents))
        weights = {who: float(product(drawn.count(agent) for agent in who)) for who in means}
        total = sum(weights.values())
        if total:
            yield sum(weights[who] * mean for who, mean in means.items()) / total


def product(numbers: Iterator[int]) -> int:
    whole = 1
    for number in numbers:
        whole *= number
    return whole


def interval(values: Iterator[float]) -> tuple[float, float]:
    """What holds the middle 95 %; nothing known (nan) where there are no values."""
    ordered = sorted(values)
    if not ordered:
        return float("nan"), float("nan")
    cut = len(ordered) // 40
    return ordered[cut], ordered[-1 - cut]


def rows_of(recorded: Sequence[Stream], chances: Chances) -> Iterator[Row]:
    """Every policy: of one agent over all agents, beside fixed-3; of two over all ordered pairs, and those with the
    weaker first, and of three over MOST_LADDERS that are drawn by SEED, beside the ladder.
    """
    streams = {(stream.agent, stream.task): stream for stream in recorded}
    agents = sorted({agent for agent, _ in streams})
    of_one = {f"fixed-{count}": alone(streams, fixed(count)) for count in range(1, 6)}
    of_one["stop at the same failing set"] = alone(streams, stopping)
    yield from (row_of(name, cells, of_one["fixed-3"]) for name, cells in of_one.items())
    strength = {agent: first_passes(streams, agent) for agent in agents}
    pairs = list(permutations(agents, 2))
    threes = list(permutations(agents, 3))
    drawn = sorted(random.Random(SEED).sample(threes, min(len(threes), MOST_LADDERS)))
    climbing = [pair for pair in pairs if strength[pair[0]] < strength[pair[1]]]
    plays: dict[str, Callable[[], Plays]] = {
        "other agent on second try": lambda: other_second,
        "arms, 2 attempts": lambda: ByWorth(chances, 2),
        "ladder": lambda: ladder,
        "ladder without its stop": lambda: ladder_without_stop,
        "arms": lambda: ByWorth(chances),
        "arms without its stop": lambda: ByWorth(chances, stops=False),
    }
    for name, ladders in (("two agents", pairs), ("two, weaker first", climbing), ("three agents", drawn)):
        if ladders:
            of_all = {what: by_ladders(streams, make, ladders) for what, make in plays.items()}
            yield from (row_of(f"{what} ({name})", cells, of_all["ladder"]) for what, cells in of_all.items())


def first_passes(streams: Mapping[tuple[str, str], Stream], agent: str) -> float:
    return statistics.fmean(
        stream.attempts[0].passed for (who, _), stream in streams.items() if who == agent and stream.attempts
    )


@dataclass(frozen=True, slots=True)
class After:
    """What follows `failures` of an agent: chances of its next attempt, also by whether the same tests had failed again
    as before, and of another agent's first attempt (None: never seen).
    """

    failures: int
    same: float | None
    repeated: float | None
    changed: float | None
    another: float | None


def after_failures(recorded: Sequence[Stream], most: int = 4) -> Iterator[After]:
    firsts: dict[str, dict[str, bool]] = defaultdict(dict)
    for stream in recorded:
        if stream.attempts:
            firsts[stream.task][stream.agent] = stream.attempts[0].passed
    for count in range(1, most + 1):
        failed = [s for s in recorded if len(s.attempts) > count and not any(a.passed for a in s.attempts[:count])]
        repeated = [s for s in failed if count > 1 and s.attempts[count - 1].failing == s.attempts[count - 2].failing]
        changed = [s for s in failed if count > 1 and s.attempts[count - 1].failing != s.attempts[count - 2].failing]
        others = [won for s in failed for agent, won in firsts[s.task].items() if agent != s.agent]
        same, again, moved = (mean([s.attempts[count].passed for s in some]) for some in (failed, repeated, changed))
        yield After(count, same, again, moved, mean(others))


def mean(values: Sequence[bool]) -> float | None:
    return statistics.fmean(values) if values else None


def shown(recorded: Sequence[Stream], chances: Chances) -> Iterator[str]:
    """The tables, as Markdown."""
    agents, tasks = {stream.agent for stream in recorded}, {stream.task for stream in recorded}
    attempts = sum(len(stream.attempts) for stream in recorded)
    yield f"{len(recorded)} streams of {len(agents)} agents at {len(tasks)} tasks, {attempts} attempts\n"
    yield "| policy | solved | by task | by agent | than fixed-3 or the ladder | by task | by agent | sessions | $ |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows_of(recorded, chances):
        yield f"| {row.policy} | {row.solved.shown(3)} | {row.more.shown(3)} | {row.sessions:.2f} | {row.usd:.2f} |"
    yield "\n| failures | same agent passes next | same tests failed twice | others did | another agent |"
    yield "|---|---|---|---|---|"
    for after in after_failures(recorded):
        cells = (after.same, after.repeated, after.changed, after.another)
        yield f"| {after.failures} | {' | '.join('-' if cell is None else f'{cell:.3f}' for cell in cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.backtest", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="a folder of streams, or a copy of the leaderboard's repository")
    try:
        recorded = read(parser.parse_args().data)
    except NoStreams as error:
        print(f"backtest: {error}", file=sys.stderr)
        return 1
    for line in shown(recorded, shipped_chances()):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
