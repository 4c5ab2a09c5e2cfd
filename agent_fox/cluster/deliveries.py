"""A session's end on its way back from a worker. Only what the accepted delivery names is taken; late ones are kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.cluster import packs, remotes
from agent_fox.cluster.packs import Unusable, archive, extract, files_below, pack, unpack
from agent_fox.core.values import dataclass
from agent_fox.evidence.signing import workers
from agent_fox.evidence.signing.workers import Statement
from agent_fox.session.order import EndKind
from agent_fox.session.order_document import UnreadableDocument, end_document, read_end
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.cluster.packs import Content
    from agent_fox.cluster.parcels import Bench
    from agent_fox.core.values import Json
    from agent_fox.evidence.signing.keys import Signer
    from agent_fox.session.order import LaunchOrder, SessionEnd, Work


class Untrusted(Exception):
    """A delivery whose signature does not count. Its text says why, and what to do; nothing of it was taken."""


LATE = "refs/agent-fox/late/"
"""Below it, by launch and delivery, what came too late: a person may look at it; it is never merged."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one worker made of a launch. `number` counts the workers that had it; `worker` says who."""

    number: int
    worker: str
    version: str
    end: Json
    objects: Content
    files: Content
    host: str = ""
    """What the worker's host is: `linux x86_64, Python 3.11`."""
    signed: str = ""
    """The envelope of a statement about all of it, in JSON; empty where the worker has no key."""
    is_pushed: bool = False
    """Whether what `objects` would hold stands at the remote instead, under the delivery's own references."""
    not_pushed: str = ""
    """Why it does not, where it was to."""


def packed(
    end: SessionEnd, order: LaunchOrder, bench: Bench, number: int, worker: str, version: str,
    put: Callable[[bytes], Content], remote: str = "", launch: str = "",
) -> Delivery:  # fmt: skip
    """What a remote does not take goes with the delivery: nothing that was paid for is lost. `launch`: its name at the
    remote. Raises GitError; what `put` raises.
    """
    wanted = [id for id in dict.fromkeys(named_commits(end)) if id != order.pinned and git.look(order.repo, id)]
    known = [order.pinned, git.head(order.repo) or order.pinned]
    trouble = trouble_at(remote, order, launch, number, wanted) if remote and wanted else ""
    is_pushed = bool(remote and wanted and not trouble)
    objects = pack(order.repo, wanted, known) if wanted and not is_pushed else b""
    files = files_below(bench.logs, "logs") | files_below(bench.artifacts, "artifacts")
    return Delivery(
        number, worker, version, end_document(end), put(objects), put(archive(files)), host_of(),
        is_pushed=is_pushed, not_pushed=trouble,
    )  # fmt: skip


def trouble_at(remote: str, order: LaunchOrder, launch: str, number: int, wanted: list[str]) -> str:
    """Push a delivery; why the remote has it not, empty where it has."""
    try:
        remotes.send(order.repo, remote, launch, remotes.delivery(number), wanted)
    except (remotes.RemoteAway, git.GitError, Unusable) as error:
        return str(error)
    return ""


def host_of() -> str:
    """This host, as far as what it is may change what a verdict comes to."""
    return f"{sys.platform} {os.uname().machine}, Python {sys.version_info[0]}.{sys.version_info[1]}"


def named_commits(end: SessionEnd) -> Iterator[str]:
    if end.work:
        yield end.work.commit
    if end.kept and end.kept.commit:
        yield end.kept.commit
    if end.trace and end.trace.commit:
        yield end.trace.commit
    if end.closed and end.closed.commit:
        yield end.closed.commit


def statement_of(delivery: Delivery, order: LaunchOrder, launch: str) -> Statement:
    """What a worker signs about its delivery. `launch` is the launch as the run knows it."""
    end = json.dumps(delivery.end, sort_keys=True, separators=(",", ":"))
    work = end_in(delivery).work
    return Statement(
        launch, order.node_id, order.attempt, order.reading, order.pinned, delivery.number, delivery.worker,
        delivery.version, hashlib.sha256(end.encode()).hexdigest(), delivery.objects.sha256, delivery.files.sha256,
        work.commit if work else "", delivery.host,
    )  # fmt: skip


def signer_of(delivery: Delivery, order: LaunchOrder, trusted: tuple[Signer, ...]) -> str:
    """Who of the trusted signed it; empty where nobody did. Raises Untrusted for a signature that does not count."""
    if not delivery.signed:
        return ""
    try:
        statement, signers = workers.read(delivery.signed), workers.signers_of(delivery.signed, trusted)
    except ValueError as error:
        raise Untrusted(f"what {delivery.worker} handed in is signed in a way that nobody can read: {error}") from error
    if statement != statement_of(delivery, order, order.launch):
        raise Untrusted(f"the signature of {delivery.worker} is about something else than it handed in")
    if not signers:
        raise Untrusted(
            f"what {delivery.worker} handed in is signed by a key that you do not trust; if it is one of yours, "
            "`agent-fox keys trust KEY --for worker`, then run again"
        )
    return signers[0]


