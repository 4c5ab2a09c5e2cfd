"""Recorded verifier outputs through the same reader, judge and decision table, without running anything.

One line in is one spec's stream of outputs; one line out is what would have been decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agent_fox.core.ids import Ticket
from agent_fox.core.late import late_module
from agent_fox.core.retry.decision import (
    Accept,
    Awaited,
    Block,
    Budget,
    Decision,
    Facts,
    Ignore,
    Recode,
    Suspect,
    decide,
)
from agent_fox.core.retry.progress import Progress, Round, compare, failure_of
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.judgement import Judged, PastReading, judge
from agent_fox.engine.planning.from_settings import by_worth_of, policy_of

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.core.policy import Policy
    from agent_fox.core.retry import arms
    from agent_fox.core.retry.arms import Arm, ByWorth, Case
    from agent_fox.core.verdicts.verdict import Report
else:
    arms = late_module("agent_fox.core.retry.arms")

CODER = "coder"
VERIFIER = "verifier"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be replayed: which one, and why. The others are replayed all the same."""

    what: str


class RecordedOutput(BaseModel, defer_build=True):
    """What a verifier said at one attempt; several readings of an attempt repeat its number."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    attempt: int = Field(ge=1, strict=True)
    verifier_output: JsonValue = ""


class Stream(BaseModel, defer_build=True):
    """One line of the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    spec_name: str
    expected: list[str]
    attempts: list[RecordedOutput]


class ReplayedDecision(BaseModel, defer_build=True):
    """One decision, with the ids it was made about. `rung`: the one that the coder works at next."""

    attempt: int
    reading: int
    decision: str
    cause: str | None = None
    failing: list[str] = []
    unknown: list[str] = []
    rung: int = 0


class Replayed(BaseModel, defer_build=True):
    """One line out. `end` is verified, escalated or incomplete."""

    spec_name: str
    decisions: list[ReplayedDecision]
    end: str
    attempts_used: int
    readings_used: int


