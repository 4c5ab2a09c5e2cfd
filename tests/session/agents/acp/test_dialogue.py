"""What is said to an agent of the Agent Client Protocol, and what its messages mean: lines in, lines and events out.

Every line that we say is held against the models of the protocol's own library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent_fox.session.agents.acp.dialogue import ANSWERING, MOST_ASKED, MOST_ODD, AcpDialogue
from agent_fox.session.agents.events import (
    Answered,
    Beat,
    Began,
    Broken,
    Called,
    Cost,
    Event,
    Finished,
    Spoke,
    Tokens,
    Trouble,
    Turn,
    Unreadable,
)
from agent_fox.session.agents.task import Provider, Role
from agent_fox.session.infrastructure import Infrastructure
from tests.session.agents.tasks import task_in

ROOT = Path("/place")
CAN_FORK = {"sessionCapabilities": {"fork": {}}, "mcpCapabilities": {"http": True}}
SERVER = {"type": "http", "name": "verifier", "url": "http://127.0.0.1:9/mcp", "headers": []}
BROKEN = Infrastructure.BROKEN_PROGRAM
REQUESTS: Mapping[str, type[BaseModel]] = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "session/new": schema.NewSessionRequest,
    "session/fork": schema.ForkSessionRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
}
VERDICTS = json.dumps({"verdicts": [{"requirement_id": "01-REQ-1.1", "verdict": "PASS"}], "overall_verdict": "PASS"})


class Talk:
    """A dialogue with a script of answers. `said` are our messages, `heard` the events without the signs of life."""

    def __init__(self, role: Role = Role.CODER, **changes: Any) -> None:  # noqa: ANN401 - fields of the task
        is_set, held = changes.pop("is_set", frozenset()), changes.pop("why_held", None)
        task = task_in(ROOT, "acp", **{"role": role, "provider": None, "tools": ("run_unit_tests",), **changes})
        self.dialogue = AcpDialogue(task, lambda has_http: (SERVER,) if has_http else (), is_set, held)
        self.said: list[dict[str, Any]] = []
        self.heard: list[Event] = []
        self._take()

    def _take(self) -> None:
        for line in self.dialogue.replies():
            message = json.loads(line)
            assert "\n" not in line
            if "method" in message and message["method"] in REQUESTS:
                REQUESTS[message["method"]].model_validate(message["params"])
            self.said.append(message)

    def line(self, text: str) -> None:
        self.heard += [event for event in self.dialogue.line(text) if not isinstance(event, Beat)]
        self._take()

    def gets(self, **message: object) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}))

    def answers(self, **result: object) -> None:
        self.gets(id=self.said[-1]["id"], result=result)

    def fails(self, code: int, message: str = "no", data: object = None) -> None:
        self.gets(id=self.said[-1]["id"], error={"code": code, "message": message, "data": data})

    def update(self, name: str, /, session: str = "s-1", **update: object) -> None:
        self.gets(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": name, **update}})

    def says(self, text: str) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def asks(self, number: object = "ask-1", call: str = "c-1", **about: object) -> None:
        options = [
            {"optionId": "yes", "name": "y", "kind": "allow_once"},
            {"optionId": "no", "name": "n", "kind": "reject_once"},
        ]
        params = {"sessionId": "s-1", "toolCall": {"toolCallId": call, **about}, "options": options}
        self.gets(id=number, method="session/request_permission", params=params)

    @property
    def asked(self) -> tuple[Any, Any]:
        return self.said[-1]["method"], self.said[-1]["params"]

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.heard if isinstance(event, kind)]


def introduced(talk: Talk, able: object = None, ways: object = (), version: int = 1) -> Talk:
    info = {"name": "toy", "version": "2.0"}
    talk.answers(protocolVersion=version, agentCapabilities=able or {}, authMethods=ways, agentInfo=info)
    return talk


def begun(talk: Talk, able: object = None, **session: object) -> Talk:
    introduced(talk, able).answers(sessionId="s-1", **session)
    return talk


def test_a_session_goes_its_way() -> None:
    talk = begun(Talk(), CAN_FORK)
    assert [message["method"] for message in talk.said] == ["initialize", "session/new", "session/prompt"]
    assert talk.said[0]["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False,
    }  # fmt: skip
    assert talk.said[1]["params"] == {"cwd": "/place/workspace", "mcpServers": [SERVER]}
    assert talk.said[2]["params"]["prompt"] == [{"type": "text", "text": "The rules.\n\nThe brief."}]
    talk.says("Now I ")
    talk.says("write.")
    talk.update("tool_call", toolCallId="c-1", title="a.py", kind="edit", status="pending")
    talk.update(
        "tool_call_update", toolCallId="c-1", status="in_progress", locations=[{"path": "/place/workspace/a.py"}]
    )
    talk.update("tool_call_update", toolCallId="c-1", status="completed", rawOutput="written")
    talk.update("usage_update", used=1, size=2, cost={"amount": 0.25, "currency": "USD"})
    talk.says("Done.")
    usage = {"inputTokens": 10, "outputTokens": 2, "cachedReadTokens": 3, "totalTokens": 15}
    talk.answers(stopReason="end_turn", usage=usage)
    assert talk.heard == [
        Began("s-1", version="toy 2.0"),
        Turn(),
        Spoke("Now I write."),
        Called("edit", {"path": "/place/workspace/a.py"}, "c-1"),
        Answered("c-1", "written"),
        Cost(0.25),
        Turn(),
        Spoke("Done."),
        Finished("Done.", reason="completed", session="s-1", cost_usd=0.25, tokens=Tokens(10, 2, 3)),
    ]
    assert talk.dialogue.is_over


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled"])
def test_only_the_end_of_a_turn_is_a_good_end(reason: str) -> None:
    talk = begun(Talk())
    talk.answers(stopReason=reason)
    assert talk.heard[-1] == Finished(is_error=True, reason=reason, session="s-1")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 0, "error": {"code": -32601, "message": "Method not found"}}', "answers `initialize` with an error"),
        ('{"id": 0, "result": {}}', "names no version of the protocol"),
        ('{"id": 0, "result": null}', "names no version of the protocol"),
        ('{"id": 0, "result": {"protocolVersion": "no"}}', ""),
        ('{"id": 0, "result": {"protocolVersion": 9}}', "version 9 of the protocol, and we speak 1"),
        ('{"id": 0, "error": {"code": "x"}}', ""),
    ],
)
def test_what_introduces_itself_in_another_way_is_no_agent(line: str, words: str) -> None:
    talk = Talk()
    talk.line(line)
    broken = talk.of(Broken)
    assert (len(broken), broken[0].kind if broken else None) == (1, BROKEN) or talk.of(Unreadable)
    assert words in "".join(event.text for event in broken)
    assert [message["method"] for message in talk.said] == ["initialize"] or not words


@pytest.mark.parametrize("able", ["x", {"mcpCapabilities": 5}, {"sessionCapabilities": []}, {"loadSession": {}}])
def test_capabilities_in_another_form_are_none(able: object) -> None:
    talk = begun(Talk(Role.VERIFIER, ask_again="again?"), able)
    assert talk.said[1]["params"]["mcpServers"] == []
    talk.answers(stopReason="end_turn")
    assert talk.said[-1]["params"]["prompt"] == [{"type": "text", "text": "again?"}]
    assert talk.dialogue.successor() is None


def test_a_program_that_echoes_is_no_agent() -> None:
    """`cat` gives back what it is told: our request, our answer to that request, and so on."""
    talk = Talk()
    for _ in range(3):
        talk.line(json.dumps(talk.said[-1]))
    assert [event.kind for event in talk.of(Broken)] == [BROKEN]


def test_a_program_that_only_prints_is_no_agent() -> None:
    talk = Talk()
    for number in range(MOST_ODD + 5):
        talk.line(f"$ prompt {number}")
    assert len(talk.of(Broken)) == 1
    assert "it is no ACP agent: it prints '$ prompt 199'" in talk.of(Broken)[0].text


def test_a_program_that_never_answers_is_told_once_and_in_time() -> None:
    talk = Talk()
    assert not list(talk.dialogue.overdue(ANSWERING - 1))
    told = [event for _ in range(3) for event in talk.dialogue.overdue(ANSWERING + 1)]
    assert told == [Broken("it did not answer `initialize` within 120 s: it is no ACP agent", BROKEN)]
    assert not list(begun(Talk()).dialogue.overdue(ANSWERING + 1))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (0, "before it had answered `initialize`: it is no ACP agent, or its command line is wrong"),
        (1, "before it had answered `session/new`"),
        (2, "before its answer was complete"),
    ],
)
def test_an_end_in_the_middle_says_where(steps: int, words: str) -> None:
    talk = Talk() if steps == 0 else introduced(Talk()) if steps == 1 else begun(Talk())
    last = talk.dialogue.end(0)
    assert last is not None
    assert (last.is_error, last.reason) == (True, f"it ended {words}")


ODD_FRAMES = [
    "garbage", "", "[]", "[1,2]", "null", "7", '"text"', "{", '{"jsonrpc": "2.0"}', '{"id": 77, "result": {}}',
    '{"id": null, "result": {}}', '{"id": {}, "method": "x"}', '{"id": 2.5, "method": "session/request_permission"}',
    '{"method": 7}', '{"method": "session/update"}', '{"method": "session/update", "params": []}',
    '{"method": "session/update", "params": {"sessionId": "s-1"}}',
    '{"method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": "brand_new"}}}',
    '{"method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": "tool_call"}}}',
    '{"method": "session/update", "params": {"sessionId": 7, "update": {"sessionUpdate": "agent_message_chunk"}}}',
    '{"method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": ["x"]}}}',
    '{"method": "unheard/of", "params": 3}', '\x00\x01', '{"id": 1, "method": "\\ud800"}', "{" * 5000,
    '{"id": 3, "method": "session/request_permission", "params": {"sessionId": "s-1"}}',
]  # fmt: skip


@pytest.mark.parametrize("frame", ODD_FRAMES, ids=range(len(ODD_FRAMES)))
def test_a_broken_frame_ends_nothing_and_what_follows_is_heard(frame: str) -> None:
    talk = begun(Talk())
    talk.line(frame)
    talk.says("Done.")
    talk.gets(id=2, result={"stopReason": "end_turn"})
    assert talk.of(Finished)[-1].text == "Done."
    assert not talk.of(Broken)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_no_line_raises(line: str) -> None:
    talk = begun(Talk())
    talk.line(line)


@given(
    st.dictionaries(
        st.sampled_from(("id", "method", "params", "result", "error", "jsonrpc")),
        st.none() | st.integers(0, 3) | st.sampled_from(("session/update", "session/request_permission", "fs/x"))
        | st.dictionaries(st.sampled_from(("sessionId", "update", "toolCall", "options")), st.integers() | st.text()),
    )
)  # fmt: skip
def test_no_message_raises(message: dict[str, object]) -> None:
    talk = begun(Talk())
    talk.line(json.dumps(message))


def test_a_request_that_cannot_be_read_is_answered_with_an_error_and_nobody_waits() -> None:
    talk = begun(Talk())
    talk.gets(id="ask-1", method="session/request_permission", params={"sessionId": "s-1"})
    assert (talk.said[-1]["id"], talk.said[-1]["error"]["code"]) == ("ask-1", -32602)
    assert len(talk.of(Unreadable)) == 1


@pytest.mark.parametrize(
    "method",
    ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/kill", "elicitation/create", "x/y"],
)
def test_what_is_not_offered_is_refused_and_told(method: str) -> None:
    talk = begun(Talk())
    talk.gets(id=0, method=method, params={"sessionId": "s-1", "path": "/etc/passwd", "command": "sh"})
    assert talk.said[-1] == {
        "jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": f"{method} is not offered to this session"},
    }  # fmt: skip
    assert [event.tool for event in talk.of(Called)] == [method]
    assert [event.is_refused for event in talk.of(Answered)] == [True]


def test_permission_is_given_and_refused_by_the_table_and_a_refusal_is_told() -> None:
    talk = begun(Talk(Role.VERIFIER))
    talk.asks("a", "c-1", kind="read", title="notes.txt")
    talk.asks("b", "c-2", kind="edit", title="notes.txt")
    talk.asks("c", "c-3", kind="other", title="mcp__verifier__run_unit_tests")
    talk.asks("d", "c-4", title="Something new")
    outcomes = {message["id"]: message["result"]["outcome"]["optionId"] for message in talk.said if "result" in message}
    assert outcomes == {"a": "yes", "b": "no", "c": "yes", "d": "no"}
    assert [(event.call, event.text) for event in talk.of(Answered)] == [
        ("c-2", "refused: a verifier has no tool of the kind 'edit'"),
        ("c-4", "refused: a verifier has no tool of the kind 'other'"),
    ]


def test_where_no_option_refuses_the_request_is_cancelled() -> None:
    talk = begun(Talk(Role.REVIEWER))
    options = [{"optionId": "yes", "name": "y", "kind": "allow_always"}]
    call = {"toolCallId": "c-1", "kind": "execute"}
    params = {"sessionId": "s-1", "toolCall": call, "options": options}
    talk.gets(id=9, method="session/request_permission", params=params)
    assert talk.said[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_flood_of_requests_is_answered_for_a_while_and_then_ends_the_session() -> None:
    talk = begun(Talk())
    for number in range(MOST_ASKED + 50):
        talk.asks(number, f"c-{number}", kind="read")
    answered = [message for message in talk.said if "result" in message]
    assert len(answered) == MOST_ASKED
    assert talk.of(Broken) == [Broken(f"it asked more than {MOST_ASKED} times for something")]


def test_lies_about_calls_change_nothing() -> None:
    talk = begun(Talk())
    talk.update("tool_call_update", toolCallId="never-begun", status="completed", title="?")
    talk.update("tool_call", toolCallId="c-1", title="t", kind="read", status="completed")
    talk.update("tool_call_update", toolCallId="c-1", status="failed")
    talk.update("tool_call", toolCallId="c-1", title="again", kind="edit", status="in_progress")
    talk.update("tool_call", session="s-2", toolCallId="c-9", title="of another", kind="edit", status="completed")
    talk.update("tool_call", toolCallId="c-3", title="odd", kind="brand_new", status="never heard of")
    assert [(event.tool, event.call) for event in talk.of(Called)] == [("other", "never-begun"), ("read", "c-1")]
    assert [(event.call, event.is_error) for event in talk.of(Answered)] == [("never-begun", False), ("c-1", False)]
    assert len(talk.of(Unreadable)) == 1


def test_what_is_done_though_it_was_refused_is_told() -> None:
    talk = begun(Talk(Role.REVIEWER))
    talk.asks("a", "c-1", kind="edit", title="a.py")
    talk.update("tool_call_update", toolCallId="c-1", status="completed")
    talk.update("tool_call_update", toolCallId="c-1", status="completed")
    assert [event.tool for event in talk.of(Called)] == ["edit", "edit, though it was refused"]


def test_a_message_without_end_is_cut_at_its_beginning_and_the_cut_is_told() -> None:
    talk = begun(Talk())
    for _ in range(60):
        talk.says("x" * 100_000)
    talk.says("the verdict")
    talk.answers(stopReason="end_turn")
    text = talk.of(Finished)[-1].text
    assert text.endswith("the verdict")
    assert text.startswith("… ")
    left_out = int(text.split()[1])
    assert left_out + len(text.split("\n", 1)[1]) == 60 * 100_000 + len("the verdict")


def test_the_answer_is_all_that_is_said_after_the_last_call() -> None:
    """An agent adds messages of its own behind a model's answer; what was said before a call is none."""
    talk = begun(Talk())
    talk.says("First I look.")
    talk.update("tool_call", toolCallId="c-1", title="t", kind="read", status="completed")
    talk.update("agent_message_chunk", messageId="m-1", content={"type": "text", "text": VERDICTS})
    talk.update("tool_call_update", toolCallId="c-1", status="completed")
    talk.update("agent_message_chunk", messageId="m-2", content={"type": "text", "text": "**Warning:** a notice."})
    talk.answers(stopReason="end_turn")
    assert talk.of(Finished)[-1].text == f"{VERDICTS}\n**Warning:** a notice."


