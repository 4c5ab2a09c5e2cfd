"""A change that only lacks format is formatted, so that it costs no attempt; the diff shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.git import GitError
from agent_fox.verifier.dispositions.reruns import is_pure_format
from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import Status, Tool
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.policy.change_under_check import changed_paths
from agent_fox.verifier.profiles.context import RunContext
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.projects.detect import detect

if TYPE_CHECKING:
    from agent_fox.system.sandbox.bubblewrap import Mode

NAMED = 10


@dataclass(frozen=True, slots=True)
class Work:
    """A coder's work as it lies in its workspace, and the commit of `repo` that it began at."""

    workspace: Path
    repo: Path
    base: str
    run: str
    attempt: int
    artifacts: Path
    sandbox: Mode


def format_work(work: Work) -> tuple[str, ...]:
    """Format the files of the change, where nothing but their format is wrong; what was done, in words.

    Nothing is done where files lack format that the change does not touch: the diff would be about something else.
    """
    system = detect(work.workspace).recommended
    if system is None:
        return ()
    verifier = Verifier(_context(work, system.profile))
    checked = verifier.run(Request(Tool.FORMAT_CHECK))
    if checked.status is not Status.FAILED or not is_pure_format(checked.failures):
        return ()
    try:
        touched = set(changed_paths(work.workspace, work.base, work.repo))
    except GitError as error:
        return (f"not formatted, the change cannot be read: {error}",)
    if not {failure.file for failure in checked.failures} <= touched:
        return ("not formatted: files that the change does not touch lack format too",)
    return _changed_files(verifier.run(Request(Tool.FORMAT_APPLY)).changed_sources)


def _changed_files(paths: tuple[str, ...]) -> tuple[str, ...]:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return (f"run_format_apply formatted {', '.join(paths[:NAMED])}{more}",) if paths else ()


def _context(work: Work, profile: str) -> RunContext:
    loaded = load_profile(profile)
    policy = loaded.policy.model_copy(update={"allow_source_mutation": True})
    return RunContext(
        run=work.run,
        attempt=work.attempt,
        root=work.workspace,
        artifacts=work.artifacts,
        profile=loaded.model_copy(update={"policy": policy}),
        sandbox=work.sandbox,
        allow_format_apply=True,
    )
