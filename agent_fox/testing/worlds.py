"""Small worlds for tests and stories: a real repository with specs, a scripted coder and a scripted verifier.

A world says who gets what right, and when; the engine is the real one. Nothing here looks into the engine.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_fox.core.values import dataclass
from agent_fox.system.own_folders import made_folder
from agent_fox.testing import prefork

PLAYERS = Path(__file__).with_name("players.py")
SOURCE = Path(__file__).resolve().parents[2]
NEVER = 1_000_000
ROLES = ("coder", "reviewer", "verifier")
_PERSON = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")


@dataclass(frozen=True, slots=True)
class Req:
    """One requirement, such as `01-REQ-1.1`, of the task group `group`, right from its coder's attempt `right_at`."""

    id: str
    group: int = 1
    right_at: int = 1


@dataclass
class World:
    """One repository.

    `specs`: name to requirements. `groups`: name to number of task groups, where it is more than they need. `titles`:
    `SPEC:GROUP` to a group's title. `depends`: name to the spec, or the specs, that it waits for.
    `coder_does`: `NODE/ATTEMPT` to `crash`, `hang`, `wait PATH` (until it is there), `fail WORDS`, `nothing` or `write
    PATH`. `breaks`: `NODE/ATTEMPT` to ids whose proof it spoils. `verifier_says`: `SPEC/ATTEMPT/READING` to what is
    printed, or `nothing`, `crash`, `hang`, `wait PATH`, `fail WORDS`, `write` (a new file), `change` (a tracked one).
    `reviewer_says`: `NODE/ATTEMPT/READING` to what is printed. Where a list stands, it says one thing for each launch
    of the ticket, and then nothing special. `seconds` each session takes, `cost` in dollars (None: untold).
    `settings`: more TOML; a table `[plan]`, `[workspace]` or `[agents.ROLE]` in it takes the place of the one that is
    written otherwise.
    """

    specs: Mapping[str, Sequence[Req]]
    groups: Mapping[str, int] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    depends: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    verifier_says: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    reviewer_says: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    coder_does: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    breaks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float = 0.0
    cost: float | None = 0.5
    settings: str = ""

    def build(self, folder: Path) -> Path:
        """Make the repository as `folder/repo`, with one commit; its root. The players' files are in `folder/tools`."""
        root, tools = folder / "repo", folder / "tools"
        (root / ".agent-fox").mkdir(parents=True)
        tools.mkdir()
        self.write_story(root)
        for name in self.specs:
            self.write_spec(root, name)
        (root / ".agent-fox" / "config.toml").write_text(self._config(tools))
        (root / ".agent-fox" / ".gitignore").write_text("state.db*\nlogs/\nissues/\ncrash.log\nrun.lock\n")
        (root / "README.md").write_text("a story\n")
        new_repository(root)
        commit_all(root, "start")
        return root

    def write_story(self, root: Path) -> None:
        """Write what the players do, again after a change of this world."""
        tools = root.parent / "tools"
        requirements = [{"spec": name, **asdict(req)} for name, reqs in self.specs.items() for req in reqs]
        story = {
            "requirements": requirements, "verifier_says": self.verifier_says,
            "reviewer_says": self.reviewer_says, "coder_does": self.coder_does, "breaks": self.breaks,
            "seconds": self.seconds, "cost": self.cost, "log": str(tools / "log.jsonl"),
        }  # fmt: skip
        (tools / "story.json").write_text(json.dumps(story))

    def write_spec(self, root: Path, name: str) -> None:
        """Write the folder of one spec, again after a change of this world."""
        folder = root / ".agent-fox" / "specs" / name
        folder.mkdir(parents=True, exist_ok=True)
        reqs = self.specs[name]
        (folder / "requirements.md").write_text("\n".join(_requirements(name, reqs)))
        (folder / "tasks.md").write_text("\n".join(_tasks(name, reqs, self._titles_of(name))))
        (folder / "prd.md").write_text("\n".join(_prd(name, self._before(name))))
        (folder / "design.md").write_text(f"# Design: {name}\n")
        (folder / "test_spec.md").write_text(f"# Test Specification: {name}\n")

    def _titles_of(self, name: str) -> list[str]:
        last = max([self.groups.get(name, 1), *(req.group for req in self.specs[name])])
        numbers = range(1, last + 1)
        return [self.titles.get(f"{name}:{number}", f"Part {number} of {name}") for number in numbers]

    def _before(self, name: str) -> Sequence[str]:
        before = self.depends.get(name, ())
        return [before] if isinstance(before, str) else before

    def _config(self, tools: Path) -> str:
        story = json.dumps(str(tools / "story.json"))
        state = json.dumps(str(tools.parent / "state"))
        plan = "[plan]\npre_review = false\naudit_review = false\n"
        absent = [role for role in ROLES if f"[agents.{role}]" not in self.settings]
        agents = "".join(agent_table(role, story) for role in absent)
        workspace = "" if "[workspace]" in self.settings else f"[workspace]\nstate = {state}\n"
        return f"{'' if '[plan]' in self.settings else plan}{agents}{workspace}{self.settings}\n"


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Look again and again until it holds; fails with `what` was waited for where it does not in so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain until {what}"
        time.sleep(0.01)


def agent_table(role: str, story: str) -> str:
    """The settings of a scripted player; `story` is its story file, quoted as TOML."""
    command = json.dumps([sys.executable, "-I", "-S", str(PLAYERS), role])
    return (
        f'[agents.{role}]\nbackend = "command"\ncommand = {command}\ntimeout = 60\nassumed_cost_usd = 0.5\n'
        f"environment = {{ STORY = {story} }}\n"
    )