@pytest.mark.parametrize(
    ("amount", "currency", "told"), [(1.5, "USD", [Cost(1.5)]), (1.5, "EUR", []), ("much", "USD", [])]
)
def test_a_cost_counts_in_dollars_only(amount: object, currency: str, told: list[Cost]) -> None:
    talk = begun(Talk())
    talk.update("usage_update", used=1, size=2, cost={"amount": amount, "currency": currency})
    assert talk.of(Cost) == told


# Models, in three ways

NEW = {
    "configOptions": [
        {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "a", "options": []},
        {
            "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "small",
            "options": [{"value": "small", "name": "Small One"}, {"value": "large", "name": "Large One"}],
        },
        {
            "id": "t", "name": "Thinking", "category": "thought_level", "type": "select", "currentValue": "low",
            "options": [{"group": "g", "name": "G", "options": [{"value": "high", "name": "High"}]}],
        },
    ]
}  # fmt: skip
OLD = {"models": {"currentModelId": "small", "availableModels": [{"modelId": "large", "name": "Large One"}]}}


@pytest.mark.parametrize(
    ("session", "model", "asked"),
    [
        (NEW, "large", ("session/set_config_option", {"sessionId": "s-1", "configId": "m", "value": "large"})),
        (NEW, "Large One", ("session/set_config_option", {"sessionId": "s-1", "configId": "m", "value": "large"})),
        (OLD, "large", ("session/set_model", {"sessionId": "s-1", "modelId": "large"})),
        (OLD, "Large One", ("session/set_model", {"sessionId": "s-1", "modelId": "large"})),
    ],
)
def test_a_model_is_set_as_the_agent_offers_it(session: Any, model: str, asked: tuple[str, object]) -> None:  # noqa: ANN401
    talk = begun(Talk(model=model), None, **session)
    assert talk.asked == asked
    talk.answers()
    assert talk.asked[0] == "session/prompt"
    assert talk.of(Began)[0].model == model


