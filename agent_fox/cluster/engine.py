"""Where the engine is and how it is reached: address, namespace, certificates, key. Connects to nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.config import ClusterSettings

SCHEME = "temporal"
USUAL_PORT = 7233


FEW = 10
"""Sessions of a worker of which it says every `heartbeat` seconds that they live; of more it does so less often."""
BEATS_IN_LEASE = 4
"""Signs of life of one session in the time of its lease, where they are fewest."""

REMOTES = ("https", "http", "ssh", "file")
_FAR_PATH = regex(r"[\w.+-]+(?:@[\w.+-]+)?:[^:\s]+")  # ada@far.example:project.git


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


def pause_between(heartbeat: float, lease: float, sessions: int) -> float:
    """Seconds between two signs of life of one session, of so many of a worker: from ten on all of them together send
    as many as ten do, as long as each still sends four in the time of its lease. It is at most half a lease.
    """
    fewer = min(heartbeat * sessions / FEW, lease / BEATS_IN_LEASE)
    return min(max(heartbeat, fewer), lease / 2)


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


def remote_of(settings: ClusterSettings) -> str:
    """The address of the remote that carries histories; empty where none is named. Raises EngineError."""
    if not settings.remote:
        return ""
    url = address_of_remote(settings.remote)
    host = urlsplit(url).hostname or ""
    if url.startswith("http://") and not (is_loopback(host) or settings.insecure):
        raise EngineError(f"[cluster] remote = {url!r} is not encrypted; write https://, or insecure = true")
    return url


def address_of_remote(url: str) -> str:
    """The address, where git can be given it and no key is in it. Raises EngineError."""
    parts = urlsplit(url)
    is_url = parts.scheme in REMOTES and "://" in url and (parts.netloc or parts.scheme == "file")
    is_path = url.startswith("/") or (_FAR_PATH.fullmatch(url) and "://" not in url and "::" not in url)
    if not (is_url or is_path) or not url.isprintable() or parts.netloc.startswith("-") or url.startswith("-"):
        raise EngineError(f"{url!r} is no remote; write https://..., ssh://..., user@host:path or file:///...")
    if parts.password or (parts.username and parts.scheme.startswith("http")):
        raise EngineError(
            "the address of a remote holds a name or a password; git's credential helper has them instead"
        )
    return url
