"""Pushing to a remote and fetching from it: never with force, without hooks and prompts, and bounded in time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git, outside, programs

SECONDS = 120.0
"""How long asking a remote, or pushing to it, may take."""

HISTORY_SECONDS = 900.0
"""How long a history may take, there or back."""

LONGEST_ANSWER = 16 * 1024 * 1024
"""Bytes of what git prints meanwhile."""

_NEUTRAL = (
    "core.hooksPath=/dev/null",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "fetch.unpackLimit=1",
    "fetch.prune=false",
)
_KEPT = ("SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_REASON_LINES = 3


_REFUSED = regex(r"(?m)^!|returned error: 4\d\d|Authentication failed|[Pp]ermission .*denied|Host key verification|"
                 r"find remote ref|not appear to be a git repository|Repository not found|fsck")  # fmt: skip


class PushError(Exception):
    """The remote could not be asked, or took nothing. The message is what git said. `is_refused`: it answered, and what
    it says stays so until a person changes something.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.is_refused = bool(_REFUSED.search(reason))


@dataclass(frozen=True, slots=True)
class Remote:
    """What a remote told: its default branch, and where one branch stands there. None: it has none."""

    default: str | None
    commit: str | None


def exists(repo: Path, remote: str) -> bool:
    """Whether the repository has a remote of this name."""
    return remote in git.call(repo, "remote").text.splitlines()


def known_default(repo: Path, remote: str) -> str | None:
    """The remote's default branch as the repository remembers it, without asking the remote."""
    prefix = f"refs/remotes/{remote}/"
    target = git.call(repo, "symbolic-ref", "--quiet", f"{prefix}HEAD", allowed=(0, 1, 128)).text
    return target.removeprefix(prefix) or None


def ask(repo: Path, remote: str, branch: str, seconds: float = SECONDS) -> Remote:
    """Ask the remote. Raises PushError, GitError."""
    lines = _run(repo, seconds, "ls-remote", "--symref", "--", remote, "HEAD", f"refs/heads/{branch}").splitlines()
    pairs = [line.split("\t", 1) for line in lines]
    default = next((place.removeprefix("ref: refs/heads/") for place, _ in pairs if place.startswith("ref: ")), None)
    return Remote(default, next((place for place, name in pairs if name == f"refs/heads/{branch}"), None))


def push(repo: Path, remote: str, branch: str, commit: str, seconds: float = SECONDS) -> None:
    """Make `branch` of the remote `commit`, if that is a step forward. Raises PushError, GitError."""
    options = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--no-force", "--no-mirror")
    _run(repo, seconds, "push", *options, "--", remote, f"{commit}:refs/heads/{branch}")


def push_refs(repo: Path, remote: str, refs: Mapping[str, str]) -> None:
    """Make these references of the remote (name to id) if they are not there; remove those whose id is empty.

    Raises PushError where one of them stands elsewhere, GitError.
    """
    pairs = [f"{id}:{ref}" for ref, id in refs.items()]
    options = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--no-force", "--no-mirror")
    for start in range(0, len(pairs), _AT_ONCE):
        _run(repo, HISTORY_SECONDS, "push", *options, "--", remote, *pairs[start : start + _AT_ONCE])


def fetch_refs(repo: Path, remote: str, refs: Iterable[str], below: str, *, strict: bool) -> dict[str, str]:
    """Fetch these references of the remote, with all that they lead to; `strict`: looked at as a stranger's. They stand
    under the same names after `below` in the repository; name to id. Raises PushError, GitError.
    """
    names = list(refs)
    options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--quiet")
    for start in range(0, len(names), _AT_ONCE):
        pairs = [f"{ref}:{below}{ref}" for ref in names[start : start + _AT_ONCE]]
        _run(repo, HISTORY_SECONDS, "-c", f"fetch.fsckObjects={strict}", "fetch", *options, "--", remote, *pairs)
    lines = git.call(repo, "for-each-ref", "--format=%(objectname) %(refname)", below).text.splitlines()
    return {name.removeprefix(below): id for id, _, name in (line.partition(" ") for line in lines)}


def refs_at(where: Path, remote: str, below: str) -> dict[str, str]:
    """What stands at the remote below a prefix: name to id. Raises PushError, GitError."""
    lines = _run(where, SECONDS, "ls-remote", "--refs", "--", remote, f"{below}*").splitlines()
    return {name: id for id, _, name in (line.partition("\t") for line in lines) if name.startswith(below)}


_AT_ONCE = 100
"""References that one call of git names."""


def _run(repo: Path, seconds: float, *arguments: str) -> str:
    """What git printed; what fails is tried again, for a while, where it may pass. Raises PushError."""
    answer = outside.tried(lambda: _run_once(repo, seconds, arguments))
    if answer.trouble is not None:
        raise PushError(answer.err)
    return answer.text


def _run_once(repo: Path, seconds: float, arguments: tuple[str, ...]) -> git.Answer:
    """It has no terminal to ask at; with it ends whatever it started. Raises PushError where the remote is silent."""
    settings = [word for setting in _NEUTRAL for word in ("-c", setting)]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    argv, variables = ["git", *settings, *arguments], git.environment(kept, repo)
    try:
        done = programs.run_bounded(argv, seconds, LONGEST_ANSWER, environment=variables, cwd=repo)
    except TimeoutError as error:
        raise PushError(f"the remote did not answer within {seconds:g} s") from error
    out, err = (stream.decode("utf-8", "replace") for stream in (done.out, done.err))
    reason = _reason_in(out, err) or f"git ended with exit status {done.status}"
    return git.Answer(done.status, done.out, reason, git.trouble_in(done.status, f"{out}\n{err}".strip()))


def _reason_in(out: str, err: str) -> str:
    """The lines that say why: of the porcelain those marked `!`, else of what was printed those that are known to say
    it, and the first ones. ssh draws a frame around a warning, and says what it did in its last line.
    """
    rejected = [line for line in out.splitlines() if line.startswith("!")]
    printed = [line for each in err.splitlines() if (line := each.strip("@ \t\r"))]
    telling = [line for line in printed if _REFUSED.search(line)]
    lines = rejected or list(dict.fromkeys([*telling, *printed]))[:_REASON_LINES]
    return "; ".join(line.replace("\t", " ") for line in lines)
