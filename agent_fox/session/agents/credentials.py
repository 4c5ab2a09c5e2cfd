"""Keys for the model: found among a person's variables, kept from the agent, used by the metering proxy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.agents.task import UPSTREAMS, Provider

if TYPE_CHECKING:
    from agent_fox.session.agents.clouds import CloudKind
    from agent_fox.session.agents.command_line import Facts
    from agent_fox.session.agents.logins import LoginKind
    from agent_fox.session.agents.proxy.model_side import Access

BEARERS = frozenset({"ANTHROPIC_AUTH_TOKEN"})
"""Variables with tokens of gateways, which look for them where OAuth has them."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """`key`, `login` (the file of a person's login) or `cloud` is for the proxy; `direct` is for the program alone.

    `name` is the variable that holds the key; `is_token`: it is the token of a login.
    """

    name: str = ""
    key: str = field(default="", repr=False)
    direct: Mapping[str, str] = field(default_factory=dict, repr=False)
    login: Path | None = None
    is_token: bool = False
    cloud: CloudKind | None = None
    access: Access | None = None
    """What opens the cloud, once its chain was asked."""

    @property
    def is_bearer(self) -> bool:
        """Whether the model's side wants it as a bearer token, whatever the provider's usual header."""
        return self.name in BEARERS

    def __bool__(self) -> bool:
        return bool(self.direct) or self.is_held

    @property
    def is_held(self) -> bool:
        """Whether all of it stays with us: the program gets a word of its launch instead."""
        return bool(self.key or self.login or self.cloud)

    @property
    def is_login(self) -> bool:
        return self.is_token or self.login is not None


def find(facts: Facts, provider: Provider | None, variables: Mapping[str, str]) -> Credentials:
    """The first key there is, else a login's token, a cloud, what only the program can use, or a login's file.

    None of them where nothing is asked of a provider.
    """
    if provider is None:
        return Credentials()
    name = next((name for name in facts.keys.get(provider, ()) if variables.get(name)), "")
    if name:
        return Credentials(name, variables[name])
    token = facts.token if facts.login is not None and variables.get(facts.token) else ""
    if token:
        return Credentials(token, variables[token], is_token=True)
    cloud = next((cloud for cloud in facts.clouds if cloud.is_meant(variables)), None)
    if cloud is not None:
        return Credentials(cloud=cloud)
    is_direct = any(variables.get(name) for name in facts.logins)
    if is_direct:
        return Credentials(direct={name: variables[name] for name in facts.direct if variables.get(name)})
    return Credentials(login=facts.login.path(variables) if facts.login is not None else None)


def secret_names(facts: Facts) -> frozenset[str]:
    """Every variable that the agent's shell must not see."""
    return frozenset(name for names in facts.keys.values() for name in names) | {*facts.direct, facts.token} - {""}


def upstream(
    provider: Provider | None,
    variables: Mapping[str, str],
    login: LoginKind | None = None,
    cloud: CloudKind | None = None,
) -> str:
    """Where the model is: where the person says, else where the login is taken, else where the provider is.

    Raises ValueError for a cloud without a region.
    """
    if provider is None:
        return ""
    if cloud is not None:
        return cloud.upstream(variables)
    names, usual = UPSTREAMS[provider]
    return next((variables[name] for name in names if variables.get(name)), login.upstream if login else usual)
