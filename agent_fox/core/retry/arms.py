"""Which agent of a coder's ladder has the next attempt, and from which files it starts: by what each is worth. Pure.

Source of the rules: `docs/retries.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from agent_fox.core.policy import EVERY_SPEC, Start
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted

SURE = 0.95
"""No prior is higher, whatever it is multiplied by."""

STARTS = (Start.BEST, Start.TIP, Start.BEFORE_ONSET)
"""In the order in which equal ones are taken."""

ELSEWHERE = 0.5
"""What an attempt from another start counts for, so that a start that fails gives way to one that was not tried."""

DIGITS = 6
"""Of dollars after the point: values that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Chances:
    """That an attempt passes, before a project has figures of its own. They weigh as much as `weight` attempts.

    `same`: after 1, 2, ... failures of that agent at this work; `another`: of an agent that has not tried it, after 1,
    2, ... failures of others; the last number holds for all further failures. `starts`: factors.
    """

    weight: float
    same: tuple[float, ...]
    another: tuple[float, ...]
    starts: Mapping[Start, float] = field(default_factory=dict)

    @property
    def stages(self) -> int:
        """From so many failures on there is no difference."""
        return max(len(self.same), len(self.another))

    def of(self, stage: Stage, start: Start) -> float:
        row = self.another if stage.is_new else self.same
        return min(SURE, row[min(stage.failures, len(row)) - 1] * self.starts.get(start, 1.0))


@dataclass(frozen=True, slots=True)
class ByWorth:
    """The policy (`[retry] policy = "arms"`). `worth_usd`: of a requirement that comes to be proven.

    By spec: `agents` names who stands on each rung, `assumed_usd` what a session counts for where none has told.
    """

    worth_usd: float
    chances: Chances
    agents: Mapping[str, tuple[str, ...]]
    assumed_usd: Mapping[str, float]

    def agents_of(self, spec_name: str) -> tuple[str, ...]:
        return self.agents.get(spec_name, self.agents[EVERY_SPEC])

    def assumed_of(self, spec_name: str) -> float:
        return self.assumed_usd.get(spec_name, self.assumed_usd[EVERY_SPEC])


@dataclass(frozen=True, slots=True)
class Stage:
    """Where an agent stands with some work: it failed at it so often, or it is new to it and others failed so often."""

    is_new: bool
    failures: int


def stage_of(agent: str, failed: Sequence[str], most: int) -> Stage:
    """`failed` names who made each attempt that failed; from `most` failures on there is no difference."""
    own = failed.count(agent)
    return Stage(own == 0, min(max(own or len(failed), 1), most))


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt after a FAIL, and whether all that had failed passed at the next reading."""

    agent: str
    start: Start
    stage: Stage
    has_passed: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """Mean dollars of an agent's sessions, and of how many that told it."""

    usd: float
    sessions: int


