"""Where the engine is and how it is reached: address, namespace, certificates, key. Connects to nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.config import ClusterSettings

SCHEME = "temporal"
USUAL_PORT = 7233


class EngineError(Exception):
    """The engine cannot be used as it is named. The text says which setting, and what to do."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates as bytes of PEM, None where the usual ones serve; `server_name` is what the engine's must bear."""

    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    server_name: str | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """`tls` None: unencrypted. `heartbeat` and `timeout` are in seconds."""

    host: str
    port: int
    namespace: str
    tls: Tls | None = None
    api_key: str | None = None
    heartbeat: float = 2.0
    timeout: float = 30.0

    @property
    def target(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def name(self) -> str:
        """As launches record it: it finds the same engine again, and holds no key."""
        return f"{SCHEME}://{self.target}/{self.namespace}"

    @property
    def lease(self) -> float:
        """Seconds without an answered sign of life after which a worker ends its session: before another may begin."""
        return lease_of(self.heartbeat, self.timeout)


def lease_of(heartbeat: float, timeout: float) -> float:
    return max(timeout - 2 * heartbeat, timeout / 3)


def engine_of(address: str, settings: ClusterSettings, environ: Mapping[str, str]) -> Engine:
    """Raises EngineError."""
    parts = urlsplit(address)
    try:
        port = parts.port or USUAL_PORT
    except ValueError as error:
        raise EngineError(f"engine {address!r}: {error}; an address is {SCHEME}://HOST:PORT") from error
    if parts.scheme != SCHEME or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise EngineError(
            f"engine {address!r} is no address; write {SCHEME}://HOST:PORT, or {SCHEME}://HOST:PORT/NAMESPACE"
        )
    if settings.timeout < 2 * settings.heartbeat:
        raise EngineError("[cluster] timeout must be at least twice as long as heartbeat")
    return Engine(
        parts.hostname, port, parts.path.strip("/") or settings.namespace,
        tls_of(parts.hostname, settings), api_key_of(settings, environ), settings.heartbeat, settings.timeout,
    )  # fmt: skip


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def tls_of(host: str, settings: ClusterSettings) -> Tls | None:
    """Encrypted off this machine whatever the settings name, but where they say `insecure`."""
    named = (settings.ca, settings.certificate, settings.key, settings.server_name, settings.api_key)
    if settings.insecure:
        if any(named):
            raise EngineError("[cluster] insecure = true goes with none of ca, certificate, key and others")
        return None
    if is_loopback(host) and not any(named):
        return None
    if bool(settings.certificate) != bool(settings.key):
        raise EngineError("[cluster] certificate and key belong together; name both files")
    return Tls(
        content("ca", settings.ca), content("certificate", settings.certificate), content("key", settings.key),
        settings.server_name or None,
    )  # fmt: skip


def content(setting: str, path: str) -> bytes | None:
    if not path:
        return None
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise EngineError(f"[cluster] {setting} = {path!r}: cannot be read ({error.strerror})") from error


def api_key_of(settings: ClusterSettings, environ: Mapping[str, str]) -> str | None:
    if not settings.api_key:
        return None
    value = environ.get(settings.api_key)
    if not value:
        raise EngineError(f"[cluster] api_key = {settings.api_key!r}: there is no such variable; export it first")
    return value
