"""The limits and switches that deciding needs, as plain values. Reading settings is not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from agent_fox.core.ledger.gates import Gate
from agent_fox.core.values import dataclass

EVERY_SPEC = ""


class Switch(StrEnum):
    """When a coder that is sent back gives way to the next rung (`[retry] switch`).

    SECOND: at its first Recode already, where that rung is another agent; else, and after that, as REPEAT: where the
    last round did not help.
    """

    SECOND = "second"
    REPEAT = "repeat"


class Start(StrEnum):
    """Where a coder that is sent back starts (`[retry] start`): the branch as the last attempt left it, the best tree
    that was read, or the files just before the edit by which a requirement broke.
    """

    TIP = "tip"
    BEST = "best"
    BEFORE_ONSET = "before-onset"


@dataclass(frozen=True, slots=True)
class Policy:
    """Defaults as in SEMANTICS: attempts and readings are totals, the first one included.

    `top_rungs` says how many stronger rungs the coders of a spec have, where it differs from `top_rung`;
    `second_agents` whether the first of these is another agent, by backend or model, unlike `second_agent`;
    `reading_rungs` the same for verifiers and reviewers, by (archetype, spec), where they have any. `required_state` is
    the gate that every requirement must have come to. `candidates`: tries of an attempt of one group that a FAIL sends
    back.
    """

    attempts: int = 3
    readings: int = 2
    review_attempts: int = 2
    stop_without_progress: bool = True
    keep_best: bool = True
    start: Start = Start.BEST
    candidates: int = 1
    goes_on_after_escalation: bool = False
    required_state: Gate = Gate.TESTED
    top_rung: int = 0
    top_rungs: Mapping[str, int] = field(default_factory=dict)
    switch: Switch = Switch.SECOND
    second_agent: bool = False
    second_agents: Mapping[str, bool] = field(default_factory=dict)

    reading_rungs: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def next_reading_rung(self, archetype: str, spec_name: str, rung: int) -> int:
        """Who could not speak clearly is followed by the next stronger one, as long as there is one."""
        every = self.reading_rungs.get((archetype, EVERY_SPEC), 0)
        return min(rung + 1, max(rung, self.reading_rungs.get((archetype, spec_name), every)))

    def top_rung_of(self, spec_name: str) -> int:
        return self.top_rungs.get(spec_name, self.top_rung)

    def has_second_agent(self, spec_name: str) -> bool:
        return self.second_agents.get(spec_name, self.second_agent)
