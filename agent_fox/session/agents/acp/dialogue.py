"""One process that speaks the Agent Client Protocol: what it is told, and what its messages mean. Reads and writes
nothing itself.

The way of a session: `initialize`, `session/new` (after `authenticate`, where a key is asked for), its model, the
prompt, once more the prompt where the answer cannot be read. Of what the agent may ask for it gets an answer to each
request for permission, and no to everything else: our file system and terminals are not offered.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from acp import schema
from acp.meta import PROTOCOL_VERSION

from agent_fox.core.markdown import one_line
from agent_fox.core.regex import regex
from agent_fox.session.agents import events
from agent_fox.session.agents.acp import models, permissions
from agent_fox.session.agents.acp.updates import Updates
from agent_fox.session.agents.command_line import EFFORT, LONGEST_SHOWN, MODEL, Dialogue, read_object
from agent_fox.session.agents.runner.outcome import telling, why_unreadable
from agent_fox.session.agents.signatures import kind_of
from agent_fox.session.infrastructure import Infrastructure

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask

ANSWERING = 120.0
"""Seconds until a program must have answered `initialize`. Usual is less than ten, on a busy machine thirty."""

MOST_ODD = 200
"""Lines that are no message of the protocol, before its first answer."""

MOST_ASKED = 2000
"""Requests of one process that are answered; one that asks more is ended."""

UNKNOWN_METHOD, WRONG_PARAMETERS, NOT_LOGGED_IN = -32601, -32602, -32000
"""Codes of errors: two that we give, and the one by which an agent says that nobody is logged in."""

BY_KEY = regex(r"api[ _-]?key", re.IGNORECASE)
"""In the names of the ways to log in that need nothing but the key that the program is given."""

LONGEST_REASON, MOST_COMPLAINTS = 400, 20
COMPLETED = "end_turn"
GO_ON = (
    "Your program ended in the middle of this task and was started again. Go on where you were, and finish the task."
)
INTRODUCTION: Mapping[str, object] = {
    "protocolVersion": PROTOCOL_VERSION,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
}
Handler = Callable[[Mapping[str, object]], Iterable[events.Event]]
Servers = Sequence[Mapping[str, object]]


class AcpDialogue(Dialogue):
    """`servers` are the MCP servers of a session, as `session/new` takes them, for an agent that knows HTTP and for
    one that does not. `is_set` are the places, such as `{model}`, in which the program's own words hold a choice
    already. `why_held` says why a session may not stop yet; empty where it may. `is_known`: the agent has introduced
    itself. `resumes` is the session that an earlier process has begun; empty: a new one begins.
    """

    def __init__(
        self, task: AgentTask, servers: Callable[[bool], Servers], is_set: frozenset[str] = frozenset(),
        why_held: Callable[[], str] | None = None, resumes: str = "",
    ) -> None:  # fmt: skip
        self._task, self._servers, self._is_set, self._why_held = task, servers, is_set, why_held
        self._resumes = resumes
        self._to_choose = [
            ("" if place in is_set else word) for place, word in ((MODEL, task.model), (EFFORT, task.effort))
        ]
        self._lines: list[str] = []
        self._complaints: list[str] = []
        self._awaited: dict[int, tuple[str, Handler]] = {}
        self._number = 0
        self._asked = 0
        self._odd = 0
        self._agent = schema.InitializeResponse(protocol_version=PROTOCOL_VERSION)
        self.is_known = self._has_authenticated = self._is_broken = False
        self._session = self._model = ""
        self._to_set: deque[models.Choice] = deque()
        self._updates = Updates(task.tools)
        self._last: events.Finished | None = None
        self._tokens: events.Tokens | None = None
        self._request("initialize", INTRODUCTION, self.initialized)

    # What is asked of us from outside

    def replies(self) -> Sequence[str]:
        lines, self._lines = self._lines, []
        return lines

    def cancel(self) -> bool:
        if self._session:
            self.send(method="session/cancel", params={"sessionId": self._session})
        return bool(self._session)

    def overdue(self, seconds: float) -> Iterable[events.Event]:
        if self.is_known or seconds < ANSWERING:
            return ()
        return self.broken(f"it did not answer `initialize` within {ANSWERING:g} s: it is no ACP agent")

    def complaint(self, text: str) -> Iterable[events.Event]:
        """What an agent prints beside the protocol is no sign of life; kept, for it may say why it died."""
        self._complaints = [*self._complaints, text][-MOST_COMPLAINTS:]
        return ()

    def odd(self, text: str) -> events.Event:
        self._odd += 1
        if not self.is_known and self._odd >= MOST_ODD:
            words = one_line(text, LONGEST_REASON)
            return next(iter(self.broken(f"it is no ACP agent: it prints {words!r}")), events.Unreadable(text))
        return super().odd(text)

    def end(self, exit_status: int | None) -> events.Finished | None:
        if self._last is not None:
            return None
        where = "before its answer was complete" if self._session else "before it had answered `session/new`"
        if not self.is_known:
            where = "before it had answered `initialize`: it is no ACP agent, or its command line is wrong"
        words = telling("\n".join(self._complaints))
        return self.final("", f"it ended {where}{f': {words}' if words else ''}"[:LONGEST_REASON])

    # Messages of the agent

    def events_of(self, text: str) -> Iterator[events.Event]:
        message = read_object(text)
        match message:
            case {"method": str(method), "id": int() | str() as number}:
                yield from self.called(method, number, message.get("params"))
            case {"method": str(method)}:
                yield from self.noted(method, message.get("params"), text)
            case {"id": int(number)} if number in self._awaited:
                yield from self.take_answer(number, message)
            case _:
                raise ValueError("nothing that was asked for")

    def take_answer(self, number: int, message: Mapping[str, object]) -> Iterator[events.Event]:
        method, handler = self._awaited[number]
        if "error" in message:
            del self._awaited[number]
            yield from self.take_refusal(method, schema.Error.model_validate(message["error"]))
            return
        result = message.get("result")
        del self._awaited[number]
        try:
            yield from handler(result if isinstance(result, Mapping) else {})
        except ValueError as error:
            why = one_line(str(error), LONGEST_REASON)
            yield from self.broken(f"its answer to `{method}` is none of the protocol: {why}")

    def take_refusal(self, method: str, error: schema.Error) -> Iterator[events.Event]:
        words = one_line(f"{error.message} {details(error.data)}".strip(), LONGEST_REASON)
        if error.code == NOT_LOGGED_IN and not self._has_authenticated and (way := self.way_to_log_in()):
            self._has_authenticated = True
            self._request("authenticate", {"methodId": way}, lambda _: self.opened())
            yield events.Beat()
        elif error.code == NOT_LOGGED_IN or method == "authenticate":
            ways = ", ".join(way.name for way in self._agent.auth_methods or ()) or "it names no way"
            text = f"the agent wants somebody to be logged in: {words} (it knows: {ways})"
            yield events.Trouble(text, Infrastructure.AUTHENTICATION, is_final=True)
        elif method == "initialize":
            yield from self.broken(f"it is no ACP agent: it answers `initialize` with an error: {words}")
        elif self._resumes and not self._session:
            yield events.Broken(f"its session could not be taken up: {words}")
        elif method == "session/fork":
            self._prompt(self._task.ask_again)
            yield events.Beat()
        elif method == "session/prompt":
            yield events.Trouble(words, kind_of(None, *names_in(error.data)), is_final=True)
            yield self.final("", words)
        else:
            yield from self.broken(f"`{method}` failed: {words}")

    def initialized(self, result: Mapping[str, object]) -> Iterator[events.Event]:
        if "protocolVersion" not in result:
            raise ValueError("it names no version of the protocol")
        self._agent, self.is_known = schema.InitializeResponse.model_validate(result), True
        if self._agent.protocol_version != PROTOCOL_VERSION:
            version = self._agent.protocol_version
            yield from self.broken(f"it speaks version {version} of the protocol, and we speak {PROTOCOL_VERSION}")
        else:
            yield from self.opened()

    def opened(self) -> Iterator[events.Event]:
        named = {"sessionId": self._resumes} if self._resumes else {}
        method = self.way_to_resume if self._resumes else "session/new"
        asked = {**named, **self.session_with(has_tools=True)}
        self._request(method, asked, lambda result: self.begun({**result, **named}))
        yield events.Beat()

    def offers(self, name: str) -> bool:
        """Whether the agent can `load`, `resume` or `fork` a session, or use servers over `http`. What it says in
        another form than the protocol's is no offer: the library leaves a dictionary there.
        """
        match self._agent.agent_capabilities:
            case schema.AgentCapabilities(load_session=True) if name == "load":
                return True
            case schema.AgentCapabilities(mcp_capabilities=schema.McpCapabilities(http=True)) if name == "http":
                return True
            case schema.AgentCapabilities(session_capabilities=schema.SessionCapabilities() as able):
                return name in {"resume", "fork"} and getattr(able, name) is not None
        return False

    @property
    def way_to_resume(self) -> str:
        """The method by which the agent takes up a session; empty where it cannot."""
        return "session/resume" if self.offers("resume") else "session/load" if self.offers("load") else ""

    def successor(self) -> AcpDialogue | None:
        if not self._session or self._resumes or not self.way_to_resume:
            return None
        return AcpDialogue(self._task, self._servers, self._is_set, self._why_held, self._session)

    def session_with(self, *, has_tools: bool) -> dict[str, object]:
        servers = self._servers(self.offers("http")) if has_tools else ()
        return {"cwd": str(self._task.workspace), "mcpServers": list(servers)}

    def begun(self, result: Mapping[str, object]) -> Iterator[events.Event]:
        session = schema.NewSessionResponse.model_validate(result)
        self._session = session.session_id
        if not self._session:
            raise ValueError("it names no session")
        self._model = self._task.model or models.current(session, result)
        info = self._agent.agent_info
        version = f"{info.name} {info.version}" if info is not None else ""
        yield events.Began(self._session, self._model, version=version)
        self._to_set.extend((*models.asking_mode(session), *models.choices(session, result, *self._to_choose)))
        yield from self.set_next({})

    def set_next(self, result: Mapping[str, object]) -> Iterator[events.Event]:
        if not self._to_set:
            whole = "\n\n".join(filter(None, (self._task.system, self._task.prompt)))
            self._prompt(GO_ON if self._resumes else whole)
            yield events.Beat()
            return
        choice = self._to_set.popleft()
        if choice.problem:
            yield events.Trouble(choice.problem, Infrastructure.UNKNOWN_MODEL, is_final=True)
            return
        self._request(choice.method, {"sessionId": self._session, **(choice.parameters or {})}, self.set_next)
        yield events.Beat()

    def _prompt(self, text: str) -> None:
        self._updates.begin()
        content = [{"type": "text", "text": text}]
        self._request("session/prompt", {"sessionId": self._session, "prompt": content}, self.prompted)

    def prompted(self, result: Mapping[str, object]) -> Iterator[events.Event]:
        answer = schema.PromptResponse.model_validate(result)
        yield from self._updates.flush()
        if answer.usage is not None:
            self._tokens = (self._tokens or events.Tokens()) + tokens_of(answer.usage)
        text = self._updates.answer
        if answer.stop_reason != COMPLETED:
            yield self.final(text, answer.stop_reason)
        elif not self.asked_again and self._why_held is not None and (why := self._why_held()):
            self._prompt(why)
            yield events.Beat()
        elif not self.asked_again and self._task.ask_again and (why := why_unreadable(self._task.role, text)):
            self.asked_again = why
            self.ask_once_more()
            yield events.Beat()
        else:
            yield self.final(text, "")

    def ask_once_more(self) -> None:
        """For the form only: in a fork without servers of tools where the agent can, else with every permission
        refused."""
        if self.offers("fork"):
            fork = {"sessionId": self._session, **self.session_with(has_tools=False)}
            self._request("session/fork", fork, self.forked)
        else:
            self._prompt(self._task.ask_again)

    def forked(self, result: Mapping[str, object]) -> Iterator[events.Event]:
        self._session = schema.ForkSessionResponse.model_validate(result).session_id or self._session
        self._prompt(self._task.ask_again)
        yield events.Beat()

    # What it notes, and what it asks for

    def noted(self, method: str, parameters: object, text: str) -> Iterator[events.Event]:
        if method != "session/update":
            yield events.Beat()
            return
        update = parameters.get("update") if isinstance(parameters, Mapping) else None
        kind = update.get("sessionUpdate") if isinstance(update, Mapping) else None
        if not isinstance(kind, str) or kind not in Updates.KNOWN or (self._resumes and not self._session):
            yield events.Beat()
            return
        note = schema.SessionNotification.model_validate(parameters)
        if note.session_id != self._session:
            yield events.Unreadable(f"about another session: {text[:LONGEST_SHOWN]}")
            return
        yield from self._updates.take(note.update)
        if self._updates.is_too_much:
            yield from self.broken("it tells of more calls than any session makes")

    def called(self, method: str, number: int | str, parameters: object) -> Iterator[events.Event]:
        self._asked += 1
        if self._asked > MOST_ASKED:
            if self._asked == MOST_ASKED + 1:
                yield events.Broken(f"it asked more than {MOST_ASKED} times for something")
            return
        if method != "session/request_permission":
            why = f"{method} is not offered to this session"
            self.send(id=number, error={"code": UNKNOWN_METHOD, "message": why})
            yield events.Called(method, call=f"request {number}")
            yield events.Answered(f"request {number}", "not offered", is_error=True, is_refused=True)
            return
        try:
            request = schema.RequestPermissionRequest.model_validate(parameters)
        except ValueError:
            why = "this is no request for permission"
            self.send(id=number, error={"code": WRONG_PARAMETERS, "message": why})
            raise
        yield from self.permit(number, request)

    def permit(self, number: int | str, request: schema.RequestPermissionRequest) -> Iterator[events.Event]:
        yield from self._updates.asked_for(request.tool_call)
        call = self._updates.call_of(request.tool_call)
        answer = permissions.answer(
            self._task, call.tool, call.arguments, call.places, request.options, is_form_only=bool(self.asked_again)
        )
        outcome = {"outcome": "cancelled"}
        if answer.option is not None:
            outcome = {"outcome": "selected", "optionId": answer.option}
        self.send(id=number, result={"outcome": outcome})
        if answer.why_not:
            yield from self._updates.refused(request.tool_call.tool_call_id, answer.why_not)

    # Small parts

    def way_to_log_in(self) -> str:
        """The way that needs nothing but the key which the program is given; of several that of its provider."""
        named = [way.id for way in self._agent.auth_methods or () if BY_KEY.search(f"{way.id} {way.name}")]
        provider = self._task.provider
        return next((way for way in named if provider and provider.value in way), named[0] if named else "")

    def final(self, text: str, failure: str) -> events.Finished:
        self._last = events.Finished(
            text=text.strip(), is_error=bool(failure), reason=failure or "completed", session=self._session,
            cost_usd=self._updates.cost_usd, tokens=self._tokens, model=self._model,
        )  # fmt: skip
        self.is_over = True
        return self._last

    def broken(self, text: str) -> Iterable[events.Event]:
        """The session cannot be had with this program; told once."""
        if self._is_broken:
            return ()
        self._is_broken = True
        return (events.Broken(text, Infrastructure.BROKEN_PROGRAM),)

    def _request(self, method: str, parameters: Mapping[str, object], handler: Handler) -> None:
        self._awaited[self._number] = method, handler
        self.send(id=self._number, method=method, params=parameters)
        self._number += 1

    def send(self, **message: object) -> None:
        self._lines.append(json.dumps({"jsonrpc": "2.0", **message}))


def tokens_of(usage: schema.Usage) -> events.Tokens:
    """Thoughts are paid as output; most agents count them there already, and a few beside."""
    read, written = usage.cached_read_tokens or 0, usage.cached_write_tokens or 0
    return events.Tokens(usage.input_tokens, usage.output_tokens, read, written)


def details(data: object) -> str:
    """What an error tells beside its message; agents put the words of the model's side there."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False) if data else ""


def names_in(data: object) -> Iterator[str]:
    """The words of an error's data that may be the name of an error: prose is none."""
    for value in data.values() if isinstance(data, Mapping) else ():
        if isinstance(value, str):
            yield value
        yield from names_in(value)
