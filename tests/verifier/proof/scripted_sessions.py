"""Scripted coders' sessions with one planted edit: real files, real git, heard by our own recorder."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_fox.core.retry.replay import State
from agent_fox.core.trace import Trace
from agent_fox.session.agents.events import Answered, Called
from agent_fox.session.agents.runner.trace import Recorder
from agent_fox.session.agents.traces import trace_of
from agent_fox.session.order import LaunchOrder, Paths
from agent_fox.session.workspaces.steps import Steps, beginning_of
from agent_fox.session.workspaces.workspace import Preparation
from agent_fox.system import git, git_objects
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import CheckReport, run_checks
from tests.session.world import make_order, make_repo, sh

BODIES = {
    "add": ("return a + b", "return a - b"),
    "double": ("return 2 * a", "return 3 * a"),
    "join": ("return f'{a}{b}'", "return f'{b}{a}'"),
    "least": ("return min(a, b)", "return max(a, b)"),
    "flip": ("return -a", "return a"),
}
"""By the function's name: its right body, and what the planted edit makes of it."""

CALLS = {
    "add": "(2, 3), 5",
    "double": "(4, 0), 8",
    "join": "('x', 'y'), 'xy'",
    "least": "(4, 9), 4",
    "flip": "(3, 0), -3",
}
COMMAND = "python -m unittest discover -s tests"


def tests() -> str:
    """A test of each function, named for its requirement."""
    body = "".join(
        f"    def test_01_req_{number}_1_{name}(self):\n        from shop import {name}\n"
        f"        arguments, wanted = {CALLS[name]}\n        self.assertEqual({name}.{name}(*arguments), wanted)\n\n"
        for number, name in enumerate(BODIES, 1)
    )
    return f"import unittest\n\nimport shop\n\n\nclass Shop(unittest.TestCase):\n{body}"


def requirement(name: str) -> str:
    return f"01-REQ-{list(BODIES).index(name) + 1}.1"


def code(name: str, *, is_right: bool = True, note: str = "") -> str:
    more = f"# {note}\n" if note else ""
    return f"def {name}(a, b):\n    {BODIES[name][0 if is_right else 1]}\n{more}"


@dataclass
class Session:
    """One session under way. `planted` is the step that was planted, `name` the function that it broke."""

    order: LaunchOrder
    chance: random.Random
    name: str = ""
    planted: int = 0
    steps: int = 0
    is_heard: bool = True
    recorder: Recorder = field(init=False)

    def __post_init__(self) -> None:
        paths = Paths(self.order.state)
        paths.workspace.parent.mkdir(parents=True)
        shutil.copytree(self.order.repo, paths.workspace)
        beginning = beginning_of(self.order, self.preparation)
        self.recorder = Recorder(paths.events, paths.workspace, steps=Steps(beginning, paths.workspace))

    @property
    def preparation(self) -> Preparation:
        return Preparation(git.tree_of(self.order.repo, self.order.pinned))

    @property
    def workspace(self) -> Path:
        return Paths(self.order.state).workspace

    def write(self, path: str, text: str) -> None:
        """A step: a file is written by the agent's tool."""
        self.recorder.hear(Called("Write", {"file_path": str(self.workspace / path)}, "w"))
        (self.workspace / path).parent.mkdir(exist_ok=True)
        (self.workspace / path).write_text(text)
        self.recorder.hear(Answered("w"))
        self.steps += 1

    def look(self) -> None:
        self.recorder.hear(Called("Read", {"file_path": "a"}, "r"))
        self.recorder.hear(Answered("r", "text"))

    def show_red(self, test: str) -> None:
        """The agent runs the tests, and is shown that one fails."""
        self.recorder.hear(Called("Bash", {"command": COMMAND}, "t"))
        self.recorder.hear(Answered("t", f"FAIL: {test} (test_shop.Shop.{test})\nFAILED (failures=1)", is_error=True))

    def end(self) -> Trace:
        """The trace of the session, whose work is a commit from then on."""
        self.recorder.close(is_ended=True)
        with git_objects.store(self.order.repo, self.workspace) as store:
            store.read_tree(self.order.pinned)
            store.add_all()
            tree = store.write_tree()
        return trace_of(self.order, self.preparation, tree, (), 1_700_000_000)


