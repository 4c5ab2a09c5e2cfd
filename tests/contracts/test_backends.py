"""What every backend keeps to. Add an implementation to BACKENDS and it is held to all of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.engine.planning.guarded import GuardedBackend
from agent_fox.session.agents.backend import AnyBackend
from agent_fox.session.backends import Backend
from agent_fox.session.built_in.checks import ChecksBackend
from agent_fox.session.built_in.command import CommandBackend
from agent_fox.session.built_in.library import LibraryBackend
from agent_fox.session.order import Agent, EndKind, LaunchOrder, Paths, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.testing.scripted import acp_agent, agent
from agent_fox.testing.scripted.backend import ScriptedBackend
from examples.plugins.backend.player_plugin import PlayerBackend
from tests.session.world import make_order, make_repo, never_told, sh

SCRIPT = '[[step]]\nnode = "*"\nactions = [{write = "new.txt", text = "x"}]\n'
NEW_FILE = '{"step": [{"actions": [{"write": "new.txt", "text": "x"}]}]}'
BARE = Agent()


@dataclass(frozen=True)
class Case:
    """A backend with an agent that it can run, fields of the order, and an agent that lacks something, if any can."""

    backend: Backend
    agent: Agent = BARE
    order: dict[str, Any] = field(default_factory=dict)
    lacking: Agent | None = None


BACKENDS: dict[str, Callable[[], Case]] = {
    "command": lambda: Case(CommandBackend(), Agent(command=("sh", "-c", "echo x > new.txt")), lacking=Agent()),
    "scripted": lambda: Case(ScriptedBackend(), Agent(script="../script.toml"), lacking=Agent(script="absent.toml")),
    "checks": lambda: Case(
        ChecksBackend(),
        order={"archetype": Archetype.VERIFIER, "document": {"expected": {"01-REQ-1.1": "It works."}}},
    ),
    "library": lambda: Case(
        LibraryBackend(),
        order={
            "archetype": Archetype.VERIFIER,
            "document": {
                "expected": {"01-REQ-1.1": "It works."},
                "library": {"spec_name": "01_calc", "objects": [], "traces": []},
            },
        },
    ),
    "command, like an agent": lambda: Case(
        CommandBackend(), Agent(command=("sh", "-c", "echo x > new.txt"), like="agent"), lacking=Agent(like="agent")
    ),
    "acp": lambda: Case(
        AnyBackend("acp"),
        Agent(command=(sys.executable, acp_agent.__file__, agent.__file__, NEW_FILE), tools=False),
        lacking=Agent(command=("true",)),
    ),
    "a plugin's": lambda: Case(PlayerBackend()),
    "a plugin's, guarded": lambda: Case(GuardedBackend("notebook", "player", PlayerBackend())),
}


@pytest.fixture(params=sorted(BACKENDS))
def case(request: pytest.FixtureRequest) -> Case:
    return BACKENDS[request.param]()


@pytest.fixture
def order(case: Case, tmp_path: Path) -> LaunchOrder:
    repo = make_repo(tmp_path / "repo")
    (tmp_path / "script.toml").write_text(SCRIPT)
    agent = replace(case.agent, backend=case.backend.name, timeout=60)
    return make_order(repo, agent=agent, **case.order)


def test_it_misses_nothing_where_all_is_there(case: Case, order: LaunchOrder) -> None:
    assert case.backend.name
    assert case.backend.missing(order.agent, order.repo) is None


def test_what_is_missing_is_said_in_a_sentence_and_never_raised(case: Case, order: LaunchOrder) -> None:
    if case.lacking is not None:
        assert case.backend.missing(case.lacking, order.repo)


def test_what_it_runs_is_a_program_that_is_there_and_the_same_each_time(case: Case, order: LaunchOrder) -> None:
    paths = Paths(order.state)
    order.state.mkdir(parents=True)
    argv = case.backend.argv(order, paths)
    assert shutil.which(argv[0]) is not None
    assert all(isinstance(word, str) for word in argv)
    assert case.backend.argv(order, paths) == argv


def test_it_leaves_the_variables_of_a_session_alone(case: Case, order: LaunchOrder) -> None:
    added = case.backend.environment(order, Paths(order.state))
    assert [name for name in added if name.startswith("AGENT_FOX_")] == []


def test_a_session_of_it_ends_and_leaves_the_repository_as_it_was(case: Case, order: LaunchOrder) -> None:
    before = state_of(order.repo)
    end = run_session(order, never_told, StopSignal(), {case.backend.name: case.backend})
    assert end.kind is EndKind.ENDED, end.reason
    assert state_of(order.repo) == before
    assert order.archetype is Archetype.CODER or end.output


def state_of(repo: Path) -> tuple[str, str]:
    return sh(repo, "git", "status", "--porcelain", "--ignored"), sh(repo, "git", "rev-parse", "HEAD", "main")
