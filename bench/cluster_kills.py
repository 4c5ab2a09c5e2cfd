"""`python -m bench.cluster_kills`: a run on workers, in which one process is killed or frozen at a named point.

Each case is a whole run over a real server and three workers, with a FAIL, its repair and a PASS; in it one of
orchestrator, worker, agent or server dies (SIGKILL) or stands still for three time-outs (SIGSTOP). Whatever dies is
begun again, as a person would. Then the run must have come to the same end as on one machine: no attempt paid twice, no
delivery landed twice, nothing left running. `--results FILE` keeps what is done: the same call goes on with the rest.

Workers have homes of their own, and with `--namespaces` (root) networks of their own: each reaches the server by a card
on a bridge, signs with a key, and is cut off by nothing else. `--times default`: heartbeat and time-out as they are
where nobody sets them, so that a case takes minutes. `--remote`: histories travel by a git remote, in which nothing may
be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path

from agent_fox.config import ClusterSettings
from agent_fox.testing.cluster import HEARTBEAT, TIMEOUT, Cluster
from agent_fox.testing.worlds import Req, World, git, rows, run_cli, wait_until
from bench.namespaces import Network, network, why_not

VICTIMS = ("orchestrator", "worker", "agent", "server")
SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP}
MOMENTS = ("handed out", "coder at work", "coder handing in", "verifier at work")
POINTS = tuple(" ".join(parts) for parts in product(SIGNALS, VICTIMS, ("at",), MOMENTS))
"""Such as `kill worker at coder at work`."""

WORKERS = 3
SESSION_SECONDS = 0.8
LONGEST = 240.0
USUAL = ClusterSettings()
TIMES = {"short": (HEARTBEAT, TIMEOUT), "default": (USUAL.heartbeat, USUAL.timeout)}
STORY = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]}, seconds=SESSION_SECONDS, cost=0.25)
ENDS = (
    "SELECT id, status, outcome, attempt, reading FROM plan_nodes ORDER BY id",
    "SELECT node_id, attempt, reading, end_kind, cost_usd FROM sessions ORDER BY node_id, attempt, reading",
    "SELECT kind, count(*) FROM decisions GROUP BY kind ORDER BY kind",
)
VERDICTS = (
    "SELECT id, status, outcome FROM plan_nodes ORDER BY id",
    "SELECT requirement_id, verdict FROM verification_results WHERE superseded_by IS NULL ORDER BY requirement_id",
)
"""What must be the same where an agent itself was struck: its attempt is spent, as on one machine."""


@dataclass(slots=True)
class Outcome:
    """What came of one case. `problems` is empty where all is right. `again`: sessions that a second worker had to do;
    `late`: deliveries that came too late, and were kept.
    """

    point: str
    seed: int
    seconds: float = 0.0
    again: int = 0
    late: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Case:
    """One run with its cluster in a folder. `chance` decides how long after its point the victim is struck."""

    point: str
    seed: int
    folder: Path
    times: tuple[float, float] = (HEARTBEAT, TIMEOUT)
    network: Network | None = None
    remote: Path | None = None
    cluster: Cluster = field(init=False)
    chance: random.Random = field(init=False)
    run: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        beat, timeout = self.times
        self.cluster = Cluster(self.folder / "cluster", heartbeat=beat, timeout=timeout)
        if self.network is not None:
            self.network.lend(self.cluster.port)
            self.cluster.host, self.cluster.entering = self.network.host, self.network.entering
            keys = {"AGENT_FOX_KEYS": str(self.folder / "keys")}
            run_cli(self.folder, "keys", "new", "worker", "--no-passphrase", **keys)  # type: ignore[arg-type]
            run_cli(self.folder, "keys", "trust", "worker", "--for", "worker", **keys)  # type: ignore[arg-type]
            self.cluster.more = keys | {"AGENT_FOX__CLUSTER__INSECURE": "true"}
        if self.remote is not None:
            git(self.folder, "init", "-q", "--bare", str(self.remote))
            self.cluster.more = {**self.cluster.more, "AGENT_FOX__CLUSTER__REMOTE": self.remote.as_uri()}
        self.chance = random.Random(f"{self.point} {self.seed}")

    def play(self) -> Outcome:
        began, outcome = time.monotonic(), Outcome(self.point, self.seed)
        (self.folder / "cluster").mkdir(parents=True)
        here, there = STORY.build(self.folder / "here"), STORY.build(self.folder / "there")
        assert run_cli(here, "run").returncode == 0
        try:
            self.go(there)
            outcome.problems = [*self.differences(here, there), *self.landed_twice(there), *self.left_running()]
            outcome.problems += self.left_at_remote()
            outcome.again, outcome.late = self.done_again(there)
        except AssertionError as error:
            outcome.problems = [f"{error}; {self.said(there)}"]
        finally:
            self.end()
        outcome.seconds = time.monotonic() - began
        return outcome

    def go(self, root: Path) -> None:
        self.cluster.start_server()
        for _ in range(WORKERS):
            self.cluster.start_worker()
        self.begin(root)
        how, victim, moment = self.parts()
        wait_until(lambda: self.has_come(moment, root), f"the run was at {moment!r}", LONGEST)
        time.sleep(self.chance.random() * SESSION_SECONDS / 2)
        self.strike(SIGNALS[how], victim, root)
        deadline = time.monotonic() + LONGEST
        while (code := self.process().wait(LONGEST)) != 0:
            assert time.monotonic() < deadline, f"the run came to no end, the last exit code was {code}"
            self.begin(root)

    def parts(self) -> tuple[str, str, str]:
        who, _, moment = self.point.partition(" at ")
        how, victim = who.split()
        return how, victim, moment

    def begin(self, root: Path) -> None:
        argv = [sys.executable, "-m", "agent_fox.cli.main", "run", "--engine", self.cluster.address]
        with (root.parent / "run.log").open("ab") as log:
            self.run = subprocess.Popen(
                argv, cwd=root, env={**os.environ, **self.cluster.variables()}, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def process(self) -> subprocess.Popen[bytes]:
        assert self.run is not None
        return self.run

    def has_come(self, moment: str, root: Path) -> bool:
        match moment:
            case "handed out":
                return (root / ".agent-fox/state.db").exists() and bool(self.launched(root))
            case "coder at work":
                return bool(self.at_work())
            case "coder handing in":
                return (root.parent / "tools/log.jsonl").exists()
        return any("verifier" in archetype for archetype in self.launched(root)) and bool(self.at_work())

    def launched(self, root: Path) -> list[str]:
        with suppress(Exception):  # the tables are being made
            found = "SELECT s.archetype FROM launches AS l JOIN sessions AS s ON s.id = l.session_id"
            return [str(archetype) for (archetype,) in rows(root, found)]
        return []

    def at_work(self) -> list[tuple[int, int]]:
        """Pid of the worker and of the agent of each session that runs."""
        found = []
        for number, worker in enumerate(self.cluster.workers):
            for shim in self.cluster.shims(number):
                with suppress(OSError, ValueError, KeyError):
                    pid = int(json.loads(shim.read_bytes())["pid"])
                    found += [(worker.pid, child) for child in children(pid)]
        return found

    def strike(self, number: signal.Signals, victim: str, root: Path) -> None:
        if victim == "server":
            self.strike_server(number)
            return
        pid = self.process().pid if victim == "orchestrator" else self.one_at_work(victim)
        strike(pid, number, 3 * self.cluster.timeout)
        if victim == "orchestrator" and number is signal.SIGKILL:
            self.process().wait()
            time.sleep(self.chance.random())

    def one_at_work(self, victim: str) -> int:
        wait_until(lambda: bool(self.at_work()), "a session ran", LONGEST)
        worker, agent = self.at_work()[0]
        return worker if victim == "worker" else agent

    def strike_server(self, number: signal.Signals) -> None:
        assert self.cluster.server is not None
        if number is signal.SIGKILL:
            self.cluster.kill_server()
            time.sleep(self.chance.random() * 2)
            self.cluster.start_server()
        else:
            strike(self.cluster.server.pid, number, 3 * self.cluster.timeout)

    def differences(self, here: Path, there: Path) -> Iterator[str]:
        for query in VERDICTS if self.parts()[1] == "agent" else ENDS:
            expected, came = rows(here, query), rows(there, query)
            if expected != came:
                yield f"{query}: {came} instead of {expected}"

    def landed_twice(self, root: Path) -> Iterator[str]:
        messages = git(root, "log", "--format=%B", "HEAD..agent-fox/integration").splitlines()
        tickets = [line for line in messages if "Ticket" in line]
        landed = rows(root, "SELECT node_id, attempt FROM sessions WHERE is_landed = 1 AND landed_commit IS NOT NULL")
        if len(tickets) != len(set(tickets)) or len(tickets) > len(landed):
            yield f"landed: {tickets}, recorded {landed}"

    def done_again(self, root: Path) -> tuple[int, int]:
        agents = rows(root, "SELECT json_extract(a.value, '$.delivery') FROM sessions AS s, json_each(s.agents) AS a")
        refs = git(root, "for-each-ref", "--format=%(refname)", "refs/agent-fox/late").splitlines()
        return sum(isinstance(number, int) and number > 1 for (number,) in agents), len(refs)

    def left_running(self) -> Iterator[str]:
        deadline = time.monotonic() + 3 * self.cluster.timeout
        while (left := ours(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.1)
        if left:
            yield f"still running: {left}"

    def left_at_remote(self) -> Iterator[str]:
        left = git(self.remote, "for-each-ref", "--format=%(refname)") if self.remote else ""
        if left:
            yield f"left at the remote: {left}"

    def said(self, root: Path) -> str:
        log = root.parent / "run.log"
        return (log.read_text(errors="replace") if log.exists() else "")[-2000:] + self.cluster.logs()[-2000:]

    def end(self) -> None:
        if self.run is not None:
            with suppress(ProcessLookupError):
                self.run.send_signal(signal.SIGCONT)
            self.run.kill()
            self.run.wait()
        self.cluster.stop()


def strike(pid: int, number: signal.Signals, seconds: float) -> None:
    """Kill it, or have it stand still for so long."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        if number is signal.SIGSTOP:
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in tasks.read_text().split()] if tasks.exists() else []


