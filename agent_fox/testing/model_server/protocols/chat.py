"""OpenAI Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import Field, JsonValue

from agent_fox.testing.model_server.conversation import Conversation, Message, Offered, Reply, Speaker
from agent_fox.testing.model_server.protocols.wire import Document, Loose, event, names_in, openai_error, pieces

_SPEAKERS = {"assistant": Speaker.MODEL, "user": Speaker.USER, "tool": Speaker.TOOL}


class _Content(Loose):
    type: str
    text: str = ""


class _Function(Loose):
    name: str
    parameters: JsonValue = None


class _Tool(Loose):
    function: _Function | None = None


class _Message(Loose):
    role: str
    content: str | list[_Content] | None = None


class _Options(Loose):
    include_usage: bool = False


class _Schema(Loose):
    json_schema: dict[str, JsonValue] | None = None


class _Request(Loose):
    model: str
    messages: list[_Message] = Field(min_length=1)
    tools: list[_Tool] | None = None
    stream: bool | None = None
    stream_options: _Options | None = None
    response_format: _Schema | None = None


class Chat:
    """`POST /v1/chat/completions`. The usage of a stream is sent whether asked for or not."""

    name = "chat"

    def read(self, raw: bytes, model: str, *, is_streamed: bool) -> Conversation:
        asked = _Request.model_validate_json(raw)
        messages = tuple(map(_message, asked.messages))
        functions = [tool.function for tool in asked.tools or () if tool.function is not None]
        tools = tuple(Offered(each.name, names_in(each.parameters)) for each in functions)
        form = (asked.response_format.json_schema or {}) if asked.response_format else {}
        return Conversation(asked.model, messages, tools, bool(asked.stream), form.get("schema"), len(raw))

    def plain(self, talk: Conversation, reply: Reply) -> Document:
        message: Document = {"role": "assistant", "content": reply.text or None}
        calls = _calls(reply)
        choice: Document = {
            "index": 0,
            "message": message | ({"tool_calls": calls} if calls else {}),
            "logprobs": None,
            "finish_reason": _finish(reply),
        }
        return _envelope(talk, reply, "chat.completion") | {"choices": [choice], "usage": _usage(reply)}

    def events(self, talk: Conversation, reply: Reply) -> Iterator[str]:
        def chunk(delta: Document, finish: str | None = None) -> str:
            choice: Document = {"index": 0, "delta": delta, "finish_reason": finish}
            return event(_envelope(talk, reply, "chat.completion.chunk") | {"choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces(reply.text):
            yield chunk({"content": piece})
        for call in _calls(reply):
            yield chunk({"tool_calls": [call]})
        yield chunk({}, _finish(reply))
        yield event(_envelope(talk, reply, "chat.completion.chunk") | {"choices": [], "usage": _usage(reply)})
        yield "data: [DONE]\n\n"

    def error(self, status: int, message: str) -> Document:
        return openai_error(status, message)

    def count(self, talk: Conversation) -> Document:
        return {"input_tokens": max(1, talk.size // 4)}


def _message(message: _Message) -> Message:
    parts = (
        message.content if isinstance(message.content, list) else [_Content(type="text", text=message.content or "")]
    )
    speaker = _SPEAKERS.get(message.role, Speaker.SYSTEM)
    text = "" if speaker is Speaker.TOOL else "\n".join(part.text for part in parts)
    return Message(speaker, text)


def _calls(reply: Reply) -> list[JsonValue]:
    return [
        {
            "index": number,
            "id": reply.call_id(number),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(reply.calls)
    ]


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _envelope(talk: Conversation, reply: Reply, kind: str) -> Document:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": 0, "model": talk.model}


def _usage(reply: Reply) -> Document:
    return {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": reply.output_tokens,
        "total_tokens": reply.input_tokens + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
