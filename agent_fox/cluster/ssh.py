"""Sessions over ssh: the runner on this side. The connection is a launch's life; `ssh_host` is the other side.

A process of ours under the shim (`python -m agent_fox.cluster.ssh FOLDER`) talks with `agent-fox worker --once` there,
in lines of JSON: what it hands in stands in the launch's folder, where whoever goes on with the run finds it. Where
nothing is heard any more, the other side ends its session within a lease, which is waited for before another begins it.
"""

from __future__ import annotations

import json
import queue
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from agent_fox.cluster import deliveries, parcels
from agent_fox.cluster.messages import LONGEST_LINE, read_delivery, read_handed, said_in, written
from agent_fox.cluster.packs import Content, PartMissing, Unusable, held_in, inlined, pack
from agent_fox.core.values import dataclass as value
from agent_fox.evidence.signing import keys, trust
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.session.backends import module_argv
from agent_fox.session.endings import infrastructure_end, interrupted_end
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.local_runner import LocalRunner
from agent_fox.session.session_lifecycle import end_unwatched, remembered, trouble_of
from agent_fox.system import git, programs
from agent_fox.system.files import last_lines, replace_file
from agent_fox.system.processes import Command, started

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder, SessionEnd, StopSignal

SCHEME = "ssh"
ORDER, BASE, SENT, HANDED = "ssh-order.json", "ssh-base.pack", "ssh-sent", "ssh-handed.json"
"""Files of a launch's folder: the order and the history as they are sent, that they were, and what came back."""

BEYOND = 120.0
"""Seconds that a launch may take beyond the time limit of its agent: to be sent, prepared, judged and handed in."""

GRACE = 20.0
"""Seconds that a session which is ended there gets to hand in what it came to."""

BROKEN_LINE = 255
"""How ssh exits where it could not connect, or lost its connection."""

CONNECT_SECONDS, LOST_BEATS = 10, 3


class NoAddress(ValueError):
    """What is named as a place over ssh is none."""


@value(frozen=True, slots=True)
class Line:
    """How a host is reached: `user@host`, a port or 0, and how agent-fox is called there. `heartbeat` and `lease` in
    seconds.
    """

    host: str
    port: int
    command: tuple[str, ...]
    heartbeat: float
    lease: float

    def argv(self, *more: str) -> list[str]:
        lost = ["-o", f"ServerAliveInterval={max(1, round(self.heartbeat))}", "-o", f"ServerAliveCountMax={LOST_BEATS}"]
        known = ["-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_SECONDS}", *lost]
        port = ["-p", str(self.port)] if self.port else []
        return ["ssh", *known, *port, "--", self.host, shlex.join((*self.command, *more))]


def split(address: str) -> tuple[str, int]:
    """`user@host`, and the port or 0. Raises NoAddress."""
    host, _, port = address.removeprefix(f"{SCHEME}://").partition(":")
    bare = host.rpartition("@")[2]
    if not bare or "-" in (host[0], bare[0]) or not all(c.isalnum() or c in "@._-%+" for c in host):
        raise NoAddress(f"ssh = {address!r} names no host; write user@host, or user@host:PORT")
    if port and not port.isdecimal():
        raise NoAddress(f"ssh = {address!r}: {port!r} is no port")
    return host, int(port or 0)


