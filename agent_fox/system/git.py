"""Git behind small functions, for the person's own repository: questions, and moves of references.

Every call runs without hooks, signing, prompts, pager, credential helpers and file-system monitor. No
function here touches the person's checkout or index, and none may be pointed into a tree that an agent has
written to: see `git_objects` for how such a tree is looked at.
"""

from __future__ import annotations

import io
import os
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import outside

if TYPE_CHECKING:
    from agent_fox.system import programs
    from agent_fox.system.outside import Trouble
else:
    programs = late_module("agent_fox.system.programs")

OLDEST_VERSION = (2, 38)
"""The first git with `merge-tree --write-tree`."""

GITLINK = "160000"
"""The mode of a submodule's entry."""

FALLBACK_NAME, FALLBACK_EMAIL = "agent-fox", "agent-fox@localhost"

_NEUTRAL = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.pager": "cat",
    "core.quotePath": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "credential.helper": "",
    "gc.auto": "0",
    "i18n.commitEncoding": "UTF-8",
    "maintenance.auto": "false",
    "advice.detachedHead": "false",
    "advice.graftFileDeprecated": "false",
    "diff.ignoreSubmodules": "all",
    "submodule.recurse": "false",
    "protocol.ext.allow": "never",
}
_KEPT = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
_FULL_ID = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class GitError(Exception):
    """Git refused or is not there. The message says what was tried, where, and what git said."""


class GitStuck(GitError):
    """The world is in git's way: a lock that stays, a full disk. It was tried again; another time it may work."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git command printed, and its exit status. `trouble`: whose it is that it gave no answer, if so."""

    status: int
    out: bytes
    err: str
    trouble: Trouble | None = None

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape").strip()

    @property
    def records(self) -> list[str]:
        """The fields of a `-z` answer."""
        return [field.decode("utf-8", "surrogateescape") for field in self.out.split(b"\0") if field]


