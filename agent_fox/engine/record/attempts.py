"""What coders' attempts after a FAIL came to, by what is recorded, and what is known of those that could be next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from agent_fox.core.policy import Start
from agent_fox.core.retry.arms import Arm, Case, Cost, History, Try, stage_of, weighed
from agent_fox.core.retry.decision import Cause
from agent_fox.core.retry.standing import Step
from agent_fox.engine.record.best_tree import FACT, undone_by
from agent_fox.engine.record.convergence import WINDOW_STARTS
from agent_fox.store import sessions
from agent_fox.store.records import decisions_of_spec, specs_sent_back

if TYPE_CHECKING:
    from agent_fox.core.retry.arms import ByWorth
    from agent_fox.engine.record.docket import Docket
    from agent_fox.store.records import DecisionRow
    from agent_fox.store.sessions import Worked

CHOICES = "arms"
"""Under this name a decision's facts hold, by coder, the arm that was chosen and all that were weighed."""

NO_VERDICTS = frozenset({Cause.NEEDS_PERSON, Cause.SPEC_FAULT, Cause.NOTHING_TO_PROVE, Cause.NO_CLEAR_VERDICT})
"""Causes of a stop that say nothing about whoever worked."""


@dataclass(slots=True)
class Open:
    """An attempt that was decided and not read yet. `wanted`: the requirements for which the coder was sent back."""

    after: int
    start: Start
    failed: tuple[str, ...]
    wanted: frozenset[str]
    is_unchanged: bool = False


@dataclass
class Fold:
    """The attempts of one spec, decision by decision.

    Counted is what was read: an attempt passed where nothing fails any more of what it was to repair. Not counted are
    attempts that nobody read, that a reset or another text cut short, whose requirements were waived, and those that
    passed although nothing had changed. `failed` names, by coder, who made the attempts that failed since the last
    proof.
    """

    worked: Mapping[str, Sequence[Worked]]
    stages: int
    verifiers: frozenset[str] = frozenset()
    failed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    open: dict[str, Open] = field(default_factory=dict)

    def tries(self, past: Sequence[DecisionRow]) -> Iterator[Try]:
        self.verifiers = frozenset(decision.node_uid for decision in past if "judgement" in decision.facts)
        for decision in past:
            self.cut_short(decision)
            if "judgement" in decision.facts:
                yield from self.read(decision)

    def cut_short(self, decision: DecisionRow) -> None:
        for step in decision.steps:
            if step["step"] in WINDOW_STARTS:
                self.forget(step["uid"], is_whole=step["uid"] in self.verifiers)
            elif step["uid"] in self.open and decision.kind == "Land":
                self.open[step["uid"]].is_unchanged = step["step"] == Step.LAND_UNCHANGED

    def forget(self, uid: str, *, is_whole: bool) -> None:
        for each in (*self.open, *self.failed) if is_whole else (uid,):
            self.open.pop(each, None)
            self.failed.pop(each, None)

    def read(self, decision: DecisionRow) -> Iterator[Try]:
        if decision.kind not in ("Accept", "Recode", "Block"):
            return
        if decision.cause not in NO_VERDICTS:
            failing, waived = failing_in(decision), strings(decision.facts.get("waived"))
            for uid, each in self.open.items():
                yield from self.judged(decision, uid, each, failing, waived)
        self.open.clear()
        if decision.kind == "Accept":
            self.failed.clear()
            return
        for uid in strings(decision.facts.get("blamed")):
            self.failed[uid] += self.by(decision, uid, 0)
        if decision.kind == "Recode":
            for uid in strings(decision.facts.get("blamed")):
                wanted = frozenset(strings(decision.facts.get("failing")))
                self.open[uid] = Open(
                    decision.session_id or 0, start_in(decision, uid), tuple(self.failed[uid]), wanted
                )

    def judged(
        self, decision: DecisionRow, uid: str, each: Open, failing: Collection[str], waived: Collection[str]
    ) -> Iterator[Try]:
        has_passed = each.wanted.isdisjoint(failing)
        is_counted = each.wanted.isdisjoint(waived) and not (has_passed and each.is_unchanged)
        for agent in self.by(decision, uid, each.after) if is_counted else ():
            yield Try(agent, each.start, stage_of(agent, each.failed, self.stages), has_passed)

    def by(self, decision: DecisionRow, uid: str, after: int) -> list[str]:
        """Who made a coder's last attempt before a reading, as a list of one; empty where no session of it ended."""
        until = decision.session_id or 0
        made = [each.agent for each in self.worked.get(uid, ()) if after < each.id < until and each.end_kind == "ended"]
        return made[-1:]


def failing_in(decision: DecisionRow) -> frozenset[str]:
    """What failed on the tree that was read, also where the branch went back to another."""
    best = decision.facts.get(FACT)
    return frozenset(strings(best.get("failing") if isinstance(best, dict) else decision.facts.get("failing")))


def start_in(decision: DecisionRow, uid: str) -> Start:
    """Where the attempt after a decision started."""
    chosen = chosen_in(decision.facts, uid)
    return chosen if chosen is not None else Start.BEST if undone_by(decision) else Start.TIP


def chosen_in(facts: Mapping[str, object], uid: str) -> Start | None:
    """The start that was chosen for a coder by worth, with a decision; None where none was."""
    choices = facts.get(CHOICES)
    choice = choices.get(uid) if isinstance(choices, dict) else None
    return Start(choice["arm"]["start"]) if isinstance(choice, dict) else None


def strings(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, (list, tuple)) else ()


def history_of(tx: Docket, by_worth: ByWorth, worked: Sequence[Worked]) -> tuple[History, dict[str, list[str]]]:
    """Of all specs; and by coder who made the attempts that failed since its spec was last proven."""
    by_node: dict[str, list[Worked]] = defaultdict(list)
    paid: dict[str, list[float]] = defaultdict(list)
    for each in worked:
        by_node[each.uid].append(each)
        if each.cost_usd is not None:
            paid[each.agent].append(each.cost_usd)
    tries, failed = list[Try](), dict[str, list[str]]()
    for name in specs_sent_back(tx.db):
        fold = Fold(by_node, by_worth.chances.stages)
        tries += fold.tries(decisions_of_spec(tx.db, name))
        failed |= fold.failed
    costs = {agent: Cost(fmean(each), len(each)) for agent, each in paid.items()}
    return History(tuple(tries), costs), failed


def cases_of(
    tx: Docket, by_worth: ByWorth, spec_name: str, starts: Mapping[str, tuple[Start, ...]], failing: int
) -> dict[str, tuple[Case, tuple[Arm, ...]]]:
    """What each coder could try next, by its possible `starts`, weighed. `failing` requirements are at stake. The
    attempts that were just read, and failed, are the last sessions of these coders.
    """
    worked = sessions.coder_work(tx.db) if starts else []
    history, failed = history_of(tx, by_worth, worked) if starts else (History(), {})
    last = {each.uid: each.agent for each in worked if each.end_kind == "ended"}
    cases: dict[str, tuple[Case, tuple[Arm, ...]]] = {}
    for uid, possible in starts.items():
        case = Case(
            agents=by_worth.agents_of(spec_name),
            failed=(*failed.get(uid, ()), *([last[uid]] if uid in last else [])),
            stake_usd=failing * by_worth.worth_usd,
            starts=possible,
            assumed_usd=by_worth.assumed_of(spec_name),
            left_usd=tx.left_usd(spec_name, uid),
        )
        cases[uid] = case, weighed(case, by_worth.chances, history)
    return cases
