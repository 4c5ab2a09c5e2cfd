"""What is run for a launch."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_fox.session.backends import module_argv
from agent_fox.session.built_in.registry import BACKENDS
from agent_fox.session.order import Agent, EndKind, Paths, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import agent, make_order, never_told, write

COMMAND = BACKENDS["command"]


def test_a_command_that_is_there_misses_nothing(repo: Path) -> None:
    assert COMMAND.missing(agent("sh", "-c", "true"), repo) is None


def test_a_command_that_is_not_there_is_named_with_what_to_do(repo: Path) -> None:
    assert "'no-such-agent' is not an executable on PATH; install it" in (
        COMMAND.missing(agent("no-such-agent"), repo) or ""
    )
    assert "has no command" in (COMMAND.missing(Agent(), repo) or "")
    assert "agent-fox init --agent claude" in (COMMAND.missing(Agent(), repo) or "")


def test_a_path_counts_from_the_repository_and_not_from_what_a_coder_left(repo: Path) -> None:
    write(repo, {"tools/agent.sh": "#!/bin/sh\necho x > new.txt\n"})
    relative = agent("tools/agent.sh", "--flag")
    assert "not an executable" in (COMMAND.missing(relative, repo) or "")
    (repo / "tools/agent.sh").chmod(0o755)
    assert COMMAND.missing(relative, repo) is None
    order = make_order(repo, agent=relative)
    assert COMMAND.argv(order, Paths(order.state)) == [str(repo / "tools/agent.sh"), "--flag"]
    assert run_session(order, never_told, StopSignal()).kind is EndKind.ENDED


class Greeter:
    """A backend as another package would bring it."""

    name = "greeter"

    def missing(self, agent: Agent, root: Path) -> str | None:
        return None

    def argv(self, order: object, paths: Paths) -> list[str]:
        paths.document.write_text("hello")
        return ["sh", "-c", 'cp "$DOCUMENT" greeting.txt']

    def environment(self, order: object, paths: Paths) -> dict[str, str]:
        return {"DOCUMENT": str(paths.document)}


def test_a_backend_of_another_package_runs_like_ours(repo: Path) -> None:
    order = make_order(repo, agent=Agent(backend="greeter"))
    end = run_session(order, never_told, StopSignal(), {**BACKENDS, "greeter": Greeter()})
    assert end.kind is EndKind.ENDED
    assert (Paths(order.state).workspace / "greeting.txt").read_text() == "hello"


def test_a_module_of_ours_runs_where_a_workspace_has_one_of_the_same_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "agent_fox/__init__.py": "raise SystemExit(9)",
            "json.py": "raise SystemExit(9)",
            "doc.json": '{"step": null, "node": "n"}',
        },
    )
    argv = module_argv("agent_fox.testing.scripted.agent", ["doc.json"])
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 65
    assert "no step for n" in done.stderr
