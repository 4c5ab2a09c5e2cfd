"""Git asked about files that an agent has written: by a git folder of our own, bounded in time and output.

Hooks, filters, text conversion, file-system monitors and settings of the workspace are not in that folder, and what
git has to store goes into it too: the repository's own objects are only read. What is looked at is not decided here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git, git_objects, outside, programs

SECONDS = 120.0
"""What one question may take: a pipe in place of a file would keep git waiting for ever."""

LONGEST_ANSWER = 256 * 1024 * 1024
"""Bytes."""

_SETTINGS = """
[core]
hooksPath = /dev/null
fsmonitor = false
untrackedCache = false
quotePath = false
compression = 0
[gc]
auto = 0
[submodule]
recurse = false
"""
_ATTRIBUTES = "* !diff !filter !ident !merge\n"
"""Attributes of the workspace can declare text binary, run filters by name, or fold text into a keyword: not here."""


class TooMuch(git.GitError):
    """An answer that is longer than what was asked for at most."""


@dataclass(frozen=True, slots=True)
class Look:
    """A throw-away git folder over the objects of a repository, with an index of its own."""

    folder: Path
    files: Path
    variables: Mapping[str, str]

    def ask(self, *arguments: str, data: bytes = b"", limit: int = LONGEST_ANSWER) -> bytes:
        """What git prints. Raises GitError where it fails or takes too long, TooMuch beyond `limit` bytes."""
        answer = outside.tried(lambda: self._ask_once(arguments, data, limit))
        if answer.trouble is not None:
            what = f"git {' '.join(arguments[:2])} in {self.files}"
            raise git.error_of(f"{what}: {answer.err or f'exit status {answer.status}'}", answer.trouble)
        return answer.out

    def _ask_once(self, arguments: tuple[str, ...], data: bytes, limit: int) -> git.Answer:
        argv, variables = ["git", *arguments], git.environment(self.variables, self.files)
        what = f"git {' '.join(arguments[:2])} in {self.files}"
        with tempfile.TemporaryFile(dir=self.folder) as given:
            given.write(data)
            given.seek(0)
            try:
                done = programs.run_bounded(argv, SECONDS, limit, environment=variables, cwd=self.files, stdin=given)
            except TimeoutError as error:
                raise git.GitError(f"{what}: it took longer than {SECONDS:.0f} seconds") from error
        if done.is_cut:
            raise TooMuch(f"{what}: it has more than {limit:,} bytes to say")
        complaint = done.err[:2000].decode("utf-8", "replace").strip()
        return git.Answer(done.status, done.out, complaint, git.trouble_in(done.status, complaint))

    def fields(self, *arguments: str, data: bytes = b"") -> list[str]:
        """The fields of a `-z` answer."""
        return [
            field.decode("utf-8", "surrogateescape") for field in self.ask(*arguments, data=data).split(b"\0") if field
        ]

    def line(self, *arguments: str) -> str:
        return self.ask(*arguments).decode("utf-8", "surrogateescape").strip()


@contextmanager
def look(repo: Path) -> Iterator[Look]:
    """A look at the work tree with this root. Raises GitError where it is not one."""
    common = git.common_folder(repo)
    with git_objects.store(repo, repo) as store:
        own = store.folder / "objects"
        (own / "info/alternates").write_bytes(_quoted(common / "objects"))
        (store.folder / "info/attributes").write_text(_ATTRIBUTES, encoding="ascii")
        with (store.folder / "config").open("a", encoding="ascii") as config:
            config.write(_SETTINGS)
        yield Look(store.folder, repo, {**store.variables, "GIT_OBJECT_DIRECTORY": str(own)})


def _quoted(objects: Path) -> bytes:
    """A path as `info/alternates` has it."""
    path = str(objects)
    if "\n" in path:
        raise git.GitError(f"{path!r}: a repository whose path has a line break cannot be looked at")
    shown = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if path.startswith('"') else path
    return f"{shown}\n".encode("utf-8", "surrogateescape")
