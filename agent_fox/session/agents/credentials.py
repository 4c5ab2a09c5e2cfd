"""Keys for the model: found among a person's variables, kept from the agent, used by the metering proxy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.agents.task import Provider

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import Facts

UPSTREAMS: Mapping[Provider, tuple[tuple[str, ...], str]] = {
    Provider.ANTHROPIC: (("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    Provider.OPENAI: (("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1"),
    Provider.GEMINI: (("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
}
"""Where each provider is: the variables that may say so, and where it is without them."""


BEARERS = frozenset({"ANTHROPIC_AUTH_TOKEN"})
"""Variables with tokens of gateways, which look for them where OAuth has them."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """`key` is for the proxy, empty where there is none; `direct` is what only the program itself can use.

    `name` is the variable that holds the key.
    """

    name: str = ""
    key: str = field(default="", repr=False)
    direct: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_bearer(self) -> bool:
        """Whether the model's side wants it as a bearer token, whatever the provider's usual header."""
        return self.name in BEARERS

    def __bool__(self) -> bool:
        return bool(self.key or self.direct)


def find(facts: Facts, provider: Provider | None, variables: Mapping[str, str]) -> Credentials:
    """The first key there is, else what the program can use by itself. None where nothing is asked of a provider."""
    if provider is None:
        return Credentials()
    name = next((name for name in facts.keys.get(provider, ()) if variables.get(name)), "")
    is_login = any(variables.get(name) for name in facts.logins or facts.direct)
    direct = {name: variables[name] for name in facts.direct if variables.get(name)}
    return Credentials(name, variables[name]) if name else Credentials(direct=direct if is_login else {})


def secret_names(facts: Facts) -> frozenset[str]:
    """Every variable that the agent's shell must not see."""
    return frozenset(name for names in facts.keys.values() for name in names) | set(facts.direct)


def upstream(provider: Provider | None, variables: Mapping[str, str]) -> str:
    if provider is None:
        return ""
    names, usual = UPSTREAMS[provider]
    return next((variables[name] for name in names if variables.get(name)), usual)
