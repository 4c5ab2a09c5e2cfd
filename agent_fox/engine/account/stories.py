"""The parts of a run's document, as values: requirements with their history, nodes, sessions, decisions, costs.

What is made of them is in `run_document`; nothing is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.engine.account.explanation import Spent


@dataclass(frozen=True, slots=True)
class Reading:
    """One verdict about one requirement.

    `word` counts (PASS, FAIL, UNKNOWN); `said` is what the verifier said, and `note` why the two differ where they do.
    `is_regression`: the word before was PASS and this one is not. `session` is its id, 0 for a reading without one.
    `trials`: what was tried to see its tests fail, as the ledger has it; None where nothing was. `landed` are the
    sessions of its spec whose work landed since the reading before.
    """

    id: int
    at: str
    attempt: int
    reading: int
    word: str
    said: str
    note: str
    evidence: str
    command: str
    disposition: str
    commit: str
    session: int
    how: str
    record: str
    is_current: bool
    is_regression: bool = False
    trials: object = None
    landed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RequirementStory:
    """One requirement: its text, how it stands, how that is known, who owns it, and every reading, oldest first.

    `state` is the list of the account that it is in: proven, waived, failing, unclear, stale, unread, short, elsewhere.
    `changed_since_pass` are the sessions whose work landed after its last PASS, where it is not proven any more.
    """

    spec: str
    id: str
    text: str
    state: str
    how: str
    gate: str
    owners: tuple[str, ...]
    readings: tuple[Reading, ...]
    changed_since_pass: tuple[int, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.state not in ("proven", "waived")


@dataclass(frozen=True, slots=True)
class NodeStory:
    """One node of the plan. `level` counts from 0, one more than the highest of what it waits for.

    `budgets` are what is spent of attempts and readings since the last reset, of a verifier also of the coders that it
    blamed; none where the limits are not known.
    """

    id: str
    spec: str
    archetype: str
    mode: str
    title: str
    status: str
    outcome: str
    attempt: int
    reading: int
    level: int
    because: str
    waits_for: tuple[str, ...]
    budgets: tuple[Spent, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Between two nodes, by their names: `kind` is chain, dependency or gate."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class SessionStory:
    """One session. `slot` is its lane in the timeline; `is_critical`: it is on the longest chain of sessions.

    Times are ISO 8601, UTC; `ended_at` is empty while it runs. `agent` names program and model. `lost` says why
    launches of it were repeated. `log`, `brief` and `diff` are texts; a long one says itself how much is left out.
    `events` is what its tools did, as recorded; `events_left_out` counts earlier ones and those that are no JSON.
    `steps` are the states of its trace in words, the last ones; `broke` says at which of them tests began to fail.
    """

    id: int
    run: int
    node: str
    spec: str
    archetype: str
    attempt: int
    reading: int
    status: str
    end: str
    reason: str
    summary: str
    started_at: str
    ended_at: str
    seconds: float | None
    cost_usd: float | None
    assumed_usd: float
    agent: str
    rung: int
    pinned: str
    base: str
    landed: str
    slot: int
    is_critical: bool
    lost: tuple[str, ...]
    log: str = ""
    events: tuple[Mapping[str, object], ...] = ()
    brief: str = ""
    diff: str = ""
    events_left_out: int = 0
    steps: tuple[str, ...] = ()
    steps_left_out: int = 0
    broke: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitStory:
    """A time in which nothing was launched: of one session between two launches, or of the whole run (`session` 0).

    `kind` is what was broken, or `paused` and `interrupted` of a run. `until` is when the session was to be launched
    again, empty for a run; `ended_at` is empty while it lasts. Times are ISO 8601, UTC.
    """

    id: int
    run: int
    session: int
    node: str
    kind: str
    reason: str
    began_at: str
    until: str
    ended_at: str


@dataclass(frozen=True, slots=True)
class DecisionStory:
    """One decision: its kind is the name in the decision table, `row` its row, `words` what it came to for a person.

    `session` is the one whose end it answers, 0 for none. `blamed` and `moved` are the nodes whose work failed, and
    those that stand otherwise after it.
    """

    id: int
    at: str
    node: str
    kind: str
    row: int | None
    cause: str
    attempt: int
    reading: int
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    blamed: tuple[str, ...]
    words: str
    session: int = 0
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spend:
    """What something has cost over all runs, in US dollars: told by its sessions, and assumed where none was told."""

    name: str
    known_usd: float
    assumed_usd: float
    sessions: int


@dataclass(frozen=True, slots=True)
class CostPoint:
    """What had been spent at one time since the first launch of the run."""

    at: str
    known_usd: float
    assumed_usd: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The money of the run shown: `ceiling_usd` None where there is none; `per_proven_usd` None where nothing is."""

    ceiling_usd: float | None
    per_proven_usd: float | None
    by_archetype: tuple[Spend, ...]
    dearest: tuple[Spend, ...]
    points: tuple[CostPoint, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out of a document for its size: `what` in words, how many of them, how many characters."""

    what: str
    count: int
    characters: int
