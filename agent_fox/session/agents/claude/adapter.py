"""Claude Code as an agent's command line. What it is started with stands in `agent.toml`."""

from __future__ import annotations

from collections.abc import Mapping

from agent_fox.session.agents.claude.reader import ClaudeReader
from agent_fox.session.agents.described import Described
from agent_fox.session.agents.task import AgentTask, Door, Role

ANSWERING = "StructuredOutput"
"""The tool that the program itself adds where a schema is given."""

SHORTEST_QUIET, LONGEST_QUIET = 10.0, 40.0
"""Seconds without a byte of the model's before a request is repeated: three tries end in about two minutes."""

LONGEST_COMMAND, USUAL_COMMAND = 3600.0, 300.0

SEARCHING = (
    "Your tool Grep leaves out every file that an ignore file names (.gitignore, .ignore, .rgignore), and the work "
    'before you may have changed those. Always give it the argument glob with the value "**": it then leaves out none.'
)
"""A rule for who judges: no option of the program makes it search everything."""


class Claude(Described):
    """Claude Code 2.1.330 and later."""

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        """Reading stays in the workspace without a rule for it; one that allowed it would open the disk."""
        usual, limits, ours = super().places(task, door), task.limits, task.home / ".claude-session"
        served = [f"{self.served[0]}{tool}" for tool in task.tools] if usual["is_served"] else []
        rules = task.system if task.role is Role.CODER else f"{task.system}\n\n{SEARCHING}\n".lstrip()
        quiet, command = min(max(limits.idle / 3, SHORTEST_QUIET), LONGEST_QUIET), min(limits.wall, LONGEST_COMMAND)
        seconds = {
            "quiet": quiet, "answer": limits.answer, "longest_command": command,
            "usual_command": min(command, USUAL_COMMAND),
        }  # fmt: skip
        return (
            usual
            | {name: int(value * 1000) for name, value in seconds.items()}
            | {
                "rules": rules,
                "rules_file": ours / "system.md" if rules else None,
                "servers_file": ours / "mcp.json" if usual["is_served"] else None,
                "budget": f"{limits.cost_usd:.6f}" if limits.cost_usd is not None and limits.cost_usd > 0 else None,
                "tools_listed": ",".join(super().own_tools(task.role)),
                "allowed": ",".join(["Bash", *served] if task.role is Role.CODER else served) or None,
                "no_hooks": None if usual["stop"] else True,
            }
        )

    def access(self, door: Door) -> Mapping[str, str]:
        """With a login it asks as one who is logged in; of its own logins it is handed the first there is, with its
        secrets and no other's.
        """
        if door.cloud or door.model_key:
            return door.cloud or {self.facts.token if door.is_login else "ANTHROPIC_API_KEY": door.model_key}
        login = next((name for name in self.facts.logins if name in door.credentials), "")
        names = (login, *self.facts.logins.get(login, ()))
        return {name: door.credentials[name] for name in names if name in door.credentials}

    def own_tools(self, role: Role) -> tuple[str, ...]:
        return (*super().own_tools(role), ANSWERING)

    def reader(self, task: AgentTask) -> ClaudeReader:
        return ClaudeReader()


CLAUDE = Claude(__file__)