@pytest.mark.parametrize(
    ("session", "changes", "words"),
    [
        (NEW, {"model": "huge"}, "the agent offers no model 'huge'; it offers small, large"),
        (NEW, {"model": "larg"}, "the agent offers no model 'larg'; it offers small, large"),
        (OLD, {"model": "huge"}, "the agent offers no model 'huge'; it offers large"),
        ({}, {"model": "huge"}, "the agent offers no choice of models, so 'huge' cannot be set; write {model} into"),
        ({"models": None}, {"model": "huge"}, "the agent offers no choice of models"),
        ({}, {"effort": "high"}, "the agent offers no choice of effort"),
        (NEW, {"effort": "extreme"}, "the agent offers no thinking 'extreme'; it offers high"),
    ],
)
def test_a_model_that_cannot_be_set_stops_before_a_prompt(session: Any, changes: Any, words: str) -> None:  # noqa: ANN401
    talk = begun(Talk(**changes), None, **session)
    trouble = talk.of(Trouble)[0]
    assert (trouble.kind, words in trouble.text) == (Infrastructure.UNKNOWN_MODEL, True), trouble.text
    assert talk.said[-1]["method"] == "session/new"


def test_a_model_that_stands_in_the_command_is_not_set_again() -> None:
    talk = begun(Talk(model="huge", is_set=frozenset({"{model}"})), None, **NEW)
    assert talk.asked[0] == "session/prompt"


