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

from agent_fox.cluster.packs import Unusable, archive, extract, files_below, pack, unpack
from agent_fox.core.values import dataclass
from agent_fox.evidence.signing import workers
from agent_fox.evidence.signing.workers import Statement
from agent_fox.session.order_document import UnreadableDocument, end_document, read_end
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.cluster.packs import Content
    from agent_fox.cluster.parcels import Bench
    from agent_fox.core.values import Json
    from agent_fox.evidence.signing.keys import Signer
    from agent_fox.session.order import LaunchOrder, SessionEnd


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


def packed(
    end: SessionEnd, order: LaunchOrder, bench: Bench, number: int, worker: str, version: str,
    put: Callable[[bytes], Content],
) -> Delivery:  # fmt: skip
    """Raises GitError; what `put` raises."""
    wanted = [id for id in dict.fromkeys(named_commits(end)) if id != order.pinned and git.look(order.repo, id)]
    known = [order.pinned, git.head(order.repo) or order.pinned]
    objects = pack(order.repo, wanted, known) if wanted else b""
    files = files_below(bench.logs, "logs") | files_below(bench.artifacts, "artifacts")
    return Delivery(number, worker, version, end_document(end), put(objects), put(archive(files)), host_of())


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
    delivery: Delivery, order: LaunchOrder, artifacts: Path | None, get: Callable[[Content], bytes], signer: str = ""
) -> SessionEnd:
    """The end, with its commits in the order's repository and its logs where the order wants them.

    Raises Unusable for a delivery that is not what it says, GitError and OSError; what `get` raises.
    """
    end = end_in(delivery)
    bring_objects(delivery, order, get)
    for commit in named_commits(end):
        if git.commit_of(order.repo, commit) is None:
            raise Unusable(f"the delivery names commit {commit[:12]}, which is not in it")
    if end.work:
        check_work(order, end.work.commit, end.work.tree, end.work.is_unchanged)
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


def check_work(order: LaunchOrder, commit: str, tree: str, is_unchanged: bool) -> None:
    """Work is one commit on the pinned one: another host's word for it is not taken."""
    right = commit == order.pinned if is_unchanged else git.parents(order.repo, commit) == (order.pinned,)
    if not right:
        raise Unusable(f"the delivery's work {commit[:12]} does not stand on {order.pinned[:12]}")
    if git.tree_of(order.repo, commit) != tree:
        raise Unusable(f"the delivery's work {commit[:12]} has another tree than it says")


def end_in(delivery: Delivery) -> SessionEnd:
    try:
        return read_end(delivery.end)
    except UnreadableDocument as error:
        raise Unusable(f"the end that {delivery.worker} sent cannot be read: {error}") from error


def bring_objects(delivery: Delivery, order: LaunchOrder, get: Callable[[Content], bytes]) -> None:
    if delivery.objects.size:
        unpack(order.repo, get(delivery.objects), f"what {delivery.worker} sent", strict=True)


def keep_late(delivery: Delivery, order: LaunchOrder, get: Callable[[Content], bytes]) -> str:
    """Keep what came too late under a reference of its own; the sentence that tells it. Raises as `taken`."""
    end = end_in(delivery)
    bring_objects(delivery, order, get)
    commits = [commit for commit in named_commits(end) if git.commit_of(order.repo, commit)]
    ref = f"{LATE}{order.launch}/d{delivery.number}"
    if commits:
        git.set_ref(order.repo, ref, commits[0])
    where = f"kept as {ref}" if commits else "without work"
    return f"delivery {delivery.number} of {delivery.worker} came too late ({end.kind}), {where}, and is never merged"
