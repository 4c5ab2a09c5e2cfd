"""Task folders in Harbor's format 1.0: the files that work on a spec began with, what was asked, the tests of it.

A verified spec gives one folder. `tests/test.sh` lays the tests over the work, runs the commands that the verdicts rest
on, and writes 1 or 0 into `/logs/verifier/reward.txt`; `solution/solve.sh` applies the work that was verified.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ledger.training import why_not
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.answer import read_tests
from agent_fox.evidence.exports.learning import export_of
from agent_fox.store import records
from agent_fox.store.plan import verified_commit

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.ledger.training import Permission
    from agent_fox.evidence.exports.episodes import Episode
    from agent_fox.evidence.exports.learning import Export, Mask

FORMAT = "1.0"
WORK, LOGS = "/app", "/logs/verifier"
SECONDS = 1800.0
IMAGE = "python:3.11-slim"
"""What the environment is built on; the person who builds it says what else it needs."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the texts of a repository come from. `files`: those of a commit; `text`: None for what is no text."""

    files: Callable[[str], Iterable[str]]
    text: Callable[[str, str], str | None]
    diff: Callable[[str, str, Sequence[str]], str]
    changed: Callable[[str, str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Task:
    """A verified spec: its sessions in order, the commit that it was verified on, the tests of its verdicts."""

    spec: str
    sessions: tuple[Episode, ...]
    verified: str
    tests: tuple[str, ...]
    lines: tuple[str, ...]


def tasks_of(db: Database, known: Sequence[Episode]) -> Iterator[tuple[Task | None, str, list[Episode]]]:
    """For each spec that coders worked on: its task, or why there is none, and its sessions."""
    groups: dict[str, list[Episode]] = {}
    for each in known:
        groups.setdefault(each.session.spec_name, []).append(each)
    for spec, sessions in groups.items():
        verified = verified_commit(db, spec)
        ran = [read_tests(tests) for tests in records.tests_that_ran(db, spec)]
        tests = [test for each in ran for test in each]
        if verified is None:
            yield None, "it is not verified", sessions
        elif not all(ran) or len(ran) < len(sessions[0].texts):
            yield None, "not every requirement is shown by tests that are on record", sessions
        else:
            files, lines = (tuple(dict.fromkeys(each)) for each in zip(*((t.file, t.line) for t in tests), strict=True))
            yield Task(spec, tuple(sessions), verified, files, lines), "", sessions


def exported(
    db: Database, known: Sequence[Episode], permissions: Sequence[Permission], purpose: str, mask: Mask, source: Source
) -> Export:
    """The folders of the specs whose sessions may all be learned from."""
    files: dict[str, str] = {}
    held: list[Episode] = []
    left_out: list[tuple[str, str]] = []
    for task, no_task, sessions in tasks_of(db, known):
        why = next((why for each in sessions if (why := why_not(each.subject, permissions, purpose))), "") or no_task
        if why or task is None:
            left_out.append((sessions[0].session.spec_name, why))
            continue
        texts, more = folder_of(task, source)
        files |= {f"{task.spec}/{name}": mask(text) for name, text in texts.items()}
        held, left_out = [*held, *sessions], [*left_out, *more]
    return export_of("tasks", purpose, files, left_out, held, permissions)


def folder_of(task: Task, source: Source) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The files of a task's folder by their names below it, and what could not be taken, with the reason."""
    base = str(task.sessions[0].session.pinned)
    tree, left_out = _texts(source, base, source.files(base), task.spec)
    tests, more = _texts(source, task.verified, task.tests, task.spec)
    files = sorted({path for each in task.sessions for path in _work_of(each, source)})
    files = [path for path in files if path not in task.tests]
    return {
        "task.toml": _settings(task),
        "instruction.md": _instruction(task),
        "environment/Dockerfile": f"FROM {IMAGE}\nWORKDIR {WORK}\nCOPY tree {WORK}\n",
        **{f"environment/tree/{path}": text for path, text in tree.items() if path not in tests},
        "tests/test.sh": _test(task.lines),
        **{f"tests/files/{path}": text for path, text in tests.items()},
        "solution/solve.sh": f'#!/bin/sh\ncd {WORK} && patch -p1 < "$(dirname "$0")/solution.patch"\n',
        "solution/solution.patch": source.diff(base, task.verified, files),
    }, [*left_out, *more]


def _work_of(episode: Episode, source: Source) -> Sequence[str]:
    row = episode.session
    return source.changed(str(row.pinned), row.landed) if row.landed else ()


def _texts(
    source: Source, commit: str, paths: Iterable[str], spec: str
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    texts: dict[str, str] = {}
    left_out = []
    for path in paths:
        text = source.text(commit, path)
        if text is None:
            left_out.append((f"{spec}: {path}", "it is no text, so no secret could be masked in it"))
        else:
            texts[path] = text
    return texts, left_out


def _settings(task: Task) -> str:
    records = json.dumps([each.record for each in task.sessions])
    return (
        f'version = "{FORMAT}"\n\n[metadata]\nname = {json.dumps(task.spec)}\ncategory = "programming"\n'
        f"agent_fox_records = {records}\n\n[agent]\ntimeout_sec = {SECONDS}\n\n[verifier]\ntimeout_sec = {SECONDS}\n\n"
        "[environment]\nbuild_timeout_sec = 600.0\n"
    )


def _instruction(task: Task) -> str:
    texts: Mapping[str, str] = task.sessions[0].texts
    lines = "\n".join(f"- {id}: {text}" for id, text in texts.items())
    return f"# {task.spec}\n\nWork in `{WORK}` so that these requirements hold:\n\n{lines}\n"


def _test(lines: Sequence[str]) -> str:
    commands = "".join(f"sh -c {shlex.quote(line)} || reward=0\n" for line in lines)
    return (
        f'#!/bin/sh\nwork="${{WORK:-{WORK}}}" logs="${{LOGS:-{LOGS}}}"\nhere="$(cd "$(dirname "$0")" && pwd)"\n'
        f'cp -R "$here/files/." "$work/" && cd "$work" || exit 1\nreward=1\n{commands}'
        'mkdir -p "$logs" && echo "$reward" > "$logs/reward.txt"\n'
    )
