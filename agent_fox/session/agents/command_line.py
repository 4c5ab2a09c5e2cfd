"""What an adapter for an agent's command line has to say; the runner does everything else.

Of a program that a person names by `command` nothing is known beforehand. What it is given stands in its own words:
`{model}` and the like in its command or its environment are filled in when a session starts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field

from pydantic_core import from_json

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents import events
from agent_fox.session.agents.clouds import CloudKind  # noqa: TC001 - pydantic reads it
from agent_fox.session.agents.logins import LoginKind  # noqa: TC001 - pydantic reads it
from agent_fox.session.agents.task import UPSTREAMS, AgentTask, Door, Provider, Role

LONGEST_SHOWN = 4000
"""Characters of a tool's answer, and of a line that cannot be read, that an event keeps."""

HEAD_SHOWN = LONGEST_SHOWN // 4
"""Characters of them that are kept of the beginning; the rest is kept of the end, where runners of tests sum up."""

LOOPBACK = "127.0.0.1,localhost"
_HALF_CHARACTER = regex(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def shown(text: str) -> str:
    """A tool's answer as an event keeps it."""
    if len(text) <= LONGEST_SHOWN:
        return text
    between = f"\n… {len(text) - LONGEST_SHOWN} characters are left out\n"
    return f"{text[:HEAD_SHOWN]}{between}{text[HEAD_SHOWN - LONGEST_SHOWN :]}"


class Reader:
    """Reads what one process prints, and remembers what it must between two lines. Each process gets a new one."""

    works_by_complaints = False
    """Whether a line of standard error that is no event is a sign of life, beside being kept."""

    def events_of(self, text: str) -> Iterable[events.Event]:
        """The events of one line of standard output that is not empty. Raises ValueError for another format."""
        raise NotImplementedError

    def line(self, text: str) -> Iterable[events.Event]:
        """The events of one line of standard output, without its end. Never raises for what the line holds."""
        if not text.strip():
            return ()
        try:
            return tuple(self.events_of(text))
        except ValueError:
            return (self.odd(text[:LONGEST_SHOWN]),)

    def odd(self, text: str) -> events.Event:
        """What a line of another format means."""
        return events.Unreadable(text)

    def complaint(self, text: str) -> Iterable[events.Event]:
        """The events of one line of standard error."""
        return (events.Beat(),) if text.strip() else ()

    def end(self, exit_status: int | None) -> events.Finished | None:
        """At the end of the process: the last word, where no line was one and what was read amounts to one."""
        return None


class Dialogue(Reader):
    """A reader that answers: the program is spoken with over its standard input, which stays open until it `is_over`.

    `asked_again` says why its answer was asked for once more; empty where it was not.
    """

    is_over = False
    asked_again = ""

    def replies(self) -> Sequence[str]:
        """Lines for the program, without their ends. Each is given once."""
        raise NotImplementedError

    def cancel(self) -> bool:
        """Ask the program to end what it does; False where it does nothing yet."""
        raise NotImplementedError

    def successor(self) -> Dialogue | None:
        """The dialogue with a second process that takes up the session of one which died; None where it cannot."""
        return None

    def overdue(self, seconds: float) -> Iterable[events.Event]:
        """What it means that the program, which has run for so many seconds, has not answered yet."""
        return ()


@dataclass(frozen=True, slots=True)
class Start:
    """One process to start in the workspace. `environment` comes over the task's; `stdin` is written and closed.

    With a `dialogue` the process is spoken with instead.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    dialogue: Dialogue | None = None


def read_object(text: str) -> Mapping[str, object]:
    """The object of a line. Halves of characters, which JSON may hold and Python's text may not, are replaced.

    Raises ValueError where it is none.
    """
    line = text.encode("utf-8", "replace")
    try:
        read = from_json(line)
    except ValueError:
        read = from_json(_HALF_CHARACTER.sub(rb"\\ufffd", line))
    if not isinstance(read, dict):
        raise ValueError("not an object")
    return read


def direct(given: Mapping[str, str]) -> dict[str, str]:
    """What keeps requests to this machine away from a person's proxy, beside what already is."""
    around = given.get("NO_PROXY") or given.get("no_proxy") or ""
    return dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(filter(None, (around, LOOPBACK))))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a program beforehand. `least` is the oldest version that is known to work; empty: any, and it
    is not asked for its version.

    `counts_resumed`: a resumed session's numbers hold the earlier parts. `tells_cost`: in dollars. `beats`: a long tool
    gives signs of life. `can_resume`, `has_schema`, `has_hooks`: whether it can be asked again, takes a JSON Schema,
    and runs a stop hook.
    """

    name: str
    program: str
    least: tuple[int, ...]
    install: str
    keys: Mapping[Provider, tuple[str, ...]]
    """Of each provider whose models it asks: variables that hold a key, in the order they are looked for."""
    logins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Variables with credentials of another kind, which are handed to the program as they are: what must be set, and
    the secrets that go with it."""
    login: LoginKind | None = None
    """Where the program keeps a person's login; its token stays with the metering proxy."""
    clouds: tuple[CloudKind, ...] = ()
    token: str = ""
    """The variable that may hold a lasting token of such a login."""
    roles: frozenset[Role] = frozenset(Role)
    """The roles that the program can be held to by its own means; for others the sandbox must hold it."""
    counts_resumed: bool = True
    tells_cost: bool = False
    beats: bool = False
    can_resume: bool = True
    has_schema: bool = False
    has_hooks: bool = False
    has_tools: bool = True
    """Whether it can call the tools of an MCP server."""
    most_idle: float = math.inf
    """Seconds of silence after which the program itself goes wrong."""
    asks_anew: bool = False
    """Whether a program whose answer cannot be read is asked by a new process, which is told the answer: it has no
    session that could be taken up."""
    is_any: bool = False
    """Whether a person names the program by `command`: nothing is known of it but how it is spoken with."""

    @property
    def providers(self) -> tuple[Provider, ...]:
        return tuple(self.keys)

    @property
    def direct(self) -> tuple[str, ...]:
        return tuple(name for login, secrets in self.logins.items() for name in (login, *secrets))


class CommandLine:
    """An adapter, one for each program. Holds no state: the same task gives the same words."""

    facts: Facts
    served: tuple[str, ...] = ("mcp__verifier__",)
    """How the program's names for the verifier's tools may begin."""

    def provider(self, model: str) -> Provider:
        """Whose protocol is spoken for this model. Raises ValueError where none is that can be pointed elsewhere."""
        return self.facts.providers[0]

    def prepare(self, task: AgentTask, door: Door) -> None:
        """Write the configuration below `task.home`. Nothing is written into the workspace."""
        raise NotImplementedError

    def start(self, task: AgentTask, door: Door) -> Start:
        """The first process of the session."""
        raise NotImplementedError

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        """A process that asks the ended session once more for its answer (`task.ask_again`), without any tool.

        `session` is what it can be taken up by; the answer itself where the program `asks_anew`.
        """
        raise NotImplementedError

    def reader(self, task: AgentTask) -> Reader:
        raise NotImplementedError

    def own_tools(self, role: Role) -> Collection[str]:
        """The program's own tools that a session of this role has."""
        raise NotImplementedError

    def may(self, role: Role, tool: str) -> bool:
        """Whether a session of this role may call the tool; the report names a call that is not allowed."""
        return tool in self.own_tools(role) or (role is not Role.REVIEWER and tool.startswith(self.served))


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