def environment(extra: Mapping[str, str] | None, where: Path) -> dict[str, str]:
    """What git gets to see in `where`: none of the caller's GIT_* variables, no program that lies in the checkout, no
    prompt, English messages.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    ours = {
        "PATH": programs.machine_path(where),
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
    }
    return kept | ours | dict(extra or {})


def call(
    where: Path,
    *arguments: str,
    extra: Mapping[str, str] | None = None,
    data: bytes | None = None,
    allowed: Sequence[int] = (0,),
) -> Answer:
    """Run git in `where`, out of reach of a Ctrl-C: that is for a run to act upon, and a git that dies of it would cost
    a session's work. What fails is tried again, for a while, where it may pass.

    Raises GitError for an exit status that is not in `allowed`, GitStuck where the world is in the way.
    """
    answer = outside.tried(lambda: _call_once(where, _argv(arguments), extra, data, allowed))
    if answer.trouble is not None:
        reason = answer.err or answer.text[-500:] or f"exit status {answer.status}"
        raise error_of(f"git {' '.join(arguments[:3])} in {where}: {reason}", answer.trouble)
    return answer


def _argv(arguments: Sequence[str]) -> list[str]:
    return ["git", *(word for name, value in _NEUTRAL.items() for word in ("-c", f"{name}={value}")), *arguments]


def _call_once(
    where: Path, argv: list[str], extra: Mapping[str, str] | None, data: bytes | None, allowed: Sequence[int]
) -> Answer:
    try:
        done = programs.run(argv, cwd=where, environment=environment(extra, where), data=data or b"", is_apart=True)
    except FileNotFoundError as error:
        raise GitError(_absence(where)) from error
    except OSError as error:
        return Answer(outside.DIED, b"", f"cannot be started: {error.strerror}", outside.trouble_of_system(error))
    complaint = done.err.decode("utf-8", "replace").strip()
    return Answer(done.status, done.out, complaint, trouble_in(done.status, complaint, allowed))


def trouble_in(status: int, printed: str, allowed: Sequence[int] = (0,)) -> Trouble | None:
    """Whose it is that git gave no answer. A status that is allowed is no answer where the world was in the way."""
    if status == 0:
        return None
    trouble = outside.trouble_of(status, printed)
    return None if status in allowed and not trouble.is_of_the_world else trouble


def error_of(text: str, trouble: Trouble) -> GitError:
    """The error for a call that was tried again in vain; where the world is in the way, with what to do."""
    if trouble.is_of_the_world:
        return GitStuck(f"{text}; it was tried {outside.TRIES} times: see to that, then run again")
    return GitError(text)


def _absence(where: Path) -> str:
    if programs.of_the_machine("git", where) is None:
        oldest = ".".join(map(str, OLDEST_VERSION))
        return f"git is not on PATH; install git {oldest} or newer (what lies in the checkout does not count)"
    return f"{where} does not exist"


CAT_FILE = ("cat-file", "--batch-command", "-z")
UPDATE_REF = ("update-ref", "--no-deref", "--stdin", "-z")
_KINDS = ("blob", "tree", "commit", "tag")
_DONE = b"start: ok\ncommit: ok\n"
Places = tuple[tuple[str, str], ...]
"""Variables that say where objects lie, if not in the repository alone."""


class _Residents:
    """Two processes for one repository, each started when it is first wanted."""

    def __init__(self, repo: Path, places: Places) -> None:
        self.users = 0
        self.objects = programs.Resident(partial(_start, repo, CAT_FILE, dict(places)))
        self.references = programs.Resident(partial(_start, repo, UPDATE_REF, {}))

    def close(self) -> None:
        self.objects.close()
        self.references.close()


_SERVED: dict[tuple[Path, Places], _Residents] = {}
_SERVING = threading.Lock()


@contextmanager
def serving(repo: Path, places: Places = ()) -> Iterator[None]:
    """While the block runs, a process that stays reads the objects of `repo`, and another moves its references. Without
    it each question starts a process. Blocks may lie within each other, in several threads.
    """
    with _SERVING:
        served = _SERVED.setdefault((repo, places), _SERVED.get((repo, places)) or _Residents(repo, places))
        served.users += 1
    try:
        yield
    finally:
        with _SERVING:
            served.users -= 1
            is_last = not served.users
            if is_last:
                del _SERVED[repo, places]
        if is_last:
            served.close()


def _start(repo: Path, arguments: Sequence[str], extra: Mapping[str, str]) -> programs.Process:
    return programs.start(_argv(arguments), environment(extra, repo), repo, stderr=programs.NOTHING)


@dataclass(frozen=True, slots=True)
class Object:
    """What a name stands for: id, kind (`blob`, `tree`, `commit`, `tag`), bytes; what it holds where that was asked."""

    id: str
    kind: str
    size: int
    content: bytes = b""


def look(repo: Path, name: str, places: Places = (), allowed: Sequence[int] = (0,)) -> Object | None:
    """What `name` stands for, without its content; None where there is nothing. Raises GitError."""
    return _asked(repo, "info", [name], places, allowed)[0]


def read(repo: Path, name: str, places: Places = (), allowed: Sequence[int] = (0,)) -> Object | None:
    """The same with its content."""
    return _asked(repo, "contents", [name], places, allowed)[0]


def sizes_of(repo: Path, ids: Sequence[str]) -> dict[str, int]:
    """Id → bytes of these objects, those left out that are not there."""
    sizes: dict[str, int] = {}
    for start in range(0, len(ids), _AT_ONCE):
        answers = _asked(repo, "info", ids[start : start + _AT_ONCE], (), (0,))
        sizes |= {answer.id: answer.size for answer in answers if answer is not None}
    return sizes


_AT_ONCE = 400
"""Questions that are asked before the first answer is read: both fit into a pipe."""


def _asked(
    repo: Path, command: str, names: Sequence[str], places: Places, allowed: Sequence[int]
) -> list[Object | None]:
    request = "".join(f"{command} {name}\0" for name in names).encode("utf-8", "surrogateescape")
    has_content = command == "contents"

    def answers(stream: IO[bytes]) -> list[Object | None]:
        return [_object(stream, name, has_content=has_content) for name in names]

    served = _SERVED.get((repo, places))
    if served is not None:
        try:
            return served.objects.ask(request, answers)
        except programs.NoAnswer:
            pass  # one call for itself has an error to tell, and is tried again where that may help
    answer = call(repo, *CAT_FILE, extra=dict(places), data=request, allowed=allowed)
    return answers(io.BytesIO(answer.out)) if answer.status == 0 else [None] * len(names)


def _object(stream: IO[bytes], name: str, *, has_content: bool) -> Object | None:
    """The next answer; EOFError where it is not whole. What is not there is answered with its name."""
    line = _line(stream)
    facts = line.decode("utf-8", "surrogateescape").split()
    if len(facts) != len(("id", "kind", "size")) or facts[1] not in _KINDS:
        for _ in range(name.count("\n")):
            _line(stream)
        return None
    id, kind, size = facts[0], facts[1], int(facts[2])
    content = stream.read(size + 1) if has_content else b"\n"
    if has_content and len(content) != size + 1:
        raise EOFError(f"{name} was cut short")
    return Object(id, kind, size, content[:-1])


def _line(stream: IO[bytes]) -> bytes:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError("no whole line")
    return line


def version() -> tuple[int, ...]:
    """The version of git on PATH, such as (2, 39, 5)."""
    numbers = re.search(r"\d+(?:\.\d+)+", call(Path("/"), "--version").text)
    return tuple(int(part) for part in numbers[0].split(".")) if numbers else ()


def check_version() -> None:
    """Raises GitError where git is missing or too old."""
    installed = version()
    if installed[:2] < OLDEST_VERSION:
        shown, needed = (".".join(map(str, numbers)) for numbers in (installed, OLDEST_VERSION))
        raise GitError(f"git {shown} is too old; agent-fox needs git {needed} or newer (merge-tree --write-tree)")


def root_of(where: Path) -> Path | None:
    """The root of the work tree that `where` is in, or None where it is not in one."""
    if not where.is_dir():
        return None
    answer = call(where, "rev-parse", "--show-toplevel", allowed=(0, 128))
    return Path(answer.text) if answer.status == 0 and answer.text else None


def is_repository(where: Path) -> bool:
    return root_of(where) is not None


def common_folder(repo: Path) -> Path:
    """The repository's own folder (`.git`), which all its worktrees share."""
    return _layout(repo)[0]


