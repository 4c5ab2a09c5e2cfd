"""All lanes of one verification, one specification after the other. Judges nothing but the specifications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from agent_fox.core.formal.specification import (
    Checklist,
    ChosenTests,
    FunctionContract,
    PropertyTests,
    Specification,
    TheoremStatement,
    TraceFormula,
)
from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.lanes.chosen_tests import run_properties, run_tests
from agent_fox.verifier.lanes.contracts import prove_contract
from agent_fox.verifier.lanes.formal import prove_theorem
from agent_fox.verifier.lanes.ground import Bench
from agent_fox.verifier.lanes.results import LaneContext, LaneResult, unknown
from agent_fox.verifier.lanes.traces import check_traces
from agent_fox.verifier.running.commands import Ground


def run_lanes(objects: Sequence[Specification], context: LaneContext) -> tuple[LaneResult, ...]:
    """One result for each specification that has a lane, in their order; blocks.

    Never raises for what the code under check does. What a `stop` left undecided is UNKNOWN.
    """
    with own_folder("lanes") as private:
        workspace = Path(context.order.workspace)
        bench = Bench(context, Ground(context.order, workspace, Path(private)))
        with_lane = [specification for specification in objects if specification.has_lane]
        return tuple(run_lane(specification, bench, f"{number}") for number, specification in enumerate(with_lane))


def run_lane(specification: Specification, bench: Bench, name: str) -> LaneResult:
    if bench.context.stop.is_set():
        return unknown(specification, "stopped before it was checked")
    if specification.doubt:
        return unknown(specification, specification.doubt)
    if not bench.workspace.is_dir():
        return unknown(specification, f"the workspace {bench.workspace} is not there")
    name = f"lane-{name}"
    match specification.check:
        case ChosenTests() as check:
            return run_tests(specification, check, bench, name)
        case PropertyTests() as check:
            return run_properties(specification, check, bench, name)
        case TraceFormula() as check:
            return check_traces(specification, check, bench.context)
        case FunctionContract() as check:
            return prove_contract(specification, check, bench, name)
        case TheoremStatement() as check:
            return prove_theorem(specification, check, bench, name)
        case Checklist() | None:
            return unknown(specification, "no program can check it")
        case check:
            assert_never(check)
