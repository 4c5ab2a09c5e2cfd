"""Whole runs that are long: a large plan whose sessions take no time, and many sessions that only sleep, on workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_fox.config import load
from agent_fox.engine.planning.workplace import RunOptions
from agent_fox.engine.running.run import Engine
from agent_fox.engine.running.scheduler import Orders
from agent_fox.plugins import hookimpl, load_plugins
from agent_fox.session.backends import Backend
from agent_fox.session.local_runner import LocalRunner
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, StopSignal, Work
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git
from agent_fox.testing.cluster import Cluster
from agent_fox.testing.worlds import Req, World, rows, wait_until
from bench.figures import Aim, Figure
from bench.worlds import temporary_folder

GROUPS = 9
EACH_NODE = Aim(ratio=1.3)
THRICE = Aim(limit=60 / (3 * 159))
"""Three times the 159 nodes a minute that version 0.1.0 had."""
ASLEEP = Aim(limit=0.5)
NONE = Aim(limit=0)
ID_BYTES = 20
LONGEST = 900.0
WATCHED = 15.0
"""Seconds in which it is looked what sleeping sessions take."""


class Instant(LocalRunner):
    """Sessions without an agent: a coder writes its spec's one file, and a verifier passes what its spec asks for."""

    def had(self, order: LaunchOrder, stop: StopSignal) -> SessionEnd:
        if not order.writes:
            verdict = {"requirement_id": f"{order.spec_name[:5]}-REQ-1.1", "verdict": "PASS", "evidence": "seen"}
            return SessionEnd(
                EndKind.ENDED, "ended", order.log, output=json.dumps({"verdicts": [verdict]}), cost_usd=0.0
            )
        tree = git.read(order.repo, git.tree_of(order.repo, order.pinned))
        assert tree is not None
        blob = git.call(order.repo, "hash-object", "-w", "--stdin", data=order.node_id.encode()).text
        entry = f"100644 zz-{order.spec_name}".encode() + b"\0" + bytes.fromhex(blob)
        whole = with_entry(tree.content, entry)
        more = git.call(order.repo, "hash-object", "-t", "tree", "-w", "--stdin", data=whole).text
        commit = git.call(order.repo, "commit-tree", more, "-p", order.pinned, "-m", order.message).text
        git.set_ref(order.repo, launch_ref(order.launch), commit)
        return SessionEnd(EndKind.ENDED, "ended", order.log, cost_usd=0.0, work=Work(commit, more, False))

    def left(self, order: LaunchOrder) -> SessionEnd | None:
        return None


def with_entry(tree: bytes, entry: bytes) -> bytes:
    """A tree with this entry, instead of the one of its name where there is one."""
    entries = {sorted_by(entry): entry}
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at) + 1 + ID_BYTES
        entries.setdefault(sorted_by(tree[at:end]), tree[at:end])
        at = end
    return b"".join(entries[name] for name in sorted(entries))


def sorted_by(entry: bytes) -> bytes:
    """What git sorts the entries of a tree by."""
    mode, _, rest = entry.partition(b" ")
    name = rest.partition(b"\0")[0]
    return name + (b"/" if mode == b"40000" else b"")


class InstantPlugin:
    @hookimpl
    def agent_fox_runners(self) -> dict[str, object]:
        return {"instant": self.made}

    def made(self, address: str, root: Path, backends: Mapping[str, Backend]) -> LocalRunner:
        return Instant(backends, name=address)


def measure_instant(sizes: tuple[int, int]) -> Iterator[Figure]:
    """Runs of so many nodes: what a node takes in the larger beside the smaller."""
    few, many = sizes
    name, floor, measured = f"a node in a run of {many:,}, sessions instant", each_of(few), each_of(many)
    yield Figure(f"{name}, the wall clock", measured[0], floor[0], f"in one of {few:,}")
    yield Figure(f"{name}, the processor", measured[1], floor[1], f"in one of {few:,}", EACH_NODE)


def measure_parallel(nodes: int) -> Iterator[Figure]:
    """Runs of so many nodes, with as many sessions at a time."""
    for parallel in (2, 8, 64):
        name = f"a node in a run of {nodes:,}, {parallel} at a time, sessions instant"
        yield Figure(name, each_of(nodes, parallel)[0], 0, "", THRICE)


