"""Requests beside the work: titles, topics, summaries, checks who speaks next. They advance no script."""

from __future__ import annotations

import json

from pydantic import JsonValue

from agent_fox.testing.model_server.conversation import Conversation, Speaker

MARKS = (
    "You are a title generator",
    "Generate a title for this conversation",
    "sentence-case title",
    "isNewTopic",
    "Summarize this coding conversation",
    "specialized Task Routing AI",
    "who should logically speak next",
    "sophisticated AI diagnostic agent",
    "Summarize the user's primary intent",
)
TITLE = "A session"


def side_answer(talk: Conversation) -> str | None:
    """A harmless answer to a request beside the work; None for one that is the work itself.

    Beside the work is what offers no tool and speaks like one of the known requests, or wants JSON without a task.
    """
    if talk.tools:
        return None
    text = talk.text_by(Speaker.SYSTEM) + "\n" + (talk.messages[-1].text if talk.messages else "")
    if any(mark in text for mark in MARKS) or (talk.schema is not None and talk.ticket is None):
        return json.dumps(smallest(talk.schema)) if talk.schema is not None else TITLE
    return None


def smallest(schema: JsonValue) -> JsonValue:
    """Something small that a JSON Schema allows."""
    if not isinstance(schema, dict):
        return {}
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return {name: smallest(inner) for name, inner in properties.items()}
    kinds: dict[str, JsonValue] = {"number": 0, "integer": 1, "boolean": False, "array": [], "object": {}}
    return kinds.get(str(schema.get("type", "")).lower(), "none")
