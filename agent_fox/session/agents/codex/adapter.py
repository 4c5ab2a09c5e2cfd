"""Codex CLI as an agent's command line. What it is started with stands in `agent.toml`.

Codex asks its stop hook again and again, without end: whoever answers the hook must let it go at some time.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping

from agent_fox.session.agents.codex import guard
from agent_fox.session.agents.codex.reader import CodexReader
from agent_fox.session.agents.described import Described
from agent_fox.session.agents.task import AgentTask, Door, Role
from agent_fox.system.sandbox.bubblewrap import is_used, mode_of

KEY = "AGENT_FOX_MODEL_KEY"
"""The variable of codex itself that holds what no command of its shell is given."""

SHORTEST_QUIET, LONGEST_QUIET = 10.0, 40.0
"""Seconds without a byte in a stream before it is asked for again."""


class Codex(Described):
    """Codex 0.169 and later."""

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        """Its own sandbox cannot be nested into ours, where nobody makes namespaces: there ours is the only one. Beside
        the workspace a coder may write its git folder, so that it can commit, and its home.

        Raises SandboxMissing where ours is required and there is none.
        """
        usual, git = super().places(task, door), task.workspace / ".git"
        roots = [git, task.home] if git.is_dir() and not git.is_symlink() else [task.home]
        guarded = None if task.role is Role.CODER else shlex.join((sys.executable, "-I", "-S", guard.__file__))
        has_hooks = bool(guarded or usual["stop"])
        return {
            **usual,
            "sandbox_mode": "danger-full-access" if is_used(mode_of(task.sandbox)) else usual["sandbox"],
            "writable": [str(root) for root in roots],
            "guard": f"{guarded} || exit 2" if guarded else None,
            "has_hooks": has_hooks,
            "trust_hooks": "--dangerously-bypass-hook-trust" if has_hooks else None,
            "schema_file": task.home / ".codex/answer.schema.json" if task.schema is not None else None,
            "unserved": "mcp_servers.verifier.enabled=false" if usual["is_served"] else None,
            "kept": {name: task.environment[name] for name in ("RUST_LOG",) if name in task.environment},
            "base_url": door.model_url if door.model_key else None,
            "env_key": KEY if door.model_key else None,
            "has_own_key": None if door.model_key else True,
            "quiet": int(min(max(task.limits.idle / 3, SHORTEST_QUIET), LONGEST_QUIET) * 1000),
            "answer": max(1, int(task.limits.answer)),
        }

    def access(self, door: Door) -> Mapping[str, str]:
        return {KEY: door.model_key} if door.model_key else door.credentials

    def reader(self, task: AgentTask) -> CodexReader:
        return CodexReader(task)


CODEX = Codex(__file__)