def object_format(repo: Path) -> str:
    """How ids are made: `sha1` or `sha256`."""
    return _layout(repo)[1]


def _inode(path: Path) -> tuple[int, int] | None:
    """Which file or folder stands at a path; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _layout(repo: Path) -> tuple[Path, str]:
    """The repository's own folder and object format. Below its root, where no `.git` stands, it is asked each time."""
    stamp = _inode(repo / ".git")
    return _ask_layout(repo) if stamp is None else _layout_of(repo, stamp)


@lru_cache(maxsize=256)
def _layout_of(repo: Path, _: tuple[int, int]) -> tuple[Path, str]:
    """What never changes as long as the same repository stands there: it is asked some forty times in a short run."""
    return _ask_layout(repo)


def _ask_layout(repo: Path) -> tuple[Path, str]:
    folder = repo / ".git"
    try:
        if not (folder / "commondir").exists() and b"objectformat" not in (folder / "config").read_bytes().lower():
            return folder.resolve(), "sha1"  # the format stands nowhere else
    except OSError:
        pass  # a work tree of its own, a submodule, no repository, or one that cannot be read: git knows
    common, _newline, kind = call(repo, "rev-parse", "--git-common-dir", "--show-object-format").text.rpartition("\n")
    return (repo / common).resolve(), kind


def commit_of(repo: Path, name: str) -> str | None:
    """The full id of the commit that `name` stands for, or None."""
    commit = look(repo, f"{name}^{{commit}}", allowed=(0, 128))
    return commit.id if commit else None


def head(repo: Path) -> str | None:
    """The commit of HEAD; None where there is no commit yet."""
    return commit_of(repo, "HEAD")


def first_commit(repo: Path) -> str:
    """The first commit of the work at HEAD, which every clone has; empty where there is none, or where it is not known:
    no repository, or a clone without its whole history."""
    answer = call(repo, "rev-list", "--max-parents=0", "--first-parent", "HEAD", allowed=(0, 128))
    return answer.text if answer.status == 0 and is_complete(repo) else ""


def first_commits(repo: Path) -> frozenset[str]:
    """Every commit without parents that any reference or HEAD leads to."""
    return frozenset(call(repo, "rev-list", "--max-parents=0", "--all", "HEAD", allowed=(0, 128)).text.split())


