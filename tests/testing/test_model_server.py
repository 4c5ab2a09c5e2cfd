"""The scripted model server, asked over real HTTP: which turn is played, what stands in the way, what is recorded.

Nothing is faked here but the agents: their requests are made by hand, as short as the protocol allows.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue, TypeAdapter

from agent_fox.core.ids import Archetype
from agent_fox.core.spec import Criterion
from agent_fox.session.briefs.facts import BriefFacts
from agent_fox.session.briefs.prompts import VERDICT_SCHEMA
from agent_fox.session.briefs.text import brief_markdown
from agent_fox.testing.model_server import ModelServer, read_model_script
from agent_fox.testing.model_server.script import Script
from agent_fox.testing.scripted.script import ScriptError

SECONDS = 10.0
Document = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Document:
        document: Document = json.loads(self.body)
        return document


def ask(
    server: ModelServer, path: str, body: object, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> Answer:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, raw, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def messages(server: ModelServer, *said: Document, tools: tuple[str, ...] = (), **more: JsonValue) -> Answer:
    offered = [{"name": name, "input_schema": arguments_of(name)} for name in tools]
    return ask(server, "/v1/messages", {"model": "m", "max_tokens": 9, "messages": said, "tools": offered, **more})


def arguments_of(name: str) -> JsonValue:
    names = {"Write": ("file_path", "content"), "Edit": ("file_path", "old_string", "new_string", "replace_all")}
    return {"type": "object", "properties": {key: {"type": "string"} for key in names.get(name, ("command",))}}


def user(text: str) -> Document:
    return {"role": "user", "content": text}


def model(text: str = "", *tools: str) -> Document:
    words: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    calls: list[JsonValue] = [
        {"type": "tool_use", "id": f"t{number}", "name": name, "input": {}} for number, name in enumerate(tools)
    ]
    return {"role": "assistant", "content": words + calls}


def results(*texts: str) -> Document:
    blocks: list[JsonValue] = [
        {"type": "tool_result", "tool_use_id": f"t{number}", "content": text} for number, text in enumerate(texts)
    ]
    return {"role": "user", "content": blocks}


def task(node: str = "01_a:1", attempt: int = 1, reading: int = 1) -> Document:
    return user(f"agent-fox session: {node} attempt {attempt} reading {reading} archetype coder\nDo it.")


def text_of(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    blocks = answer.json["content"]
    assert isinstance(blocks, list)
    return "".join(str(block["text"]) for block in blocks if isinstance(block, dict) and block["type"] == "text")


def calls_of(answer: Answer) -> list[tuple[str, Document]]:
    assert answer.status == 200, answer.body
    blocks = TypeAdapter(list[Document]).validate_python(answer.json["content"])
    calls = [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    return TypeAdapter(list[tuple[str, Document]]).validate_python(calls)


def script(*actions: Mapping[str, object], **step: object) -> Script:
    return Script.model_validate({"step": [{"actions": actions, **step}]})


@contextmanager
def playing(*actions: Mapping[str, object], **step: object) -> Iterator[ModelServer]:
    with ModelServer(script(*actions, **step)) as server:
        yield server


# --- which turn ---


def test_every_action_is_a_turn_and_the_last_word_ends_it() -> None:
    with playing({"print": "First."}, {"run": ["ls", "a b"]}, {"run": ["true"]}, summary="that was it") as server:
        first = messages(server, task(), tools=("Bash",))
        second = messages(server, task(), model("First.", "Bash"), results("x"), tools=("Bash",))
        third = messages(
            server, task(), model("", "Bash"), results("x"), model("", "Bash"), results("y"), tools=("Bash",)
        )
    assert (text_of(first), calls_of(first)) == ("First.", [("Bash", {"command": "ls 'a b'"})])
    assert (text_of(second), calls_of(second)) == ("", [("Bash", {"command": "true"})])
    assert (text_of(third), calls_of(third)) == ("that was it", [])
    assert [(r.step, r.turn, r.node, r.attempt, r.reading) for r in server.requests] == [
        (0, turn, "01_a:1", 1, 1) for turn in range(3)
    ]


def test_a_repeated_request_gets_the_same_answer_byte_for_byte() -> None:
    with playing({"run": ["true"]}) as server:
        one, other = (messages(server, task(), tools=("Bash",)) for _ in range(2))
    assert one.body == other.body


def test_results_of_parallel_calls_count_as_one_turn() -> None:
    with playing({"write": "a", "text": "x"}, {"say": "two"}) as server:
        first = messages(server, task(), tools=("Read", "Write"))
        then = messages(server, task(), model("", "Read", "Write"), results("1", "2"), tools=("Read", "Write"))
    assert [name for name, _ in calls_of(first)] == ["Read", "Write"]
    assert text_of(then) == "two"


def test_what_comes_after_a_final_word_is_played_when_the_talk_goes_on() -> None:
    with playing({"say": "ready"}, {"run": ["mend"]}, {"say": "mended"}) as server:
        blocked = [task(), model("ready"), user("Stop hook feedback: not yet")]
        answers = [
            messages(server, task(), tools=("Bash",)),
            messages(server, *blocked, tools=("Bash",)),
            messages(server, *blocked, model("", "Bash"), results("ok"), tools=("Bash",)),
        ]
    assert [text_of(answer) for answer in answers] == ["ready", "", "mended"]
    assert calls_of(answers[1]) == [("Bash", {"command": "mend"})]


def test_asked_again_beyond_the_end_the_model_says_its_last_answer_again() -> None:
    with playing({"say": "so it is"}, summary="over") as server:
        again = messages(server, task(), model("so it is"), user("Please repeat."))
        result = messages(server, task(), model("", "StructuredOutput"), results("taken"))
    assert (text_of(again), text_of(result)) == ("so it is", "over")


def test_the_step_is_found_by_the_ticket_and_the_last_one_counts() -> None:
    steps = [
        {"node": "01_*", "attempt": 1, "actions": [{"say": "{node} of {spec}, first"}]},
        {"node": "01_*", "attempt": [2, 3], "reading": 2, "actions": [{"say": "attempt {attempt}, reading {reading}"}]},
        {"actions": [{"say": "anybody"}]},
    ]
    with ModelServer(Script.model_validate({"step": steps})) as server:
        first = messages(server, task())
        resumed = messages(server, task(), model("done"), task(attempt=3, reading=2))
        foreign = messages(server, user("hello"))
        by_system = messages(server, user("hello"), system="agent-fox session: 01_b:9 attempt 1 reading 1")
    assert text_of(first) == "01_a:1 of 01_a, first"
    assert text_of(resumed) == "attempt 3, reading 2"
    assert text_of(foreign) == "anybody"
    assert text_of(by_system) == "01_b:9 of 01_b, first"
    assert [request.turn for request in server.requests] == [0, 0, 0, 0]


def test_a_ticket_in_a_tools_result_is_no_ticket() -> None:
    with playing({"run": ["cat", "brief"]}, {"say": "read"}) as server:
        ticket = "agent-fox session: 09_z:9 attempt 9 reading 9 archetype coder"
        answer = messages(server, task(), model("", "Bash"), results(ticket))
    assert text_of(answer) == "read"


def test_a_session_that_no_step_fits_is_refused_with_its_name() -> None:
    with playing(node="02_*") as server:
        answer = messages(server, task())
    assert answer.status == 400
    assert "no step for 01_a:1, attempt 1, reading 1" in answer.body.decode()
    assert server.requests[0].error == "the script has no step for 01_a:1, attempt 1, reading 1"


# --- which tool ---


def test_files_are_changed_by_the_tools_that_are_offered_in_full_paths() -> None:
    actions: list[Mapping[str, object]] = [{"write": "{spec}.txt", "text": "by {node}"}]
    folder = "Primary working directory: /somewhere/work\n"
    with playing(*actions) as server:
        by_tool = messages(server, task(), tools=("Write", "Bash"), system=folder)
        by_shell = messages(server, task(), tools=("Bash",))
    assert calls_of(by_tool) == [("Write", {"file_path": "/somewhere/work/01_a.txt", "content": "by 01_a:1"})]
    assert calls_of(by_shell) == [("Bash", {"command": "printf %s 'by 01_a:1' > 01_a.txt"})]


def test_an_edit_is_made_everywhere_as_the_scripted_backend_makes_it() -> None:
    with playing({"replace": "a.txt", "old": "x", "new": "y"}) as server:
        answer = messages(server, task(), tools=("Edit",))
    values = {"file_path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": True}
    assert calls_of(answer) == [("Edit", values)]


SHELL_ACTIONS: tuple[Mapping[str, object], ...] = (
    {"write": "new/it's $HOME.txt", "text": "line `one`\n'two' \"three\"\\n\n"},
    {"write": "tool", "text": "#!/bin/sh\n", "executable": True},
    {"append": "deep/er/log.txt", "text": "100 %s\n"},
    {"append": "deep/er/log.txt", "text": "{node}"},
    {"replace": "kept.txt", "old": "a'b", "new": 'c"d'},
    {"delete": "gone.txt"},
    {"delete": "folder"},
    {"delete": "never there"},
    {"run": ["{python}", "-c", "open('ran', 'w').write('attempt {attempt}')"]},
)


def test_with_a_shell_alone_every_deed_is_done_by_the_shell(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("a'b a'b")
    (tmp_path / "gone.txt").write_text("x")
    (tmp_path / "folder" / "in").mkdir(parents=True)
    with playing(*SHELL_ACTIONS) as server:
        past: list[Document] = []
        for _ in SHELL_ACTIONS:
            [(_, arguments)] = calls_of(messages(server, task(), *past, tools=("Bash",)))
            subprocess.run(["sh", "-c", str(arguments["command"])], cwd=tmp_path, check=True)
            past += [model("", "Bash"), results("")]
    found = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {
        "new/it's $HOME.txt": "line `one`\n'two' \"three\"\\n\n",
        "tool": "#!/bin/sh\n",
        "deep/er/log.txt": "100 %s\n01_a:1",
        "kept.txt": 'c"d c"d',
        "ran": "attempt 1",
    }
    assert os.access(tmp_path / "tool", os.X_OK)
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("offered", ["run_unit_tests", "mcp__verifier__run_unit_tests", "verifier_run_unit_tests"])
def test_a_tool_of_a_server_is_found_by_the_end_of_its_name(offered: str) -> None:
    with playing({"mcp": "run_unit_tests", "arguments": {"only": ["a"]}}) as server:
        answer = messages(server, task(), tools=("Bash", offered))
    assert calls_of(answer) == [(offered, {"only": ["a"]})]


def test_a_tool_that_is_not_offered_is_refused_but_a_literal_one_is_called() -> None:
    with playing({"mcp": "run_unit_tests"}) as server:
        refused = messages(server, task(), tools=("Bash", "not_run_unit_testsx"))
    with playing({"tool": "Write", "arguments": {"file_path": "/etc/x"}}) as server:
        literal = messages(server, task(), tools=("Read",))
    assert refused.status == 400
    assert "no tool of the request ends in 'run_unit_tests'; it offers Bash" in refused.body.decode()
    assert calls_of(literal) == [("Write", {"file_path": "/etc/x"})]


def test_a_tool_that_is_only_named_is_looked_for_first_and_that_is_no_turn() -> None:
    named: Document = {"role": "system", "content": "deferred tools:\nmcp__verifier__run_unit_tests\nWebFetch"}
    with playing({"mcp": "run_unit_tests"}, {"say": "all pass"}) as server:
        search = messages(server, task(), named, tools=("ToolSearch",))
        found: list[Document] = [
            task(),
            named,
            {"role": "assistant", "content": search.json["content"]},
            results("loaded"),
        ]
        called = messages(server, *found, tools=("ToolSearch",))
        past = [*found, {"role": "assistant", "content": called.json["content"]}, results("12 passed")]
        ended = messages(server, *past, tools=("ToolSearch",))
    assert calls_of(search) == [("ToolSearch", {"query": "select:mcp__verifier__run_unit_tests", "max_results": 1})]
    assert calls_of(called) == [("mcp__verifier__run_unit_tests", {})]
    assert text_of(ended) == "all pass"


# --- reports ---

BRIEF = """agent-fox session: 01_a:2 attempt 1 reading 1 archetype verifier

