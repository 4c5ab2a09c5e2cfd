"""What an agent's program reports while it works, in the same terms for all programs.

An adapter turns each line of its program's output into these; what they add up to is in `tally`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.session.infrastructure import Infrastructure


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts of one message or of many. `input` are those that were neither read from a cache nor written to one."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*map(operator.add, self.counts, other.counts))

    @property
    def counts(self) -> tuple[int, int, int, int]:
        return self.input, self.output, self.cache_read, self.cache_write

    @property
    def all_input(self) -> int:
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Began:
    """The session has begun. `session` is what it can be resumed by; `tools` and `servers` are what it was offered;
    `version` is what the program says it is, where it does so here.
    """

    session: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    servers: Mapping[str, str] = field(default_factory=dict)
    """Name of an MCP server to the word the program has for its state, such as `connected`."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Spoke:
    """Words of the model for whoever reads along."""

    text: str


@dataclass(frozen=True, slots=True)
class Printed:
    """A line of a program of no known format: whether the model says it cannot be told. A sign of life."""

    line: str


@dataclass(frozen=True, slots=True)
class Called:
    """The model asked for a tool. `arguments` are as it gave them; `call` joins it with its end."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    call: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's end. `text` is what the model was shown, cut; `is_refused`: the program did not let it run."""

    call: str
    text: str = ""
    is_error: bool = False
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of one message; a later event about the same `message` replaces the earlier one."""

    message: str
    tokens: Tokens
    model: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """The model was asked once more."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A request to the model failed. `is_final`: the program has given up, else it tries again by itself."""

    text: str
    kind: Infrastructure | None = None
    is_final: bool = False
    retry_after: float | None = None
    """Seconds that the model's side asks to wait, None where it does not say."""
    is_too_long: bool = False
    """The request does not fit into the model's context."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The program's own last word. Nothing in it is believed to mean success: see `outcome`.

    `cost_usd` and `tokens` count the whole session, resumed parts included, where the program counts so; None where it
    does not tell. `reason` is its word for why it stopped, such as `completed` or `max_turns`.
    """

    text: str = ""
    structured: Mapping[str, object] | None = None
    is_error: bool = False
    reason: str = ""
    session: str = ""
    cost_usd: float | None = None
    tokens: Tokens | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of the whole session so far, by the program's own word."""

    usd: float


@dataclass(frozen=True, slots=True)
class Broken:
    """The program does not keep to its protocol, and the session is to be ended. `kind` None: its work has failed."""

    text: str
    kind: Infrastructure | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life without further meaning."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not of the program's format, cut."""

    line: str


Event = (
    Began | Spoke | Printed | Called | Answered | Used | Cost | Turn | Trouble | Broken | Finished | Beat | Unreadable
)
