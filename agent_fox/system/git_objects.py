"""Trees and commits made in the person's object store without their configuration, index, checkout or
references.

Each call sees a git folder of our own, made for it and thrown away: no hook, filter, merge driver or setting
of anybody is in it. That is how a tree that an agent has written to is looked at: as files, never through the
agent's `.git`.
"""

from __future__ import annotations

import hashlib
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system import git
from agent_fox.system.own_folders import own_folder

if TYPE_CHECKING:
    import tempfile
else:
    tempfile = late_module("tempfile")

GITLINK = git.GITLINK
ALL = ("--no-renames", "--ignore-submodules=none")
"""Options of a difference in which nothing is left out, whatever `.gitmodules` says."""
ABSENT, FOLDER = "000000", "040000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of an index or tree: its mode (octal text) and object id. Mode ABSENT: it is not there."""

    path: str
    mode: str
    id: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two trees."""

    old: Entry
    new: Entry

    @property
    def path(self) -> str:
        return self.new.path


@dataclass(frozen=True, slots=True)
class Store:
    """A throw-away git folder over the person's objects, with an index of its own and, if given, files to
    look at.
    """

    folder: Path
    variables: Mapping[str, str]
    repo: Path

    @property
    def places(self) -> git.Places:
        """Where its objects lie, if not in the repository alone."""
        names = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
        return tuple((name, self.variables[name]) for name in names if names[1] in self.variables)

    def call(self, *arguments: str, data: bytes | None = None, allowed: Sequence[int] = (0,)) -> git.Answer:
        where = Path(self.variables.get("GIT_WORK_TREE", self.folder))
        return git.call(where, *arguments, extra=self.variables, data=data, allowed=allowed)

    def name(self, branch: str, commit: str) -> None:
        """Give a commit, by its full id, the name of a branch in this store alone."""
        (self.folder / "refs/heads" / branch).write_text(f"{commit}\n", encoding="ascii")

    def read_tree(self, tree: str) -> None:
        """Fill the index with `tree`: its entries, of which git does not know yet how the files look."""
        write_index(self.folder / "index", self.files(tree), git.object_format(self.repo))

    def files(self, tree: str) -> tuple[Entry, ...]:
        """Every file, link and submodule of a commit or tree of the repository, in git's order."""
        return tuple(_entries(self.repo, git.tree_of(self.repo, tree), ""))

    def write_tree(self) -> str:
        """The index as a tree."""
        return self.call("write-tree").text

    def untracked(self) -> list[str]:
        """Files that the index does not have and .gitignore does not hide; `DIR/` is a repository in the
        tree.
        """
        return self.call("ls-files", "--others", "--exclude-standard", "-z").records

    def links(self) -> list[str]:
        """Paths of the index that are links to other repositories."""
        staged = (record.split("\t", 1) for record in self.call("ls-files", "--stage", "-z").records)
        return [path for facts, path in staged if facts.startswith(GITLINK)]

    def add_all(self, leaving_out: Sequence[str] = ()) -> None:
        """Take everything from the files into the index, but `leaving_out` (paths) and what .gitignore
        hides.
        """
        ignored = self._ignored(leaving_out)
        excluded = [f":(exclude,literal,top){path}" for path in leaving_out if path not in ignored]
        with self._naming_unborn():
            self.call("add", "--all", "--", ":(top)", *excluded)

    def add(self, paths: Iterable[str]) -> None:
        """Take these files, and repositories as links, into the index, also those that git is told to hide."""
        paths = tuple(paths)
        data = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        with self._naming_unborn(paths):
            self.call("update-index", "--add", "--replace", "-z", "--stdin", data=data)

    @contextmanager
    def _naming_unborn(self, paths: Sequence[str] = ()) -> Iterator[None]:
        """Where git refused, and there are repositories without any commit in the files, they are why. `paths`: where
        there may be some that `.gitignore` hides.
        """
        try:
            yield
        except git.GitError as error:
            files = Path(self.variables.get("GIT_WORK_TREE", self.folder))
            inside = {path.rstrip("/") for path in (*self.untracked(), *paths) if (files / path / ".git").exists()}
            unborn = [path for path in sorted(inside) if git.head(files / path) is None]
            if not unborn:
                raise
            what = "a git repository without any commit, so that git sees neither its files nor what it stands at"
            raise git.GitError(
                f"{', '.join(unborn)} in {files} is {what}; commit in it, move it elsewhere, or remove its .git"
            ) from error

    def _ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Those that .gitignore hides: they are left out anyway, and `git add` fails where one is named."""
        if not paths:
            return frozenset()
        data = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        return frozenset(self.call("check-ignore", "-z", "--stdin", data=data, allowed=(0, 1, 128)).records)

    def unignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Those that .gitignore names with `!`; folders without a slash at the end, as git asks for it."""
        if not paths:
            return frozenset()
        data = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        fields = self.call("check-ignore", "-v", "-z", "--stdin", data=data, allowed=(0, 1)).records
        return frozenset(
            path for pattern, path in zip(fields[2::4], fields[3::4], strict=True) if pattern.startswith("!")
        )

    def changed_files(self) -> list[str]:
        """Paths of the index whose file is gone or holds something else."""
        return self.call("diff", "--name-only", "--no-ext-diff", "--no-renames", "-z").records

    def changes(self, old: str, new: str, *paths: str) -> list[Change]:
        """What differs from commit or tree `old` to `new`, under `paths` if given (taken literally)."""
        changes = changes_between(self.repo, old, new)
        return [change for change in changes if not paths or any(_is_below(change.path, path) for path in paths)]

    def staged(self, old: str) -> list[Change]:
        """What differs from commit or tree `old` to the index."""
        records = self.call("diff-index", "--cached", "-z", *ALL, old, "--").records
        return [_change(meta, path) for meta, path in zip(records[::2], records[1::2], strict=True)]

    def put(self, entries: Sequence[Entry]) -> None:
        """Set these paths in the index; removals first, so that a file can take a folder's place."""
        ordered = sorted(entries, key=lambda entry: entry.mode != ABSENT)
        lines = [f"{entry.mode} {entry.id}\t{entry.path}\0" for entry in ordered]
        self.call("update-index", "-z", "--index-info", data="".join(lines).encode("utf-8", "surrogateescape"))

    def bring_out(self, tree: str, paths: Sequence[str]) -> None:
        """Write these paths as `tree` has them into the files; one that it has not is removed."""
        options = ("restore", f"--source={tree}", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
        if paths:
            self.call("--literal-pathspecs", *options, data="\0".join(paths).encode("utf-8", "surrogateescape"))

    def sizes(self, tree: str) -> dict[str, int]:
        """Path → bytes of every file of a tree; submodules left out."""
        files = [entry for entry in self.files(tree) if entry.mode != GITLINK]
        known = git.sizes_of(self.repo, list(dict.fromkeys(entry.id for entry in files)))
        return {entry.path: known[entry.id] for entry in files if entry.id in known}

    def size(self, object_id: str) -> int:
        """Bytes of an object. Raises GitError where it is not there."""
        return self._there(git.look(self.repo, object_id, self.places), object_id).size

    def blob(self, object_id: str) -> bytes:
        """What an object holds. Raises GitError where it is not there."""
        return self._there(git.read(self.repo, object_id, self.places), object_id).content

    def _there(self, found: git.Object | None, object_id: str) -> git.Object:
        if found is None:
            raise git.GitError(f"the object {object_id} is missing in {self.repo}; run `git fsck` there")
        return found


def _is_below(path: str, folder: str) -> bool:
    return folder in ("", ".") or path == folder.rstrip("/") or path.startswith(f"{folder.rstrip('/')}/")


def changes_between(repo: Path, old: str, new: str) -> list[Change]:
    """What differs from commit or tree `old` to `new`, in git's order. Raises GitError where one is not there."""
    with git.serving(repo):
        changes = list(_differences(repo, git.tree_of(repo, old), git.tree_of(repo, new), ""))
    return sorted(changes, key=lambda change: change.path.encode("utf-8", "surrogateescape"))


def files_under(repo: Path, commit: str, folder: str = "") -> dict[str, str]:
    """Path → blob id of every file of `commit` under `folder` (all where it is empty); submodules left
    out.
    """
    with git.serving(repo):
        entries = _entries(repo, git.tree_of(repo, commit), "")
        return {entry.path: entry.id for entry in entries if entry.mode != GITLINK and _is_below(entry.path, folder)}


@lru_cache(maxsize=2048)
def _tree(repo: Path, id: str) -> tuple[Entry, ...]:
    """What a tree names, without what lies in its folders; an id names the same for ever.

    Git writes `mode SP name NUL id`, again and again, the id as bytes.
    """
    tree = git.read(repo, id)
    if tree is None or tree.kind != "tree":
        raise git.GitError(f"the tree {id} is missing in {repo}; run `git fsck` there")
    content, entries, at = tree.content, list[Entry](), 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + len(id) // 2
        entries.append(
            Entry(name.decode("utf-8", "surrogateescape"), mode.decode().zfill(6), content[end + 1 : at].hex())
        )
    return tuple(entries)


def _entries(repo: Path, tree: str, folder: str) -> Iterator[Entry]:
    for entry in _tree(repo, tree):
        path = f"{folder}{entry.path}"
        if entry.mode == FOLDER:
            yield from _entries(repo, entry.id, f"{path}/")
        else:
            yield Entry(path, entry.mode, entry.id)


def _differences(repo: Path, old: str, new: str, folder: str) -> Iterator[Change]:
    """What differs between two trees, an empty id being none; folders that are the same are not looked into."""
    before, after = ({mine.path: mine for mine in _tree(repo, id)} if id else {} for id in (old, new))
    for name in before.keys() | after.keys():
        mine, other, path = before.get(name), after.get(name), f"{folder}{name}"
        if mine == other:
            continue
        folder_was, folder_is = (side.id if side and side.mode == FOLDER else "" for side in (mine, other))
        if folder_was or folder_is:
            yield from _differences(repo, folder_was, folder_is, f"{path}/")
        was, now = (side if side and side.mode != FOLDER else None for side in (mine, other))
        if was or now:
            absent = Entry(path, ABSENT, "0" * len(old or new))
            was, now = (Entry(path, side.mode, side.id) if side else absent for side in (was, now))
            yield Change(was, now)


def write_index(file: Path, entries: Iterable[Entry], object_format: str) -> None:
    """An index of git's version 2 with these entries, in their order; see gitformat-index(5)."""
    rows = [_row(entry) for entry in entries]
    body = struct.pack(">4sII", b"DIRC", 2, len(rows)) + b"".join(rows)
    file.write_bytes(body + hashlib.new(object_format, body).digest())


def _row(entry: Entry) -> bytes:
    """Ten numbers of the file's stat, of which only the mode is known; id, length of the path, path, padding."""
    path, mode = entry.path.encode("utf-8", "surrogateescape"), int(entry.mode, 8)
    if stat.S_ISREG(mode):
        mode = 0o100755 if mode & stat.S_IXUSR else 0o100644  # trees of old programs say more
    facts = struct.pack(">6II3I", *[0] * 6, mode, 0, 0, 0)
    row = facts + bytes.fromhex(entry.id) + struct.pack(">H", min(len(path), 0xFFF)) + path
    return row + b"\0" * (8 - len(row) % 8)


def _change(meta: str, path: str) -> Change:
    old_mode, new_mode, old_id, new_id, _ = meta.lstrip(":").split(" ")
    return Change(Entry(path, old_mode, old_id), Entry(path, new_mode, new_id))


@contextmanager
def store(repo: Path, files: Path | None = None) -> Iterator[Store]:
    """A store over the objects of `repo`; with `files`, that folder is its work tree."""
    common = git.common_folder(repo)
    with own_folder("git") as folder:
        lay_out(folder, common, git.object_format(repo), "none")
        (folder / "info/exclude").write_bytes(_excludes(repo, common))
        variables = {
            "GIT_DIR": str(folder),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
        }
        with git.serving(repo):
            yield Store(folder, variables | ({"GIT_WORK_TREE": str(files)} if files else {}), repo)


def lay_out(folder: Path, common: Path, object_format: str, branch: str) -> None:
    """A git folder without objects, its HEAD on a branch without commits, and as shallow as `common` is."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="ascii")
    (folder / "config").write_text(
        "[core]\nrepositoryformatversion = 1\nbare = false\nfilemode = true\n"
        "protectHFS = true\nprotectNTFS = true\n"
        f"[extensions]\nobjectformat = {object_format}\n",
        encoding="ascii",
    )
    if (common / "shallow").is_file():
        (folder / "shallow").write_bytes((common / "shallow").read_bytes())


def _excludes(repo: Path, common: Path) -> bytes:
    """What the person ignores beside .gitignore: in this repository, and everywhere."""
    everywhere = git.excludes_file(repo)
    files = [common / "info/exclude", *([everywhere] if everywhere else [])]
    return b"\n".join(file.read_bytes() for file in files if file.is_file())


def commit_tree(
    repo: Path, tree: str, parents: Sequence[str], message: str, who: git.Identity, at: int | None = None
) -> str:
    """A commit object; no reference moves. With `at` (seconds since the epoch) the same call makes the
    same commit.
    """
    named = {"NAME": who.name, "EMAIL": who.email} | ({} if at is None else {"DATE": f"@{at} +0000"})
    variables = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in named.items()}
    arguments = [word for parent in parents for word in ("-p", parent)]
    made = git.call(repo, "commit-tree", tree, *arguments, extra=variables, data=message.encode("utf-8", "replace"))
    return made.text


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree of a merge that went through."""

    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The files that could not be merged. In `tree` they hold both sides, between markers named OURS and THEIRS."""

    files: tuple[str, ...]
    tree: str = field(default="", compare=False)


OURS, THEIRS = "integration", "work"
"""What the two sides are called in the markers of a conflict."""


def merge(repo: Path, ours: str, theirs: str) -> Merged | Conflict:
    """Merge two commits, by their full ids, into a tree, without any checkout."""
    with store(repo) as ours_alone:
        for name, commit in ((OURS, ours), (THEIRS, theirs)):
            ours_alone.name(name, commit)
        options = ("--write-tree", "--name-only", "--no-messages", "-z", "--allow-unrelated-histories")
        answer = ours_alone.call("merge-tree", *options, OURS, THEIRS, allowed=(0, 1))
    tree, *files = answer.records
    return Merged(tree) if answer.status == 0 else Conflict(tuple(dict.fromkeys(files)), tree)


def lasting_store(folder: Path, repo: Path, files: Path, hidden: Iterable[str] = ()) -> Store:
    """A store in `folder` that stays: objects of its own over those of `repo`, an index, and `files` to look at.

    `hidden` are patterns as `.gitignore` has them. Made where it is not there yet; whoever opens it again finds what
    was put into it.
    """
    common = git.common_folder(repo)
    objects = folder / "objects"
    if not (folder / "HEAD").is_file():
        lay_out(folder, common, git.object_format(repo), "none")
        ignored = b"".join(f"{pattern}\n".encode("utf-8", "surrogateescape") for pattern in hidden)
        (folder / "info/exclude").write_bytes(_excludes(repo, common) + b"\n" + ignored)
        (objects / "info/alternates").write_text(f"{common / 'objects'}\n", encoding="utf-8")
    return Store(
        folder,
        {
            "GIT_DIR": str(folder),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(common / "objects"),
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_WORK_TREE": str(files),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
        },
        repo,
    )
