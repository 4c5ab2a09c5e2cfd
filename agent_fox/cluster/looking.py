"""What an engine says of itself and of those who serve its queues. Nothing is handed out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, GetSystemInfoRequest
from temporalio.service import RPCError

from agent_fox.cluster.connection import Connection, EngineAway, in_a_line
from agent_fox.cluster.engine import Engine, EngineError
from agent_fox.cluster.places import queue_of
from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """`trouble`: why nothing could be seen; else the server's version and, by tag, who serves it."""

    trouble: str = ""
    version: str = ""
    workers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def look(engine: Engine, tags: Iterable[str]) -> Seen:
    connection = Connection(engine)
    try:
        version = connection.call(version_of(connection))
        return Seen("", version, {tag: connection.call(workers_of(connection, tag)) for tag in tags})
    except (EngineAway, EngineError) as error:
        return Seen(str(error))
    except RPCError as error:
        return Seen(f"{engine.name}: {in_a_line(error)}")


async def version_of(connection: Connection) -> str:
    client = await connection.client()
    answer = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    return str(answer.server_version)


async def workers_of(connection: Connection, tag: str) -> tuple[str, ...]:
    """The identities of those who have asked for work of a tag lately."""
    client = await connection.client()
    asked = DescribeTaskQueueRequest(
        namespace=client.namespace, task_queue=TaskQueue(name=queue_of(tag)),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )  # fmt: skip
    answer = await client.workflow_service.describe_task_queue(asked)
    return tuple(sorted({poller.identity for poller in answer.pollers}))
