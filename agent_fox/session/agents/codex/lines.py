"""The shapes of codex's lines, as far as they are read. What is not named here is not looked at."""

from __future__ import annotations

from pydantic import JsonValue

from agent_fox.session.agents.events import Tokens
from agent_fox.session.agents.shapes import Count, Shape


class Usage(Shape):
    """Tokens of the whole thread so far. What was read from a cache or written to one is part of the input."""

    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0


class Item(Shape):
    """One thing that happened in a turn; `type` says which of the fields there are."""

    id: str = ""
    type: str = ""
    text: str = ""
    command: str = ""
    aggregated_output: str = ""
    status: str = ""
    server: str = ""
    tool: str = ""
    arguments: JsonValue = None


class Error(Shape):
    message: str = ""


class Line(Shape):
    """One event of codex's own output."""

    type: str
    thread_id: str = ""
    message: str = ""
    item: Item = Item()
    usage: Usage | None = None
    error: Error = Error()


def tokens(total: int, cached: int, written: int, output: int) -> Tokens:
    """Counts as OpenAI has them, the cached ones inside of the input, as ours, which have them apart."""
    return Tokens(max(0, total - cached - written), output, cached, written)
