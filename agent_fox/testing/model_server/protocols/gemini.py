"""Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, JsonValue

from agent_fox.testing.model_server.conversation import Conversation, Message, Offered, Reply, Speaker
from agent_fox.testing.model_server.protocols.wire import Document, Loose, event, names_in, pieces

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class _Part(Loose):
    text: str = ""
    result: JsonValue = Field(None, alias="functionResponse")


class _Content(Loose):
    role: str = "user"
    parts: tuple[_Part, ...] = ()


class _Function(Loose):
    name: str
    parameters: JsonValue = None
    json_schema: JsonValue = Field(None, alias="parametersJsonSchema")


class _Tool(Loose):
    functions: tuple[_Function, ...] = Field((), alias="functionDeclarations")


class _Generation(Loose):
    json_schema: JsonValue = Field(None, alias="responseJsonSchema")
    old_schema: JsonValue = Field(None, alias="responseSchema")


class _Request(Loose):
    contents: tuple[_Content, ...] = ()
    system: _Content | None = Field(None, alias="systemInstruction")
    tools: tuple[_Tool, ...] = ()
    generation: _Generation | None = Field(None, alias="generationConfig")


class Gemini:
    """`POST /v1beta/models/MODEL:generateContent` and its streamed form."""

    name = "gemini"

    def read(self, raw: bytes, model: str, *, is_streamed: bool) -> Conversation:
        asked = _Request.model_validate_json(raw)
        system = Message(Speaker.SYSTEM, _text(asked.system) if asked.system else "")
        messages = [message for content in asked.contents for message in _messages(content)]
        functions = [function for tool in asked.tools for function in tool.functions]
        tools = tuple(Offered(each.name, names_in(each.json_schema or each.parameters)) for each in functions)
        schema = (asked.generation.json_schema or asked.generation.old_schema) if asked.generation else None
        return Conversation(model, (system, *messages), tools, is_streamed, schema, len(raw))

    def plain(self, talk: Conversation, reply: Reply) -> Document:
        texts: list[JsonValue] = [{"text": reply.text}] if reply.text or not reply.calls else []
        return _answer(talk, reply, texts + _calls(reply), is_last=True)

    def events(self, talk: Conversation, reply: Reply) -> Iterator[str]:
        for piece in pieces(reply.text):
            yield event(_answer(talk, reply, [{"text": piece}], is_last=False))
        yield event(_answer(talk, reply, _calls(reply) or [{"text": ""}], is_last=True))

    def error(self, status: int, message: str) -> Document:
        return {"error": {"code": status, "message": message, "status": _STATUS.get(status, "INTERNAL")}}

    def count(self, talk: Conversation) -> Document:
        return {"totalTokens": max(1, talk.size // 4)}


def _messages(content: _Content) -> Iterator[Message]:
    if content.role == "model":
        yield Message(Speaker.MODEL, _text(content))
        return
    if any(part.result for part in content.parts):
        yield Message(Speaker.TOOL)
    if _text(content):
        yield Message(Speaker.USER, _text(content))


def _text(content: _Content) -> str:
    return "\n".join(part.text for part in content.parts if part.text)


def _calls(reply: Reply) -> list[JsonValue]:
    return [
        {"functionCall": {"id": reply.call_id(number), "name": call.name, "args": call.arguments}}
        for number, call in enumerate(reply.calls)
    ]


def _answer(talk: Conversation, reply: Reply, parts: list[JsonValue], *, is_last: bool) -> Document:
    candidate: Document = {"content": {"role": "model", "parts": parts}, "index": 0}
    usage: Document = {
        "promptTokenCount": reply.input_tokens,
        "candidatesTokenCount": reply.output_tokens,
        "totalTokenCount": reply.input_tokens + reply.output_tokens,
    }
    ended: Document = {"finishReason": "STOP"} if is_last else {}
    usage_part: Document = {"usageMetadata": usage} if is_last else {}
    return {"candidates": [candidate | ended], **usage_part, "modelVersion": talk.model, "responseId": reply.id}