MODES = {"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "A"}, {"id": "default", "name": "Ask"}]}
OPTION = {
    "id": "o", "name": "Mode", "category": "mode", "type": "select", "currentValue": "auto",
    "options": [{"value": "auto", "name": "A"}, {"value": "default", "name": "Ask"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("session", "asked"),
    [
        ({"modes": MODES}, ("session/set_mode", {"sessionId": "s-1", "modeId": "default"})),
        ({"modes": MODES, "configOptions": [OPTION]}, ("session/set_mode", {"sessionId": "s-1", "modeId": "default"})),
        (
            {"configOptions": [OPTION]},
            ("session/set_config_option", {"sessionId": "s-1", "configId": "o", "value": "default"}),
        ),
        ({"modes": {**MODES, "currentModeId": "default"}}, None),
        ({"modes": {"currentModeId": "build", "availableModes": [{"id": "build", "name": "B"}]}}, None),
    ],
)
def test_an_agent_that_begins_in_a_mode_without_questions_is_put_into_the_one_with_them(
    session: Any,  # noqa: ANN401
    asked: tuple[str, object] | None,
) -> None:
    talk = begun(Talk(), None, **session)
    if asked is not None:
        assert talk.asked == asked
        talk.answers()
    assert talk.said[-1]["method"] == "session/prompt"


def test_model_and_effort_are_set_one_after_the_other() -> None:
    talk = begun(Talk(model="large", effort="high"), None, **NEW)
    talk.answers()
    assert talk.asked == ("session/set_config_option", {"sessionId": "s-1", "configId": "t", "value": "high"})
    talk.answers()
    assert talk.said[-1]["method"] == "session/prompt"


def test_without_a_wish_the_agents_own_model_is_named() -> None:
    assert begun(Talk(), None, **NEW).of(Began)[0].model == "small"
    assert begun(Talk(), None, **OLD).of(Began)[0].model == "small"


# Logging in

NAMED = [{"id": "openai", "name": "Use OpenAI API key", "description": "x"}]
WAYS = [{"id": "login", "name": "Log in"}, {"id": "openai-api-key", "name": "O"}, {"id": "gemini-api-key", "name": "G"}]


def test_an_agent_that_wants_a_key_is_told_that_it_has_one_and_asked_once_more() -> None:
    talk = introduced(Talk(provider=Provider.GEMINI), None, WAYS)
    talk.fails(-32000, "Authentication required")
    assert talk.asked == ("authenticate", {"methodId": "gemini-api-key"})
    talk.answers()
    assert talk.said[-1]["method"] == "session/new"
    talk.fails(-32000, "Authentication required")
    assert [event.kind for event in talk.of(Trouble)] == [Infrastructure.AUTHENTICATION]


def test_a_way_to_log_in_by_a_key_is_known_by_its_name_too() -> None:
    talk = introduced(Talk(), None, NAMED)
    talk.fails(-32000, "Authentication required")
    assert talk.asked == ("authenticate", {"methodId": "openai"})


def test_an_agent_that_wants_a_person_to_log_in_pauses_the_run() -> None:
    talk = introduced(Talk(), None, WAYS[:1])
    talk.fails(-32000, "Please log in")
    assert [event.kind for event in talk.of(Trouble)] == [Infrastructure.AUTHENTICATION]
    assert "Please log in (it knows: Log in)" in talk.of(Trouble)[0].text


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"type": "rate_limit_error"}, Infrastructure.RATE_LIMIT),
        ({"error": {"code": "insufficient_quota"}}, Infrastructure.NO_CREDIT),
        ("a sentence about rate_limit_error", None),
        (None, None),
    ],
)
def test_a_prompt_that_fails_is_named_by_the_names_of_its_error_and_not_by_prose(data: object, kind: object) -> None:
    talk = begun(Talk())
    talk.fails(-32603, "Internal error", data)
    assert [event.kind for event in talk.of(Trouble)] == [kind]
    assert talk.of(Finished)[-1].is_error


