"""Hidden checks written by an agent: in a session that sees specs and interfaces only, and proposed, not counted.

They count once they are red on the base, and a person has signed for them or an agent of another vendor has read them;
see `accepted`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.verdicts.hidden import Question
from agent_fox.core.verdicts.verdict import Verdict, Word
from agent_fox.engine.launching.agents import agent_of
from agent_fox.session.order import EndKind, LaunchOrder, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system import clock, git
from agent_fox.system.own_folders import own_folder
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder, order_of
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.judging.hidden_files import PROPOSED, READING, WRITING, hidden_files
from agent_fox.verifier.proof.hidden_checks import by_their_own_words, claiming, laid_over
from agent_fox.verifier.source.base_tree import base_tree

if TYPE_CHECKING:
    from agent_fox.config import Settings
    from agent_fox.core.spec import Spec
    from agent_fox.session.agent import Agent
    from agent_fox.session.backends import Backend

_WHO = ("-c", "user.name=agent-fox", "-c", "user.email=agent-fox@localhost")

BRIEF = """# Write checks that the coders will not see

Read the specs in this folder. For each requirement below write at least one test that fails where the requirement is
not met, whoever writes the code and however: no test of how it is built, none that any program would pass. There is no
code here, only the specs and what others build on. Name the requirement's id in the test's name or docstring. Put the
tests where the spec's own test commands find them, in files whose names nothing else has. Change nothing else.

## Test commands

{commands}

## Requirements

{requirements}
"""


READ_BRIEF = """# Read checks that somebody else wrote

The checks below were written from the specs in this folder, and stand here too. Read each file, and say of each
requirement that it names whether the check asks just what the requirement says: nothing that the requirement does not
ask for, nothing about how it is built, and nothing that any program would pass. Change nothing.

Answer with one JSON object, in which each of these rows stands once, with `"answer": "yes"` or with the reason why not:

{rows}

## Requirements

