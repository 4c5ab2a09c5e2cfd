"""What a lane gets and what it says, as values. Runs nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.core.formal.specification import SpecKind  # noqa: TC001 - pydantic reads it
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import Specification
    from agent_fox.verifier.ground.order import CheckOrder

MOST_TOLD = 1500
"""Characters of a counterexample, or of a reason."""


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What one specification's check came to, in one version.

    is_proof: it holds for every input, by a prover's own word. why: what kept it from being decided, or what is wrong.
    limitation: what even a PASS does not show. environment: the tools and bounds that it was decided with.
    """

    address: str
    version: str
    kind: SpecKind
    status: Word
    is_proof: bool = False
    counterexample: str = ""
    command: str = ""
    log_ref: str = ""
    limitation: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceFile:
    """Where the recorded events of one session are. `name` is the session's: `04_gateway:2@1.1`."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class LaneContext:
    """Where lanes run: the workspace and the bounds of `order`, with the traces of the coders' last sessions.

    A `stop` that is set ends what runs; what is not decided by then is UNKNOWN.
    """

    order: CheckOrder
    traces: tuple[TraceFile, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)


def result_of(specification: Specification, status: Word, why: str = "") -> LaneResult:
    """A result to be filled in."""
    return LaneResult(
        specification.address,
        specification.version,
        specification.kind,
        status,
        why=why[:MOST_TOLD],
        requirements=specification.requirements,
    )


def again(specification: Specification) -> str:
    """How a person, or an agent in its workspace, sees it again, where the lane's own command needs files of ours."""
    return f"agent-fox library check {specification.address}"


def unknown(specification: Specification, why: str) -> LaneResult:
    return result_of(specification, Word.UNKNOWN, why)


def passed(specification: Specification) -> LaneResult:
    return result_of(specification, Word.PASS)


def failed(specification: Specification, counterexample: str, why: str = "") -> LaneResult:
    return replace(result_of(specification, Word.FAIL, why), counterexample=counterexample[:MOST_TOLD])