def is_complete(repo: Path) -> bool:
    """Whether the repository has its whole history: it is no shallow clone."""
    return not (common_folder(repo) / "shallow").exists()


def tree_of(repo: Path, name: str) -> str:
    """The id of the tree of a commit, or of a tree. Raises GitError where there is none."""
    return _tree_of_id(repo, name) if _FULL_ID.fullmatch(name) else _tree_of(repo, name)


@lru_cache(maxsize=4096)
def _tree_of_id(repo: Path, id: str) -> str:
    """An id names the same commit for ever."""
    return _tree_of(repo, id)


def _tree_of(repo: Path, name: str) -> str:
    # A process that stays is not asked for `name^{tree}`: it would keep each tree, for git parses it, and grow.
    tree = look(repo, name if (repo, ()) in _SERVED else f"{name}^{{tree}}")
    while tree is not None and tree.kind in ("commit", "tag"):
        whole = read(repo, tree.id)
        named = whole.content.partition(b"\n")[0].partition(b" ")[2] if whole else b""
        tree = look(repo, named.decode("ascii", "replace"))
    if tree is None or tree.kind != "tree":
        raise GitError(f"{name} in {repo} is no commit and no tree: Not a valid object name")
    return tree.id


@lru_cache(maxsize=4096)
def parents(repo: Path, commit: str) -> tuple[str, ...]:
    """The ids of a commit's parents, as it names them; a shallow clone may lack them. `commit` is a full id: what is
    kept here is true for ever.
    """
    whole = read(repo, commit)
    if whole is None or whole.kind != "commit":
        raise GitError(f"{commit} in {repo} is no commit")
    lines = whole.content.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
    return tuple(line.removeprefix("parent ") for line in lines if line.startswith("parent "))


def dirty(repo: Path) -> tuple[str, ...]:
    """Paths of tracked files that are changed in the person's checkout, and of untracked ones."""
    status = call(repo, "status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all")
    return tuple(record[3:] for record in status.records)


def checked_out_at(repo: Path, branch: str) -> Path | None:
    """The worktree in which `branch` is checked out, or None."""
    place = None
    for line in call(repo, "worktree", "list", "--porcelain").text.splitlines():
        word, _, value = line.partition(" ")
        place = Path(value) if word == "worktree" else place
        if (word, value) == ("branch", f"refs/heads/{branch}"):
            return place
    return None


def unresolved_submodules(repo: Path) -> tuple[str, ...]:
    """Submodules of HEAD that are not checked out, or not at the commit that HEAD names."""
    entries = call(repo, "ls-files", "--stage", "-z", allowed=(0, 128)).records
    if not any(entry.startswith(GITLINK) for entry in entries):
        return ()  # `git submodule` is a script, and starts twenty processes
    answer = call(repo, "submodule", "status", allowed=(0, 1, 128))
    lines = answer.out.decode("utf-8", "surrogateescape").splitlines()
    return tuple(line[1:].split(" ")[1] for line in lines if line[:1] in ("-", "+", "U"))


def show(repo: Path, commit: str, path: str) -> bytes | None:
    """What `path` holds in `commit`, or None where it is not a file there."""
    file = read(repo, f"{commit}:{path}", allowed=(0, 128))
    return file.content if file and file.kind == "blob" else None


def is_ancestor(repo: Path, older: str, newer: str) -> bool:
    """Whether `newer` contains `older` (or is it). An id that is not there is contained in nothing."""
    if _is_near(repo, older, newer):
        return True
    return call(repo, "merge-base", "--is-ancestor", older, newer, allowed=(0, 1, 128)).status == 0


def merge_base(repo: Path, one: str, other: str) -> str | None:
    """The newest commit that both contain, or None where they share none."""
    for older, newer in ((one, other), (other, one)):
        if _is_near(repo, older, newer):
            return older
    answer = call(repo, "merge-base", "--end-of-options", one, other, allowed=(0, 1, 128))
    return answer.text.partition("\n")[0] if answer.status == 0 else None


_NEAR = 100
"""Commits among which an older one is looked for before git is asked: reading one costs a hundredth of a process."""


