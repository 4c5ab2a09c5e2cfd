"""What a model provider's error means, by HTTP status and the error's type; words of prose do not count."""

from __future__ import annotations

from email.message import Message
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError

from agent_fox.core.late import adapter
from agent_fox.session.agents.events import Trouble
from agent_fox.session.agents.signatures import hint_of, is_too_long, kind_of
from agent_fox.session.infrastructure import Infrastructure

LONGEST_WORDS = 300

LOW_BALANCE = "Your credit balance is too low"
"""How the words begin of a refusal that only its words tell from others."""


class _Detail(BaseModel, defer_build=True):
    reason: str = ""


def _with_reasons(details: object) -> list[object]:
    """The entries that give a reason, whatever else a provider puts there."""
    listed = details if isinstance(details, list) else []
    return [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("reason"), str)]


class ErrorBody(BaseModel, defer_build=True):
    """An error as providers tell it: Anthropic's by `type`, OpenAI's also by `code`, Google's by `status`."""

    type: str | None = None
    code: str | int | None = None
    status: str | None = None
    message: str | None = None
    details: Annotated[tuple[_Detail, ...], BeforeValidator(_with_reasons)] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What it is called, the most telling first."""
        reasons = (detail.reason for detail in self.details)
        named = (*reasons, self.code if isinstance(self.code, str) else "", self.type, self.status)
        return tuple(dict.fromkeys(word for word in named if word))


class _Envelope(BaseModel, defer_build=True):
    error: ErrorBody | str | None = None
    message: str | None = None


_BODY: TypeAdapter[list[_Envelope] | _Envelope] = adapter(lambda: TypeAdapter(list[_Envelope] | _Envelope))


def read_error(body: bytes) -> ErrorBody:
    """The error of an answer's body, without words where it holds none of a known form."""
    try:
        parsed = _BODY.validate_json(body)
    except ValidationError:
        return ErrorBody()
    envelope = parsed if isinstance(parsed, _Envelope) else next(iter(parsed), _Envelope())
    if isinstance(envelope.error, ErrorBody):
        return envelope.error
    return ErrorBody(message=envelope.error or envelope.message)


def trouble_of(status: int | None, error: ErrorBody, headers: Message | None = None) -> Trouble:
    """The event for an error, with the provider's words and how long it asks to wait."""
    named = " ".join(filter(None, (str(status or ""), *error.words[:2])))
    text = f"the model's server answered {named or 'with an error'}"
    if error.message:
        text += f": {' '.join(error.message.split())[:LONGEST_WORDS]}"
    text += hint_of(status, *error.words)
    milliseconds, seconds = (headers.get(name, "") if headers else "" for name in ("retry-after-ms", "retry-after"))
    wait = int(milliseconds) / 1000 if milliseconds.isdecimal() else float(seconds) if seconds.isdecimal() else None
    if wait is not None:  # a date, which few name, is not read
        text += f", retry after {wait:g} s"
    kind = Infrastructure.NO_CREDIT if (error.message or "").startswith(LOW_BALANCE) else kind_of(status, *error.words)
    is_long = kind is None and is_too_long(status, error.message or "", *error.words)
    return Trouble(text, kind, retry_after=wait, is_too_long=is_long)
