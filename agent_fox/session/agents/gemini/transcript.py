"""The session as Gemini CLI keeps it in its home: the only place where each message's tokens stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError

from agent_fox.core.regex import regex
from agent_fox.session.agents.events import Tokens, Used
from agent_fox.system.files import open_regular

CHUNK = 1 << 20
LARGEST = 64 * CHUNK
"""Bytes of a session's file that are looked at."""

_SESSION = regex(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class _Counts(BaseModel, defer_build=True):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0
    tool: int = 0


class _Message(BaseModel, defer_build=True):
    id: str
    timestamp: str = ""
    tokens: _Counts
    model: str = ""


@dataclass(slots=True)
class Transcript:
    """Read on as it grows. It lies where the agent may write: it is read as any file of its, and never waited for."""

    home: Path
    session: str = ""
    began: str = ""
    read: int = 0
    part: bytes = b""
    seen: set[str] = field(default_factory=set)
    spent: dict[str, Tokens] = field(default_factory=dict)
    """Tokens told so far, by model."""

    def begin(self, session: str, began: str) -> None:
        """Name the session, and when this process of it began, as the program tells times: ISO 8601, in UTC."""
        self.session, self.began = session if _SESSION.fullmatch(session) else "", began

    def used(self) -> Iterator[Used]:
        """The messages of this process that came since the last look."""
        *lines, self.part = (self.part + self._more()).split(b"\n")
        for line in lines:
            message = _message(line)
            if message is not None and message.id not in self.seen and message.timestamp >= self.began:
                self.seen.add(message.id)
                tokens = _tokens(message.tokens)
                self.spent[message.model] = self.spent.get(message.model, Tokens()) + tokens
                yield Used(message.id, tokens, message.model)

    def _more(self) -> bytes:
        messages = (
            sorted(self.home.glob(f".gemini/tmp/*/chats/session-*-{self.session[:8]}.jsonl")) if self.session else []
        )
        if not messages:
            return b""
        try:
            with open_regular(messages[0]) as file:
                file.seek(self.read)
                more = file.read(max(0, LARGEST - self.read))
        except OSError:
            return b""
        self.read += len(more)
        return more


def _message(line: bytes) -> _Message | None:
    try:
        return _Message.model_validate_json(line)
    except ValidationError:
        return None


def _tokens(counts: _Counts) -> Tokens:
    """Thoughts are paid as output; what a cache held is part of the input."""
    fresh = counts.input + counts.tool - counts.cached
    return Tokens(max(fresh, 0), max(counts.output + counts.thoughts, 0), max(counts.cached, 0))