def ours(folder: Path) -> list[str]:
    """Command lines of sessions' processes whose files lie in the folder."""
    found = []
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdecimal() and b"AGENT_FOX_LAUNCH=" in (place / "environ").read_bytes():
                words = (place / "environ").read_bytes()
                if str(folder).encode() in words:
                    found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120])
    return found


def cases(points: Sequence[str], seeds: int) -> Iterator[tuple[str, int]]:
    return ((point, seed) for seed in range(1, seeds + 1) for point in points)


def done_in(results: Path) -> set[tuple[str, int]]:
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {(row["point"], row["seed"]) for row in map(json.loads, lines)}


def usual_results(times: str, *, is_apart: bool, has_remote: bool) -> Path:
    more = ("" if times == "short" else f"-{times}") + ("-namespaces" if is_apart else "")
    more += "-remote" if has_remote else ""
    return Path(f"build/cluster-kills{more}.jsonl")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_kills", description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many times each point")
    parser.add_argument("--points", nargs="*", default=list(POINTS), metavar="POINT", help="these points only")
    parser.add_argument("--most", type=int, default=10**6, help="stop after so many cases; call again for the rest")
    parser.add_argument("--times", choices=sorted(TIMES), default="short", help="heartbeat and time-out")
    parser.add_argument("--namespaces", action="store_true", help="a network of its own for each worker; needs root")
    parser.add_argument("--remote", action="store_true", help="send histories by a git remote")
    parser.add_argument("--results", type=Path, help="usually build/cluster-kills.jsonl, with the choices in its name")
    chosen = parser.parse_args(words)
    if chosen.namespaces and (trouble := why_not()):
        parser.error(trouble)
    chosen.results = chosen.results or usual_results(chosen.times, is_apart=chosen.namespaces, has_remote=chosen.remote)
    chosen.results.parent.mkdir(parents=True, exist_ok=True)
    done, wrong = done_in(chosen.results), 0
    left = [case for case in cases(chosen.points, chosen.seeds) if case not in done][: chosen.most]
    for point, seed in left:
        with (
            tempfile.TemporaryDirectory(prefix="cluster-kills-", ignore_cleanup_errors=True) as folder,
            network() if chosen.namespaces else nullcontext() as own,
        ):
            remote = Path(folder) / "remote.git" if chosen.remote else None
            outcome = Case(point, seed, Path(folder), TIMES[chosen.times], own, remote).play()
        with chosen.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")
        wrong += bool(outcome.problems)
        what = "; ".join(outcome.problems) or f"right, {outcome.again} done again, {outcome.late} late"
        print(f"{point}, seed {seed}: {what} ({outcome.seconds:.0f} s)", flush=True)
    print(f"{len(left)} cases, {wrong} wrong; {len(done)} were done before")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