def begun(folder: Path, seed: int) -> Session:
    """A session in a project whose tests are committed, and whose functions are all to be written."""
    repo = make_repo(
        folder / "repo", {"tests/test_shop.py": tests(), "shop/__init__.py": "", ".gitignore": "__pycache__/\n"}
    )
    order = make_order(repo)
    return Session(replace(order, agent=replace(order.agent, backend="claude")), random.Random(seed))


def played(folder: Path, seed: int) -> tuple[Session, Trace]:
    """A session of 5 to 30 steps: every function is written, one edit breaks one of them, harmless edits lie between,
    and sometimes files do not compile for a step. All by chance from the seed.
    """
    session = begun(folder, seed)
    chance, names = session.chance, list(BODIES)
    chance.shuffle(names)
    session.name = chance.choice(names)
    done: list[str] = []
    plan = [("write", name) for name in names] + [("harmless", "")] * chance.randrange(20)
    chance.shuffle(plan)
    at, is_broken = chance.randrange(len(plan) + 1), False
    for number, (what, name) in enumerate([*plan, ("", "")]):
        if number >= at and not session.planted and session.name in done:
            session.write(f"shop/{session.name}.py", code(session.name, is_right=False, note="tuned"))
            session.planted = session.steps
        if is_broken:
            session.write("shop/__init__.py", "")
        is_broken = bool(what) and number < len(plan) - 1 and not chance.randrange(6)
        if is_broken:  # nothing can be run until the next step of the plan
            session.write("shop/__init__.py", "def half(:\n")
        if what == "write":
            write_function(session, name, is_last=number == len(plan) - 1)
            done.append(name)
        elif what:
            harmless(session, done)
    return session, session.end()


def write_function(session: Session, name: str, *, is_last: bool) -> None:
    """At once; or in two steps, of which the first does not compile; or it is wrong from the beginning."""
    way = session.chance.randrange(6)
    if way == 0 and not is_last:
        session.write(f"shop/{name}.py", f"def {name}(a, b:\n")
    if name == session.name and way == 1 and not session.planted:
        session.write(f"shop/{name}.py", code(name, is_right=False))
        session.planted = session.steps
        return
    session.write(f"shop/{name}.py", code(name))


def harmless(session: Session, done: list[str]) -> None:
    """A note beside the code, or below it in a file that is there; whatever else stands in that file stays."""
    session.look()
    path = session.workspace / f"shop/{session.chance.choice(done)}.py" if done else None
    if path is not None and path.is_file() and session.chance.randrange(2):
        session.write(f"shop/{path.name}", f"{path.read_text()}# note {session.steps}\n")
    else:
        session.write(f"notes_{session.steps}.txt", "a note\n")


def trail_of(trace: Trace) -> tuple[State, ...]:
    return tuple(State(1, node.step, node.tree) for node in trace.states if node.tree)


def read(session: Session, trace: Trace, folder: Path, **settings: object) -> CheckReport:
    """What the judge says of the session's work, with its trail."""
    repo, last = session.order.repo, trail_of(trace)[-1].tree
    commit = sh(
        repo, "git", "-c", "user.name=A", "-c", "user.email=a@b", "commit-tree", last, "-p", "HEAD", "-m", "work"
    )
    order = CheckOrder(
        {requirement(name): name for name in BODIES}, str(session.workspace), commands={"Spec tests": COMMAND},
        repository=str(repo), commit=commit, base_commit=session.order.pinned, trail=trail_of(trace), timeout=60.0,
        proofs_folder=str(folder / "proofs"),
    )  # fmt: skip
    return run_checks(replace(order, **settings))  # type: ignore[arg-type]
