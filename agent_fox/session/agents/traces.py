"""A session's trace, made at its harvest from what our runner recorded; never from a file that an agent writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from agent_fox.core.json_text import json_object
from agent_fox.core.late import adapter, late_module
from agent_fox.core.trace import Action, Observation, Recording, Trace, bounded, normalised
from agent_fox.core.values import dataclass, to_document
from agent_fox.session.agents.registry import is_watched
from agent_fox.session.agents.runner.trace import MOST_BYTES
from agent_fox.session.order import LaunchOrder, Paths
from agent_fox.session.workspaces.steps import brought_home
from agent_fox.system import git, git_objects
from agent_fox.system.files import read_regular
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from pathlib import Path

    import pydantic

    from agent_fox.session.workspaces.workspace import Preparation
else:
    pydantic = late_module("pydantic")

LONGEST_NAME = 72
"""Characters of the action that name the commit of a state."""

CUT = "events after the recording was cut"


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent was shown, as a line has it."""

    sha256: str = ""
    characters: int = 0
    red: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    kind: Literal["call"]
    tool: str
    edits: tuple[str, ...] | None = ()
    command: str | None = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a call, by the call's number."""

    kind: Literal["done", "failed"]
    tool: str
    call: int = 0
    seen: Seen = Seen()
    tree: Annotated[str, pydantic.Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")] = ""


@dataclass(frozen=True, slots=True)
class End:
    """The last line."""

    kind: Literal["end"]
    is_whole: bool
    unrecorded: int = 0
    unseen: Mapping[str, int] | None = None


_LINE = adapter(lambda: pydantic.TypeAdapter(Annotated[Call | Done | End, pydantic.Field(discriminator="kind")]))


def trace_of(order: LaunchOrder, preparation: Preparation, work: str, secrets: Sequence[str], at: int) -> Trace:
    """The trace of a coder's session; `work` is the tree that was taken of it, empty where none was.

    States that can't be brought home are left out, and counted. `at` (seconds since the epoch) dates their commits.
    Raises GitError where the repository cannot be read.
    """
    paths, is_ours = Paths(order.state), is_watched(order.agent.backend, order.agent.like)
    recording = read_recording(paths.events, secrets) if is_ours else Recording()
    base = git.tree_of(order.repo, order.resume) if order.resume else preparation.baseline
    recording, commit, lost = with_states_brought(order, paths.steps, recording, at)

    def files_between(old: str, new: str) -> tuple[str, ...]:
        return tuple(change.path for change in git_objects.changes_between(order.repo, old, new))

    with git.serving(order.repo):
        nodes = normalised(recording, base, work, files_between)
    left_out = Counter({**recording.unseen, **lost})
    if not recording.is_whole:
        left_out[CUT] += recording.unrecorded
    return bounded(Trace(nodes, commit, dict(left_out)))


def with_states_brought(
    order: LaunchOrder, folder: Path, recording: Recording, at: int
) -> tuple[Recording, str, dict[str, int]]:
    """The recording with the states whose objects are here now, the commit of the last one, and what was lost."""
    states = named_states(recording.actions)
    try:
        return recording, brought_home(folder, order.repo, order.pinned, states, at), {}
    except (git.GitError, OSError):
        bare = tuple(replace(action, tree="") for action in recording.actions)
        return replace(recording, actions=bare), "", {"states that could not be read any more": len(states)}


def named_states(actions: Iterable[Action]) -> list[tuple[str, str]]:
    """Each tree that differs from the one before it, with the action that made it."""
    states: list[tuple[str, str]] = []
    for number, action in enumerate(actions, 1):
        if action.tree and (not states or states[-1][0] != action.tree):
            states.append((action.tree, f"call {number}: {action.words}"[:LONGEST_NAME]))
    return states


def transcript_of(order: LaunchOrder, secrets: Sequence[str]) -> str:
    """What our runner wrote down of all that was said, called and shown, masked text by text; empty where it did not.

    A line that cannot be read ends it: it was cut there.
    """
    raw = read_regular(Paths(order.state).transcript, 2 * MOST_BYTES) if order.keeps_transcript else None
    lines: list[str] = []
    for line in (raw or b"").splitlines():
        row = json_object(line.decode("utf-8", "replace"))
        if row is None:
            break
        lines.append(json.dumps(to_document(row, lambda text: redact(text, secrets)), ensure_ascii=False) + "\n")
    return "".join(lines)


def read_recording(path: Path, secrets: Sequence[str]) -> Recording:
    """What our runner recorded, masked. A line that cannot be read ends it: it was cut there."""
    raw = read_regular(path, 2 * MOST_BYTES)
    if raw is None:
        return Recording(is_whole=False)
    actions: list[Action] = []
    for line in raw.splitlines():
        try:
            read = _LINE.validate_json(line)
        except pydantic.ValidationError:
            break
        match read:
            case End():
                return Recording(tuple(actions), read.is_whole, read.unrecorded, read.unseen or {})
            case Call():
                command = redact(read.command, secrets) if read.command else read.command
                actions.append(Action(read.tool, read.edits, command, is_ended=False))
            case Done(seen=seen) if 0 < read.call <= len(actions):
                observed = Observation(seen.sha256, seen.characters, tuple(redact(line, secrets) for line in seen.red))
                actions[read.call - 1] = replace(
                    actions[read.call - 1], observation=observed, tree=read.tree, failed=read.kind == "failed",
                    is_ended=True,
                )  # fmt: skip
    return Recording(tuple(actions), is_whole=False)
