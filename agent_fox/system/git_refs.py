"""A picture of the person's repository: where its references stand and what its own settings hold. Nothing is moved
here but a reference that is put back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git

OURS = "refs/agent-fox/"
"""All references below it are agent-fox's own."""

FETCHED = "refs/remotes/"
"""What a fetch moves: editors do that in the background, all the time."""

SETTINGS = (
    *("config", "config.worktree", "commondir", "gitdir", "info/attributes", "info/exclude", "info/grafts"),
    *("objects/info/alternates", "modules", "worktrees"),
)
"""Files and folders of a git folder that say what git does. Of a folder only the names count."""

_PLACE = "%(refname) %(objecttype) %(objectname) %(symref)"

LARGEST_READ = 1024**2
"""Bytes of a settings file or hook that are compared."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What stood where: references (full name → commit, or `-> reference`), and settings and hooks (path → digest)."""

    refs: Mapping[str, str]
    files: Mapping[str, str]


def picture(repo: Path) -> Picture:
    """The repository as it stands. The person's index and files are not looked at. Raises GitError, OSError."""
    folder = git.common_folder(repo)
    files = {path.relative_to(folder).as_posix(): _digest(path) for path in _settings(folder)}
    return Picture(references(repo), files)


def references(repo: Path) -> dict[str, str]:
    """Every reference but fetched ones, with HEAD. One that is broken is not among them."""
    lines = git.call(repo, "for-each-ref", "--format=%(HEAD)%(refname) %(objectname) %(symref)").text.splitlines()
    head = next((line[1:].partition(" ")[0] for line in lines if line.startswith("*")), None)
    rows = (line.lstrip("* ").split(" ") for line in lines)
    places = {name: _place(commit, "".join(target)) for name, commit, *target in rows if not name.startswith(FETCHED)}
    if head is None:  # no branch, or one without a commit
        head = git.call(repo, "symbolic-ref", "--quiet", "HEAD", allowed=(0, 1, 128)).text
    return {"HEAD": f"-> {head}" if head else git.head(repo) or "", **places}


def _place(commit: str, target: str) -> str:
    return f"-> {target}" if target else commit


def _settings(folder: Path) -> Iterator[Path]:
    hooks = folder / "hooks"
    yield from (path for name in SETTINGS if (path := folder / name).exists() or path.is_symlink())
    if hooks.is_symlink():
        yield hooks
    elif hooks.is_dir():
        yield from (path for path in sorted(hooks.rglob("*")) if path.suffix != ".sample" and not path.is_dir())


def _digest(path: Path) -> str:
    """What a file holds, with its mode; where a link leads; which names a folder has."""
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if path.is_dir():
        return " ".join(sorted(inner.name for inner in path.iterdir()))
    if not path.is_file():
        return "special"
    mode = f"{path.stat().st_mode:o}"
    try:
        with path.open("rb") as file:
            return f"{mode} {hashlib.sha256(file.read(LARGEST_READ)).hexdigest()}"
    except PermissionError:
        return f"{mode} unreadable"


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str | None, str | None]]:
    """Name, before and after (None: not there) of all that differs, in the order of names."""
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def place_of(repo: Path, ref: str) -> str | None:
    """The commit of a reference, `-> reference` of a symbolic one, or None where it is gone or broken."""
    known = git.look(repo, ref, allowed=(0, 128))
    if known and known.kind == "commit" and _is_plain(repo, ref):
        return known.id
    shown = git.call(repo, "for-each-ref", f"--format={_PLACE}", ref, allowed=(0, 128)).text.splitlines()
    for line in shown:
        name, kind, commit, *target = line.split(" ")
        if name == ref and (any(target) or kind == "commit"):
            return _place(commit, "".join(target))
    # It is gone, broken, names a tag, or points to nothing: each of them rare.
    named = git.call(repo, "symbolic-ref", "--quiet", ref, allowed=(0, 1, 128)).text
    return f"-> {named}" if named else git.commit_of(repo, ref)


def _is_plain(repo: Path, ref: str) -> bool:
    """Whether a reference that leads to a commit surely names it itself; False also where only git can tell."""
    common = git.common_folder(repo)
    file = common / ref
    if (common / "reftable").exists() or file.is_symlink():
        return False
    try:
        return not file.read_bytes().startswith(b"ref:")
    except FileNotFoundError:
        return True  # packed references are never symbolic
    except OSError:
        return False


def put_back(repo: Path, ref: str, commit: str) -> bool:
    """Make `ref` a plain reference to `commit` again, wherever it stands: compare and swap.

    False where it was moved at the same moment. Raises GitError where git cannot do it, or `commit` is gone.
    """
    if git.commit_of(repo, commit) is None:
        raise git.GitError(
            f"{ref} in {repo} was moved, and the commit {commit[:12]} that it stood at is gone; "
            "fetch that commit from where you have it, or start over with a new integration branch"
        )
    _remove_broken(repo, ref)
    return git.move_ref(repo, ref, commit, git.commit_of(repo, ref))


def _remove_broken(repo: Path, ref: str) -> None:
    """A loose reference that holds no commit stands in git's own way."""
    file = git.common_folder(repo) / ref
    is_symbolic = bool(git.call(repo, "symbolic-ref", "--quiet", ref, allowed=(0, 1, 128)).text)
    if git.commit_of(repo, ref) is None and not is_symbolic and (file.is_symlink() or file.is_file()):
        file.unlink()