## Give one verdict for each of these ids

01-REQ-1.1, 01-REQ-1.2, 01-REQ-2.E1

Silence about an id is not a PASS.

## What they say

- **01-REQ-1.1** It adds.
"""


def test_a_report_has_a_verdict_for_each_id_that_the_brief_asks_for() -> None:
    words = {"01-REQ-1.2": "FAIL", "99-REQ-1": "UNKNOWN", "*": "PASS"}
    with playing({"verdicts": words, "evidence": "seen"}) as server:
        answer = messages(server, user(BRIEF))
    report = json.loads(text_of(answer))
    assert [(row["requirement_id"], row["verdict"], row["evidence"]) for row in report["verdicts"]] == [
        ("01-REQ-1.1", "PASS", "seen"),
        ("01-REQ-1.2", "FAIL", "seen"),
        ("01-REQ-2.E1", "PASS", "seen"),
        ("99-REQ-1", "UNKNOWN", "seen"),
    ]
    assert report["overall_verdict"] == "FAIL"


def test_the_ids_of_a_brief_of_ours_are_found_and_the_report_has_the_schemas_form() -> None:
    ids = tuple(f"01-REQ-{number}.E1" for number in range(1, 40))
    criteria = tuple(Criterion(one, f"It does {one}, and more.") for one in ids)
    facts = BriefFacts("01_a:2", "01_a", Archetype.VERIFIER, 1, requirements=criteria, expected=ids)
    with playing({"verdicts": "PASS"}) as server:
        answer = messages(server, user(f"agent-fox session: 01_a:2 attempt 1 reading 1\n\n{brief_markdown(facts)}"))
    report = json.loads(text_of(answer))
    assert [row["requirement_id"] for row in report["verdicts"]] == list(ids)
    assert sorted(report) == sorted(TypeAdapter(list[str]).validate_python(VERDICT_SCHEMA["required"]))


def test_what_a_brief_leaves_out_is_no_id() -> None:
    heading = "agent-fox session: 01_a:2 attempt 1 reading 1\n\n## Give one verdict for each of these ids\n\n"
    with playing({"verdicts": "PASS"}) as server:
        answer = messages(server, user(f"{heading}A-1, A-2, and 3 more, in full in the JSON form of this brief\n\nx"))
    assert [row["requirement_id"] for row in json.loads(text_of(answer))["verdicts"]] == ["A-1", "A-2"]


def test_ids_are_also_found_where_the_brief_only_tells_what_they_say() -> None:
    told = "agent-fox session: 01_a:2 attempt 1 reading 1\n\n## What they say\n\n- **A-1** x\n- **A-2** y\n"
    with playing({"verdicts": "PASS"}) as server:
        report = json.loads(text_of(messages(server, user(told))))
    assert [row["requirement_id"] for row in report["verdicts"]] == ["A-1", "A-2"]
    assert report["overall_verdict"] == "PASS"


def test_a_structured_answer_is_given_by_the_tool_for_it() -> None:
    with playing({"print": "Hm."}, {"answer": {"findings": []}}) as server:
        answer = messages(server, task(), tools=("Read", "StructuredOutput"))
        plain = messages(server, task(), tools=("Read",))
    assert (text_of(answer), calls_of(answer)) == ("Hm.", [("StructuredOutput", {"findings": []})])
    assert text_of(plain) == 'Hm.\n{\n "findings": []\n}'


# --- beside the work ---


def test_a_request_for_a_title_gets_one_and_advances_nothing() -> None:
    with playing({"status": 500, "times": 1}, {"say": "the work"}) as server:
        title = messages(server, task(), system="You are a title generator. You output ONLY a thread title.")
        work = messages(server, task(), tools=("Bash",))
    assert text_of(title) == "A session"
    assert work.status == 500
    assert [(r.is_side, r.step) for r in server.requests] == [(True, None), (False, 0)]


def test_the_work_may_speak_of_titles() -> None:
    with playing({"say": "the work"}) as server:
        answer = messages(server, task(), system="You are a title generator.", tools=("Bash",))
    assert text_of(answer) == "the work"


# --- what stands in the way ---


@pytest.mark.parametrize(
    ("word", "status", "kind"),
    [
        ("authentication", 401, "authentication_error"),
        ("rate limit", 429, "rate_limit_error"),
        ("overload", 529, "overloaded_error"),
    ],
)
def test_a_failure_is_the_error_that_the_service_sends_every_time(word: str, status: int, kind: str) -> None:
    with playing({"fail": word}) as server:
        answers = [messages(server, task()) for _ in range(3)]
    assert [answer.status for answer in answers] == [status] * 3
    error = answers[0].json["error"]
    assert isinstance(error, dict)
    assert error["type"] == kind
    assert ("retry-after" in answers[0].headers) == (status == 429)


def test_a_network_failure_is_a_connection_that_ends_without_an_answer() -> None:
    with playing({"fail": "network"}) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            messages(server, task())
        assert server.wait_for(lambda requests: requests[0].ended is not None, SECONDS)
    assert server.requests[0].status is None
    assert server.requests[0].obstacles == ("fail",)


def test_an_error_comes_as_often_as_the_script_says_for_each_session() -> None:
    with playing({"status": 503, "body": "busy", "times": 2}, {"say": "there"}) as server:
        first = [messages(server, task()) for _ in range(4)]
        other = messages(server, task("01_b:1"))
    assert [answer.status for answer in first] == [503, 503, 200, 200]
    assert first[0].body == b"busy"
    assert other.status == 503


def test_errors_stand_where_the_script_has_them() -> None:
    with playing({"run": ["true"]}, {"status": 529}, {"say": "there"}) as server:
        past = [task(), model("", "Bash"), results("ok")]
        answers = [messages(server, *said, tools=("Bash",)) for said in ([task()], past, past)]
    assert [answer.status for answer in answers] == [200, 529, 200]


def test_a_dropped_answer_breaks_off_and_the_next_one_is_whole() -> None:
    with playing({"drop": True}, {"drop": True, "times": 1}, {"say": "x" * 500}) as server:
        for _ in range(2):
            with pytest.raises(http.client.IncompleteRead):
                messages(server, task(), stream=True)
        whole = messages(server, task(), stream=True)
    assert whole.body.rstrip().endswith(b'{"type": "message_stop"}')
    assert server.requests[0].error == "the answer was cut, as the script says"


def test_a_plain_answer_can_be_dropped_too() -> None:
    with playing({"drop": True}, {"say": "x"}) as server, pytest.raises(http.client.IncompleteRead):
        messages(server, task())


def test_an_answer_of_one_event_is_cut_before_it() -> None:
    body = {
        "contents": [{"parts": [{"text": "x"}]}],
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
    }
    with playing({"drop": True}, {"run": ["ls"]}) as server, pytest.raises(http.client.IncompleteRead) as caught:
        ask(server, "/v1beta/models/m:streamGenerateContent?alt=sse", body)
    assert caught.value.partial == b""


def test_garbage_is_sent_as_it_stands() -> None:
    with playing({"garbage": "<html>no"}, {"say": "x"}) as server:
        assert messages(server, task()).body == b"<html>no"
        assert text_of(messages(server, task())) == "x"


def test_a_hang_is_silence_of_that_length() -> None:
    with playing({"hang": 0.4}, {"sleep": 0.2}, {"say": "late"}) as server:
        began = time.monotonic()
        answer = messages(server, task())
        assert 0.6 <= time.monotonic() - began < SECONDS
    assert text_of(answer) == "late"
    assert server.requests[0].obstacles == ("hang", "sleep")


def test_a_stream_can_hang_after_it_has_begun() -> None:
    with playing({"hang": 30, "stage": "stream"}, {"say": "never"}) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
        body = json.dumps({"model": "m", "messages": [task()], "stream": True})
        connection.request("POST", "/v1/messages", body)
        response = connection.getresponse()
        assert response.status == 200
        assert b"message_start" in response.readline()
        assert server.requests[0].ended is None
        response.close()
        connection.close()
        assert server.wait_for(lambda requests: requests[0].ended is not None, SECONDS)
    assert server.requests[0].error == "the client went away"


def test_the_end_of_the_server_ends_a_hang() -> None:
    began = time.monotonic()
    with playing({"hang": 600}) as server:
        asking = threading.Thread(target=ignoring(lambda: messages(server, task())))
        asking.start()
        assert server.wait_for(lambda requests: len(requests) == 1 and requests[0].obstacles == ("hang",), SECONDS)
    asking.join(SECONDS)
    assert not asking.is_alive()
    assert time.monotonic() - began < SECONDS
    assert (server.requests[0].error, server.requests[0].status) == ("the server was stopped", None)


def ignoring(act: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        try:
            act()
        except (OSError, http.client.HTTPException):
            return

    return run


# --- bad requests ---


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"model": 1, "messages": "x"}',
        b'{"model": "m", "messages": []}',
        b'{"model": "m", "messages": [{"role": "user", "content": [{"text": "no type"}]}]}',
    ],
)
def test_a_malformed_request_is_refused_recorded_and_survived(body: bytes) -> None:
    with playing({"say": "well"}) as server:
        for path in ("/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"):
            assert ask(server, path, body).status in (200, 400), path
        assert messages(server, task()).status == 200
    assert server.requests[0].status == 400
    assert all(request.ended is not None for request in server.requests)


def test_a_path_that_is_not_known_is_not_found_and_recorded() -> None:
    with playing() as server:
        statuses = [
            ask(server, "/v1/other", {"a": 1}).status,
            ask(server, "/v1/messages", b"", method="GET").status,
            ask(server, "/", b"", method="HEAD").status,
        ]
    assert statuses == [404, 404, 404]
    assert [(r.method, r.path, r.body) for r in server.requests] == [
        ("POST", "/v1/other", {"a": 1}),
        ("GET", "/v1/messages", None),
        ("HEAD", "/", None),
    ]


@pytest.mark.parametrize("length", ["-1", "many", "99999999999"])
def test_a_length_that_cannot_be_is_refused(length: str) -> None:
    with playing() as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
        connection.putrequest("POST", "/v1/messages")
        connection.putheader("content-length", length)
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()


def test_a_body_in_chunks_is_read() -> None:
    with playing({"say": "well"}) as server:
        raw = json.dumps({"model": "m", "messages": [task()]}).encode()
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=SECONDS)
        connection.request("POST", "/v1/messages", iter([raw[:10], raw[10:]]), encode_chunked=True)
        assert connection.getresponse().status == 200
        connection.close()


def test_many_sessions_at_once_are_kept_apart() -> None:
    with playing({"status": 529, "times": 1}, {"sleep": 0.05}, {"say": "{node}"}) as server:
        said: dict[int, tuple[int, str]] = {}

        def session(number: int) -> None:
            refused = messages(server, task(f"01_a:{number}")).status
            said[number] = refused, text_of(messages(server, task(f"01_a:{number}")))

        threads = [threading.Thread(target=session, args=(number,)) for number in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
    assert said == {number: (529, f"01_a:{number}") for number in range(30)}


# --- what is counted and recorded ---


def test_tokens_are_those_of_the_step_or_counted_by_length() -> None:
    with playing({"say": "x" * 40}, input_tokens=1000, output_tokens=7) as server:
        told = messages(server, task()).json["usage"]
    with playing({"say": "x" * 40}) as server:
        counted = messages(server, task()).json["usage"]
        size = len(json.dumps({"model": "m", "max_tokens": 9, "messages": [task()], "tools": []}))
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    assert told == {"input_tokens": 1000, "output_tokens": 7, **cached}
    assert counted == {"input_tokens": size // 4, "output_tokens": 10, **cached}
    assert (server.requests[0].input_tokens, server.requests[0].output_tokens) == (size // 4, 10)


def test_everything_asked_is_written_down_keys_included(tmp_path: Path) -> None:
    with ModelServer(script({"say": "well"}), record=tmp_path / "record.jsonl") as server:
        ask(server, "/v1/messages", {"model": "m", "messages": [task()]}, {"X-Api-Key": "k1", "Authorization": "B k2"})
        assert server.wait_for(lambda requests: requests[0].ended is not None, SECONDS)
        [line] = (tmp_path / "record.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert (row["headers"]["x-api-key"], row["headers"]["authorization"]) == ("k1", "B k2")
    assert row["body"] == {"model": "m", "messages": [task()]}
    assert (row["step"], row["turn"], row["status"], row["words"]) == (0, 0, 200, "well")
    assert row["began"] <= row["ended"]


def test_waiting_ends_when_the_time_is_over() -> None:
    with playing() as server:
        assert not server.wait_for(lambda requests: len(requests) > 0, 0.05)


# --- scripts ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[step]]\nactions = [{status = 200}]", "greater than or equal to 400"),
        ("[[step]]\nactions = [{hang = 1, stage = 'after'}]", "'before' or 'stream'"),
        ("[[step]]\nactions = [{fail = 'disk full'}]", "'network'"),
        ("[[step]]\nactions = [{drop = false}]", "True"),
        ("[[step]]\nactions = [{unheard = 1}]", "Unable to extract tag"),
        ("[[step]]\nnodes = 'x'", "Extra inputs"),
        ("[[step]", "Expected"),
    ],
)
def test_a_bad_script_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(text)
    with pytest.raises(ScriptError, match=message) as caught:
        read_model_script(path)
    assert str(path) in str(caught.value)


def test_the_demonstrations_script_is_one_that_a_model_can_play() -> None:
    fixtures = Path(__file__).parents[2] / "fixtures" / "demo"
    read = read_model_script(fixtures / "agents.toml")
    assert read.step


# --- as a program ---


def test_as_a_program_it_prints_its_address_and_ends_at_a_signal(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text('[[step]]\nactions = [{say = "well"}]\n')
    files = ["--port-file", str(tmp_path / "port"), "--record", str(tmp_path / "record.jsonl")]
    argv = [sys.executable, "-m", "agent_fox.testing.model_server", str(tmp_path / "script.toml"), *files]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=SECONDS)
        connection.request("POST", "/v1/messages", json.dumps({"model": "m", "messages": [task()]}))
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    assert url.endswith(":" + (tmp_path / "port").read_text())
    assert len((tmp_path / "record.jsonl").read_text().splitlines()) == 1


def test_a_missing_script_is_one_line_and_status_1(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "agent_fox.testing.model_server", str(tmp_path / "none.toml")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"script {tmp_path}/none.toml: No such file or directory; name a script that exists\n"
