"""Which repository issues go to, and where its REST interface and its pages are. No network is here."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git
from agent_fox.trackers.github.trouble import SetupTrouble

if TYPE_CHECKING:
    from agent_fox.config import TrackerSettings

PUBLIC = "github.com"
PUBLIC_API = "https://api.github.com"

_NAMED = regex(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]{0,99})/(?P<name>[A-Za-z0-9._-]{1,100})")
_SCP = regex(r"(?:[^@/\s]+@)?(?P<host>\[[0-9A-Fa-f:]+\]|[^:/\s\[\]]+):(?P<path>(?!//).+)")
_HOST = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45}")
"""What every reader of addresses takes for the same host: others may end it at a backslash, and talk to another."""
_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git")
_SET = 'set `[tracker] repository = "OWNER/NAME"`'


@dataclass(frozen=True, slots=True)
class Address:
    """A repository on one GitHub. `base_url` is the address of the REST interface, without a slash at the end."""

    base_url: str
    owner: str
    name: str

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def host(self) -> str:
        """The host that people know, by which tokens are kept: `github.com`."""
        return urlsplit(self.web).netloc

    @property
    def hostname(self) -> str:
        """The same without its port."""
        return urlsplit(self.web).hostname or ""

    @property
    def place(self) -> str:
        """What is written to, as one word: `github.com/OWNER/NAME`."""
        return f"{self.host}/{self.owner}/{self.name}".lower()

    @property
    def web(self) -> str:
        """Where the pages are for people, without a slash at the end."""
        parts = urlsplit(self.base_url)
        host = parts.netloc
        if parts.path in ("", "/") and host.startswith("api."):
            host = host.removeprefix("api.")
        return f"{parts.scheme}://{host}"


def address_of(settings: TrackerSettings, root: Path) -> Address:
    """By the settings, else by the git remote. Raises SetupTrouble."""
    if settings.repository is not None:
        owner, name = _named(settings.repository)
        return Address(_told_base(settings) or _base_by_remote(settings, root), owner, name)
    host_url, path = split_remote(_remote_url(settings, root))
    owner, name = _path_named(path)
    return Address(_told_base(settings) or base_of(host_url), owner, name)


def split_remote(url: str) -> tuple[str, str]:
    """`https://HOST` and the path of a remote's address, in any form that git knows. Credentials are dropped."""
    scp = _SCP.fullmatch(url)
    if scp is not None and "://" not in url:
        return _host_url("ssh", scp["host"].strip("[]"), None), scp["path"]
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise SetupTrouble("the git remote is no address of a GitHub repository", f"{_SET}, or another `remote`")
    return _host_url(parts.scheme, parts.hostname, _port(url)), parts.path


def base_of(host_url: str) -> str:
    """Where the REST interface of a host is."""
    parts = urlsplit(host_url)
    host = parts.hostname or ""
    if host == PUBLIC:
        return PUBLIC_API
    if host.endswith(".ghe.com"):
        return f"https://api.{host}"
    if "." not in host and ":" not in host and host != "localhost":
        remedy = f"set `[tracker] base_url` (for github.com `{PUBLIC_API}`)"
        raise SetupTrouble(f"`{host}`, the host of the git remote, is an alias", remedy)
    return f"{host_url}/api/v3"


def checked_base(url: str) -> str:
    """An address that a token may be sent to: https, or this machine itself."""
    example = f"set `[tracker] base_url` to `https://HOST/api/v3`, or leave it out for {PUBLIC}"
    try:
        parts, port = urlsplit(url), _port(url)
    except ValueError:
        raise SetupTrouble("`[tracker] base_url` is no address", example) from None
    host = parts.hostname or ""
    if (
        not url.isprintable()
        or not _HOST.fullmatch(host)
        or parts.scheme not in ("https", "http")
        or parts.query
        or parts.fragment
        or port == 0
    ):
        raise SetupTrouble("`[tracker] base_url` is no address", example)
    if parts.username is not None or parts.password is not None:
        raise SetupTrouble(
            "`[tracker] base_url` holds credentials", "take them out; a token belongs in the environment"
        )
    if parts.scheme == "http" and not is_loopback(host):
        raise SetupTrouble("`[tracker] base_url` is not https, and a token would be readable on its way", example)
    if host in (PUBLIC, f"www.{PUBLIC}"):
        raise SetupTrouble("`[tracker] base_url` is the address of the pages", f"set it to `{PUBLIC_API}`")
    return url.rstrip("/")


def is_public(host: str) -> bool:
    """Whether a host, without its port, is GitHub's own."""
    return host == PUBLIC or host.endswith(".ghe.com")


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _told_base(settings: TrackerSettings) -> str | None:
    return None if settings.base_url is None else checked_base(settings.base_url)


def _base_by_remote(settings: TrackerSettings, root: Path) -> str:
    """The host of the remote where there is one; else github.com."""
    try:
        url = _remote_url(settings, root)
    except SetupTrouble:
        return PUBLIC_API
    return base_of(split_remote(url)[0])


def _remote_url(settings: TrackerSettings, root: Path) -> str:
    try:
        return git.call(root, "remote", "get-url", "--", settings.remote).text
    except git.GitError:
        reason = f"the repository has no git remote `{settings.remote}`, so nothing tells where issues go"
        raise SetupTrouble(reason, f"{_SET}, or add the remote") from None


def _named(text: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(text.strip())
    if match is None or match["name"] in (".", "..", ".git"):
        reason = "`[tracker] repository` has not the form OWNER/NAME"
        raise SetupTrouble(reason, f"{_SET}, without host and without `.git`")
    return match["owner"], match["name"]


def _path_named(path: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(path.strip("/").removesuffix(".git"))
    if match is None:
        raise SetupTrouble("the path of the git remote has not the form OWNER/NAME", _SET)
    return match["owner"], match["name"]


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        raise SetupTrouble("the address has a port that is none", f"correct it, or {_SET}") from None


def _host_url(scheme: str, host: str, port: int | None) -> str:
    """The host's pages: the port of ssh is none of the web's, and plain http is kept for this machine alone."""
    if not _HOST.fullmatch(host):
        raise SetupTrouble("the host of the git remote is none", f"correct the remote's address, or {_SET}")
    if host in (f"ssh.{PUBLIC}", f"www.{PUBLIC}"):
        return f"https://{PUBLIC}"
    named = f"[{host}]" if ":" in host else host
    if scheme not in ("https", "http"):
        return f"https://{named}"
    kept = "http" if scheme == "http" and is_loopback(host) else "https"
    is_of_the_web = port is not None and (scheme == kept)
    return f"{kept}://{named}:{port}" if is_of_the_web else f"{kept}://{named}"