def read_streams(lines: Iterable[str], where: str) -> Iterator[Stream | BadLine]:
    """Parse JSON lines; empty ones and a byte order mark are passed over. A bad line names file and line."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff").strip()
        if text:
            yield read_stream(text, f"{where}:{number}")


def read_stream(text: str, where: str) -> Stream | BadLine:
    try:
        # Half of a surrogate pair may stand in JSON as an escape, but in no text that can be stored or printed.
        whole = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
        return Stream.model_validate_json(whole)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        return BadLine(f"{where}: {place}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return BadLine(f"{where}: not a JSON object: {error}")


@dataclass(slots=True)
class Replay:
    """The state of one stream: one coder, one verifier, a new tree at each attempt."""

    stream: Stream
    policy: Policy
    retries_coders: bool = True
    by_worth: ByWorth | None = None
    attempt: int = 1
    reading: int = 1
    is_open: bool = True
    end: str = "incomplete"
    attempts_used: int = 0
    readings_used: int = 0
    rung: int = 0
    failed: list[str] = field(default_factory=list)
    past: dict[str, tuple[PastReading, ...]] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)

    def hear(self, recorded: RecordedOutput) -> ReplayedDecision:
        self.seen[recorded.attempt] = self.seen.get(recorded.attempt, 0) + 1
        if not self.is_open or recorded.attempt != self.attempt:
            reading = self.seen[recorded.attempt]
            return ReplayedDecision(attempt=recorded.attempt, reading=reading, decision="Ignore")
        self.readings_used += 1
        self.attempts_used = self.attempt
        judged = self.judge(read_output(recorded.verifier_output, index_of(self.stream.expected)))
        decision, round_ = self.decide(judged)
        replayed = self.replayed(judged, decision)
        self.follow(decision, round_, judged)
        return replayed

    def judge(self, report: Report) -> Judged:
        return judge(report, tuple(dict.fromkeys(self.stream.expected)), past=self.past, attempt=self.attempt)

    def decide(self, judged: Judged) -> tuple[Decision, Round]:
        failures = frozenset(failure_of(judged.counted[part].verdict) for part in judged.failing)
        round_ = Round(failures, frozenset({CODER}))
        ticket = Ticket(VERIFIER, self.attempt, self.reading)
        facts = Facts(
            ticket, None, (self.suspect,), compare(round_, self.rounds) if failures else Progress.FIRST,
            self.policy.stop_without_progress, switch=self.policy.switch, arms=self.arms(len(judged.failing)),
        )  # fmt: skip
        budget = Budget(self.policy.readings, self.reading)
        return decide(judged, Awaited(ticket, None), budget, facts), round_

    def arms(self, failing: int) -> dict[str, tuple[Case, tuple[Arm, ...]]]:
        """What could be tried next, by the numbers that ship: a stream holds no history of other work."""
        if self.by_worth is None:
            return {}
        name, agents = self.stream.spec_name, self.by_worth.agents_of(self.stream.spec_name)
        failed = (*self.failed, agents[self.rung])
        case = arms.Case(agents, failed, failing * self.by_worth.worth_usd, assumed_usd=self.by_worth.assumed_of(name))
        return {CODER: (case, arms.weighed(case, self.by_worth.chances, arms.History()))}

    @property
    def suspect(self) -> Suspect:
        name, policy = self.stream.spec_name, self.policy
        return Suspect(
            CODER, policy.attempts, self.attempt, self.retries_coders, self.rung, policy.top_rung_of(name),
            policy.has_second_agent(name),
        )  # fmt: skip

    def replayed(self, judged: Judged, decision: Decision) -> ReplayedDecision:
        return ReplayedDecision(
            attempt=self.attempt,
            reading=self.reading,
            decision=type(decision).__name__,
            cause=decision.cause.value if isinstance(decision, Block) else None,
            failing=list(judged.failing),
            unknown=list(judged.unknown),
            rung=decision.rungs[CODER] if isinstance(decision, Recode) else self.rung,
        )

    def follow(self, decision: Decision, round_: Round, judged: Judged) -> None:
        match decision:
            case Accept():
                self.is_open, self.end = False, "verified"
            case Block():
                self.is_open, self.end = False, "escalated"
            case Recode():
                self.rounds.append(round_)
                if self.by_worth is not None:
                    self.failed.append(self.by_worth.agents_of(self.stream.spec_name)[self.rung])
                self.rung = decision.rungs[CODER]
                self.attempt, self.reading, self.past = self.attempt + 1, 1, {}
            case Ignore():
                pass
            case _:
                self.remember(judged)
                self.reading += 1

    def remember(self, judged: Judged) -> None:
        for part, counted in judged.counted.items():
            reading = PastReading(counted.read, self.attempt, self.reading)
            self.past[part] = (*self.past.get(part, ()), reading)


def read_output(output: object, index: dict[str, tuple[str, ...]]) -> Report:
    """A recorded output as a report: text as the verifier printed it, or the JSON value itself."""
    return read_report(output if isinstance(output, str) else json.dumps(output), index)


def index_of(expected: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Requirement id → expected ids under it, worked out from the ids: `01-REQ-1.E2` belongs to `01-REQ-1`."""
    ids = list(dict.fromkeys(expected))
    index: dict[str, tuple[str, ...]] = {}
    for part in ids:
        parent = part.rpartition(".")[0]
        key = parent if parent and parent not in ids else part
        index[key] = index.get(key, ()) if key == part else (*index.get(key, ()), part)
    return index


def replay(stream: Stream, settings: Settings) -> Replayed:
    """What would have been decided about one stream under these settings' limits and rungs. Pure."""
    state = Replay(stream, policy_of(settings), settings.retries_coders, by_worth_of(settings))
    decisions = [state.hear(recorded) for recorded in stream.attempts]
    return Replayed(
        spec_name=stream.spec_name,
        decisions=decisions,
        end=state.end,
        attempts_used=state.attempts_used,
        readings_used=state.readings_used,
    )
