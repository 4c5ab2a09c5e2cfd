"""Which turn of which step answers a request, and with what. No HTTP; nothing is remembered here."""

from __future__ import annotations

import hashlib
import json
import shlex

from agent_fox.core.values import dataclass
from agent_fox.testing.model_server.conversation import Call, Conversation, Reply, Speaker, Ticket
from agent_fox.testing.model_server.reports import report
from agent_fox.testing.model_server.script import Action, Answer, Deed, Say, Script, Step
from agent_fox.testing.model_server.side import side_answer
from agent_fox.testing.model_server.tools import calls_for, filled, shell_call
from agent_fox.testing.model_server.turns import Turn, turn_for
from agent_fox.testing.scripted.script import Verdicts

STRUCTURED = ("StructuredOutput",)
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_BYTES_A_TOKEN = 4


class NoStep(ValueError):
    """The script has no step for a session. The message names it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is played for a request. `step` and `place` are None for a request beside the work."""

    ticket: Ticket | None
    step: int | None
    place: int | None
    turn: Turn
    reply: Reply


def part_for(script: Script, talk: Conversation) -> Part:
    """What the script plays now. Raises NoStep, NotOffered."""
    answer = side_answer(talk)
    if answer is not None:
        return Part(talk.ticket, None, None, Turn(Say(say=answer)), _reply(talk, None, answer, ()))
    ticket = talk.ticket or Ticket()
    fitting = script.fitting(ticket.node, ticket.attempt, ticket.reading)
    if fitting is None:
        raise NoStep(f"the script has no step for {ticket.node}, attempt {ticket.attempt}, reading {ticket.reading}")
    number, step = fitting
    place, turn = turn_for(step, len(talk.turns()), is_asked_again=talk.messages[-1].speaker is not Speaker.TOOL)
    text, calls = _spoken(turn, talk, ticket)
    return Part(ticket, number, place, turn, _reply(talk, step, text, calls))


def _spoken(turn: Turn, talk: Conversation, ticket: Ticket) -> tuple[str, tuple[Call, ...]]:
    words = filled(turn.words, ticket)
    match turn.action:
        case Say(say=text):
            return _ending(words, filled(text, ticket), talk)
        case Answer(answer=document):
            return _structured(words, document, talk)
        case Verdicts():
            return _structured(words, report(turn.action, talk.task), talk)
    return words, calls_for(_deed(turn.action), talk, ticket)


def _deed(action: Action) -> Deed:
    assert isinstance(action, Deed)  # `turns_of` makes turns of deeds and endings alone
    return action


def _structured(words: str, document: object, talk: Conversation) -> tuple[str, tuple[Call, ...]]:
    """A JSON answer: by the tool for it, as the whole text where a schema rules it, else after the words."""
    tool = talk.offered(*STRUCTURED)
    if tool is not None and isinstance(document, dict):
        return words, (Call(tool.name, document, tool.space),)
    text = json.dumps(document, indent=1)
    return _ending("" if talk.schema is not None else words, text, talk)


def _ending(words: str, text: str, talk: Conversation) -> tuple[str, tuple[Call, ...]]:
    """Last words; an agent that ends by a command gets them by that command."""
    whole = "\n".join(part for part in (words, text) if part)
    if SUBMIT in talk.text_by(Speaker.SYSTEM, Speaker.USER) and talk.tools:
        return "", (shell_call(f"echo {SUBMIT}; printf %s {shlex.quote(whole)}", talk),)
    return whole, ()


def _reply(talk: Conversation, step: Step | None, text: str, calls: tuple[Call, ...]) -> Reply:
    length = len(text) + sum(len(call.source or json.dumps(call.arguments)) for call in calls)
    counted = max(1, talk.size // _BYTES_A_TOKEN), max(1, length // _BYTES_A_TOKEN)
    counts = (step.input_tokens, step.output_tokens) if step else (None, None)
    given, taken = (own if own is not None else other for own, other in zip(counts, counted, strict=True))
    return Reply(_id(talk, text, calls), text, calls, given, taken)


def _id(talk: Conversation, text: str, calls: tuple[Call, ...]) -> str:
    whole = repr((talk.messages, text, calls)).encode("utf-8", "replace")
    return hashlib.sha256(whole).hexdigest()[:20]
