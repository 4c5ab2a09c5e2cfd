"""A session's end on its way back from a worker. Only what the accepted delivery names is taken; late ones are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.cluster.packs import Unusable, archive, extract, files_below, pack, unpack
from agent_fox.core.values import dataclass
from agent_fox.session.order_document import UnreadableDocument, end_document, read_end
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.cluster.connection import Content
    from agent_fox.cluster.parcels import Bench
    from agent_fox.core.values import Json
    from agent_fox.session.order import LaunchOrder, SessionEnd

FORMAT = "agent-fox.end/1"
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


def packed(
    end: SessionEnd, order: LaunchOrder, bench: Bench, number: int, worker: str, version: str,
    put: Callable[[bytes], Content],
) -> Delivery:  # fmt: skip
    """Raises GitError; what `put` raises."""
    wanted = [id for id in dict.fromkeys(named_commits(end)) if id != order.pinned and git.look(order.repo, id)]
    known = [order.pinned, git.head(order.repo) or order.pinned]
    objects = pack(order.repo, wanted, known) if wanted else b""
    files = files_below(bench.logs, "logs") | files_below(bench.artifacts, "artifacts")
    return Delivery(number, worker, version, end_document(end), put(objects), put(archive(files)))


def named_commits(end: SessionEnd) -> Iterator[str]:
    if end.work:
        yield end.work.commit
    if end.kept and end.kept.commit:
        yield end.kept.commit
    if end.trace and end.trace.commit:
        yield end.trace.commit
    if end.closed and end.closed.commit:
        yield end.closed.commit


def taken(
    delivery: Delivery, order: LaunchOrder, artifacts: Path | None, get: Callable[[Content], bytes]
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
    places = {"logs": order.log.parent} | ({"artifacts": artifacts} if artifacts else {})
    extract(get(delivery.files), places)
    who = {"worker": delivery.worker, "delivery": delivery.number}
    agents = ({**end.agents[0], **who}, *end.agents[1:]) if end.agents else (who,)
    return replace(end, log=order.log, agents=agents)


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
