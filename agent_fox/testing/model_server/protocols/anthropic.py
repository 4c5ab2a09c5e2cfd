"""Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import Field, JsonValue

from agent_fox.testing.model_server.conversation import Conversation, Message, Offered, Reply, Speaker
from agent_fox.testing.model_server.protocols.wire import Document, Loose, event, names_in, pieces

_SEARCH = "toolu_search_"
"""How the id of a call begins that only looks for a tool."""

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class _Block(Loose):
    type: str
    text: str = ""
    id: str = ""


class _Message(Loose):
    role: str
    content: str | list[_Block]


class _Tool(Loose):
    name: str
    input_schema: JsonValue = None


class _Output(Loose):
    format: dict[str, JsonValue] | None = None


class _Request(Loose):
    model: str
    messages: list[_Message] = Field(min_length=1)
    system: str | list[_Block] = ""
    tools: tuple[_Tool, ...] = ()
    stream: bool = False
    output_config: _Output = _Output()


class Anthropic:
    """`POST /v1/messages`."""

    name = "anthropic"

    def read(self, raw: bytes, model: str, *, is_streamed: bool) -> Conversation:
        asked = _Request.model_validate_json(raw)
        system = Message(Speaker.SYSTEM, _text(asked.system))
        parts = [part for message in asked.messages for part in _parts(message)]
        tools = tuple(Offered(tool.name, names_in(tool.input_schema)) for tool in asked.tools)
        schema = (asked.output_config.format or {}).get("schema")
        return Conversation(asked.model, (system, *parts), tools, asked.stream, schema, len(raw))

    def plain(self, talk: Conversation, reply: Reply) -> Document:
        texts: list[JsonValue] = [{"type": "text", "text": reply.text}] if reply.text or not reply.calls else []
        calls: list[JsonValue] = [
            {"type": "tool_use", "id": _call_id(reply, number), "name": call.name, "input": call.arguments}
            for number, call in enumerate(reply.calls)
        ]
        usage = _usage(reply, reply.output_tokens)
        return _envelope(talk, reply) | {"content": texts + calls, "stop_reason": _stop(reply), "usage": usage}

    def events(self, talk: Conversation, reply: Reply) -> Iterator[str]:
        begun = _envelope(talk, reply) | {"content": [], "stop_reason": None, "usage": _usage(reply, 1)}
        yield _event("message_start", message=begun)
        yield _event("ping")
        number = -1
        if reply.text or not reply.calls:
            number += 1
            yield from _block(number, {"type": "text", "text": ""}, "text_delta", "text", reply.text)
        for place, call in enumerate(reply.calls):
            number += 1
            opened: Document = {"type": "tool_use", "id": _call_id(reply, place), "name": call.name, "input": {}}
            yield from _block(number, opened, "input_json_delta", "partial_json", json.dumps(call.arguments))
        ended: Document = {"stop_reason": _stop(reply), "stop_sequence": None}
        yield _event("message_delta", delta=ended, usage={"output_tokens": reply.output_tokens})
        yield _event("message_stop")

    def error(self, status: int, message: str) -> Document:
        kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}

    def count(self, talk: Conversation) -> Document:
        return {"input_tokens": max(1, talk.size // 4)}


def _parts(message: _Message) -> Iterator[Message]:
    """What one message says; a tool's result and a user's words may come in one."""
    blocks = [_Block(type="text", text=message.content)] if isinstance(message.content, str) else message.content
    match message.role:
        case "assistant":
            used = [block.id.startswith(_SEARCH) for block in blocks if block.type == "tool_use"]
            yield Message(Speaker.MODEL, _text(blocks), bool(used) and all(used))
        case "system":
            yield Message(Speaker.SYSTEM, _text(blocks))
        case _:
            if any(block.type == "tool_result" for block in blocks):
                yield Message(Speaker.TOOL)
            if _text(blocks):
                yield Message(Speaker.USER, _text(blocks))


def _text(content: str | list[_Block]) -> str:
    return content if isinstance(content, str) else "\n".join(block.text for block in content if block.type == "text")


def _envelope(talk: Conversation, reply: Reply) -> Document:
    return {"id": f"msg_{reply.id}", "type": "message", "role": "assistant", "model": talk.model, "stop_sequence": None}


def _call_id(reply: Reply, number: int) -> str:
    return f"{_SEARCH if reply.calls[number].is_search else 'toolu_'}{reply.id}_{number}"


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _usage(reply: Reply, output: int) -> Document:
    cached: Document = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": reply.input_tokens, **cached, "output_tokens": output}


def _block(number: int, opened: Document, kind: str, key: str, text: str) -> Iterator[str]:
    yield _event("content_block_start", index=number, content_block=opened)
    for piece in pieces(text):
        yield _event("content_block_delta", index=number, delta={"type": kind, key: piece})
    yield _event("content_block_stop", index=number)


def _event(kind: str, **values: JsonValue) -> str:
    return event({"type": kind, **values}, kind)
