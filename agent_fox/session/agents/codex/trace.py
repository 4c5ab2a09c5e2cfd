"""What codex's own trace says on standard error: requests, tokens, tool calls. It holds no words of model or work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents.signatures import hint_of, kind_of
from agent_fox.session.infrastructure import Infrastructure

_EVENT = regex(r"(\d{4}-\d\d-\d\dT[\d:.]+Z)\s+INFO codex_otel\.trace_safe: (.*)", re.DOTALL)
_FIELD = regex(r"(?:^|\s)([a-z_][\w.]*)=(\"(?:[^\"\\]|\\.)*\"|\S*)")
_ERROR = regex(r"error\.message=(.*?)(?: event\.timestamp=|$)", re.DOTALL)
_CODE = regex(r"\"code\"\s*:\s*\"(\w+)\"")
REFUSED = regex(r"\S+Z ERROR codex_core::tools::router: error=(.*)", re.DOTALL)
"""A line that holds what codex answered to a call that it did not let run, or that failed."""


@dataclass(frozen=True, slots=True)
class Traced:
    """One event of the trace: when, its name, and its fields as text."""

    at: str
    name: str
    fields: Mapping[str, str]
    error: str = ""

    @property
    def session(self) -> str:
        return self.fields.get("conversation.id", "")

    def count(self, name: str) -> int | None:
        value = self.fields.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None


def traced(line: str) -> Traced | None:
    """The event of a line of standard error, None where it holds none."""
    event = _EVENT.fullmatch(line)
    if event is None:
        return None
    at, rest = event.groups()
    error = _ERROR.search(rest)
    fields = {name: _plain(value) for name, value in _FIELD.findall(rest)}
    return Traced(at, fields.get("event.name", ""), fields, _plain(error.group(1)) if error else "")


def why_failed(event: Traced) -> tuple[str, Infrastructure | None] | None:
    """What a request to the model failed with, in words and by its kind; None where it has not failed."""
    status = event.count("http.response.status_code")
    if event.name == "codex.api_request" and status is not None:
        return None if status < 400 else (f"the model answered HTTP {status}{hint_of(status)}", kind_of(status))
    if event.name in {"codex.api_request", "codex.sse_event"} and event.error:
        lost = ("error sending request", "stream disconnected before completion", "idle timeout waiting for SSE")
        kind = Infrastructure.NETWORK if event.error.startswith(lost) else None
        code = _CODE.search(event.error)
        return event.error[:400], kind_of(None, code[1]) if code is not None else kind
    return None


def _plain(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value.strip('"')
    return read if isinstance(read, str) else value
