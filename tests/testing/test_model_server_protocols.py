"""The shapes that the model server speaks in, protocol by protocol, plain and streamed, over real HTTP.

The requests are made by hand in the shapes that agents send; how real agents take the answers is tried in
`test_model_server_clis`.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue, TypeAdapter

from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.model_server.script import Script

SECONDS = 10.0
Document = dict[str, JsonValue]
TICKET = "agent-fox session: 01_a:1 attempt 1 reading 1 archetype coder"
TEXT = "It is done, and here is more than one piece of a streamed text, for good measure."
SHELL: JsonValue = {"type": "object", "properties": {"command": {"type": "string"}}}
_DOCUMENT = TypeAdapter(Document)


def script(*actions: Mapping[str, object]) -> Script:
    return Script.model_validate({"step": [{"actions": actions, "input_tokens": 100, "output_tokens": 5}]})


def post(server: ModelServer, path: str, body: Document) -> tuple[int, str, str]:
    """Status, content type and text."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, response.getheader("content-type", ""), response.read().decode()
    finally:
        connection.close()


def plain(server: ModelServer, path: str, body: Document) -> Document:
    status, kind, text = post(server, path, body)
    assert (status, kind) == (200, "application/json"), text
    return _DOCUMENT.validate_json(text)


def streamed(server: ModelServer, path: str, body: Document) -> list[tuple[str, Document]]:
    """The events, as (name, data); `[DONE]` becomes an event without data."""
    status, kind, text = post(server, path, body)
    assert (status, kind) == (200, "text/event-stream"), text
    events = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        data = "{}" if lines["data"] == "[DONE]" else lines["data"]
        events.append((lines.get("event", ""), _DOCUMENT.validate_json(data)))
    return events


def dig(value: JsonValue, *path: str | int) -> JsonValue:
    for key in path:
        if isinstance(key, int):
            assert isinstance(value, list)
            value = value[key]
        else:
            assert isinstance(value, dict)
            value = value[key]
    return value


def joined(parts: Sequence[JsonValue]) -> str:
    assert all(isinstance(part, str) for part in parts)
    return "".join(map(str, parts))


# --- Anthropic Messages ---


def anthropic(*said: JsonValue, stream: bool = False) -> Document:
    tools: JsonValue = [{"name": "Bash", "input_schema": SHELL}]
    return {"model": "m", "max_tokens": 9, "messages": [*said], "tools": tools, "stream": stream}


def test_anthropic_plain() -> None:
    with ModelServer(script({"print": "I look."}, {"run": ["ls"]})) as server:
        answer = plain(server, "/v1/messages?beta=true", anthropic({"role": "user", "content": TICKET}))
    assert [dig(answer, key) for key in ("type", "role", "model", "stop_reason")] == [
        "message",
        "assistant",
        "m",
        "tool_use",
    ]
    assert dig(answer, "content", 0) == {"type": "text", "text": "I look."}
    assert dig(answer, "content", 1, "input") == {"command": "ls"}
    assert dig(answer, "usage", "input_tokens") == 100


def test_anthropic_streamed() -> None:
    user: JsonValue = {"role": "user", "content": [{"type": "text", "text": TICKET}]}
    with ModelServer(script({"print": TEXT}, {"run": ["ls"]})) as server:
        events = streamed(server, "/v1/messages", anthropic(user, stream=True))
    names = [name for name, _ in events]
    assert names == [str(data["type"]) for _, data in events]
    assert [name for name in names if name != "content_block_delta"] == [
        "message_start",
        "ping",
        *["content_block_start", "content_block_stop"] * 2,
        "message_delta",
        "message_stop",
    ]
    deltas = [dig(data, "delta") for name, data in events if name == "content_block_delta"]
    assert joined([dig(delta, "text") for delta in deltas if dig(delta, "type") == "text_delta"]) == TEXT
    arguments = joined([dig(delta, "partial_json") for delta in deltas if dig(delta, "type") == "input_json_delta"])
    assert json.loads(arguments) == {"command": "ls"}
    assert dig(events[0][1], "message", "usage", "output_tokens") == 1
    assert (dig(events[-2][1], "delta", "stop_reason"), dig(events[-2][1], "usage", "output_tokens")) == ("tool_use", 5)


# --- OpenAI Responses ---

