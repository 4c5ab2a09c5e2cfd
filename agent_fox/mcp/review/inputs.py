"""What a client may say to the review server, and what it is answered: narrow models. Nothing runs here."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from agent_fox.mcp.inputs import Arguments
from agent_fox.review.description import LONGEST
from agent_fox.verifier.reporting.documents import Document

TaskId = Annotated[
    str,
    Field(
        description="The task's id, as todoWrite gave it.",
        min_length=1,
        max_length=40,
        pattern=r"^[A-Za-z0-9_-]+$",
    ),
]
Description = Annotated[
    str,
    Field(
        description="The task in Markdown: what is to be done, its acceptance criteria as a list, the files expected. "
        "It is all that the reviewer knows of the task, so it must not be a one-liner.",
        min_length=1,
        max_length=4 * LONGEST,
    ),
]
Password = Annotated[
    str, Field(description="The password, as the person told it to you.", min_length=1, max_length=1024)
]


class WriteArguments(Arguments):
    """A new task."""

    description: Description


class VerifyArguments(Arguments):
    """Which task."""

    task_id: TaskId


class ClearArguments(Arguments):
    """Which tasks, and the password of the person who allows it."""

    task_ids: Annotated[list[TaskId], Field(description="The tasks to clear.", min_length=1, max_length=100)]
    password: Password


class SnakeDocument(Document):
    """A document whose names are those of the arguments: `task_id`, not `taskId`."""

    model_config = ConfigDict(alias_generator=None)


class WrittenDocument(SnakeDocument):
    """A registered task."""

    task_id: str


class ReviewDocument(SnakeDocument):
    """What came of a review. `status`: OK, NOK (see `feedback`), or UNKNOWN: not reviewed (see `reason`, `remedy`)."""

    status: str
    task_id: str
    feedback: str
    reason: str
    remedy: str


class ClearedDocument(SnakeDocument):
    """What was cleared."""

    status: str
    cleared: tuple[str, ...]
    not_found: tuple[str, ...]
