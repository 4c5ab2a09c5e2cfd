"""What opens the model's side to one request: a key that stays as it is, or a login whose token changes."""

from __future__ import annotations

from typing import Protocol

from agent_fox.core.values import dataclass
from agent_fox.session.infrastructure import Infrastructure


class LoginError(Exception):
    """A login that cannot be used now. The text says why and what to do, and shows no token."""

    def __init__(self, text: str, kind: Infrastructure = Infrastructure.AUTHENTICATION) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Opening:
    """The headers of one request, and the secret in them, which no answer may show."""

    headers: tuple[tuple[str, str], ...]
    secret: str

    def __repr__(self) -> str:
        return "Opening(...)"


class Access(Protocol):
    """What the proxy asks for each request, from any thread."""

    def opening(self) -> Opening:
        """Raises LoginError."""
        ...

    def refuse(self, token: str) -> None:
        """The model's side did not take this one."""
        ...


@dataclass(frozen=True, slots=True)
class Key:
    """A key, in the headers in which its provider expects it, or a gateway its token."""

    headers: tuple[tuple[str, str], ...]
    key: str

    def opening(self) -> Opening:
        return Opening(self.headers, self.key)

    def refuse(self, token: str) -> None:
        """There is no other."""

    def __repr__(self) -> str:
        return "Key(...)"


def joined(passed: list[tuple[str, str]], own: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The headers that go on: ours, and those of the program, whose words of the same list stand before ours."""
    names = {name.lower() for name, _ in own}
    lists = {name.lower(): value for name, value in passed if name.lower() in names}
    both = [(name, f"{lists[name.lower()]},{value}" if name.lower() in lists else value) for name, value in own]
    return [*(pair for pair in passed if pair[0].lower() not in names), *both]
