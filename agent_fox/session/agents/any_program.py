"""Programs that a person names by `command`: how one is pointed at the metering proxy, and what its words may hold.

Of such a program nothing is known beforehand. What it is given stands in its own words: `{model}` and the like in its
command or its environment are filled in when a session starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agent_fox.session.agents.command_line import Facts, direct
from agent_fox.session.agents.credentials import UPSTREAMS
from agent_fox.session.agents.task import Provider, Role

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask, Door

KEYS: Mapping[Provider, tuple[str, ...]] = {
    Provider.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    Provider.OPENAI: ("OPENAI_API_KEY",),
    Provider.GEMINI: ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Variables that hold a key for the model, in the order they are looked for."""

HANDED: Mapping[Provider, tuple[str, ...]] = {
    Provider.ANTHROPIC: ("ANTHROPIC_API_KEY",),
    Provider.OPENAI: ("OPENAI_API_KEY", "CODEX_API_KEY"),
    Provider.GEMINI: ("GEMINI_API_KEY",),
}
"""Variables in which a program finds the word that the proxy takes for a key."""

MODEL, EFFORT, URL, KEY = "{model}", "{effort}", "{model_url}", "{model_key}"
OF_PROXY = (URL, KEY)


def facts_of(name: str, *, has_tools: bool = True, asks_anew: bool = False) -> Facts:
    """The facts of a way to speak with any program. Only a coder can be held to its role without a sandbox."""
    return Facts(
        name=name, program="", least=(), install="as its own documentation says", keys=KEYS,
        roles=frozenset({Role.CODER}), can_resume=False, is_any=True, has_tools=has_tools, asks_anew=asks_anew,
    )  # fmt: skip


def words_of(task: AgentTask, door: Door) -> dict[str, str]:
    """What is filled in, by its place."""
    return {MODEL: task.model, EFFORT: task.effort, URL: url_of(task, door), KEY: door.model_key}


def url_of(task: AgentTask, door: Door) -> str:
    """The address of the model as programs want it: that of OpenAI's with its version. Empty without a provider."""
    if task.provider is Provider.OPENAI:
        return f"{door.model_url.removesuffix('/v1')}/v1"
    return door.model_url if task.provider is not None else ""


def filled(text: str, words: Mapping[str, str]) -> str:
    for place, word in words.items():
        text = text.replace(place, word)
    return text


def command_of(task: AgentTask, words: Mapping[str, str]) -> tuple[str, ...]:
    return (task.program, *(filled(argument, words) for argument in task.arguments))


def environment_of(task: AgentTask, door: Door, words: Mapping[str, str]) -> dict[str, str]:
    """What comes over the task's own variables: the proxy where its provider's programs look for it, and what a person
    has written with a place in it.
    """
    usual: dict[str, str] = {}
    if task.provider is not None and door.model_key:
        usual |= dict.fromkeys(UPSTREAMS[task.provider][0], url_of(task, door))
        usual |= dict.fromkeys(HANDED[task.provider], door.model_key)
    own = {name: filled(text, words) for name, text in task.environment.items() if names_any(text, words)}
    return {**usual, **direct(task.environment), **own}


def names_any(text: str, places: Iterable[str]) -> bool:
    return any(place in text for place in places)