@dataclass(frozen=True, slots=True)
class History:
    """What is recorded of a project's agents: their attempts after a FAIL, and their costs by name."""

    tries: tuple[Try, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arm:
    """What could be tried next, weighed: an agent, by its rung, and where it starts.

    `chance` is the posterior's mean, from `prior` and `tried` attempts at this stage from this start; `elsewhere` are
    those from other starts, which move the prior. `cost_usd` is a mean of `cost_sessions`; of none: not
    known, and taken to be the highest that is. `expected_usd` is the chance times what is at stake, less the cost.
    `forbidden` says why it may not be chosen.
    """

    rung: int
    start: Start
    agent: str
    prior: float
    chance: float
    passed: int
    tried: int
    elsewhere_passed: int
    elsewhere: int
    cost_usd: float
    cost_sessions: int
    expected_usd: float
    forbidden: str = ""

    @property
    def in_words(self) -> str:
        n = self.tried + self.elsewhere
        seen = f"{self.passed + self.elsewhere_passed} of n = {n} like it passed" if n else "n = 0"
        cost = (
            f"${self.cost_usd:.2f} by {counted(self.cost_sessions, 'session')}"
            if self.cost_sessions
            else f"${self.cost_usd:.2f} assumed"
        )
        barred = f"; not allowed: {self.forbidden}" if self.forbidden else ""
        return f"{place(self.rung, self.start)}, chance {self.chance:.2f} ({seen}), cost {cost}{barred}"


@dataclass(frozen=True, slots=True)
class Case:
    """One coder that is sent back. `agents` names who stands on each rung, `failed` who made the attempts that failed.

    `stake_usd`: what it is worth that all passes that fails now. `assumed_usd`: dollars of a session where nothing is
    known of any. `left_usd`: what a ceiling leaves (None: there is none). `starts` are the possible ones.
    """

    agents: tuple[str, ...]
    failed: tuple[str, ...]
    stake_usd: float
    starts: tuple[Start, ...] = (Start.TIP,)
    assumed_usd: float = 0.0
    left_usd: float | None = None

    @property
    def has_agent_left(self) -> bool:
        """Whether an agent of the ladder has not failed at this work yet."""
        return not set(self.agents) <= set(self.failed)


@dataclass(frozen=True, slots=True)
class Choice:
    """The arm that is taken, beside what the ladder would take, and all that were weighed for `stake_usd`.

    `instead_usd`: what was expected of the other side, where the branch could stay or go back to its best tree.
    """

    arm: Arm
    ladder_rung: int
    ladder_start: Start
    stake_usd: float
    arms: tuple[Arm, ...]
    instead_usd: float | None = None

    @property
    def is_ladder(self) -> bool:
        return (self.arm.rung, self.arm.start) == (self.ladder_rung, self.ladder_start)

    @property
    def in_words(self) -> str:
        """In a sentence, for whoever asks why this one."""
        ladder = "as the ladder" if self.is_ladder else f"the ladder: {place(self.ladder_rung, self.ladder_start)}"
        return f"chosen by worth: {self.arm.in_words} ({ladder})"


def place(rung: int, start: Start) -> str:
    return f"rung {rung} from {WORDS[start]}"


WORDS = {Start.TIP: "the tip", Start.BEST: "the best tree", Start.BEFORE_ONSET: "before the onset"}


def weighed(case: Case, chances: Chances, history: History) -> tuple[Arm, ...]:
    """Every agent of the ladder from every possible start."""
    costs = {agent: history.costs[agent] for agent in case.agents if agent in history.costs}
    worst = Cost(max((cost.usd for cost in costs.values()), default=case.assumed_usd), 0)
    return tuple(
        arm_of(case, chances, history.tries, rung, start, costs.get(agent, worst))
        for rung, agent in enumerate(case.agents)
        for start in STARTS
        if start in case.starts
    )


def arm_of(case: Case, chances: Chances, tries: Iterable[Try], rung: int, start: Start, cost: Cost) -> Arm:
    agent = case.agents[rung]
    stage = stage_of(agent, case.failed, chances.stages)
    alike = [each for each in tries if (each.agent, each.stage) == (agent, stage)]
    here = [each.has_passed for each in alike if each.start is start]
    elsewhere = [each.has_passed for each in alike if each.start is not start]
    prior = chances.of(stage, start)
    chance = posterior(posterior(prior, elsewhere, chances.weight, ELSEWHERE), here, chances.weight)
    is_dear = case.left_usd is not None and cost.usd > case.left_usd
    forbidden = f"it would pass a ceiling, which leaves ${case.left_usd:.2f}" if is_dear else ""
    expected = round(chance * case.stake_usd - cost.usd, DIGITS)
    return Arm(
        rung, start, agent, prior, chance, sum(here), len(here), sum(elsewhere), len(elsewhere), cost.usd,
        cost.sessions, expected, forbidden,
    )  # fmt: skip


def posterior(mean: float, passed: Sequence[bool], weight: float, each: float = 1.0) -> float:
    """The mean of the Beta distribution that a prior with this mean and weight becomes by attempts, which count for so
    much `each`.
    """
    return (weight * mean + each * sum(passed)) / (weight + each * len(passed))


def choose(case: Case, arms: tuple[Arm, ...], rung: int, start: Start) -> Choice:
    """The allowed arm of which most is expected; of equal ones the ladder's (`rung`, `start`), then the cheaper, then
    the lower rung. Where none is allowed, the ladder's: whether there is an attempt at all is not decided here.
    """
    ladder = next(arm for arm in arms if (arm.rung, arm.start) == (rung, start))
    allowed = [arm for arm in arms if not arm.forbidden] or [ladder]
    best = min(
        allowed, key=lambda arm: (-arm.expected_usd, arm is not ladder, arm.cost_usd, arm.rung, STARTS.index(arm.start))
    )
    return Choice(best, rung, start, case.stake_usd, arms)


def expected_of(choices: Iterable[Choice], stake_usd: float) -> float:
    """Of a round in which all of these attempts must pass, and all are paid."""
    chance, cost = 1.0, 0.0
    for choice in choices:
        chance, cost = chance * choice.arm.chance, cost + choice.arm.cost_usd
    return round(chance * stake_usd - cost, DIGITS)
