"""The history of a launch by way of a git remote that run and worker reach, in place of parts at the engine.

All of it stands below `refs/agent-fox/cluster/LAUNCH/`: what a session begins with in `in/`, what a delivery brings in
`dN/`. Each reference ends in the id that it stands at, so that one that somebody moved is noticed. Nothing else in the
remote is looked at or touched, and credentials are git's own, on each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_fox.cluster.engine import EngineError, address_of_remote
from agent_fox.cluster.packs import ID, Unusable
from agent_fox.core.regex import regex
from agent_fox.system import git, git_push

BELOW = "refs/agent-fox/cluster/"
SENT = "in"
FETCHED = "refs/agent-fox/fetched/"
"""Where references stand in a repository between a fetch and the look at them."""

_NAME = regex(r"\w[\w.-]*")


class RemoteAway(Exception):
    """The remote did not answer. It may later."""


def checked(url: str) -> str:
    """The address of an order. Raises Unusable."""
    try:
        return address_of_remote(url)
    except EngineError as error:
        raise Unusable(str(error)) from error


def delivery(number: int) -> str:
    return f"d{number}"


def ref_of(launch: str, part: str, id: str) -> str:
    """Raises Unusable for a name that would lead elsewhere."""
    if not (_NAME.fullmatch(launch) and ".." not in launch and ID.fullmatch(id)):
        raise Unusable(f"{launch[:80]!r} and {id[:80]!r} are no launch and no id of an object")
    return f"{BELOW}{launch}/{part}/{id}"


@contextmanager
def answered(url: str, refused: type[Exception], what: str = "does not take what is sent") -> Iterator[None]:
    """Raises RemoteAway where the remote does not answer, `refused` where it does not want to."""
    try:
        yield
    except git_push.PushError as error:
        if error.is_refused:
            raise refused(f"{url} {what}: {error}") from error
        raise RemoteAway(f"{url} does not answer: {error}") from error


def send(repo: Path, url: str, launch: str, part: str, ids: Iterable[str]) -> None:
    """Raises RemoteAway, GitError where the remote refuses it, Unusable."""
    refs = {ref_of(launch, part, id): id for id in ids}
    with answered(url, git.GitError):
        git_push.push_refs(repo, checked(url), refs)


def bring(repo: Path, url: str, launch: str, part: str, ids: Iterable[str], *, strict: bool) -> None:
    """Put these objects, and what they lead to, into the repository; no reference of it moves.

    Raises RemoteAway; Unusable for what is not there or was moved, by its name; GitError.
    """
    wanted, below = {ref_of(launch, part, id): id for id in ids}, f"{FETCHED}{launch}.{part}/"
    with answered(url, Unusable, "does not give what was sent"):
        came = git_push.fetch_refs(repo, checked(url), wanted, below, strict=strict)
    for name in came:
        git.delete_ref(repo, f"{below}{name}")
    for name, id in wanted.items():
        if came.get(name) != id:
            raise Unusable(f"{name} at {url} stands at {came.get(name, 'nothing')[:12]}: somebody moved it")


def left(url: str, launch: str = "") -> tuple[str, ...]:
    """What stands there of a launch, or of all. Raises RemoteAway, Unusable."""
    with answered(url, RemoteAway, "does not answer"):
        return tuple(git_push.refs_at(Path.cwd(), checked(url), f"{BELOW}{launch}/" if launch else BELOW))


def remove(repo: Path, url: str, launch: str) -> None:
    """Remove what stands there of a launch. Raises RemoteAway, GitError, Unusable."""
    refs = left(url, launch)
    if refs:
        with answered(url, RemoteAway):
            git_push.push_refs(repo, url, dict.fromkeys(refs, ""))