# Once more for the form

JUDGE: dict[str, Any] = {"role": Role.VERIFIER, "ask_again": "Only the JSON, please."}


def test_an_answer_that_nobody_can_read_is_asked_for_once_more_in_a_fork_without_tools() -> None:
    talk = begun(Talk(**JUDGE), CAN_FORK)
    talk.says("All is well.")
    talk.answers(stopReason="end_turn")
    assert talk.asked == ("session/fork", {"sessionId": "s-1", "cwd": "/place/workspace", "mcpServers": []})
    talk.answers(sessionId="s-2")
    assert talk.asked == (
        "session/prompt", {"sessionId": "s-2", "prompt": [{"type": "text", "text": "Only the JSON, please."}]},
    )  # fmt: skip
    talk.update("agent_message_chunk", session="s-2", content={"type": "text", "text": VERDICTS})
    talk.answers(stopReason="end_turn")
    assert talk.of(Finished)[-1].text == VERDICTS
    assert talk.dialogue.asked_again


@pytest.mark.parametrize("has_failed", [True, False])
def test_where_it_cannot_fork_the_same_session_is_asked_with_every_permission_refused(has_failed: bool) -> None:
    talk = begun(Talk(**JUDGE), CAN_FORK if has_failed else None)
    talk.answers(stopReason="end_turn")
    if has_failed:
        talk.fails(-32603, "no forks today")
    assert talk.asked[1]["sessionId"] == "s-1"
    talk.asks("a", kind="read")
    assert talk.said[-1]["result"]["outcome"]["optionId"] == "no"


