"""Where a model is: its address, and connections to it. HTTPS checks certificates against the system's own list."""

from __future__ import annotations

import http.client
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from agent_fox.session.agents.task import Provider

OF_THE_LINE = (OSError, http.client.HTTPException)
"""What a connection that fails, or that speaks no HTTP, raises."""

_VERSIONS = ("v1", "v1beta", "v1alpha")


class Upstream:
    """An address such as `https://host/path`. Raises ValueError for anything else."""

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