ITEMS: tuple[JsonValue, ...] = (
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TICKET}]},
)
EXEC: JsonValue = {
    "type": "function",
    "name": "exec_command",
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
}
SPACE: JsonValue = {
    "type": "namespace",
    "name": "mcp__verifier",
    "tools": [{"type": "function", "name": "run_unit_tests", "parameters": {"type": "object", "properties": {}}}],
}


def responses(*items: JsonValue, stream: bool = False) -> Document:
    return {"model": "m", "input": [*items], "tools": [EXEC, SPACE], "stream": stream}


def test_responses_plain_and_its_next_turn() -> None:
    with ModelServer(script({"run": ["ls"]}, {"mcp": "run_unit_tests"}, {"say": TEXT})) as server:
        first = plain(server, "/v1/responses", responses(*ITEMS))
        call = dig(first, "output", 0)
        made: list[JsonValue] = [call, {"type": "function_call_output", "call_id": dig(call, "call_id"), "output": "x"}]
        thought: JsonValue = {"type": "reasoning", "summary": []}
        second = plain(server, "/v1/responses", responses(*ITEMS, *made))
        third = plain(server, "/v1/responses", responses(*ITEMS, *made, thought, *made))
    assert (dig(call, "type"), dig(call, "name")) == ("function_call", "exec_command")
    assert json.loads(str(dig(call, "arguments")))["cmd"] == "ls"
    assert (dig(second, "output", 0, "name"), dig(second, "output", 0, "namespace")) == (
        "run_unit_tests",
        "mcp__verifier",
    )
    assert dig(third, "output", 0, "content", 0, "text") == TEXT
    assert (dig(third, "status"), dig(third, "usage", "total_tokens")) == ("completed", 105)


def test_responses_streamed() -> None:
    with ModelServer(script({"print": TEXT}, {"run": ["ls"]})) as server:
        events = streamed(server, "/v1/responses", responses(*ITEMS, stream=True))
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    names = list(dict.fromkeys(name.removeprefix("response.") for name, _ in events))
    assert names == [
        *("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done", "function_call_arguments.delta"),
        *("function_call_arguments.done", "completed"),
    ]
    assert joined([data["delta"] for name, data in events if name == "response.output_text.delta"]) == TEXT
    assert len([name for name, _ in events if name == "response.output_text.delta"]) > 1
    done = [data["item"] for name, data in events if name == "response.output_item.done"]
    assert dig(events[-1][1], "response", "output") == done
    assert dig(events[-1][1], "response", "usage", "input_tokens") == 100


def test_responses_with_a_tool_that_runs_programs() -> None:
    """As codex offers its tools for the models that it knows: one tool that takes JavaScript."""
    described = (
        "### `exec_command`\ndeclare const tools: { exec_command(args: {\n  // To run.\n  cmd: string;\n}): Promise<{"
    )
    host: JsonValue = {"type": "custom", "name": "exec", "description": described}
    space: JsonValue = {"type": "namespace", "name": "functions", "tools": [host]}
    tools: JsonValue = {"type": "additional_tools", "tools": [space]}
    body: Document = {"model": "m", "input": [tools, *ITEMS]}
    with ModelServer(script({"run": ["ls"]}, {"mcp": "run_unit_tests", "arguments": {"a": 1}})) as server:
        first = dig(plain(server, "/v1/responses", body), "output", 0)
        result: JsonValue = {"type": "custom_tool_call_output", "call_id": "c", "output": "x"}
        second = plain(server, "/v1/responses", {**body, "input": [tools, *ITEMS, first, result]})
        events = streamed(server, "/v1/responses", {**body, "stream": True})
    assert [dig(first, key) for key in ("type", "name", "namespace")] == ["custom_tool_call", "exec", "functions"]
    assert str(dig(first, "input")).startswith('const result = await tools.exec_command({"cmd": "ls"')
    assert 'tool.name.endsWith("run_unit_tests")' in str(dig(second, "output", 0, "input"))
    assert 'tools[found.name]({"a": 1})' in str(dig(second, "output", 0, "input"))
    deltas = [data["delta"] for name, data in events if name == "response.custom_tool_call_input.delta"]
    assert joined(deltas) == dig(first, "input")


