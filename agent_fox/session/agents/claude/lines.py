"""The shapes of Claude Code's lines, as far as they are read. What is not named here is not looked at."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from agent_fox.session.agents.events import Tokens
from agent_fox.session.agents.shapes import Count, Shape, Word


def _blocks(value: object) -> object:
    """A message's content may be plain text."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class Usage(Shape):
    """Tokens of one message. What a later line leaves out stays as it was."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None

    def over(self, before: Tokens) -> Tokens:
        def newer(value: int | None, old: int) -> int:
            return old if value is None else value

        return Tokens(
            newer(self.input_tokens, before.input),
            newer(self.output_tokens, before.output),
            newer(self.cache_read_input_tokens, before.cache_read),
            newer(self.cache_creation_input_tokens, before.cache_write),
        )


class Block(Shape):
    """One part of a message: words, a call, or a call's answer."""

    type: str
    text: Word = ""
    id: Word = ""
    name: Word = ""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    tool_use_id: Word = ""
    content: JsonValue = None
    is_error: bool | None = None

    @property
    def shown(self) -> str:
        """What the model was shown of a tool's answer."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
        return "\n".join(text for text in texts if isinstance(text, str))


Content = Annotated[tuple[Block, ...], BeforeValidator(_blocks), Field(strict=False)]


class Message(Shape):
    id: Word = ""
    model: Word = ""
    content: Content = ()
    usage: Usage = Usage()


class Happening(Shape):
    """An event of the model's own stream."""

    type: str
    message: Message | None = None
    usage: Usage = Usage()


class Partial(Shape):
    event: Happening


class Assistant(Shape):
    message: Message
    error: Word = ""
    is_api_error_message: bool = False
    api_error_status: int | None = None
    api_error_type: Word = ""


class Decision(Shape):
    decision: Word = ""


class ResultMeta(Shape):
    id: str
    permission_decision: Decision | None = None

    @property
    def is_refused(self) -> bool:
        return self.permission_decision is not None and self.permission_decision.decision not in {"", "accept"}


class User(Shape):
    message: Message
    tool_result_meta: Annotated[tuple[ResultMeta, ...], Field(strict=False)] = ()


class Server(Shape):
    name: str
    status: Word = ""


class System(Shape):
    subtype: Word = ""
    session_id: Word = ""
    model: Word = ""
    tools: Annotated[tuple[str, ...], Field(strict=False)] = ()
    mcp_servers: Annotated[tuple[Server, ...], Field(strict=False)] = ()
    key: Word = ""
    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0
    error_status: int | None = None
    error: JsonValue = None


class ModelUsage(Shape):
    """Tokens of one model over the whole session, resumed parts included."""

    inputTokens: Count | None = None
    outputTokens: Count | None = None
    cacheReadInputTokens: Count | None = None
    cacheCreationInputTokens: Count | None = None

    @property
    def tokens(self) -> Tokens:
        return Tokens(
            self.inputTokens or 0,
            self.outputTokens or 0,
            self.cacheReadInputTokens or 0,
            self.cacheCreationInputTokens or 0,
        )


class Result(Shape):
    subtype: Word = ""
    session_id: Word = ""
    is_error: bool = False
    terminal_reason: str | None = None
    api_error_status: int | None = None
    api_error_type: Word = ""
    result: str | None = None
    errors: Annotated[tuple[str, ...], Field(strict=False)] = ()
    structured_output: dict[str, JsonValue] | None = None
    total_cost_usd: Annotated[float, Field(ge=0)] | None = None
    model_usage: dict[str, ModelUsage] = Field(default={}, alias="modelUsage")
