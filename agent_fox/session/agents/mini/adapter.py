"""mini-swe-agent as an agent's command line. What it is started with stands in `agent.toml`."""

from __future__ import annotations

import json

from agent_fox.session.agents.described import Described
from agent_fox.session.agents.mini.reader import MiniReader
from agent_fox.session.agents.task import AgentTask, Door, Provider

LEAST_COMMAND = 60
"""Seconds that a command gets at least."""

PYTHON = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE")
"""Variables whose own values only the commands of the session get."""


class Mini(Described):
    """mini-swe-agent 2.4 and later."""

    def provider(self, model: str) -> Provider:
        """By the name of the model, as litellm writes it. Raises ValueError for one that no key here is for."""
        named, slash, _ = model.partition("/")
        if model.startswith("claude") or (slash and named == "anthropic"):
            return Provider.ANTHROPIC
        if model and (not slash or named == "openai"):
            return Provider.OPENAI
        problem = f"{model!r} is of another provider" if model else "it has no usual model"
        raise ValueError(f'{problem}; set `model = "anthropic/..."` or `model = "openai/..."`')

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        kept = {name: task.environment[name] for name in PYTHON if name in task.environment}
        is_named = task.model.startswith(f"{task.provider}/")
        url = door.model_url if task.provider is Provider.ANTHROPIC else f"{door.model_url.removesuffix('/v1')}/v1"
        return super().places(task, door) | {
            "prompt": task.prompt,
            "rules": task.system,
            "telling": self.beside("telling.txt"),
            "kept": json.dumps(kept | {"HOME": str(task.home)}),
            "named_model": task.model if is_named else f"{task.provider}/{task.model}",
            "base_url": url,
            "most_turns": task.limits.turns or 0,
            "answer": int(max(task.limits.answer, LEAST_COMMAND)),
            "idle": task.limits.idle,
        }

    def question(self, prompt: str) -> str:
        """Nothing: its task stands in its configuration."""
        return ""

    def reader(self, task: AgentTask) -> MiniReader:
        return MiniReader()


MINI = Mini(__file__)
