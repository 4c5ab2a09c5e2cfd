"""Gemini CLI as an agent's command line. What it is started with stands in `agent.toml`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_fox.session.agents.described import Described
from agent_fox.session.agents.gemini.reader import GeminiReader
from agent_fox.session.agents.private_files import keep_folder
from agent_fox.system.files import remove_tree

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask, Door

CONNECTING = 30
"""Seconds that our server is given at least for an answer."""

AT_SIGNS = "In what follows, a backslash before an at sign only protects it: \\@name means the same without it.\n\n"
BUDGETS = {"minimal": 512, "low": 2048, "medium": 8192, "high": 24576}


class Gemini(Described):
    """Gemini CLI 0.61 and later."""

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        """The rules lie under a name nobody can know: the workspace is searched for it too."""
        script, given = task.home / ".gemini/hiding.cjs", task.environment.get("NODE_OPTIONS", "")
        hiding = self.beside("hiding.cjs").replace("HOME", json.dumps(str(task.home)), 1)
        served = f'\n[[rule]]\ntoolName = {json.dumps(task.tools)}\ndecision = "allow"\npriority = 950\n'
        usual, wall = super().places(task, door), int(task.limits.wall)
        return {
            **usual,
            "rules": f"rules-{secrets.token_hex(16)}.md",
            "rules_text": _protected(task.system),
            "hiding": hiding.replace("GIVEN", json.dumps(given), 1),
            "node_options": " ".join(filter(None, (f"--require {json.dumps(str(script))}", given))),
            "allowed": json.dumps(usual["own_tools"]),
            "allowed_served": f'{served}mcpName = "verifier"\n' if door.mcp_url and task.tools else "",
            "wall": wall,
            "hook_wall": int(task.limits.wall * 1000),
            "most_turns": task.limits.turns or -1,
            "budget": BUDGETS.get(task.effort),
            "level": task.effort.upper() if task.effort in BUDGETS else None,
            "answer": int(max(task.limits.answer, CONNECTING) * 1000),
            "has_hook": usual["stop"] is not None,
        }

    def access(self, door: Door) -> Mapping[str, str]:
        """With a login it asks the service for people who have one, with the word of its launch as the token."""
        if not door.is_login:
            return {"GEMINI_API_KEY": door.model_key, "GOOGLE_GEMINI_BASE_URL": door.model_url}
        word = {"GOOGLE_GENAI_USE_GCA": "true", "GOOGLE_CLOUD_ACCESS_TOKEN": door.model_key}
        return {**word, "CODE_ASSIST_ENDPOINT": door.model_url}

    def question(self, prompt: str) -> str:
        """The prompt so that nothing in it is a command: `/word` at its start is one, and `@path` attaches a file."""
        protected = _protected(prompt)
        shown = AT_SIGNS + protected if protected != prompt else prompt
        return f"\n{shown}" if shown.startswith("/") else shown

    def prepare(self, task: AgentTask, door: Door) -> None:
        """Of an earlier session everything stays but its rules, and what is written anew."""
        keep_folder(task.home / ".gemini")
        for stale in (task.home / ".gemini").glob("rules-*.md"):
            remove_tree(stale)
        super().prepare(task, door)

    def reader(self, task: AgentTask) -> GeminiReader:
        return GeminiReader(task.home)


def _protected(text: str) -> str:
    return text.replace("\\@", "@").replace("@", "\\@")


GEMINI = Gemini(__file__)