def test_responses_that_must_follow_a_schema_hold_nothing_else() -> None:
    form: JsonValue = {"format": {"type": "json_schema", "name": "r", "strict": True, "schema": {"type": "object"}}}
    with ModelServer(script({"print": "Hm."}, {"answer": {"findings": []}})) as server:
        answer = plain(server, "/v1/responses", {**responses(*ITEMS), "text": form})
    assert json.loads(str(dig(answer, "output", 0, "content", 0, "text"))) == {"findings": []}


# --- OpenAI Chat Completions ---


def chat(*said: JsonValue, stream: bool = False) -> Document:
    tools: JsonValue = [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]
    return {"model": "m", "messages": [*said], "tools": tools, "stream": stream}


def test_chat_plain_and_its_next_turn() -> None:
    user: JsonValue = {"role": "user", "content": TICKET}
    with ModelServer(script({"run": ["ls"]}, {"say": TEXT})) as server:
        first = plain(server, "/v1/chat/completions", chat(user))
        message = dig(first, "choices", 0, "message")
        call = dig(message, "tool_calls", 0)
        result: JsonValue = {"role": "tool", "tool_call_id": dig(call, "id"), "content": "x"}
        second = plain(server, "/v1/chat/completions", chat(user, message, result))
    assert json.loads(str(dig(call, "function", "arguments"))) == {"command": "ls"}
    assert dig(first, "choices", 0, "finish_reason") == "tool_calls"
    assert dig(second, "choices", 0, "message") == {"role": "assistant", "content": TEXT}
    assert dig(second, "choices", 0, "finish_reason") == "stop"
    assert dig(second, "usage", "total_tokens") == 105


def test_chat_streamed() -> None:
    user: JsonValue = {"role": "user", "content": [{"type": "text", "text": TICKET}]}
    with ModelServer(script({"print": TEXT}, {"run": ["ls"]})) as server:
        events = [data for _, data in streamed(server, "/v1/chat/completions", chat(user, stream=True))]
    assert events[-1] == {}
    assert (dig(events[-2], "choices"), dig(events[-2], "usage", "prompt_tokens")) == ([], 100)
    deltas = [dig(data, "choices", 0, "delta") for data in events[:-2]]
    assert joined([delta["content"] for delta in deltas if isinstance(delta, dict) and "content" in delta]) == TEXT
    [call] = [dig(delta, "tool_calls", 0) for delta in deltas if isinstance(delta, dict) and "tool_calls" in delta]
    assert (dig(call, "index"), dig(call, "function", "name")) == (0, "bash")
    assert dig(events[-3], "choices", 0, "finish_reason") == "tool_calls"


def test_an_agent_that_ends_by_a_command_gets_its_last_words_by_that_command() -> None:
    rules = f"{TICKET}\nSubmit by: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    with ModelServer(script({"say": "it's done"})) as server:
        answer = plain(server, "/v1/chat/completions", chat({"role": "user", "content": rules}))
    arguments = dig(answer, "choices", 0, "message", "tool_calls", 0, "function", "arguments")
    command = """echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; printf %s 'it'"'"'s done'"""
    assert json.loads(str(arguments)) == {"command": command}


# --- Gemini ---

FUNCTION: JsonValue = {
    "name": "run_shell_command",
    "parametersJsonSchema": {"type": "object", "properties": {"command": {}, "description": {}}},
}


def gemini(*said: JsonValue) -> Document:
    return {"contents": [*said], "tools": [{"functionDeclarations": [FUNCTION]}]}


def test_gemini_plain_and_its_next_turn() -> None:
    user: JsonValue = {"role": "user", "parts": [{"text": TICKET}]}
    path = "/v1beta/models/gemini-x:generateContent"
    with ModelServer(script({"run": ["ls"]}, {"say": TEXT})) as server:
        first = plain(server, path, gemini(user))
        said = dig(first, "candidates", 0, "content")
        result: JsonValue = {"functionResponse": {"name": "run_shell_command", "response": {"output": "x"}}}
        second = plain(server, path, gemini(user, said, {"role": "user", "parts": [result]}))
    call = dig(said, "parts", 0, "functionCall")
    assert (dig(call, "name"), dig(call, "args", "command")) == ("run_shell_command", "ls")
    assert dig(second, "candidates", 0, "content", "parts") == [{"text": TEXT}]
    assert (dig(second, "candidates", 0, "finishReason"), dig(second, "modelVersion")) == ("STOP", "gemini-x")
    assert dig(second, "usageMetadata") == {"promptTokenCount": 100, "candidatesTokenCount": 5, "totalTokenCount": 105}


