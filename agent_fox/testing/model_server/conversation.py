"""One request of an agent, whatever the protocol: what was said, what is offered, whose session it is. No HTTP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby

from pydantic import JsonValue

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

TICKET = regex(r"agent-fox session: (\S+) attempt (\d+) reading (\d+)")
"""How a prompt says whose session it is."""

_FOLDER = regex(r"(?:[Ww]orking directory:|<cwd>|[Ww]orkspace [Dd]irector(?:y|ies):?\**\n? *-?) *(/[^\s<]+)")


class Speaker(StrEnum):
    SYSTEM = "system"
    USER = "user"
    MODEL = "model"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said. A message `is_search` where the model only looked for a tool: no turn of the script."""

    speaker: Speaker
    text: str = ""
    is_search: bool = False


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that the request offers. `space` is the namespace that holds it, where the protocol has them.

    `host` is the tool that runs programs, for a tool that only such a program can call; `is_host` marks that tool.
    """

    name: str
    arguments: frozenset[str] = frozenset()
    space: str | None = None
    host: str | None = None
    is_host: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """Whose session a request belongs to."""

    node: str = "*"
    attempt: int = 1
    reading: int = 1

    @property
    def spec(self) -> str:
        return self.node.split(":")[0]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request to a model. `schema` is the JSON Schema that its text must follow, `size` its length in bytes."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Offered, ...] = ()
    is_streamed: bool = False
    schema: JsonValue = None
    size: int = 0

    def offered(self, *names: str) -> Offered | None:
        """The first of these tools that the request offers."""
        return next((tool for name in names for tool in self.tools if tool.name == name), None)

    def ending_in(self, name: str) -> Offered | None:
        """The tool of this name, whatever stands before it, as servers' names do."""
        exact = self.offered(name)
        return exact or next((tool for tool in self.tools if re.search(rf"[_.-]{re.escape(name)}$", tool.name)), None)

    @property
    def host(self) -> Offered | None:
        """The tool that runs programs which call other tools."""
        return next((tool for tool in self.tools if tool.is_host), None)

    def text_by(self, *speakers: Speaker) -> str:
        """Everything that these have said."""
        return "\n".join(message.text for message in self.messages if message.speaker in speakers)

    @property
    def ticket(self) -> Ticket | None:
        """The session's ticket: the last one in a user's words, else the one in the system's."""
        by_user = [_ticket(message.text) for message in self._by(Speaker.USER)]
        by_system = [_ticket(message.text) for message in self._by(Speaker.SYSTEM)]
        return next((ticket for ticket in [*reversed(by_user), *by_system] if ticket), None)

    @property
    def folder(self) -> str | None:
        """The folder that the agent says it works in."""
        match = _FOLDER.search(self.text_by(Speaker.SYSTEM, Speaker.USER))
        return match[1] if match else None

    @property
    def task(self) -> str:
        """The message that the session began with; all that was asked where none holds a ticket."""
        begins = self._beginning()
        return self.messages[begins].text if begins is not None else self.text_by(Speaker.USER, Speaker.SYSTEM)

    def since_the_task(self) -> Sequence[Message]:
        """What was said after the message that began this session: all of it where none did."""
        begins = self._beginning()
        return self.messages[begins + 1 :] if begins is not None else self.messages

    def turns(self) -> list[Message]:
        """The model's turns since the task; what it says without a break between is one."""
        runs = groupby(self.since_the_task(), key=lambda message: message.speaker is Speaker.MODEL)
        turns = [_joined(list(messages)) for is_model, messages in runs if is_model]
        return [turn for turn in turns if not turn.is_search]

    def searched(self) -> bool:
        """Whether the model has looked for a tool since the task."""
        return any(message.is_search for message in self.since_the_task())

    def _beginning(self) -> int | None:
        """Where the last message of a user with a ticket stands."""
        places = [
            place
            for place, message in enumerate(self.messages)
            if message.speaker is Speaker.USER and TICKET.search(message.text)
        ]
        return places[-1] if places else None

    def _by(self, speaker: Speaker) -> list[Message]:
        return [message for message in self.messages if message.speaker is speaker]


def _ticket(text: str) -> Ticket | None:
    match = TICKET.search(text)
    return Ticket(match[1], int(match[2]), int(match[3])) if match else None


def _joined(messages: Sequence[Message]) -> Message:
    text = "\n".join(message.text for message in messages)
    return Message(Speaker.MODEL, text, all(message.is_search for message in messages))


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model calls. `is_search`: only to look for another one.

    `source` is what a tool gets that takes plain text and no arguments.
    """

    name: str
    arguments: dict[str, JsonValue]
    space: str | None = None
    is_search: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers: words, calls, and what that counts in tokens. `id` is the same for the same request."""

    id: str
    text: str
    calls: tuple[Call, ...] = ()
    input_tokens: int = 1
    output_tokens: int = 1

    def call_id(self, number: int) -> str:
        return f"call_{self.id}_{number}"
