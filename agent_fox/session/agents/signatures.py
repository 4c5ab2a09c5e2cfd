"""What a failed request to a model means, by HTTP status and the names that errors have: prose does not count."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from agent_fox.core.regex import regex
from agent_fox.session.infrastructure import Infrastructure

_TOO_LONG_STATUS = frozenset({None, 400, 413, 422})
_TOO_LONG = (
    r"prompt is too long|input is too long for|conversation (?:is )?too long"
    r"|input length and `?max_tokens`? exceed context limit"
    r"|(?:your )?input exceeds the context window|(?:this model's )?maximum context length is \d"
    r"|(?:the )?input token count\b.{0,40}\bexceeds the maximum number of tokens"
    r"|(?:codex )?ran out of room in the model's context window|context_length_exceeded"
)
"""How Anthropic, OpenAI, Google and the programs say that a request does not fit into the model's context."""

_IN_WORDS = regex(_TOO_LONG, re.IGNORECASE)
_AT_START = regex(
    rf"^\s*(?:[\w.]*(?:API )?Error: ?)*(?:Error code: )?(?:400\b[ \w]{{0,20}}[:-]? ?)?(?:{_TOO_LONG}"
    r"|\{[^\n]{0,400}\"(?:type|code)\"\s*:\s*\"context_length_exceeded\")",
    re.IGNORECASE,
)
"""The same at the start of a line that a program says as it ends; a word of an agent's prose does not count."""


class Table(BaseModel, defer_build=True):
    """What `signatures.toml` holds."""

    too_long: frozenset[str]
    names: dict[Infrastructure, frozenset[str]]
    statuses: dict[Infrastructure, frozenset[int]]
    hints: dict[str, frozenset[str]]


@cache
def table() -> Table:
    return Table.model_validate(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))


def kind_of(status: int | None, *names: str) -> Infrastructure | None:
    """What was broken; None where the request itself was refused, or nothing is known of why it failed.

    The first name that is known decides, the most telling one stands first. Then the status decides, 500 and above
    being an overload. `hint_of` says what a person can do where no repeat helps.
    """
    named = (kind for name in names for kind, signs in table().names.items() if name in signs)
    kinds = (kind for kind, statuses in table().statuses.items() if status in statuses)
    usual = Infrastructure.OVERLOAD if status is not None and status >= 500 else None
    return next(named, None) or next(kinds, usual)


def hint_of(status: int | None, *names: str) -> str:
    """What a person should know beyond the kind, in brackets behind the error's words; empty where there is nothing."""
    given = {str(status), *names}
    return next((f" ({hint})" for hint, signs in table().hints.items() if signs & given), "")


def is_too_long(status: int | None, message: str, *names: str) -> bool:
    """Whether a request was refused because it does not fit into the model's context. The same one never will."""
    is_named = not table().too_long.isdisjoint(names)
    return is_named or (status in _TOO_LONG_STATUS and bool(_IN_WORDS.search(message)))


def says_too_long(*streams: str) -> bool:
    """The same, by a line of a failed program's own last words."""
    return any(_AT_START.search(line[:2000]) for stream in streams for line in stream.splitlines())