def each_of(nodes: int, parallel: int = 4) -> tuple[float, float]:
    """Seconds of a node by the wall clock, and of the processor, git included, in a run of so many."""
    before = sum(os.times()[:4])
    return seconds_of(nodes, parallel) / nodes, (sum(os.times()[:4]) - before) / nodes


def seconds_of(nodes: int, parallel: int) -> float:
    with temporary_folder() as folder:
        names = [f"{number:05}_part" for number in range(nodes // (GROUPS + 1))]
        world = World(
            {name: [Req(f"{name[:5]}-REQ-1.1")] for name in names}, dict.fromkeys(names, GROUPS),
            settings="[policy]\nfinal_check = false\n",
        )  # fmt: skip
        root = world.build(folder)
        settings = load(root, {})
        cluster = settings.cluster.model_copy(update={"engine": "instant://"})
        plugins = load_plugins()
        plugins.register(InstantPlugin())
        engine = Engine(root, settings.model_copy(update={"cluster": cluster}), plugins, lambda event: None)
        began = time.monotonic()
        engine.run(RunOptions(parallel=parallel), Orders())
        seconds = time.monotonic() - began
        ((ended,),) = rows(root, "SELECT count(*) FROM sessions WHERE end_kind = 'ended'")
        assert ended == len(names) * (GROUPS + 1), f"{ended} sessions ended, of {len(names) * (GROUPS + 1)}"
    return seconds


def measure_sleeping(sessions: int, workers: int) -> Iterator[Figure]:
    """So many sessions that sleep at the same time: what all of us takes of the processor meanwhile, in each second."""
    with temporary_folder() as folder:
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster", heartbeat=2.0, timeout=30.0)
        asleep = int(LONGEST)
        settings = (
            "[plan]\npre_review = false\naudit_review = false\nverifier = false\n"
            f'[agents.coder]\nbackend = "command"\ncommand = ["sleep", "{asleep}"]\n'
        )
        names = [f"{number:05}_part" for number in range(sessions)]
        root = World({name: [Req(f"{name[:5]}-REQ-1.1")] for name in names}, settings=settings).build(folder / "here")
        run = None
        try:
            cluster.start_server()
            for _ in range(workers):
                cluster.start_worker(f"coder={-(-sessions // workers)}")
            began = time.monotonic()
            run = begun(root, cluster, sessions)
            wait_until(lambda: asleep_in(cluster) >= sessions, f"{sessions} sessions slept", LONGEST)
            handed_out = time.monotonic() - began
            again = begun_in(cluster) - sessions
            parts = {"run": [run.pid], "server": [cluster.server.pid if cluster.server else 0]}
            parts |= {"workers": [worker.pid for worker in cluster.workers]}
            before = {name: processor_of(pids) for name, pids in parts.items()}
            time.sleep(WATCHED)
            taken = {name: (processor_of(pids) - before[name]) / WATCHED for name, pids in parts.items()}
        finally:
            if run is not None:
                run.kill()
                run.wait()
            cluster.stop()
            wait_until(lambda: asleep_in(cluster) == 0, "all had ended", 60)
    what = f"{sessions} sessions asleep on {workers} workers"
    yield Figure(f"{what}: handed out", handed_out / sessions, 0, "each of them")
    yield Figure(f"{what}: begun again", again, 0, "of them", NONE, "sessions")
    yield Figure(f"{what}: processor a second", sum(taken.values()), taken["server"], "the server's own", ASLEEP)


def begun(root: Path, cluster: Cluster, sessions: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "agent_fox.cli.main", "run", "--engine", cluster.address, "--parallel", str(sessions)]
    with (root.parent / "said").open("wb") as said:
        return subprocess.Popen(
            argv, cwd=root, env={**os.environ, **cluster.variables()}, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip


def begun_in(cluster: Cluster) -> int:
    """Sessions that its workers began, those counted again that were taken for lost."""
    return sum(log.read_text(encoding="utf-8").count(": begins (") for log in cluster.folder.glob("worker-*.log"))


def asleep_in(cluster: Cluster) -> int:
    """Sessions of its workers whose agent runs."""
    found = 0
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
                is_ours = str(cluster.folder).encode() in (place / "environ").read_bytes()
            except OSError:
                continue
            found += words[0] == b"sleep" and is_ours
    return found


def processor_of(pids: list[int]) -> float:
    """Seconds of processor that these have taken; what they have started is not counted."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