def test_it_is_asked_once_only_and_an_answer_that_can_be_read_never() -> None:
    talk = begun(Talk(**JUDGE))
    talk.answers(stopReason="end_turn")
    talk.says("still prose")
    talk.answers(stopReason="end_turn")
    assert talk.dialogue.is_over
    other = begun(Talk(**JUDGE))
    other.says(VERDICTS)
    other.answers(stopReason="end_turn")
    assert (other.dialogue.is_over, other.dialogue.asked_again) == (True, "")


def test_a_coder_that_may_not_stop_yet_is_prompted_with_the_reason() -> None:
    reasons = ["run the tests", ""]
    talk = begun(Talk(why_held=lambda: reasons.pop(0)))
    talk.answers(stopReason="end_turn")
    assert talk.asked[1]["prompt"][0]["text"] == "run the tests"
    talk.answers(stopReason="end_turn")
    assert talk.dialogue.is_over


def test_to_cancel_is_a_word_of_the_protocol() -> None:
    talk = begun(Talk())
    talk.dialogue.cancel()
    talk.gets(method="nothing")
    assert talk.asked == ("session/cancel", {"sessionId": "s-1"})
    talk.gets(id=2, result={"stopReason": "cancelled"})
    assert talk.dialogue.is_over
    nobody = Talk()
    nobody.dialogue.cancel()
    assert list(nobody.dialogue.replies()) == []
