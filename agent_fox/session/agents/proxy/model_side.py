"""The model's side: its address and connections to it, what opens it to one request (a key that stays as it is, or a
login whose token changes), and how that secret is taken out of what comes back.
"""

from __future__ import annotations

import http.client
import ssl
from dataclasses import field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from agent_fox.core.values import dataclass
from agent_fox.session.infrastructure import Infrastructure

if TYPE_CHECKING:
    from agent_fox.session.agents.task import Provider

OF_THE_LINE = (OSError, http.client.HTTPException)
"""What a connection that fails, or that speaks no HTTP, raises."""

_VERSIONS = ("v1", "v1beta", "v1alpha")

MASK = b"[redacted]"
SHORTEST = 16
"""Bytes. The keys of every provider are much longer; `any`, which tests and gateways without keys take, is not one."""


class LoginError(Exception):
    """A login that cannot be used now. The text says why and what to do, and shows no token."""

    def __init__(self, text: str, kind: Infrastructure = Infrastructure.AUTHENTICATION) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Opening:
    """The headers of one request, and the secret in them, which no answer may show."""

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    secret: str = field(repr=False)


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

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    key: str = field(repr=False)

    def opening(self) -> Opening:
        return Opening(self.headers, self.key)

    def refuse(self, token: str) -> None:
        """There is no other."""


def joined(passed: list[tuple[str, str]], own: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The headers that go on: ours, and those of the program, whose words of the same list stand before ours."""
    names = {name.lower() for name, _ in own}
    lists = {name.lower(): value for name, value in passed if name.lower() in names}
    both = [(name, f"{lists[name.lower()]},{value}" if name.lower() in lists else value) for name, value in own]
    return [*(pair for pair in passed if pair[0].lower() not in names), *both]


class Upstream:
    """An address such as `https://host/path`; certificates are checked against the system's own list. Raises ValueError
    for anything else.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)  # raises ValueError itself, as `port` and the name's encoding below do
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the model's address must be http(s)://HOST[:PORT][/PATH]; set it in the agent's settings")
        if parts.username is not None or parts.password is not None:
            raise ValueError("the model's address holds credentials; put the key into its variable instead")
        self._host, self._port = parts.hostname.encode("idna").decode(), parts.port
        self._base = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None

    def connection(self, seconds: float) -> http.client.HTTPConnection:
        """One that is not made yet; it may take `seconds` to make it."""
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        return http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)

    def target(self, path: str) -> str:
        """A path below the base; a version that ends the base is not said twice."""
        version = self._base.rpartition("/")[2]
        if version in _VERSIONS and path.startswith(f"/{version}/"):
            return self._base + path.removeprefix(f"/{version}")
        return self._base + path


def usable_key(key: str, provider: Provider) -> str:
    """The key as it is. Raises ValueError, which does not show it, where no header can hold it."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError(f"the key for {provider} is empty or holds a character that no header can; set it anew")
    return key


def why(error: OSError | http.client.HTTPException) -> str:
    """What went wrong, without anything that was sent."""
    if isinstance(error, TimeoutError):
        return "it was silent for too long"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


class Mask:
    """Feed it pieces in order; what it gives back is safe to show.

    A secret of fewer than SHORTEST bytes is not looked for: keys are longer, and ordinary words could hold it.
    """

    __slots__ = ("_held", "_secret")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret if len(secret) >= SHORTEST else b""
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be passed on so far."""
        if not self._secret:
            return piece
        data = (self._held + piece).replace(self._secret, MASK)
        held = next((n for n in range(len(self._secret) - 1, 0, -1) if data.endswith(self._secret[:n])), 0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def hides(self, text: str) -> bool:
        """Whether the secret stands in the text."""
        return bool(self._secret) and self._secret in text.encode("utf-8", "surrogateescape")
