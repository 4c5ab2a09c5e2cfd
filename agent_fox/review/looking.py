"""Git asked about files that an agent has written: by a git folder of our own, bounded in time and output.

Hooks, filters, text conversion, file-system monitors and settings of the workspace are not in that folder, and what
git has to store goes into it too: the repository's own objects are only read. What is looked at is not decided here.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git, git_objects, outside

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
        with tempfile.TemporaryFile(dir=self.folder) as given, tempfile.TemporaryFile(dir=self.folder) as complaints:
            given.write(data)
            given.seek(0)
            process = subprocess.Popen(
                ["git", *arguments],
                cwd=self.files,
                env=git.environment(self.variables),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
            printed, is_late = _read(process, limit)
            complaints.seek(0)
            complaint = complaints.read(2000).decode("utf-8", "replace").strip()
        what = f"git {' '.join(arguments[:2])} in {self.files}"
        if is_late:
            raise git.GitError(f"{what}: it took longer than {SECONDS:.0f} seconds")
        if len(printed) > limit:
            raise TooMuch(f"{what}: it has more than {limit:,} bytes to say")
        return git.Answer(process.returncode, printed, complaint, git.trouble_in(process.returncode, complaint))

    def fields(self, *arguments: str, data: bytes = b"") -> list[str]:
        """The fields of a `-z` answer."""
        return [
            field.decode("utf-8", "surrogateescape") for field in self.ask(*arguments, data=data).split(b"\0") if field
        ]

    def line(self, *arguments: str) -> str:
        return self.ask(*arguments).decode("utf-8", "surrogateescape").strip()


def _read(process: subprocess.Popen[bytes], limit: int) -> tuple[bytes, bool]:
    """At most one byte more than `limit`, and whether time was up first."""
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(SECONDS, end)
    timer.start()
    assert process.stdout is not None
    try:
        with process.stdout as output:
            printed = output.read(limit + 1)
            if len(printed) > limit:
                process.kill()
        process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
    return printed, late.is_set()


@contextmanager
def look(repo: Path) -> Iterator[Look]:
    """A look at the work tree with this root. Raises GitError where it is none."""
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