def test_gemini_streamed() -> None:
    user: JsonValue = {"role": "user", "parts": [{"text": TICKET}]}
    with ModelServer(script({"print": TEXT}, {"run": ["ls"]})) as server:
        path = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
        events = [data for _, data in streamed(server, path, gemini(user))]
    parts = [dig(data, "candidates", 0, "content", "parts", 0) for data in events]
    assert joined([part["text"] for part in parts if isinstance(part, dict) and "text" in part]) == TEXT
    assert dig(parts[-1], "functionCall", "args", "command") == "ls"
    assert ["finishReason" in json.dumps(data) for data in events] == [False] * (len(events) - 1) + [True]


def test_gemini_asked_beside_the_work_for_json_gets_something_that_fits() -> None:
    properties: JsonValue = {
        "reasoning": {"type": "STRING"},
        "next_speaker": {"type": "STRING", "enum": ["user", "model"]},
        "score": {"type": "INTEGER"},
    }
    wanted: JsonValue = {"responseJsonSchema": {"type": "OBJECT", "properties": properties}}
    body: Document = {"contents": [{"role": "user", "parts": [{"text": "who?"}]}], "generationConfig": wanted}
    with ModelServer(script({"say": TEXT})) as server:
        answer = plain(server, "/v1beta/models/small:generateContent", body)
    text = str(dig(answer, "candidates", 0, "content", "parts", 0, "text"))
    assert json.loads(text) == {"reasoning": "none", "next_speaker": "user", "score": 1}
    assert server.requests[0].is_side


# --- what every protocol has ---

MINIMAL: Mapping[str, Document] = {
    "/v1/messages": anthropic({"role": "user", "content": TICKET}),
    "/v1/responses": responses(*ITEMS),
    "/v1/chat/completions": chat({"role": "user", "content": TICKET}),
    "/v1beta/models/m:generateContent": gemini({"role": "user", "parts": [{"text": TICKET}]}),
}


@pytest.mark.parametrize(
    ("path", "status", "place", "kind"),
    [
        ("/v1/messages", 529, ("error", "type"), "overloaded_error"),
        ("/v1/responses", 503, ("error", "code"), "server_is_overloaded"),
        ("/v1/chat/completions", 503, ("error", "code"), "server_is_overloaded"),
        ("/v1beta/models/m:generateContent", 503, ("error", "status"), "UNAVAILABLE"),
    ],
)
def test_an_overload_is_told_as_each_service_tells_it(
    path: str, status: int, place: tuple[str, ...], kind: str
) -> None:
    with ModelServer(script({"fail": "overload"})) as server:
        found, _, text = post(server, path, MINIMAL[path])
    assert (found, dig(_DOCUMENT.validate_json(text), *place)) == (status, kind)


@pytest.mark.parametrize("path", MINIMAL)
def test_no_answer_holds_a_call_that_was_not_asked_for(path: str) -> None:
    with ModelServer(script({"say": TEXT})) as server:
        assert TEXT in json.dumps(plain(server, path, MINIMAL[path]))
    assert server.requests[0].calls == ()


@pytest.mark.parametrize(
    ("path", "key", "body"),
    [
        ("/v1/messages/count_tokens", "input_tokens", MINIMAL["/v1/messages"]),
        ("/v1/responses/input_tokens", "input_tokens", MINIMAL["/v1/responses"]),
        ("/v1beta/models/m:countTokens", "totalTokens", MINIMAL["/v1beta/models/m:generateContent"]),
    ],
)
def test_tokens_are_counted_by_length_and_that_plays_nothing(path: str, key: str, body: Document) -> None:
    with ModelServer(script({"status": 500})) as server:
        assert plain(server, path, body)[key] == len(json.dumps(body)) // 4
    assert server.requests[0].step is None


def test_the_list_of_models_has_one() -> None:
    with ModelServer(script()) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
        connection.request("GET", "/v1/models")
        found = _DOCUMENT.validate_json(connection.getresponse().read())
        connection.close()
    assert dig(found, "data", 0, "id") == "scripted"
