"""What it costs to look at a workspace after a step, to make a trace of a session, and how large traces are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agent_fox.core.trace import Action, Observation, Recording, Trace, bounded, normalised
from agent_fox.session.workspaces.steps import Beginning, Steps
from agent_fox.system import git
from bench.checkout import make_repository
from bench.figures import Aim, Figure, best
from bench.source_watch import listed
from bench.worlds import temporary_folder

ROUNDS = 5
KB = 1000
SESSION = (("a short session", 40, 5), ("a usual session", 500, 40), ("the longest that is kept", 10_000, 200))
"""What it is, its calls, and how many of them change files; as many test."""


def measure(files: int) -> Iterator[Figure]:
    yield from measure_looks(files)
    for name, calls, changes in SESSION:
        yield from measure_trace(name, calls, changes)


def measure_looks(files: int) -> Iterator[Figure]:
    """A look at files of which none has changed, of which one has, and the first of a session."""
    with temporary_folder() as folder:
        root = make_repository(folder / "repo", files)
        beginning = Beginning(root, git.tree_of(root, "HEAD"), folder / "steps")
        steps, written = Steps(beginning, root), root / "written.txt"
        steps.take()

        def changed() -> None:
            written.write_text(f"{steps.taken}\n")
            steps.take()

        def first() -> None:
            Steps(Beginning(root, beginning.tree, folder / f"steps-{len(list(folder.iterdir()))}"), root).take()

        same, one, cold, floor = best(ROUNDS, steps.take, changed, first, lambda: listed(root))
    yield Figure(f"a look at {files:,} files, nothing changed", same, floor, "scandir and lstat", Aim(limit=0.250))
    yield Figure(f"a look at {files:,} files, one changed", one, floor, "scandir and lstat", Aim(limit=0.500))
    yield Figure(f"the first look at {files:,} files", cold, floor, "scandir and lstat")


def measure_trace(name: str, calls: int, changes: int) -> Iterator[Figure]:
    recording = Recording(tuple(actions(calls, changes)))

    def made() -> Trace:
        return bounded(Trace(normalised(recording, "0" * 40, "", lambda old, new: ("src/package/module.py",))))

    (took,) = best(ROUNDS, made)
    raw = sum(len(line(action)) for action in recording.actions)
    size = len(json.dumps(made().document(), separators=(",", ":")))
    title = f"{name}: {calls:,} calls, {changes} changes"
    yield Figure(f"the trace of {title}", took, 0.0, "", Aim(limit=1.0))
    yield Figure(f"the size of {title}", size / KB, raw / KB, "its events", unit="kB")


def actions(calls: int, changes: int) -> Iterator[Action]:
    """Looks, and at even distances a change of a file with a run of the tests after it."""
    every = max(2, calls // changes)
    for number in range(calls):
        shown = Observation(f"{number:064x}", 4000)
        match number % every:
            case 0:
                yield Action("Edit", ("src/package/module.py",), "", shown, f"{number + 1:040x}")
            case 1:
                red = ("FAILED tests/test_module.py::test_it - AssertionError: assert 1 == 2",)
                yield Action("Bash", (), "python -m pytest -q tests", Observation(f"{number:064x}", 4000, red))
            case _:
                yield Action("Read", observation=shown)


def line(action: Action) -> str:
    """About what the runner writes of a call and of its end."""
    call = {"kind": "call", "tool": action.tool, "edits": action.edits, "command": action.command}
    seen = {"sha256": action.observation.digest, "characters": action.observation.characters}
    done = {"kind": "done", "tool": action.tool, "call": 1, "seen": seen, "tree": action.tree}
    return f"{json.dumps(call)}\n{json.dumps(done)}\n"
