"""What an agent is told at its launch: who it is, the rules, and its brief. Nothing of the project is read here.

Also the forms that answers are asked for in. How answers are read is in `core.answer` and `core.findings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.markdown import code, fenced
from agent_fox.core.values import dataclass
from agent_fox.session.briefs.project_words import packaged
from agent_fox.session.briefs.template import TemplateError, filled
from agent_fox.session.briefs.text import REVIEW_EXAMPLE, REVIEW_WORDS, VERDICT_EXAMPLE, VERDICT_WORDS

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder

CONFLICT = "conflict"
LONGEST_WHY = 300

TOOL_HINTS: Mapping[str, str] = {
    "detect_build_system": "says which build systems and modules there are; start here if you do not know",
    "run_format_check": "whether the formatting is as the project wants it",
    "run_format_apply": "formats the source; use it when run_format_check is all that fails",
    "run_lint": "the project's linters and type checkers",
    "run_compile": "compiles; the quickest way to see what an edit broke",
    "run_unit_tests": "the tests of the workspace or of one module; the proof that counts",
    "run_selected_test": "one test, one file or one class; no proof for the rest",
    "run_static_policy_checks": "whether the change weakens tests or checks",
    "run_dependency_tree": "what the project depends on",
    "run_security_scan": "dependencies against advisories on this machine",
    "summarize_build_log": "reads a log again that an earlier result named",
    "read_verification_report": "the report of a verification plan that has run",
}
"""When to use the verifier's tools, by name, in few words; the tool server's own descriptions say more."""


def _object(**fields: Mapping[str, object]) -> dict[str, object]:
    """A JSON Schema object as strict as structured answers want it: all keys required, no others."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _words(*allowed: str) -> dict[str, object]:
    return {"type": "string", "enum": [*allowed]}


TEXT: Mapping[str, object] = {"type": "string"}

VERDICT_SCHEMA: Mapping[str, object] = _object(
    verdicts={
        "type": "array",
        "items": _object(requirement_id=TEXT, verdict=_words("PASS", "FAIL", "UNKNOWN"), evidence=TEXT),
    },
    overall_verdict=_words("PASS", "FAIL"),
    summary=TEXT,
)

REVIEW_SCHEMA: Mapping[str, object] = _object(
    findings={
        "type": "array",
        "items": _object(severity=_words("critical", "major", "minor"), requirement_id=TEXT, description=TEXT),
    },
    summary=TEXT,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a launch says to its agent. `ticket` is one line that names the session; `user` begins with it.

    `system` says who the agent is and what the rules are, for an agent that takes such words apart from the message.
    """

    ticket: str
    system: str
    message: str

    @property
    def user(self) -> str:
        """The ticket line and the brief: the message where `system` is given apart."""
        return f"{self.ticket}\n\n{self.message}\n"

    @property
    def whole(self) -> str:
        """Everything in one message, for an agent without system words."""
        return "\n\n".join(filter(None, (self.ticket, self.system, self.message))) + "\n"


def template_name(order: LaunchOrder) -> str:
    """Which template an order is told by: `coder`, `verifier`, `reviewer`, or `conflict`."""
    return CONFLICT if order.unmerged is not None else order.archetype.value


def ticket_line(order: LaunchOrder) -> str:
    """The line that every prompt begins with, whatever its template; tools find the ticket by it."""
    ticket = f"{order.node_id} attempt {order.attempt} reading {order.reading}"
    return f"agent-fox session: {ticket} archetype {order.archetype.value}"


def render_prompt(order: LaunchOrder, *, tools: Sequence[str], steering: str, template: str | None) -> Prompt:
    """The prompt of a launch. `tools` are the names that the agent calls the verifier's tools by, none if it has none.

    `template` is the project's own for `template_name(order)`, None for the one that ships. Raises TemplateError, with
    the template's name, where it cannot be used.
    """
    name = template_name(order)
    try:
        halves = filled(packaged(name) if template is None else template, _values(order, tools, steering),
                        _conditions(order, tools, steering))  # fmt: skip
    except TemplateError as error:
        raise TemplateError(f".agent-fox/prompts/{name}.md: {error}") from error
    return Prompt(ticket_line(order), halves.above, halves.rest)


def _values(order: LaunchOrder, tools: Sequence[str], steering: str) -> Mapping[str, str]:
    return {
        "brief": order.brief_markdown.strip(),
        "node": order.node_id,
        "spec": order.spec_name,
        "archetype": order.archetype.value,
        "mode": order.mode.value if order.mode else "",
        "attempt": str(order.attempt),
        "reading": str(order.reading),
        "tools": "\n".join(map(_tool_line, tools)),
        "steering": steering.strip(),
    }


def _conditions(order: LaunchOrder, tools: Sequence[str], steering: str) -> Iterator[str]:
    if tools:
        yield "tools"
    if steering.strip():
        yield "steering"
    if order.attempt > 1:
        yield "retry"
    if order.mode:
        yield order.mode.value


def _tool_line(name: str) -> str:
    """One tool; agents call the same tool by names of their own, such as `mcp__verifier__run_unit_tests`."""
    hint = next((hint for base, hint in TOOL_HINTS.items() if re.search(rf"(?:^|[^a-z]){base}$", name)), "")
    return f"- {code(name)}: {hint}" if hint else f"- {code(name)}"


def ask_again(archetype: Archetype, why: str = "") -> str:
    """The one question to a session whose answer could not be read: the same answer, in the form asked for.

    `why` says what was wrong, where that is known. Raises ValueError for a coder: its answer is its work.
    """
    match archetype:
        case Archetype.VERIFIER:
            things, example, words = "verdicts", VERDICT_EXAMPLE, VERDICT_WORDS
        case Archetype.REVIEWER:
            things, example, words = "findings", REVIEW_EXAMPLE, REVIEW_WORDS
        case Archetype.CODER:
            raise ValueError("a coder is judged by its work; there is no answer to ask for again")
    reason = f": {code(why, LONGEST_WHY)}" if why else ""
    return (
        f"Your answer could not be read{reason}.\n\n"
        f"Say your {things} again, as this one JSON document and nothing else. Run nothing, look at nothing, and do "
        f"not change your {things}: only the form is asked for.\n\n{fenced(example)}\n\n{words}\n"
    )