def taken(
    delivery: Delivery, order: LaunchOrder, artifacts: Path | None, get: Callable[[Content], bytes], signer: str = "",
    remote: str = "",
) -> SessionEnd:  # fmt: skip
    """The end, with its commits in the order's repository and its logs where the order wants them.

    Raises Unusable for a delivery that is not what it says, GitError and OSError, RemoteAway; what `get` raises.
    """
    end = end_in(delivery)
    bring_objects(delivery, order, get, remote)
    check_commits(order, end)
    if end.work:
        git.set_ref(order.repo, launch_ref(order.launch), end.work.commit)
    put_files(get(delivery.files), order, artifacts)
    who = {
        "worker": delivery.worker,
        "delivery": delivery.number,
        "host": delivery.host,
        "signed": delivery.signed,
        "signer": signer,
    }
    agents = ({**end.agents[0], **who}, *end.agents[1:]) if end.agents else (who,)
    return replace(end, log=order.log, agents=agents)


def put_files(data: bytes, order: LaunchOrder, artifacts: Path | None) -> None:
    """The session's own log, with what is beside it, replaces an earlier one; artifacts take the place of none."""
    came = order.state / "delivered"
    for path in extract(data, {"logs": came / "logs", "artifacts": came / "artifacts" if artifacts else None}):
        if path.is_relative_to(came / "logs"):
            if path.parent != came / "logs" or not path.name.startswith(f"{order.log.stem}."):
                raise Unusable(f"the delivery holds a log {path.name!r}, which is not the session's")
            target = order.log.with_name(path.name)
        else:
            assert artifacts is not None
            target = artifacts / path.relative_to(came / "artifacts")
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_relative_to(came / "logs") or not target.exists():
            shutil.copyfile(path, target)


def check_commits(order: LaunchOrder, end: SessionEnd) -> None:
    """Work is one commit on the pinned one, of a coder that has ended, and so is what is kept of work; all that an end
    names stands on it: another host's word for it is not taken, and no other commit of this repository is led on to.
    """
    for commit in named_commits(end):
        if git.commit_of(order.repo, commit) is None:
            raise Unusable(f"the delivery names commit {commit[:12]}, which is not in it")
        if not git.is_ancestor(order.repo, order.pinned, commit):
            raise Unusable(f"the delivery names commit {commit[:12]}, which does not stand on {order.pinned[:12]}")
    if end.kept and end.kept.commit and git.parents(order.repo, end.kept.commit) != (order.pinned,):
        raise Unusable(f"what is kept of the work, {end.kept.commit[:12]}, does not stand on {order.pinned[:12]}")
    if end.work:
        check_work(order, end, end.work)


def check_work(order: LaunchOrder, end: SessionEnd, work: Work) -> None:
    if not order.writes or end.kind is not EndKind.ENDED:
        raise Unusable(
            f"the delivery holds work, and nobody may hand in work with a {order.archetype}'s end {end.kind!r}"
        )
    is_right = (
        work.commit == order.pinned if work.is_unchanged else git.parents(order.repo, work.commit) == (order.pinned,)
    )
    if not is_right:
        raise Unusable(f"the delivery's work {work.commit[:12]} does not stand on {order.pinned[:12]}")
    if git.tree_of(order.repo, work.commit) != work.tree:
        raise Unusable(f"the delivery's work {work.commit[:12]} has another tree than it says")


def end_in(delivery: Delivery) -> SessionEnd:
    try:
        end = read_end(delivery.end)
    except UnreadableDocument as error:
        raise Unusable(f"the end that {delivery.worker} sent cannot be read: {error}") from error
    if odd := next((commit for commit in named_commits(end) if not packs.ID.fullmatch(commit)), ""):
        raise Unusable(f"the end that {delivery.worker} sent names {odd[:80]!r}, which is no commit's id")
    return end


def bring_objects(delivery: Delivery, order: LaunchOrder, get: Callable[[Content], bytes], remote: str) -> None:
    if delivery.is_pushed:
        if not remote:
            raise Unusable(f"{delivery.worker} says that its work is at a remote, and none is named")
        missing = [id for id in dict.fromkeys(named_commits(end_in(delivery))) if git.look(order.repo, id) is None]
        remotes.bring(order.repo, remote, order.launch, remotes.delivery(delivery.number), missing, strict=True)
    elif delivery.objects.size:
        unpack(order.repo, get(delivery.objects), f"what {delivery.worker} sent", strict=True)


def keep_late(delivery: Delivery, order: LaunchOrder, get: Callable[[Content], bytes], remote: str = "") -> str:
    """Keep what came too late under a reference of its own; the sentence that tells it. Raises as `taken`."""
    end = end_in(delivery)
    bring_objects(delivery, order, get, remote)
    commits = [commit for commit in named_commits(end) if git.commit_of(order.repo, commit)]
    ref = f"{LATE}{order.launch}/d{delivery.number}"
    if commits:
        git.set_ref(order.repo, ref, commits[0])
    where = f"kept as {ref}" if commits else "without work"
    return f"delivery {delivery.number} of {delivery.worker} came too late ({end.kind}), {where}, and is never merged"
