"""The order for the judge `library` and its results for each lane, as JSON between two processes. Runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.formal.specification import Specification  # noqa: TC001 - pydantic reads it
from agent_fox.core.json_text import json_object
from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.order import CheckOrder  # noqa: TC001 - pydantic reads it
from agent_fox.verifier.lanes.results import LaneResult, TraceFile

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = late_module("pydantic")


@dataclass(frozen=True, slots=True)
class LibraryOrder:
    """What is to be checked, where, and for which requirements of which spec (`order.expected`)."""

    spec_name: str
    objects: tuple[Specification, ...]
    order: CheckOrder
    traces: tuple[TraceFile, ...] = ()


ORDER: pydantic.TypeAdapter[LibraryOrder] = adapter(lambda: pydantic.TypeAdapter(LibraryOrder))
RESULTS: pydantic.TypeAdapter[tuple[LaneResult, ...]] = adapter(lambda: pydantic.TypeAdapter(tuple[LaneResult, ...]))


def lanes_in(output: str) -> tuple[LaneResult, ...]:
    """The results of the lanes in the judge's answer; empty where it is incomplete."""
    try:
        return RESULTS.validate_python((json_object(output) or {}).get("lanes"))
    except ValueError:
        return ()
