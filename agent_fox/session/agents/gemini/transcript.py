"""The session as Gemini CLI keeps it in its home: the only place where each message's tokens stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError

from agent_fox.core.regex import regex
from agent_fox.session.agents.events import Tokens, Used
from agent_fox.session.agents.private_files import Growing

LARGEST = 64 * 1024 * 1024
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
    """`began` is when this process of the session did."""

    home: Path
    session: str = ""
    began: str = ""
    file: Growing = field(default_factory=lambda: Growing(LARGEST, LARGEST))
    seen: set[str] = field(default_factory=set)
    spent: dict[str, Tokens] = field(default_factory=dict)
    """Tokens told so far, by model."""

    def begin(self, session: str, began: str) -> None:
        """Name the session, and when this process of it began, as the program tells times: ISO 8601, in UTC."""
        self.session, self.began = session if _SESSION.fullmatch(session) else "", began

    def used(self) -> Iterator[Used]:
        """The messages of this process that came since the last look."""
        pattern = f".gemini/tmp/*/chats/session-*-{self.session[:8]}.jsonl"
        for path in sorted(self.home.glob(pattern))[:1] if self.session else ():
            for line in self.file.lines(path):
                with suppress(ValidationError):
                    message = _Message.model_validate_json(line)
                    if message.id not in self.seen and message.timestamp >= self.began:
                        self.seen.add(message.id)
                        yield self._spent(message)

    def _spent(self, message: _Message) -> Used:
        """Thoughts are paid as output; what a cache held is part of the input."""
        counts = message.tokens
        fresh, written = counts.input + counts.tool - counts.cached, counts.output + counts.thoughts
        tokens = Tokens(max(fresh, 0), max(written, 0), max(counts.cached, 0))
        self.spent[message.model] = self.spent.get(message.model, Tokens()) + tokens
        return Used(message.id, tokens, message.model)
