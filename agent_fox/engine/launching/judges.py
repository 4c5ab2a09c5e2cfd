"""One launch, one agent or several in turn: the orders they get, and one end made of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from agent_fox.core.values import dataclass
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.session.built_in.registry import OUR_OWN
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.runners import Runner, attended
from agent_fox.session.session_lifecycle import known_cost

N = TypeVar("N", int, float)

NO_RESULT = frozenset({EndKind.INTERRUPTED, EndKind.CEILING, EndKind.INFRASTRUCTURE})


@dataclass(frozen=True, slots=True)
class Panel:
    """The orders of one launch: one for each agent that is asked, in their order."""

    orders: tuple[LaunchOrder, ...]

    @property
    def first(self) -> LaunchOrder:
        return self.orders[0]

    def with_money(self, left_usd: float | None) -> Panel:
        """The same, with what the run has left for it: its agents are ended where they have spent that."""
        return Panel(tuple(replace(order, left_usd=left_usd) for order in self.orders))


@dataclass(frozen=True, slots=True)
class PanelEnd:
    """What came of a launch: one end for the books, and what each judge said."""

    end: SessionEnd
    judges: tuple[Judge, ...]


def panel_of(order: LaunchOrder, backends: Sequence[str]) -> Panel:
    """One agent gets the order itself; several get one each, in a folder and under a name of their own."""
    if len(backends) == 1:
        return Panel((asked(order, backends[0]),))
    return Panel(
        tuple(
            replace(
                asked(order, name),
                launch=f"{order.launch}-{number}",
                state=order.state / f"judge-{number}",
                log=order.log.with_suffix(f".{name}.log"),
            )
            for number, name in enumerate(backends, 1)
        )
    )


def asked(order: LaunchOrder, backend: str) -> LaunchOrder:
    return replace(order, agent=replace(order.agent, backend=backend))


def attend(panel: Panel, stop: StopSignal, runner: Runner) -> PanelEnd:
    """Have the agents run one after the other; blocks. After an end that is no result the others are not asked.

    Raises Unreachable.
    """
    ends: list[SessionEnd] = []
    for order in panel.orders:
        ends.append(attended(runner, order, stop))
        if ends[-1].kind in NO_RESULT:
            break
    return together(panel, ends)


def harvest_all(panel: Panel, runner: Runner) -> PanelEnd | None:
    """The end of a launch that another orchestrator started, None unless all its agents ended. What of it runs with no
    orchestrator is ended first.
    """
    jobs = [job for order in panel.orders if (job := runner.found(order)) is not None]
    return together(panel, [runner.collect(job) for job in jobs]) if len(jobs) == len(panel.orders) else None


def lost_end(panel: Panel) -> SessionEnd:
    """What a launch that never ended has cost until it was lost, as far as its agents' runners wrote it down."""
    spent = [known_cost(order) for order in panel.orders]
    known = [cost for cost in spent if cost is not None]
    return SessionEnd(
        EndKind.INTERRUPTED, "lost with the orchestrator", panel.first.log, cost_usd=sum(known) if known else None
    )


def clean_up_all(panel: Panel, runner: Runner) -> None:
    for order in panel.orders:
        runner.clean_up(order)


def together(panel: Panel, ends: Sequence[SessionEnd]) -> PanelEnd:
    judges = tuple(judge_of(order, end) for order, end in zip(panel.orders, ends, strict=False))
    if len(ends) == 1:
        return PanelEnd(ends[0], judges)
    return PanelEnd(one_end(ends, [order.assumed_usd for order in panel.orders]), judges)


def judge_of(order: LaunchOrder, end: SessionEnd) -> Judge:
    name = order.agent.backend
    failure = "" if end.kind is EndKind.ENDED else f"{end.kind}: {end.reason}"
    return Judge(name, end.output, failure, is_trusted=name in OUR_OWN)


def one_end(ends: Sequence[SessionEnd], assumed: Sequence[float]) -> SessionEnd:
    """No result if any agent gave none; ended if any ended, since its verdict stands; costs and times add up."""
    worst = next((end for end in ends if end.kind in NO_RESULT), None)
    main = worst or next((end for end in ends if end.kind is EndKind.ENDED), ends[0])
    return replace(
        main,
        cost_usd=cost_of([end.cost_usd for end in ends], assumed),
        input_tokens=total([end.input_tokens for end in ends]),
        output_tokens=total([end.output_tokens for end in ends]),
        seconds=sum(end.seconds for end in ends),
        agents=tuple(agent for end in ends for agent in end.agents),
        summary="; ".join(end.summary for end in ends if end.summary),
        output="",
    )


def cost_of(costs: Sequence[float | None], assumed: Sequence[float]) -> float | None:
    """The sum, with what is assumed for an agent in place of a cost that is unknown; None where all are."""
    if all(cost is None for cost in costs):
        return None
    return sum(guess if cost is None else cost for cost, guess in zip(costs, assumed, strict=False))


def total(numbers: Sequence[N | None]) -> N | None:
    """The sum, None where one is unknown: an unknown cost is never taken for nothing."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(numbers) else None
