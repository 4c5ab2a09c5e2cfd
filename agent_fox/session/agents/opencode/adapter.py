"""opencode as an agent's command line: what it is started with, and which of its tools a role has.

`opencode run` serves itself within its own process: it listens at no port, so that it needs no password. What it is
told is in `opencode_settings`, what its lines mean in `opencode_reader`.
"""

from __future__ import annotations

from agent_fox.session.agents.command_line import CommandLine, Facts, Start
from agent_fox.session.agents.opencode import settings
from agent_fox.session.agents.opencode.reader import OpencodeReader
from agent_fox.session.agents.task import AgentTask, Door, Provider, Role

TITLE = "agent-fox"
"""With a title of its own, a session does not ask the model for one."""


FACTS = Facts(
    name="opencode",
    program="opencode",
    least=(1, 18, 33),
    install="npm install --global opencode-ai, with Node.js",
    providers=(Provider.ANTHROPIC, Provider.OPENAI, Provider.GEMINI),
    keys={
        Provider.ANTHROPIC: ("ANTHROPIC_API_KEY",),
        Provider.OPENAI: ("OPENAI_API_KEY",),
        Provider.GEMINI: ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    },
    counts_resumed=False,
    tells_cost=True,
    beats=False,
    can_resume=True,
    has_schema=False,
    has_hooks=False,
)


class Opencode(CommandLine):
    """The adapter. The prompt comes by standard input; model, key, tools and server are in files below the home."""

    facts = FACTS

    def provider(self, model: str) -> Provider:
        """Raises ValueError for a provider that cannot be pointed elsewhere."""
        return settings.provider_of(model)

    def prepare(self, task: AgentTask, door: Door) -> None:
        settings.write_settings(task, door)

    def start(self, task: AgentTask, door: Door) -> Start:
        argv = [*_common(task), "--agent", task.role.value, *task.arguments]
        return Start(tuple(argv), settings.environment(task), task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        argv = [*_common(task), "--agent", settings.AGAIN, *task.arguments, "--session", session]
        return Start(tuple(argv), settings.environment(task), task.ask_again)

    def reader(self, task: AgentTask) -> OpencodeReader:
        return OpencodeReader()

    def may(self, role: Role, tool: str) -> bool:
        is_served = role is not Role.REVIEWER and tool.startswith(settings.MCP_PREFIX)
        return is_served or tool in settings.tools_of(role)


def _common(task: AgentTask) -> list[str]:
    argv = [task.program, "run", "--format", "json", "--title", TITLE]
    model = settings.model_of(task)
    argv += ["--model", model] if model else []
    return argv + (["--variant", task.effort] if task.effort else [])


OPENCODE = Opencode()