@dataclass
class SshRunner(LocalRunner):
    """Launches over ssh: each is a process of ours here, and ends with it there. `artifacts` is where what checks
    printed is kept.
    """

    line: Line = field(kw_only=True)
    version: str = field(kw_only=True)
    environ: Mapping[str, str] = field(kw_only=True)
    artifacts: Path | None = field(kw_only=True)
    began: float = field(default_factory=time.monotonic)

    def had(self, order: LaunchOrder, stop: StopSignal) -> SessionEnd:
        if stop.is_set():
            return interrupted_end(order)
        try:
            self.write(order)
        except parcels.KeyInOrder as error:
            return self.trouble(order, str(error), Infrastructure.WORKSPACE)
        except git.GitError as error:
            return self.trouble(order, f"sending the order: {error}", Infrastructure.WORKSPACE)
        except OSError as error:
            return self.trouble(order, f"sending the order: {error}", trouble_of(error))
        return self.end_of(order) or self.lost(order, stop, self.talk(order, stop))

    def write(self, order: LaunchOrder) -> None:
        """What is sent, in the launch's folder."""
        order.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        parcel = parcels.made(order, self.version, inlined, self.base(order), self.environ)
        envelope = {"version": self.version, "launch": order.launch, "lease": self.line.lease}
        document = {"argv": self.line.argv("worker", "--once"), "beat": self.line.heartbeat, "base": parcel.base.sha256}
        text = json.dumps(document | {"sent": envelope | {"parcel": json.loads(written(parcel))}})
        replace_file(order.state / ORDER, text.encode())

    def base(self, order: LaunchOrder) -> Callable[[str], Content]:
        """The history is sent only where it is asked for."""

        def sent(head: str) -> Content:
            data = pack(order.repo, [head])
            (order.state / BASE).write_bytes(data)
            return replace(inlined(data), inline="")

        return sent

    def talk(self, order: LaunchOrder, stop: StopSignal) -> int:
        """Have the process of ours talk to the host until it ends: its exit status."""
        argv = module_argv("agent_fox.cluster.ssh", [str(order.state), str(self.line.lease)])
        command = Command(
            tuple(argv), {**self.environ, "AGENT_FOX_LAUNCH": order.launch}, order.state, order.state / "session",
            order.agent.timeout + BEYOND, grace=GRACE,
        )  # fmt: skip
        with started(command) as running:
            remembered(order, running)
            with stop.calling(running.stop):
                running.go()
                end = running.wait()
        return 1 if end is None or end.exit_status is None else end.exit_status

    def lost(self, order: LaunchOrder, stop: StopSignal, status: int) -> SessionEnd:
        """The end after the talk has ended; a lost one where nothing was handed in."""
        end = self.end_of(order)
        if end is not None:
            return end
        if stop.is_set():
            return interrupted_end(order)
        answer = " ".join(last_lines(order.state / "session" / "stderr", 3)) or f"exit {status}"
        return self.trouble(order, f"nothing was handed in: {answer}")

    def end_of(self, order: LaunchOrder) -> SessionEnd | None:
        """What was handed in; None where nothing was."""
        try:
            data = (order.state / HANDED).read_bytes()
        except FileNotFoundError:
            return None
        try:
            handed = read_handed(data)
            if handed.delivery is None:
                return self.trouble(order, f"{handed.worker} refused it: {handed.refused}", handed.kind)
            delivery = read_delivery(held_in(handed.delivery))
            trusted = trust.signers(self.environ, ())
            signer = deliveries.signer_of(delivery, order, trusted)
            if not signer and any(keys.WORKERS in key.namespaces for key in trusted):
                raise deliveries.Untrusted(f"{handed.worker} has signed nothing, and a worker's key is trusted here")
            return deliveries.taken(delivery, order, self.artifacts, held_in, signer)
        except (Unusable, PartMissing, deliveries.Untrusted, KeyTrouble) as error:
            return self.trouble(order, str(error), Infrastructure.BROKEN_PROGRAM)
        except (git.GitError, OSError) as error:
            return self.trouble(order, f"taking what came back: {error}", Infrastructure.WORKSPACE)

    def trouble(self, order: LaunchOrder, why: str, kind: Infrastructure = Infrastructure.LOST) -> SessionEnd:
        return infrastructure_end(order, kind, f"{self.name}: {why}", self.environ)

    def left(self, order: LaunchOrder) -> SessionEnd | None:
        """The end of a launch of an orchestrator that is gone. Where it may run there yet, its lease is waited for."""
        end_unwatched(order)
        end = self.end_of(order)
        if end is None and (order.state / SENT).exists():
            time.sleep(max(0.0, self.began + self.line.lease - time.monotonic()))
        return end


@dataclass
class Talk:
    """One conversation with a host, in the process of our own. `say` and `heard` are lines of JSON."""

    folder: Path
    lease: float
    process: programs.Process
    heard: queue.SimpleQueue[str | None] = field(default_factory=queue.SimpleQueue)
    is_asked: bool = False

    def listen(self, source: IO[bytes]) -> None:
        while line := source.readline(LONGEST_LINE):
            self.heard.put(line.decode("utf-8", "replace"))
        self.heard.put(None)

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{text}\n".encode())
            self.process.stdin.flush()
        except OSError:
            pass  # the line is broken, which is heard

    def hold(self, document: Mapping[str, object]) -> bool:
        """Until the other side has handed in, or is silent for ever; whether it has."""
        beat = float(str(document["beat"]))
        has_stopped = False
        while True:
            if self.is_asked and not has_stopped:
                has_stopped = True
                self.say('{"stop": true}')
            try:
                line = self.heard.get(timeout=beat)
            except queue.Empty:
                self.say("{}")
                continue
            if line is None:
                return False
            if self.answered(said_in(line), document):
                return True

    def answered(self, answer: Mapping[str, object], document: Mapping[str, object]) -> bool:
        """Answer a line; whether it was the last."""
        if "hello" in answer:
            (self.folder / SENT).touch()
            self.say(json.dumps(document["sent"]))
        elif answer.get("wants") == document["base"]:
            self.say(json.dumps({"base": inlined((self.folder / BASE).read_bytes()).inline}))
        elif "handed" in answer:
            replace_file(self.folder / HANDED, json.dumps(answer["handed"]).encode())
            return True
        return False


def main(folder: str, lease: str) -> int:
    document = json.loads((Path(folder) / ORDER).read_bytes())
    try:
        process = programs.start(document["argv"], None, folder, stderr=sys.stderr.fileno())
    except OSError as error:
        sys.stderr.write(f"ssh could not be started: {error}; install an ssh client\n")
        return 1
    talk = Talk(Path(folder), float(lease), process)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: setattr(talk, "is_asked", True))
    assert process.stdout is not None
    threading.Thread(target=talk.listen, args=(process.stdout,), daemon=True).start()
    if talk.hold(document):
        programs.kill_group(process)
        return 0
    status = process.wait()
    if status == BROKEN_LINE and (Path(folder) / SENT).exists() and not talk.is_asked:
        time.sleep(float(lease))
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
