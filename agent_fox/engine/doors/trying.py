"""One tiny real session with an agent, to see that its program, key and model work: `agent-fox doctor --try`.

It runs as a session of a run does (shim, runner, metering proxy, verifier's tools, sandbox), in a scratch repository.
Nothing of it is kept, and nothing is judged but its end.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.engine.launching.infrastructure import AT_ONCE
from agent_fox.session.agents.backend import AgentBackend, AnyBackend
from agent_fox.session.agents.prices import prices_of
from agent_fox.session.agents.registry import ACP, COMMAND
from agent_fox.session.order import Agent, EndKind, LaunchOrder, Paths, StopSignal
from agent_fox.session.session_lifecycle import clean_up, run_session
from agent_fox.system import clock, git
from agent_fox.system.own_folders import own_folder

if TYPE_CHECKING:
    from agent_fox.core.ids import Archetype
    from agent_fox.session.agents.task import AgentTask
    from agent_fox.session.order import SessionEnd

QUESTION = "Answer with the one word `ready`, and end. Read nothing, run nothing, change nothing.\n"
RULES = (
    "You are asked one question, to see that you can be asked at all. Use no tool unless you can only answer by one."
)

MOST_SECONDS, MOST_TURNS, MOST_USD = 180.0, 4, 0.5
"""What one of these sessions may take at most; the agent's own limits hold where they are lower."""

LONGEST_ANSWER = 80
_WHO = ("-c", "user.name=agent_fox", "-c", "user.email=agent_fox@localhost")


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a session. `why` is empty where it answered; `remedy` says what to do. `cost_usd` None: unknown."""

    why: str
    remedy: str
    answer: str
    seconds: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Questioner(AgentBackend):
    """An agent's backend with one question in place of its brief. `root` is where the project's own prices lie."""

    root: Path = Path()

    def task(self, order: LaunchOrder, paths: Paths) -> AgentTask:
        return question_of(AgentBackend.task(self, order, paths), self.root)


@dataclass(frozen=True, slots=True)
class OwnQuestioner(AnyBackend):
    """The same for a program of a person's own choice."""

    root: Path = Path()

    def task(self, order: LaunchOrder, paths: Paths) -> AgentTask:
        return question_of(AnyBackend.task(self, order, paths), self.root)


def question_of(usual: AgentTask, root: Path) -> AgentTask:
    limits = replace(usual.limits, turns=min(usual.limits.turns or MOST_TURNS, MOST_TURNS))
    return replace(
        usual, system=RULES, prompt=QUESTION, schema=None, ask_again="", stop_gate=False, limits=limits,
        prices=prices_of(root),
    )  # fmt: skip


def least(own: float | None, most: float) -> float:
    return most if own is None else min(own, most)


def bounded(agent: Agent, program: str) -> Agent:
    """The agent as it is tried: its program by its whole path, and within the limits of a try."""
    command = (program, *agent.command[1:]) if agent.command else ()
    return replace(
        agent, program=program, command=command, timeout=min(agent.timeout, MOST_SECONDS), stop_hook=False,
        idle_timeout=min(agent.idle_timeout, MOST_SECONDS), max_cost_usd=least(agent.max_cost_usd, MOST_USD),
    )  # fmt: skip


def try_agent(root: Path, agent: Agent, archetype: Archetype) -> Tried:
    """Have the session; blocks, three minutes at most. `agent.backend` names an agent's program that is there.

    Raises GitError where no scratch repository can be made.
    """
    is_own = agent.backend in (ACP, COMMAND)
    backend = OwnQuestioner(agent.backend, root) if is_own else Questioner(agent.backend, root)
    program = backend.program(agent, root) or agent.program
    with own_folder("try") as made:
        order = _order(Path(made), bounded(agent, program), archetype)
        end = run_session(order, lambda pid, start: None, StopSignal(), {agent.backend: backend})
        clean_up(order)
    return _tried(end)


def _order(made: Path, agent: Agent, archetype: Archetype) -> LaunchOrder:
    repo = made / "repo"
    repo.mkdir()
    git.call(repo, "init", "-q")
    git.call(repo, *_WHO, "commit", "-q", "--allow-empty", "-m", "nothing")
    return LaunchOrder(
        launch=f"try-{clock.new_id()}", node_id="try", node_uid="try", spec_name="try", archetype=archetype, mode=None,
        group=1, run="try", attempt=1, reading=1, pinned=git.head(repo) or "", repo=repo, state=made / "launch",
        log=made / "log", agent=agent, brief_markdown=QUESTION, brief_json={"requirements": [], "failing": []},
        message="try", changes="ignore", artifacts=str(made / "artifacts"),
    )  # fmt: skip


def _tried(end: SessionEnd) -> Tried:
    answer = one_line((end.output or end.summary).strip(), LONGEST_ANSWER)
    if end.kind is EndKind.ENDED:
        return Tried("", "", answer, end.seconds, end.cost_usd)
    known = AT_ONCE.get(end.infrastructure) if end.infrastructure else None
    return Tried(f"{end.kind}: {end.reason}", known or "see what it says", answer, end.seconds, end.cost_usd)