{requirements}
"""


class NothingProposed(ValueError):
    """No hidden checks came of it; its text says why, and what to do."""


def material(root: Path, settings: Settings, specs: Sequence[Spec]) -> Mapping[str, bytes]:
    """What the session sees: the documents of the specs, and the committed files that are named as interfaces."""
    globs = settings.verify.interfaces
    tracked = git.call(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").records
    wanted = {path for spec in specs for path in (*spec.documents.values(), spec.path)}
    wanted |= {path for path in tracked if any(fnmatchcase(path, glob) for glob in globs)}
    contents = ((path, git.show(root, "HEAD", path)) for path in tracked if path in wanted)
    return {path: content for path, content in contents if content is not None}


def written(
    root: Path, settings: Settings, agent: str, specs: Sequence[Spec], folder: Path, backends: Mapping[str, Backend]
) -> tuple[str, ...]:
    """Run the session; the files that it proposed, now below `.proposed` of the folder.

    Raises NothingProposed, GitError.
    """
    with own_folder("hidden") as made:
        repo = Path(made) / "repo"
        pinned = _repository(repo, material(root, settings, specs))
        agent_settings = agent_of(settings.agent_for(Archetype.CODER, "", 0), agent)
        order = _order(repo, pinned, Path(made), agent_settings, brief_of(specs), specs, folder / PROPOSED / WRITING)
        end = run_session(order, lambda pid, start: None, StopSignal(), backends)
        if end.work is None or end.work.is_unchanged:
            why = end.reason or "it changed nothing"
            raise NothingProposed(f"{agent} wrote no checks: {end.kind}: {why}; its log is {order.log}")
        names = git.call(repo, "diff", "--name-only", "--diff-filter=AM", "-z", pinned, end.work.commit).records
        for name in names:
            place = folder / PROPOSED / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(git.show(repo, end.work.commit, name) or b"")
    return tuple(names)


def _repository(repo: Path, files: Mapping[str, bytes]) -> str:
    repo.mkdir(parents=True)
    git.call(repo, "init", "-q")
    for name, content in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_bytes(content)
    git.call(repo, "add", "-A", "-f")
    git.call(repo, *_WHO, "commit", "-q", "--allow-empty", "-m", "specs and interfaces")
    return git.head(repo) or ""


def brief_of(specs: Sequence[Spec]) -> str:
    commands = dict.fromkeys(line for spec in specs for line in spec.test_commands.values())
    named = "\n".join(f"- `{line}`" for line in commands) or "- none is named"
    return BRIEF.format(commands=named, requirements=requirement_lines(specs))


def requirement_lines(specs: Sequence[Spec]) -> str:
    return "\n".join(f"- **{part.id}** {' '.join(part.text.split())}" for spec in specs for part in spec.parts)


def _order(
    repo: Path, pinned: str, made: Path, agent: Agent, brief: str, specs: Sequence[Spec], log: Path,
    archetype: Archetype = Archetype.CODER,
) -> LaunchOrder:  # fmt: skip
    log.parent.mkdir(parents=True, exist_ok=True)
    parts = [part for spec in specs for part in spec.parts]
    return LaunchOrder(
        launch=f"hidden-{clock.new_id()}", node_id="hidden", node_uid="hidden", spec_name="hidden",
        archetype=archetype, mode=None, group=1, run="hidden", attempt=1, reading=1, pinned=pinned, repo=repo,
        state=made / "launch", log=log, agent=agent, brief_markdown=brief,
        brief_json={"requirements": [{"id": part.id, "text": part.text} for part in parts], "failing": []},
        message="hidden checks", changes="ignore",
    )  # fmt: skip


def questions(specs: Sequence[Spec], folder: Path) -> tuple[Question, ...]:
    """What a reader is asked: of each proposed file, each requirement that it names; of one that names none, itself."""
    files, names = folder / PROPOSED, proposed(folder)
    asked = [
        Question(name, id)
        for spec in specs
        for order in [by_their_own_words(order_of(spec))]
        for id in order.expected
        for name in claiming(order, files, names, id)
    ]
    helpers = [Question(name, "") for name in names if name not in {question.file for question in asked}]
    return (*dict.fromkeys(asked), *helpers)


def read_by(
    root: Path, settings: Settings, agent: Agent, specs: Sequence[Spec], folder: Path, backends: Mapping[str, Backend],
    asked: Sequence[Question],
) -> str:  # fmt: skip
    """Have an agent read the proposed checks, in a session that may write nothing. What it printed; empty where it did
    not end by itself. Raises GitError.
    """
    rows = [{"file": question.file, "requirement": question.requirement, "answer": "..."} for question in asked]
    brief = READ_BRIEF.format(rows=json.dumps({"checks": rows}, indent=2), requirements=requirement_lines(specs))
    checks = {name: (folder / PROPOSED / name).read_bytes() for name in proposed(folder)}
    with own_folder("hidden") as made:
        repo = Path(made) / "repo"
        pinned = _repository(repo, {**material(root, settings, specs), **checks})
        log = folder / PROPOSED / READING
        order = _order(repo, pinned, Path(made), agent, brief, specs, log, Archetype.REVIEWER)
        end = run_session(order, lambda pid, start: None, StopSignal(), backends)
    return end.output if end.kind is EndKind.ENDED else ""


def proposed(folder: Path) -> tuple[str, ...]:
    """The files that are proposed, relative to `.proposed`."""
    return hidden_files(folder / PROPOSED)


def not_red(root: Path, settings: Settings, specs: Sequence[Spec], folder: Path) -> Iterator[tuple[str, Verdict]]:
    """What keeps proposed checks from counting: requirements that they name and that do not fail on HEAD."""
    files, names = folder / PROPOSED, proposed(folder)
    head = git.head(root) or ""
    with ExitStack() as stack:
        made = Path(stack.enter_context(own_folder("hidden")))
        base = stack.enter_context(base_tree(root, head, root))
        tree = made / "tree"
        laid_over(base.folder, files, names, tree)
        for spec in specs:
            order = replace(
                by_their_own_words(order_of(spec)), workspace=str(tree), configured=tuple(settings.verify.commands)
            )
            claimed = {id: text for id, text in order.expected.items() if claiming(order, files, names, id)}
            if claimed:
                verdicts = run_checks(_asked(replace(order, expected=claimed), settings, names)).verdicts
                yield from (
                    (f"{spec.name}/{verdict.requirement_id}", verdict)
                    for verdict in verdicts
                    if verdict.word is not Word.FAIL
                )


def _asked(order: CheckOrder, settings: Settings, names: tuple[str, ...]) -> CheckOrder:
    verify = settings.verify
    return replace(
        order, only=names, timeout=verify.timeout, sandbox=SandboxMode(verify.sandbox), network=verify.network,
        memory=verify.memory_mib * 1024**2, processes=verify.processes,
    )  # fmt: skip


def accepted(folder: Path) -> tuple[str, ...]:
    """Let the proposed checks count: they take their places in the folder."""
    names = proposed(folder)
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (folder / PROPOSED / name).replace(place)
    return names
