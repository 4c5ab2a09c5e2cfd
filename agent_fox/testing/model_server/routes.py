"""Which path is which protocol. Reads no body."""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import parse_qs, urlsplit

from agent_fox.core.values import dataclass
from agent_fox.testing.model_server.protocols.anthropic import Anthropic
from agent_fox.testing.model_server.protocols.chat import Chat
from agent_fox.testing.model_server.protocols.gemini import Gemini
from agent_fox.testing.model_server.protocols.responses import Responses
from agent_fox.testing.model_server.protocols.wire import Wire

_ANY_VERSION = r"^(?:/v\d\w*)?"
_GEMINI = r"/(?:models|tunedModels)/(?P<model>[^/:]+):"


class Task(StrEnum):
    """What a request asks for."""

    ANSWER = "answer"
    COUNT = "count"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request leads. `model` and `is_streamed` are what the path says; most protocols say it in the body."""

    wire: Wire
    task: Task
    model: str = ""
    is_streamed: bool = False


_POSTS: tuple[tuple[str, Wire, Task], ...] = (
    (r"/messages$", Anthropic(), Task.ANSWER),
    (r"/messages/count_tokens$", Anthropic(), Task.COUNT),
    (r"/responses$", Responses(), Task.ANSWER),
    (r"/responses/input_tokens$", Responses(), Task.COUNT),
    (r"/chat/completions$", Chat(), Task.ANSWER),
    (_GEMINI + "(?P<stream>streamGenerateContent|generateContent)$", Gemini(), Task.ANSWER),
    (_GEMINI + "countTokens$", Gemini(), Task.COUNT),
)
_GETS: tuple[tuple[str, Wire, Task], ...] = ((r"/models$", Chat(), Task.MODELS),)


def route(method: str, path: str) -> Route | None:
    """Where a request leads; None where to nothing that we know."""
    parts = urlsplit(path)
    for pattern, wire, task in {"POST": _POSTS, "GET": _GETS}.get(method, ()):
        match = re.match(_ANY_VERSION + pattern, parts.path)
        if match:
            named = match.groupdict()
            is_streamed = named.get("stream") == "streamGenerateContent" or "alt" in parse_qs(parts.query)
            return Route(wire, task, named.get("model") or "", is_streamed)
    return None
