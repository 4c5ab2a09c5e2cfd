"""The order for the judge `memory` and its results for each item, as JSON between two processes. Runs nothing."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.json_text import json_object
from agent_fox.core.late import adapter, late_module
from agent_fox.core.memory import ReadItem
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import RunTest  # noqa: TC001 - pydantic reads it
from agent_fox.verifier.ground.order import CheckOrder

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = late_module("pydantic")

KEY = "memory"
"""Where the order's document keeps what is to be read, and the answer what came of it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One item that is to be read. `first_error`: of the failure that it remembers; `words`: what is
    remembered, in words for the coder; `is_regression`: it worked before; `is_touched`: the change overlaps its
    files."""

    id: str
    requirement: str
    test: RunTest
    first_error: str = ""
    words: str = ""
    is_regression: bool = True
    is_touched: bool = False


@dataclass(frozen=True, slots=True)
class MemoryOrder:
    """What is read, and where. `seconds`: for all of it; what does not fit is not read, and told. `left_out`: how many
    items are not asked for, since there are too many."""

    items: tuple[Asked, ...] = ()
    order: CheckOrder = field(default_factory=lambda: CheckOrder({}))
    seconds: float = 60.0
    left_out: int = 0


ORDER: pydantic.TypeAdapter[MemoryOrder] = adapter(lambda: pydantic.TypeAdapter(MemoryOrder))
READ: pydantic.TypeAdapter[tuple[ReadItem, ...]] = adapter(lambda: pydantic.TypeAdapter(tuple[ReadItem, ...]))


def read_in(output: str) -> tuple[ReadItem, ...]:
    """What the judge's answer says of each item; empty where it is incomplete."""
    try:
        return READ.validate_python((json_object(output) or {}).get(KEY))
    except ValueError:
        return ()
