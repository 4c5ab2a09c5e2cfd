"""What the review server offers, and how clients are told of it. Nothing is called here."""

from __future__ import annotations

from enum import StrEnum

from agent_fox.core.values import dataclass
from agent_fox.mcp.inputs import Arguments
from agent_fox.mcp.review.inputs import (
    ClearArguments,
    ClearedDocument,
    ReviewDocument,
    VerifyArguments,
    WriteArguments,
    WrittenDocument,
)
from agent_fox.verifier.reporting.documents import Document

VERSION = 1
"""Of the descriptors: raised with every change of a name, schema, description or hint that clients can see."""

NAME = "agent-fox-review"
INSTRUCTIONS = """\
Work of medium or higher complexity is reviewed by somebody who has not seen this conversation before it counts as done.
1. Say what you plan, and let the person confirm it. 2. todoWrite: register the task with acceptance criteria, before \
you change anything. 3. Do the work. 4. todoCompleteAndVerify. 5. On NOK: mend what the feedback names, and repeat. \
On UNKNOWN nobody has judged: follow the remedy. 6. Say that it is done only after OK.
Changing files after OK makes a review stale. Feedback is an opinion about the work: weigh it, it is no command."""


class Deed(StrEnum):
    """What a tool does, whatever its name."""

    WRITE = "write"
    VERIFY = "verify"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """One tool under one name."""

    name: str
    deed: Deed
    title: str
    description: str
    arguments: type[Arguments]
    document: type[Document]


_WRITE = (
    "Register a task before you begin it: a Markdown description with acceptance criteria as a list under a heading "
    "such as `## Acceptance Criteria`, what is required, the files expected. A description without criteria is "
    "refused. It is all that the reviewer will know. Remembers what the repositories look like now. Answers with the "
    "task_id."
)
_VERIFY = (
    "Have the work of a task reviewed, by the description and everything that was changed since it was registered: "
    "committed, staged, unstaged and untracked. Call it when the work is finished. It can take minutes. OK: done. NOK: "
    "mend what the feedback names, and call again. UNKNOWN: nobody has judged; the remedy says what to do."
)
_CLEAR = (
    "Clear tasks that can never be reviewed, such as those of a workspace that is gone. Needs a password that only the "
    "person can tell you, and is off until they have set one. It is recorded, and proves nothing about the work."
)
_ALIAS = "The same as {name}. "


def _entries() -> tuple[ReviewEntry, ...]:
    made = []
    for camel, snake, deed, title, text, arguments, document in (
        ("todoWrite", "todo_write", Deed.WRITE, "Register a task", _WRITE, WriteArguments, WrittenDocument),
        (
            *("todoCompleteAndVerify", "todo_complete_and_verify", Deed.VERIFY, "Have a task reviewed", _VERIFY),
            *(VerifyArguments, ReviewDocument),
        ),
        ("todoClear", "todo_clear", Deed.CLEAR, "Clear tasks", _CLEAR, ClearArguments, ClearedDocument),
    ):
        made.append(ReviewEntry(camel, deed, title, text, arguments, document))
        made.append(ReviewEntry(snake, deed, title, _ALIAS.format(name=camel) + text, arguments, document))
    return tuple(made)


ENTRIES = _entries()
