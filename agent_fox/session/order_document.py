"""An order and an end as JSON documents, for runners on other hosts: the same values come out that went in.

What must not leave this machine (keys, folders) is taken out by who sends it, not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.trace import Trace
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import LaunchOrder, SessionEnd
from agent_fox.session.result import HIGHEST_COST, MOST_TOKENS

if TYPE_CHECKING:
    import pydantic

    from agent_fox.core.values import Json
else:
    pydantic = late_module("pydantic")


class UnreadableDocument(ValueError):
    """A document that is no order, or no end. Its text says which member was wrong."""


_MOST = {
    "cost_usd": HIGHEST_COST, "input_tokens": MOST_TOKENS, "output_tokens": MOST_TOKENS, "seconds": 1e9,
    "retry_after": 1e9,
}  # fmt: skip
"""Numbers of an end: below zero they would give back what was spent."""

_ORDER = adapter(lambda: pydantic.TypeAdapter(LaunchOrder))
_END = adapter(lambda: end_adapter())


def end_adapter() -> pydantic.TypeAdapter[SessionEnd]:
    """The module of SessionEnd names these two for readers of types only."""
    made = pydantic.TypeAdapter(SessionEnd)
    made.rebuild(_types_namespace={"Trace": Trace, "Infrastructure": Infrastructure})
    return made


def order_document(order: LaunchOrder) -> dict[str, Json]:
    document: dict[str, Json] = _ORDER.dump_python(order, mode="json")
    return document


def read_order(document: Json) -> LaunchOrder:
    """Raises UnreadableDocument."""
    try:
        return _ORDER.validate_python(document)
    except pydantic.ValidationError as error:
        raise UnreadableDocument(first_trouble(error)) from error


def end_document(end: SessionEnd) -> dict[str, Json]:
    document: dict[str, Json] = _END.dump_python(end, mode="json")
    return document


def read_end(document: Json) -> SessionEnd:
    """Raises UnreadableDocument."""
    try:
        end = _END.validate_python(document)
    except pydantic.ValidationError as error:
        raise UnreadableDocument(first_trouble(error)) from error
    for name, most in _MOST.items():
        number = getattr(end, name)
        if number is not None and not 0 <= number <= most:
            raise UnreadableDocument(f"{name}: {number} is not from 0 to {most:g}")
    return end


def first_trouble(error: pydantic.ValidationError) -> str:
    trouble = error.errors()[0]
    return f"{'.'.join(map(str, trouble['loc']))}: {trouble['msg']}"