def _is_near(repo: Path, older: str, newer: str) -> bool:
    """Whether a commit is found among the newest that another contains; False also where nobody knows. Ids only."""
    if (repo, ()) not in _SERVED or not (_FULL_ID.fullmatch(older) and _FULL_ID.fullmatch(newer)):
        return False
    if not is_complete(repo):
        return False
    seen, left = {newer}, deque([newer])
    while left and older not in seen and len(seen) < _NEAR:
        try:
            further = [parent for parent in parents(repo, left.popleft()) if parent not in seen]
        except GitError:
            return False
        seen.update(further)
        left.extend(further)
    return older in seen


def messages(repo: Path, base: str, tip: str) -> str:
    """The messages of the commits that `tip` has and `base` has not, newest first."""
    return call(repo, "log", "--format=%B", "--no-color", "--end-of-options", f"{base}..{tip}", "--").text


def set_ref(repo: Path, ref: str, commit: str) -> None:
    """Make or move a reference of our own."""
    if not _has_moved(repo, f"update {ref}\0{commit}\0\0"):
        call(repo, "update-ref", "--no-deref", ref, commit)


def delete_ref(repo: Path, ref: str) -> None:
    """Remove a reference of our own; one that is not there is no error."""
    if not _has_moved(repo, f"delete {ref}\0\0"):
        call(repo, "update-ref", "--no-deref", "-d", ref)


def move_ref(repo: Path, ref: str, new: str, old: str | None) -> bool:
    """Compare and swap: move `ref` from `old` (None: it must not exist) to `new`. False where it was
    elsewhere.

    Raises GitError where git could not do it although the reference stands at `old` (a lock that stays, a
    full disk).
    """
    expected = old or "0" * len(new)
    if _has_moved(repo, f"update {ref}\0{new}\0{expected}\0"):
        return True
    answer = call(repo, "update-ref", "--no-deref", ref, new, expected, allowed=(0, 1, 128))
    if answer.status == 0:
        return True
    if commit_of(repo, ref) == old:
        raise GitError(f"git update-ref {ref} in {repo}: {answer.err}")
    return False


def _has_moved(repo: Path, what: str) -> bool:
    """Whether the process that stays did it, in a transaction of its own. It ends where git refuses, and says nothing:
    then one call for itself tells why.
    """
    served = _SERVED.get((repo, ()))
    if served is None:
        return False
    try:
        served.references.ask(f"start\0{what}commit\0".encode(), _read_done)
    except programs.NoAnswer:
        return False
    return True


def _read_done(stream: IO[bytes]) -> None:
    answer = stream.read(len(_DONE))
    if answer != _DONE:
        raise EOFError(answer.decode("utf-8", "replace"))


def identity(repo: Path) -> Identity:
    """The person's own name and address for commits, or agent-fox's where either is missing."""
    return _identity(repo, _settings_stamp(repo))


def excludes_file(repo: Path) -> Path | None:
    """The person's own list of what git ignores everywhere, where the settings name one."""
    return _excludes_file(repo, _settings_stamp(repo))


def _settings_stamp(repo: Path) -> tuple[object, ...]:
    """What differs after the settings of the repository or of the person were changed; files they include are not
    looked at.
    """
    home, common = Path(os.environ.get("HOME", "/")), common_folder(repo)
    own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
    files = (common / "config", common / "config.worktree", home / ".gitconfig", own, Path("/etc/gitconfig"))
    return tuple(_file_stamp(path) for path in files)


def _file_stamp(path: Path) -> tuple[object, ...]:
    try:
        status = path.stat()
    except OSError:
        return (path,)
    return path, status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=256)
def _excludes_file(repo: Path, _: tuple[object, ...]) -> Path | None:
    named = call(repo, "config", "--type=path", "core.excludesFile", allowed=(0, 1)).text
    return Path(named) if named else None


@lru_cache(maxsize=256)
def _identity(repo: Path, _: tuple[object, ...]) -> Identity:
    lines = call(repo, "config", "--get-regexp", r"^user\.(name|email)$", allowed=(0, 1)).text.splitlines()
    known = {name: value for name, _, value in (line.partition(" ") for line in lines) if value.strip()}
    if {"user.name", "user.email"} <= known.keys():
        return Identity(known["user.name"], known["user.email"])
    return Identity(FALLBACK_NAME, FALLBACK_EMAIL)