def _requirements(name: str, reqs: Iterable[Req]) -> Iterable[str]:
    yield f"# Requirements: {name}\n\n## Requirements\n"
    seen: set[str] = set()
    for req in reqs:
        main = req.id.split("-REQ-")[1].split(".")[0]
        if main not in seen:
            seen.add(main)
            yield f"### Requirement {main}: Part {main}\n\n#### Acceptance Criteria\n"
        yield f"1. [{req.id}] WHEN its proof is read, THE proof SHALL be right.\n"


def _tasks(name: str, reqs: Sequence[Req], titles: Iterable[str]) -> Iterable[str]:
    yield f"# Implementation Plan: {name}\n\n## Tasks\n"
    for group, title in enumerate(titles, 1):
        ids = ", ".join(req.id for req in reqs if req.group == group)
        yield f"- [ ] {group}. {title}\n  - [ ] {group}.1 Do it"
        if ids:
            yield f"    - _Requirements: {ids}_"
        yield f"  - [ ] {group}.V Verify task group {group}\n"
    yield "## Traceability\n\n| Requirement | Test Spec Entry | Implemented By Task | Verified By Test |"
    yield "|---|---|---|---|"
    for number, req in enumerate(reqs, 1):
        yield f"| {req.id} | TS-{name.split('_')[0]}-{number} | {req.group}.1 | proof_{number} |"
    yield ""


def _prd(name: str, before: Iterable[str]) -> Iterable[str]:
    yield f"# PRD: {name}\n\nA story.\n"
    rows = [f"| {other} | 1 | 1 | uses it |" for other in before]
    if rows:
        yield "## Dependencies\n\n| Spec | From Group | To Group | Relationship |\n|---|---|---|---|"
        yield from rows
        yield ""


def git(root: Path, *arguments: str) -> str:
    """What git prints, stripped. Raises CalledProcessError."""
    done = subprocess.run(["git", *_PERSON, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_all(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def first_commit(root: Path, person: str = "", *, with_ignored: bool = False) -> None:
    """Make a folder a repository, with all of its files in one commit on `main`.

    `person` is who the repository's own settings name. Git makes one repository of each kind; others are copies,
    whose objects, which never change, are links to the same files.
    """
    kind = hashlib.sha256(json.dumps([_contents(root), person, with_ignored]).encode()).hexdigest()
    prepared = Path(_prepared().name) / kind
    if prepared.exists():
        shutil.copytree(prepared, root / ".git", copy_function=_link_or_copy, dirs_exist_ok=True)
        return
    new_repository(root)
    named = {"user.name": person, "user.email": f"{person.lower()}@example.org"} if person else {}
    for name, value in named.items():
        git(root, "config", name, value)
    git(root, "add", "-Af" if with_ignored else "-A")
    git(root, *(word for name, value in named.items() for word in ("-c", f"{name}={value}")), "commit", "-qm", "start")
    shutil.copytree(root / ".git", prepared, copy_function=_link_or_copy)


def new_repository(root: Path) -> None:
    """What `git init` makes, without its examples of hooks: a copy of one that was made once."""
    prepared = Path(_prepared().name) / "new"
    if not prepared.exists():
        git(prepared.parent, "init", "-q", "-b", "main", "made")
        for example in (prepared.parent / "made" / ".git" / "hooks").iterdir():
            example.unlink()
        (prepared.parent / "made" / ".git").rename(prepared)
    shutil.copytree(prepared, root / ".git", dirs_exist_ok=True)


@cache
def _prepared() -> TemporaryDirectory[str]:
    return made_folder("prepared")


def _contents(root: Path) -> list[tuple[str, int, str]]:
    """Path, mode and content (of a link: its target) of each file."""
    contents = []
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or path.is_file():
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            contents.append((str(path.relative_to(root)), path.lstat().st_mode, hashlib.sha256(content).hexdigest()))
    return contents


def _link_or_copy(source: str, target: str) -> None:
    if "/objects/" in source:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


KEPT = ("PATH", "HOME", "TMPDIR", "XDG_STATE_HOME")


def environment(**variables: str) -> dict[str, str]:
    """What the program is started with: this package, no colour, wide lines."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": str(SOURCE), "NO_COLOR": "1", "COLUMNS": "160", **variables}


def program(*arguments: str) -> list[str]:
    """The command line that starts this `agent-fox`."""
    return [sys.executable, "-m", "agent_fox.cli.main", *arguments]


def run_cli(
    root: Path, *arguments: str, timeout: float = 120, data: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `agent-fox ARGUMENTS` in `root` to its end. `data` is its standard input, `variables` are added."""
    return prefork.run(arguments, cwd=root, env=environment(**variables), data=(data or "").encode(), timeout=timeout)


def rows(root: Path, sql: str) -> list[tuple[object, ...]]:
    """The answer of the state file to a query."""
    with closing(sqlite3.connect(f"file:{root / '.agent-fox' / 'state.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def log(root: Path) -> list[dict[str, object]]:
    """What the players noted: a row a session that started, oldest first.

    Coders: `role`, `node`, `attempt`, and from the brief `failing` (id to evidence) and `reason` (why the last try
    gave no result). Others: `reading` instead.
    """
    path = root.parent / "tools" / "log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def issue_files(root: Path, state: str = "open") -> list[Path]:
    """Issue files of the local tracker in `state`, which stands in their front matter."""
    files = sorted((root / ".agent-fox" / "issues").glob("*.md"))
    return [path for path in files if f"state: {state}" in path.read_text()]


def landed(root: Path, path: str) -> str | None:
    """A file's text on the integration branch, None where it is not there."""
    done = subprocess.run(
        ["git", "show", f"agent-fox/integration:{path}"], cwd=root, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else None
