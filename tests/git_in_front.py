"""A git in front of git, for tests: at one call of some kind, something else happens before it or after it.

A move of a reference that is asked of a process that stays counts as the call that it stands for: `update-ref REF NEW
OLD` or `update-ref -d REF`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

FRONT = """#!/bin/bash
GIT={real}
CALLER=$PPID
happen() {{
  {deed}
}}
case "$*" in
  "--happen "*) CALLER=$2; happen; exit;;
  *update-ref*--stdin*) exec {python} -I {proxy} "$0" "$GIT" {folder} {compare} {turn} {after} '{pattern}' $PPID "$@";;
  {shell_pattern})
    echo x >> {folder}/calls
    if [ $(wc -l < {folder}/calls) {compare} {turn} ]; then
      [ {after} = after ] && "$GIT" "$@"
      happen
      [ {after} = after ] && exit 1
    fi;;
esac
exec "$GIT" "$@"
"""


def git_in_front(
    folder: Path, pattern: str, turn: int, deed: str, *, is_done_first: bool = False, is_once: bool = True
) -> str:
    """A PATH on which the `turn`-th call whose words fit `pattern` comes with `deed`, in bash: $GIT is the real git,
    $CALLER the process that called. Not `is_once`: each later one too.
    """
    folder.mkdir()
    script = FRONT.format(
        real=shutil.which("git"), deed=deed, python=sys.executable, proxy=Path(__file__).resolve(), folder=folder,
        compare="-eq" if is_once else "-ge", turn=turn, after="after" if is_done_first else "before", pattern=pattern,
        shell_pattern=pattern.replace(" ", "\\ "),
    )  # fmt: skip
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def stand_between(
    front: str, real: str, folder: str, compare: str, turn: str, when: str, pattern: str, caller: str, *argv: str
) -> int:
    """Pass transactions on to the real process, and its answers back."""
    git = subprocess.Popen([real, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert git.stdin
    assert git.stdout
    calls = Path(folder, "calls")
    while fields := transaction():
        is_turn = False
        if fnmatchcase(f"update-ref {as_arguments(fields)}", pattern):
            with calls.open("a") as file:
                file.write("x\n")
            count = len(calls.read_text().splitlines())
            is_turn = count == int(turn) or (count > int(turn) and compare == "-ge")
        if is_turn and when == "before":
            subprocess.run([front, "--happen", caller], check=False)
        git.stdin.write(b"\0".join(fields) + b"\0")
        git.stdin.flush()
        answer = git.stdout.readline() + git.stdout.readline()
        if is_turn and when == "after":
            subprocess.run([front, "--happen", caller], check=False)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
        if answer.count(b"\n") < len(("start", "commit")):
            break
    git.stdin.close()
    return git.wait()


def transaction() -> list[bytes]:
    """The fields from `start` to `commit`; nothing at the end."""
    fields: list[bytes] = []
    while not fields or fields[-1] != b"commit":
        field = b""
        while (byte := sys.stdin.buffer.read(1)) not in (b"\0", b""):
            field += byte
        if not byte:
            return []
        fields.append(field)
    return fields


def as_arguments(fields: list[bytes]) -> str:
    word, _, ref = fields[1].decode().partition(" ")
    return f"-d {ref}" if word == "delete" else " ".join([ref, *(field.decode() for field in fields[2:-1])])


if __name__ == "__main__":
    sys.exit(stand_between(*sys.argv[1:]))
