"""What an agent tells of its work by `session/update`, as events. All of it is its own word: a call that was never
begun may be told as done, or twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from acp import schema

from agent_fox.session.agents import events
from agent_fox.session.agents.acp.permissions import tool_of
from agent_fox.session.agents.command_line import shown
from agent_fox.session.agents.runner.scanning import PLACES

LONGEST_ANSWER = 1024 * 1024
"""Characters of one message that are kept, of its end: a verdict stands there."""

MOST_CALLS = 20_000
ENDED = frozenset({"completed", "failed"})
DOLLARS = "USD"


@dataclass(slots=True)
class Call:
    """A call of a tool, as far as it has been told. `is_told`: its event has been given. `was_done_anyway`: it was
    refused, and the agent says that it is done.
    """

    tool: str = "other"
    titles: list[str] = field(default_factory=list)
    raw: Mapping[str, object] = field(default_factory=dict)
    places: Sequence[str] = ()
    output: str = ""
    refusal: str = ""
    is_told: bool = False
    was_done_anyway: bool = False
    has_ended: bool = False

    @property
    def arguments(self) -> Mapping[str, object]:
        """As the agent gave them; with the file that it names beside them, where they name none."""
        if self.places and not any(name in self.raw for name in PLACES):
            return {**self.raw, "path": self.places[0]}
        return self.raw or ({"title": self.titles[-1]} if self.titles else {})


class Updates:
    """Reads the updates of one session. `cost_usd` is what the agent says that it has cost, None where it does not."""

    KNOWN = frozenset({"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "usage_update"})
    """The kinds that mean anything to us; others are signs of life."""

    def __init__(self, offered: Iterable[str]) -> None:
        self._offered = tuple(offered)
        self._calls: dict[str, Call] = {}
        self._message: list[str] = []
        self._messages: list[str] = []
        self._length = self._left_out = 0
        self._message_id: str | None = None
        self._is_in_turn = False
        self.cost_usd: float | None = None

    def begin(self) -> None:
        """A prompt is sent: what was said before is no answer to it."""
        self._is_in_turn = False
        self.forget()

    def forget(self) -> None:
        self._message, self._messages, self._length, self._left_out = [], [], 0, 0

    @property
    def is_too_much(self) -> bool:
        return len(self._calls) > MOST_CALLS

    def take(self, update: object) -> Iterator[events.Event]:
        match update:
            case schema.AgentMessageChunk(content=content, message_id=message):
                yield from self.turn()
                if message != self._message_id:
                    yield from self.flush()
                    self._message_id = message
                self.keep(content.text if isinstance(content, schema.TextContentBlock) else "")
                yield events.Beat()
            case schema.AgentThoughtChunk():
                yield from self.turn()
                yield events.Beat()
            case schema.ToolCallStart() | schema.ToolCallProgress():
                yield from self.turn()
                yield from self.flush()
                yield from self.progress(update)
            case schema.UsageUpdate(cost=schema.Cost(amount=amount, currency=currency)) if currency == DOLLARS:
                self.cost_usd = amount
                yield events.Cost(amount)
            case _:
                yield events.Beat()

    def flush(self) -> Iterator[events.Event]:
        """The message that came in pieces, whole."""
        text = "".join(self._message)
        if text.strip():
            self._messages = [self.cut("\n".join([*self._messages, text]))]
            yield events.Spoke(text)
        self._message, self._length = [], 0

    @property
    def answer(self) -> str:
        """All that was said since the last call of a tool: agents add remarks of their own behind a model's answer."""
        head = f"… {self._left_out} characters are left out\n" if self._left_out else ""
        return head + "".join(self._messages)

    def cut(self, text: str) -> str:
        """The end of a text, where it is too long; what is left out is counted."""
        self._left_out += max(0, len(text) - LONGEST_ANSWER)
        return text[-LONGEST_ANSWER:]

    def call_of(self, call: schema.ToolCallUpdate) -> Call:
        return self._calls.get(call.tool_call_id) or Call()

    def asked_for(self, call: schema.ToolCallUpdate) -> Iterator[events.Event]:
        """A call that permission is asked for; an agent need not have told of it before."""
        yield from self.turn()
        yield from self.flush()
        yield from self.tell(call.tool_call_id, self.known(call))

    def refused(self, call_id: str, why: str) -> Iterator[events.Event]:
        call = self._calls[call_id]
        call.refusal = why
        if not call.has_ended:
            call.has_ended = True
            yield events.Answered(call_id, f"refused: {why}", is_error=True, is_refused=True)

    def turn(self) -> Iterator[events.Event]:
        """The first word after a tool's end, or after the prompt, shows that the model was asked once more."""
        if not self._is_in_turn:
            self._is_in_turn = True
            yield events.Turn()

    def keep(self, text: str) -> None:
        """Twice as much as is shown is held at most: of a message without end the beginning is dropped."""
        self._message.append(text)
        self._length += len(text)
        if self._length > 2 * LONGEST_ANSWER:
            self._message = [self.cut("".join(self._message))]
            self._length = LONGEST_ANSWER

    def known(self, update: schema.ToolCallStart | schema.ToolCallProgress | schema.ToolCallUpdate) -> Call:
        """The call with what the update adds to it."""
        if update.tool_call_id not in self._calls:
            self.forget()
        call = self._calls.setdefault(update.tool_call_id, Call())
        if update.title and update.title not in call.titles:
            call.titles = [*call.titles, update.title][-4:]
        if isinstance(update.raw_input, Mapping) and update.raw_input:
            call.raw = update.raw_input
        call.places = [place.path for place in update.locations or ()] or call.places
        named = (*call.titles, *(name for key in ("tool", "name") if isinstance(name := call.raw.get(key), str)))
        kind = update.kind or (call.tool if not call.tool.startswith("mcp__") else None)
        call.tool = tool_of(kind, named, self._offered)
        call.output = _text(update) or call.output
        return call

    def progress(self, update: schema.ToolCallStart | schema.ToolCallProgress) -> Iterator[events.Event]:
        call = self.known(update)
        if call.has_ended:
            if call.refusal and update.status == "completed" and not call.was_done_anyway:
                call.was_done_anyway = True
                yield events.Called(f"{call.tool}, though it was refused", call.arguments, update.tool_call_id)
                yield events.Answered(update.tool_call_id, shown(call.output))
            yield events.Beat()
            return
        if update.status not in (None, "pending"):
            yield from self.tell(update.tool_call_id, call)
        if update.status in ENDED:
            call.has_ended, self._is_in_turn = True, False
            is_failed = update.status == "failed"
            yield events.Answered(update.tool_call_id, shown(call.output), is_failed, is_failed and bool(call.refusal))
        yield events.Beat()

    def tell(self, call_id: str, call: Call) -> Iterator[events.Event]:
        if not call.is_told:
            call.is_told = True
            yield events.Called(call.tool, call.arguments, call_id)


def _text(update: schema.ToolCallStart | schema.ToolCallProgress | schema.ToolCallUpdate) -> str:
    """What a call has come to, in words."""
    parts = []
    for item in update.content or ():
        if isinstance(item, schema.ContentToolCallContent) and isinstance(item.content, schema.TextContentBlock):
            parts.append(item.content.text)
        elif isinstance(item, schema.FileEditToolCallContent):
            parts.append(f"changed {item.path}")
    return "\n".join(parts) or (update.raw_output if isinstance(update.raw_output, str) else "")
