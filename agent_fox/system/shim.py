"""The shim that one process runs under: whatever happens to us, the process and all it started end.

A script of its own, with its two parts beside it; standard library only, and little of it, for every command waits
until it is loaded. Started as `python -I -S shim.py FOLDER` with a pipe as standard input whose other end the
orchestrator holds:

- `g` on the pipe: go (nothing runs before); `s`: stop it politely (TERM, grace, KILL), and write its end down;
- `b` on the pipe: it is still wanted. Where the order has a lease (seconds), silence for so long is as good as a closed
  pipe: an orchestrator that is frozen cannot know whether another has begun the same work;
- the pipe closes: the orchestrator is gone, the whole process tree is killed at once, and no end is written.

FOLDER/launch.json says what to run; it is read once and removed, for its environment may hold secrets.
FOLDER/exit.json is written, whole or not at all, when the process has ended by itself, by the time limit or by `s`.

Started as `python -I -S shim.py --relay DESCRIPTOR` it leaves no file: what to run follows `g` on the pipe,
marshalled, its length in ten digits before it; the output of the process goes to our own standard output, both
streams in their order, and the end is written to DESCRIPTOR, marshalled.
"""
# pathlib takes longer to load than Python to start
# ruff: noqa: PTH105, PTH108, PTH120, PTH123

from __future__ import annotations

import marshal
import os
import sys
import time

sys.path.append(__file__.removesuffix("/agent_fox/system/shim.py"))

from agent_fox.system.shim_tree import (
    PR_SET_CHILD_SUBREAPER,
    NotStarted,
    prctl,
    remove_groups,
    start,
)
from agent_fox.system.shim_watch import CONTROL, Capture, Supervision, wakened_by_signals

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes as long to load as all the rest
    import signal
    from typing import Any
else:
    import _signal as signal  # see `shim_tree`

LENGTH_DIGITS = 10
OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


def supervise(order: dict[str, Any], folder: str | None) -> dict[str, Any] | None:
    """Run it; its end as a record, or None where the orchestrator was gone first. Without a folder its output is
    relayed.
    """
    woken, began = wakened_by_signals(), time.monotonic()
    start_words = {name: order[name] for name in ("descriptors", "groups", "rlimits") if name in order}
    try:
        child = start(order["argv"], order["cwd"], order["environment"], folder is None, **start_words)
    except NotStarted as error:
        return {"start_error": str(error), "seconds": 0.0, "ended_at": int(time.time())}
    bounds, lease = order.get("bounds", {}), order.get("lease", 0.0)
    watch = Supervision(child, order["time_limit"], order["grace"], woken, bounds, lease)
    captures = [Capture(f"{folder}/{name}", order["output_limit"]) for name in ("stdout", "stderr")] if folder else []
    for stream, capture in zip(child.streams, captures, strict=True):
        watch.watch_output(stream, capture)
    watch.run()
    seconds = time.monotonic() - began
    status = child.wait()
    leftovers = watch.tree.bury()
    watch.drain(set(child.streams))
    for capture in captures:
        capture.close()
    if watch.is_killed_for_loss:
        return None
    return record(status, watch.why, seconds, leftovers) | told_of_output(captures)


def record(status: int, why: str, seconds: float, leftovers: int) -> dict[str, Any]:
    return {
        "exit_status": status if status >= 0 else None,
        "signal": -status if status < 0 else None,
        "timed_out": why == "timed out",
        "stopped": why == "stopped",
        "exceeded": why if why in ("memory", "processes") else "",
        "seconds": round(seconds, 3),
        "ended_at": int(time.time()),
        "leftovers": leftovers,
    }


def told_of_output(captures: list[Capture]) -> dict[str, Any]:
    if not captures:
        return {}
    stdout, stderr = captures
    return {
        "stdout_bytes": stdout.bytes,
        "stderr_bytes": stderr.bytes,
        "stdout_left_out": stdout.left_out,
        "stderr_left_out": stderr.left_out,
        "write_error": stdout.error or stderr.error,
    }


def become_the_reaper() -> None:
    for number in OURS:
        signal.signal(number, lambda *_: None)  # only the pipe ends a session; a handler is not inherited by exec
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def main(folder: str) -> None:
    import json  # noqa: PLC0415 - slow to load, and not needed for the other way

    if os.read(CONTROL, 1) != b"g":
        return
    launch = f"{folder}/launch.json"
    with open(launch, "rb") as file:
        order = json.load(file)
    os.unlink(launch)
    end = supervise(order, folder)
    if end is not None:
        write_whole(f"{folder}/exit.json", json.dumps(end).encode())


def write_whole(path: str, document: bytes) -> None:
    """The file is there complete or not at all, after a power cut too. It is not `files.replacing`: the shim loads the
    standard library alone.
    """
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(document)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def relay(report: int) -> None:
    os.set_inheritable(report, False)
    if os.read(CONTROL, 1) != b"g":
        return
    order = marshal.loads(read_exactly(int(read_exactly(LENGTH_DIGITS))))
    end = supervise(order, None)
    try:
        os.write(report, marshal.dumps(end))
    except BrokenPipeError:
        remove_groups(order["groups"])  # whoever made them is gone
    os._exit(0)  # tidying up takes Python longer than all of the above


def read_exactly(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = os.read(CONTROL, size - len(data))
        if not more:
            sys.exit()
        data += more
    return bytes(data)


if __name__ == "__main__":
    become_the_reaper()
    if sys.argv[1] == "--relay":
        relay(int(sys.argv[2]))
    else:
        main(sys.argv[1])
