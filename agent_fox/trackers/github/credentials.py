"""Who files: a GitHub App, or a token from the environment, from `gh`, or from the keyring. Nothing here prints one.

Tokens that are meant for github.com (GH_TOKEN, GITHUB_TOKEN) are shown to no other host, as `gh` does it. A host that
is not GitHub's own, named by a file of the project or by a remote, is shown none unless the environment names it too.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth, GithubIntegration

from agent_fox.core.values import dataclass
from agent_fox.system import programs
from agent_fox.system.files import read_regular
from agent_fox.trackers.github.repository import Address, is_loopback, is_public
from agent_fox.trackers.github.trouble import SetupTrouble
from agent_fox.trackers.github.wire import TIMEOUT

if TYPE_CHECKING:
    from agent_fox.config import TrackerSettings

ANYWHERE = ("AGENT_FOX_GITHUB_TOKEN",)
PUBLIC_ONLY = ("GH_TOKEN", "GITHUB_TOKEN")
ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
HOSTS = ("AGENT_FOX_GITHUB_HOST", "GH_HOST")
"""Variables that name a host that is not GitHub's own and may be shown a token."""
BASE_URL = "AGENT_FOX__TRACKER__BASE_URL"

LONGEST_KEY = 100_000
PATIENCE = 10.0
"""Seconds that `gh` and the keyring have for an answer."""

KEYRING_USER = "token"
REMEDY = (
    "set AGENT_FOX_GITHUB_TOKEN (or GH_TOKEN, GITHUB_TOKEN), or log in with `gh auth login`, or set up a GitHub App"
)


@dataclass(frozen=True, slots=True)
class Credential:
    """What we show GitHub, and where it was found, in words."""

    auth: Auth.Auth = field(repr=False)
    source: str
    renews: bool = False

    @property
    def secret(self) -> str:
        """The token itself, to be masked in what is written; empty where it changes from hour to hour."""
        return "" if self.renews else self.auth.token


class RepositoryApp(Auth.Auth):
    """A GitHub App in one repository. Its installation is looked up when the first token is needed, and each token is
    renewed before it ends."""

    def __init__(self, app: Auth.AppAuth, address: Address, installation: int | None = None) -> None:
        self._address = address
        self._integration = GithubIntegration(
            auth=app,
            base_url=address.base_url,
            timeout=TIMEOUT,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
        )
        self._app = app
        self._number = installation
        self._installed: Auth.AppInstallationAuth | None = None

    @property
    def token_type(self) -> str:
        return "token"

    @property
    def token(self) -> str:
        return self._installation().token

    @property
    def _masked_token(self) -> str:
        return "token (of an App, removed)"

    def login(self) -> str:
        """The name under which an App writes."""
        return f"{self._integration.get_app().slug}[bot]"

    def may(self) -> Mapping[str, str]:
        """What the App may do in the repository, such as `{"issues": "write"}`."""
        installation = self._integration.get_repo_installation(self._address.owner, self._address.name).raw_data
        permissions = installation.get("permissions")
        return {str(name): str(level) for name, level in dict(permissions or {}).items()}

    def _installation(self) -> Auth.AppInstallationAuth:
        if self._installed is None:
            owner, name = self._address.owner, self._address.name
            number = self._number or self._integration.get_repo_installation(owner, name).id
            auth = Auth.AppInstallationAuth(self._app, number)
            self._installed = auth.withRequester(self._integration.requester)
        return self._installed


def credential(settings: TrackerSettings, address: Address, root: Path, environ: Mapping[str, str]) -> Credential:
    """The first that is there, in the order of `[tracker] credentials`. Raises SetupTrouble. Asks GitHub nothing."""
    if settings.credentials == "app" or (settings.credentials == "auto" and settings.app_id is not None):
        return _app(settings, address, root, environ)
    ways: dict[str, Callable[[Address, Mapping[str, str]], Credential | None]] = {
        "environment": _in_environment,
        "gh": _of_gh,
        "keyring": _in_keyring,
    }
    for name, way in ways.items():
        candidate = way(address, environ) if settings.credentials in ("auto", name) else None
        if candidate is not None:
            return candidate
    remedy = REMEDY if is_named(address, environ) else _name_it(address)
    raise SetupTrouble(_nothing_found(settings, address, environ), remedy)


