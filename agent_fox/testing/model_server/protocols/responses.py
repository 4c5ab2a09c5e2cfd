"""OpenAI Responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count

from pydantic import JsonValue

from agent_fox.core.regex import regex
from agent_fox.testing.model_server.conversation import Call, Conversation, Message, Offered, Reply, Speaker
from agent_fox.testing.model_server.protocols.wire import Document, Loose, event, names_in, openai_error, pieces

_INSIDE = regex(r"declare const tools: \{ (\w+)\(args: \{(.*?)\}\): Promise", re.DOTALL)
_ARGUMENT = regex(r"^ +(\w+)\??:", re.MULTILINE)
_GROWING = {"message": "content", "function_call": "arguments", "custom_tool_call": "input"}
"""What of an item grows while it is streamed."""

_SPEAKERS = {"assistant": Speaker.MODEL, "user": Speaker.USER}


class _Content(Loose):
    type: str
    text: str = ""


class _Tool(Loose):
    type: str
    name: str = ""
    description: str = ""
    parameters: JsonValue = None
    tools: tuple[_Tool, ...] = ()


class _Item(Loose):
    type: str = "message"
    role: str = ""
    content: str | list[_Content] | None = None
    tools: tuple[_Tool, ...] = ()


class _Text(Loose):
    format: dict[str, JsonValue] | None = None


class _Request(Loose):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = None
    text: _Text | None = None


class Responses:
    """`POST /v1/responses`."""

    name = "responses"

    def read(self, raw: bytes, model: str, *, is_streamed: bool) -> Conversation:
        asked = _Request.model_validate_json(raw)
        items = [_Item(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input
        messages = (
            Message(Speaker.SYSTEM, asked.instructions or ""),
            *map(_message, [item for item in items if not item.tools]),
        )
        tools = [*(asked.tools or ()), *(tool for item in items for tool in item.tools)]
        form = (asked.text.format or {}) if asked.text else {}
        return Conversation(
            asked.model, messages, tuple(_offered(tools)), bool(asked.stream), form.get("schema"), len(raw)
        )

    def plain(self, talk: Conversation, reply: Reply) -> Document:
        return _response(talk, reply, "completed", _items(reply))

    def events(self, talk: Conversation, reply: Reply) -> Iterator[str]:
        numbers = count()

        def numbered(kind: str, **values: JsonValue) -> str:
            return event({"type": kind, "sequence_number": next(numbers), **values}, kind)

        yield numbered("response.created", response=_response(talk, reply, "in_progress", []))
        yield numbered("response.in_progress", response=_response(talk, reply, "in_progress", []))
        items = _items(reply)
        for place, item in enumerate(items):
            key = _GROWING[str(item["type"])]
            opened = item | {"status": "in_progress", key: [] if key == "content" else ""}
            yield numbered("response.output_item.added", output_index=place, item=opened)
            for kind, values in _growth(item):
                yield numbered(kind, item_id=item["id"], output_index=place, **values)
            yield numbered("response.output_item.done", output_index=place, item=item)
        yield numbered("response.completed", response=_response(talk, reply, "completed", items))

    def error(self, status: int, message: str) -> Document:
        return openai_error(status, message)

    def count(self, talk: Conversation) -> Document:
        return {"object": "response.input_tokens", "input_tokens": max(1, talk.size // 4)}


def _message(item: _Item) -> Message:
    text = _text(item)
    if item.type == "message":
        return Message(_SPEAKERS.get(item.role, Speaker.SYSTEM), text)
    if item.type.endswith("_output"):
        return Message(Speaker.TOOL)
    return Message(Speaker.MODEL, text)


def _text(item: _Item) -> str:
    if isinstance(item.content, list):
        return "\n".join(part.text for part in item.content)
    return item.content or ""


def _offered(tools: Iterable[_Tool], space: str | None = None) -> Iterator[Offered]:
    for tool in tools:
        if tool.type == "namespace":
            yield from _offered(tool.tools, tool.name)
        elif tool.type == "custom" and _INSIDE.search(tool.description):
            yield Offered(tool.name, space=space, is_host=True)
            yield from _inside(tool, space)
        else:
            yield Offered(tool.name or tool.type, names_in(tool.parameters), space)


def _inside(host: _Tool, space: str | None) -> Iterator[Offered]:
    """The tools that a program can call, as the tool that runs programs describes them."""
    for declared in _INSIDE.finditer(host.description):
        yield Offered(declared[1], frozenset(_ARGUMENT.findall(declared[2])), space, host.name)


def _items(reply: Reply) -> list[Document]:
    texts = [_message_item(reply)] if reply.text or not reply.calls else []
    return [*texts, *(_called(reply, number, call) for number, call in enumerate(reply.calls))]


def _message_item(reply: Reply) -> Document:
    part: JsonValue = {"type": "output_text", "text": reply.text, "annotations": []}
    return {
        "type": "message",
        "id": f"msg_{reply.id}",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def _called(reply: Reply, number: int, call: Call) -> Document:
    space: Document = {"namespace": call.space} if call.space else {}
    if call.source is not None:
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{reply.id}_{number}",
            "call_id": reply.call_id(number),
            "name": call.name,
            "input": call.source,
            "status": "completed",
            **space,
        }
    return {
        "type": "function_call",
        "id": f"fc_{reply.id}_{number}",
        "call_id": reply.call_id(number),
        "name": call.name,
        "arguments": json.dumps(call.arguments),
        "status": "completed",
        **space,
    }


def _growth(item: Document) -> Iterator[tuple[str, Document]]:
    """The events that an item grows by, as (kind, values)."""
    kind = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}.get(
        str(item["type"])
    )
    if kind is not None:
        key = _GROWING[str(item["type"])]
        for piece in pieces(str(item[key])):
            yield f"response.{kind}.delta", {"delta": piece}
        yield f"response.{kind}.done", {key: item[key]}
        return
    content = item["content"]
    part = content[0] if isinstance(content, list) else None
    text = str(part["text"]) if isinstance(part, dict) else ""
    yield (
        "response.content_part.added",
        {"content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}},
    )
    for piece in pieces(text):
        yield "response.output_text.delta", {"content_index": 0, "delta": piece}
    yield "response.output_text.done", {"content_index": 0, "text": text}
    yield "response.content_part.done", {"content_index": 0, "part": part}


def _response(talk: Conversation, reply: Reply, status: str, items: list[Document]) -> Document:
    usage: Document = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": talk.model,
        "output": list(items),
        "parallel_tool_calls": True,
        "usage": usage if status == "completed" else None,
    }
