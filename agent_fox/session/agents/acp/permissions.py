"""What an agent that asks for permission is answered: a table from role to the kinds of tools that it may use.

What a call is said to be is the agent's own word, and no answer here makes a role: that the workspace of a judge cannot
be written is the sandbox's doing. A kind that is not in the table is refused, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents.runner import scanning
from agent_fox.session.agents.task import AgentTask, Role

if TYPE_CHECKING:
    from acp.schema import PermissionOption

READING = frozenset({"read", "search", "think"})
TABLE: Mapping[Role, frozenset[str]] = {
    Role.CODER: READING | {"edit", "delete", "move", "execute", "fetch"},
    Role.VERIFIER: READING,
    Role.REVIEWER: READING,
}
"""The kinds of tools, in the words of the protocol, that a role may use. `switch_mode` and `other` are in no row."""

SERVER, SERVED = "verifier", "mcp__verifier__"
"""Before the name of a tool of the verifier, as events have it."""

OTHER = "other"
_NAME = regex(r"[\w .:/()-]{1,120}")
"""What the name of a tool may be made of: a command line with more in it is none."""

ALLOWING, REFUSING = ("allow_once", "allow_always"), ("reject_once", "reject_always")
"""Kinds of options, the one that is chosen first before the other."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The option that is chosen, None where none of the right kind is offered, and why it is no; empty for a yes."""

    option: str | None
    why_not: str = ""


def answer(
    task: AgentTask, tool: str, arguments: Mapping[str, object], places: Sequence[str],
    options: Iterable[PermissionOption], *, is_form_only: bool = False,
) -> Answer:  # fmt: skip
    """The answer to a request for permission. `tool`: see `tool_of`; `places`: the files that the call names.

    `is_form_only`: the session is asked for the form of its answer only, for which no tool is needed.
    """
    why_not = "its answer needs no tool" if is_form_only else why_refused(task, tool, arguments, places)
    by_kind = {option.kind: option.option_id for option in reversed(list(options))}
    kinds = REFUSING if why_not else ALLOWING
    chosen = next((by_kind[kind] for kind in kinds if kind in by_kind), None)
    if chosen is None and not why_not:
        return Answer(None, "it offers no option that allows")
    return Answer(chosen, why_not)


def why_refused(task: AgentTask, tool: str, arguments: Mapping[str, object], places: Sequence[str]) -> str:
    """Why a session may not call this; empty where it may."""
    if tool not in TABLE[task.role] and (task.role is Role.REVIEWER or not tool.startswith(SERVED)):
        return f"a {task.role} has no tool of the kind {tool!r}"
    folders = (task.workspace, task.home, task.scratch, *task.readable)
    allowed = [PurePosixPath(str(folder)) for folder in folders]
    named = [{"path": place} for place in places]
    return next(filter(None, (scanning.forbidden(call, allowed) for call in (arguments, *named))), "")


def tool_of(kind: str | None, titles: Iterable[str], offered: Iterable[str]) -> str:
    """The tool by which a call is known: one of the verifier's where a title is its name, else its kind.

    Agents write `run_lint`, or that with the name of the server, in any way. An agent that lies about a title gets the
    answer of that tool and nothing more.
    """
    names = [title for title in titles if _NAME.fullmatch(title)]
    fitting = (tool for tool in offered for name in names if name == tool or (tool in name and SERVER in name))
    served = next(fitting, "")
    return f"{SERVED}{served}" if served else kind or OTHER