def names_for(address: Address, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that may hold a token for a host, the first counts."""
    if environ.get("GITHUB_SERVER_URL", "").rstrip("/") == address.web:
        return (*ANYWHERE, *PUBLIC_ONLY, *ENTERPRISE)
    if is_public(address.hostname) or is_loopback(address.hostname):
        return (*ANYWHERE, *PUBLIC_ONLY)
    return (*ANYWHERE, *ENTERPRISE) if is_named(address, environ) else ()


def is_named(address: Address, environ: Mapping[str, str]) -> bool:
    """Whether who runs this, and not the project alone, means this host: GitHub's, loopback, or one that is named."""
    told_base = environ.get(BASE_URL, "").rstrip("/") == address.base_url
    is_own = is_public(address.hostname) or is_loopback(address.hostname)
    if told_base or is_own or environ.get("GITHUB_SERVER_URL", "").rstrip("/") == address.web:
        return True
    hosts = {environ.get(name, "").strip().lower() for name in HOSTS}
    return bool(hosts & {address.host.lower(), address.hostname.lower()})


def _in_environment(address: Address, environ: Mapping[str, str]) -> Credential | None:
    for name in names_for(address, environ):
        if environ.get(name, ""):
            return _token(environ[name], name)
    return None


def _of_gh(address: Address, environ: Mapping[str, str]) -> Credential | None:
    """Where the host is the project's word alone, `gh` tells what it keeps for it, and no token of the environment."""
    hidden = ANYWHERE if is_named(address, environ) else (*ANYWHERE, *PUBLIC_ONLY, *ENTERPRISE)
    program = programs.of_the_machine("gh", among=environ.get("PATH"))
    if program is None:
        return None
    asked = {name: value for name, value in environ.items() if name not in hidden} | {"GH_PROMPT_DISABLED": "1"}
    answer = _output_of([program, "auth", "token", "--hostname", address.host], asked)
    return _token(answer, "`gh auth token`") if answer else None


def _in_keyring(address: Address, environ: Mapping[str, str]) -> Credential | None:
    """Asked in a process of its own, for a keyring that wants to be unlocked waits for a person."""
    if importlib.util.find_spec("keyring") is None:
        return None
    service = f"agent-fox:{address.host}"
    answer = _output_of([sys.executable, "-P", "-m", "keyring", "get", service, KEYRING_USER], environ)
    return _token(answer, f"the keyring, service `{service}`") if answer else None


def _output_of(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """What a program prints, without the newline at its end; empty if it fails or takes too long."""
    try:
        done = programs.run(argv, PATIENCE, environment=environ)
    except OSError:
        return ""
    return "" if done.status else done.out.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def _token(text: str, source: str) -> Credential:
    if not text.isascii() or not text.isprintable() or " " in text:
        reason = f"the token from {source} has a space, a newline or a letter that no token has"
        raise SetupTrouble(reason, "set it again, the token alone on one line")
    return Credential(Auth.Token(text), source)


def _app(settings: TrackerSettings, address: Address, root: Path, environ: Mapping[str, str]) -> Credential:
    if settings.app_id is None or settings.app_key is None:
        raise SetupTrouble("a GitHub App needs its number and its key", "set `[tracker] app_id` and `app_key`")
    if not is_named(address, environ):
        raise SetupTrouble(
            f"a file of the project alone names {address.host}, and the App is shown to no such host", _name_it(address)
        )
    app = Auth.AppAuth(settings.app_id, _private_key(root / Path(settings.app_key).expanduser()))
    return Credential(RepositoryApp(app, address, settings.installation), f"GitHub App {settings.app_id}", renews=True)


def _name_it(address: Address) -> str:
    return f"if {address.host} is to be trusted with it, set {HOSTS[0]}={address.host}, or log in with `gh auth login`"


def _private_key(path: Path) -> str:
    """The text of a key that only its owner can read."""
    again = "download a private key from the App's settings and set `[tracker] app_key` to its file"
    try:
        is_open_to_others = path.stat().st_mode & 0o077
        key = read_regular(path.resolve(), LONGEST_KEY)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a link that leads to itself"
        raise SetupTrouble(f"the App's key {path} cannot be read: {reason}", again) from None
    if key is None:
        raise SetupTrouble(f"the App's key {path} cannot be read: it is no file", again)
    if is_open_to_others:
        raise SetupTrouble(f"the App's key {path} can be read by others", f"run `chmod 600 {path}`")
    try:
        load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        raise SetupTrouble(f"{path} is no private key (PEM, without a password)", again) from None
    return key.decode("ascii", "replace")


def _nothing_found(settings: TrackerSettings, address: Address, environ: Mapping[str, str]) -> str:
    """Where was looked, and what nearly was a token."""
    names = names_for(address, environ)
    reason = f"no token for {address.host}"
    if settings.credentials != "auto":
        reason += f" (`[tracker] credentials` is `{settings.credentials}`)"
    empty = [name for name in names if environ.get(name) == ""]
    unfit = [name for name in (*ANYWHERE, *PUBLIC_ONLY, *ENTERPRISE) if environ.get(name) and name not in names]
    reasons = [*(f"{name} is empty" for name in empty), *(f"{name} is not for this host" for name in unfit)]
    return f"{reason}; {'; '.join(reasons)}" if reasons else reason
