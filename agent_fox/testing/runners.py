"""What every runner keeps to (`agent_fox.session.runners.Runner`), as tests that another package inherits.

Derive a class from RunnerContract, give it a `place` (a fixture, or an attribute), and pytest holds the runner to all
of it. An orchestrator that is killed is a process of its own: `python -m agent_fox.testing.runners` plays it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol

from agent_fox.core.ids import Archetype
from agent_fox.core.values import dataclass
from agent_fox.session.order import Agent, EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.order_document import order_document, read_order
from agent_fox.session.runners import Runner, attended
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git
from agent_fox.system.processes import start_time
from agent_fox.testing.worlds import SOURCE, first_commit, wait_until

SLOW = 60


class Place(Protocol):
    """Where a runner is tried. `seconds` is how long it may take until what a dead orchestrator leaves is gone."""

    seconds: float

    def runner(self) -> Runner:
        """A runner as a new orchestrator makes it: it knows nothing of what others started."""
        ...

    def spelled(self) -> tuple[str, Mapping[str, str]]:
        """`MODULE:FUNCTION` that makes such a runner in another process, and variables that it needs there."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """A repository with one commit, and a folder beside it in which agents leave marks."""

    repo: Path
    marks: Path

    @classmethod
    def made(cls, folder: Path) -> Stage:
        repo = folder / "repo"
        repo.mkdir()
        (repo / "app.py").write_text("print('one')\n", encoding="utf-8")
        first_commit(repo, "Ada")
        (folder / "marks").mkdir()
        return cls(repo, folder / "marks")

    def order(self, script: str, launch: str, archetype: Archetype = Archetype.CODER) -> LaunchOrder:
        """A launch whose agent is a shell script; `$MARKS` is the folder of marks."""
        root = self.repo.parent
        marks = {"MARKS": str(self.marks)}
        return LaunchOrder(
            launch=launch, node_id="01_app:1", node_uid="01_app:coder:1", spec_name="01_app", archetype=archetype,
            mode=None, group=1, run="1", attempt=1, reading=1, pinned=git.head(self.repo) or "", repo=self.repo,
            state=root / "state" / launch, log=root / "logs" / f"{launch}.log", message="build the app",
            agent=Agent(command=("sh", "-e", "-c", script), timeout=SLOW, environment=marks),
            brief_markdown="# Do it\n", brief_json={"node": "01_app:1"},
        )  # fmt: skip

    def lines(self, name: str) -> list[str]:
        path = self.marks / name
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def wait_for(self, name: str) -> None:
        wait_until(lambda: bool(self.lines(name)), f"the agent left its mark {name!r}", SLOW)


WORKS = "echo $$ >> $MARKS/began; echo \"print('two')\" > app.py; echo done"
HANGS = "echo $$ >> $MARKS/began; echo half > half.py; sleep 600"
WAITS = "echo $$ >> $MARKS/began; until [ -e $MARKS/go ]; do sleep 0.05; done; echo \"print('two')\" > app.py"


class RunnerContract:
    """One test a promise. `place` is who is tried."""

    place: Place

    def run(self, order: LaunchOrder) -> SessionEnd:
        runner = self.place.runner()
        end = attended(runner, order, StopSignal())
        runner.clean_up(order)
        return end

    def test_a_coders_work_is_a_commit_on_the_pinned_one_and_no_branch_moves(self, tmp_path: Path) -> None:
        stage, runner = Stage.made(tmp_path), self.place.runner()
        order, before = stage.order(WORKS, f"{tmp_path.name}-work"), git.head(Stage(tmp_path / "repo", tmp_path).repo)
        end = attended(runner, order, StopSignal())
        assert end.kind is EndKind.ENDED, end.reason
        assert end.work is not None
        assert git.parents(stage.repo, end.work.commit) == (order.pinned,)
        assert git.show(stage.repo, end.work.commit, "app.py") == b"print('two')\n"
        assert git.tree_of(stage.repo, end.work.commit) == end.work.tree
        assert git.commit_of(stage.repo, launch_ref(order.launch)) == end.work.commit
        assert git.head(stage.repo) == before
        assert end.log == order.log
        assert "done" in order.log.read_text(encoding="utf-8")
        runner.clean_up(order)
        runner.clean_up(order)
        assert git.commit_of(stage.repo, launch_ref(order.launch)) is None
        assert not order.state.exists()

    def test_what_a_verifier_printed_comes_back_whole(self, tmp_path: Path) -> None:
        stage = Stage.made(tmp_path)
        script = 'i=0; while [ $i -lt 3000 ]; do echo "line $i ää of what it said"; i=$((i+1)); done'
        end = self.run(stage.order(script, f"{tmp_path.name}-words", Archetype.VERIFIER))
        assert end.kind is EndKind.ENDED, end.reason
        assert end.output.splitlines() == [f"line {number} ää of what it said" for number in range(3000)]
        assert end.work is None

    def test_a_failure_is_an_end_and_no_exception(self, tmp_path: Path) -> None:
        stage = Stage.made(tmp_path)
        end = self.run(stage.order("echo 'cannot go on' >&2; exit 7", f"{tmp_path.name}-fail"))
        assert (end.kind, end.exit_status, end.reason) == (EndKind.FAILED, 7, "exit 7: cannot go on")
        assert end.work is None

    def test_a_commit_that_is_nowhere_is_trouble_of_ours(self, tmp_path: Path) -> None:
        stage = Stage.made(tmp_path)
        end = self.run(replace(stage.order("true", f"{tmp_path.name}-none"), pinned="0" * 39 + "1"))
        assert end.kind is EndKind.INFRASTRUCTURE, end.reason

    def test_a_launch_that_is_started_twice_runs_once(self, tmp_path: Path) -> None:
        stage, runner = Stage.made(tmp_path), self.place.runner()
        order = stage.order(WAITS, f"{tmp_path.name}-twice")
        jobs = [runner.start(order), runner.start(order)]
        stage.wait_for("began")
        assert not runner.poll(jobs[0], 0)
        (stage.marks / "go").touch()
        wait_until(lambda: all(runner.poll(job, 0.05) for job in jobs), "both had ended", SLOW)
        ends = [runner.collect(job) for job in (*jobs, jobs[0])]
        assert ends[0] == ends[1] == ends[2]
        assert ends[0].kind is EndKind.ENDED, ends[0].reason
        assert len(stage.lines("began")) == 1
        runner.clean_up(order)

    def test_a_launch_that_is_cancelled_ends_with_all_that_it_started(self, tmp_path: Path) -> None:
        stage, runner, stop = Stage.made(tmp_path), self.place.runner(), StopSignal()
        order, ends = stage.order(HANGS, f"{tmp_path.name}-stop"), list[SessionEnd]()
        waiting = threading.Thread(target=lambda: ends.append(attended(runner, order, stop)))
        waiting.start()
        stage.wait_for("began")
        pid = int(stage.lines("began")[0])
        stop.set()
        waiting.join(SLOW)
        assert [end.kind for end in ends] == [EndKind.INTERRUPTED]
        assert start_time(pid) is None
        runner.clean_up(order)

    def test_a_launch_that_nobody_started_is_not_found(self, tmp_path: Path) -> None:
        assert self.place.runner().found(Stage.made(tmp_path).order("true", f"{tmp_path.name}-never")) is None

    def test_an_orchestrator_killed_at_work_pays_for_nothing_twice(self, tmp_path: Path) -> None:
        """What goes on without it is found, and ends once; what does not is gone, and may be launched again."""
        stage = Stage.made(tmp_path)
        order = stage.order(WAITS, f"{tmp_path.name}-killed")
        orchestrator = self.orchestrator(order)
        stage.wait_for("began")
        kill(orchestrator)
        pid, runner = int(stage.lines("began")[0]), self.place.runner()
        if not runner.outlives:
            wait_until(lambda: start_time(pid) is None, "what it had started was gone", self.place.seconds)
            assert runner.found(order) is None
            return
        job = runner.found(order)
        assert job is not None
        (stage.marks / "go").touch()
        wait_until(lambda: runner.poll(job, 0.2), "it had ended", SLOW)
        end = runner.collect(job)
        assert end.kind is EndKind.ENDED, end.reason
        assert end.work is not None
        assert git.show(stage.repo, end.work.commit, "app.py") == b"print('two')\n"
        assert len(stage.lines("began")) == 1
        runner.clean_up(order)

    def test_an_end_that_nobody_heard_is_found_and_is_the_same_each_time(self, tmp_path: Path) -> None:
        stage = Stage.made(tmp_path)
        order = stage.order(WORKS, f"{tmp_path.name}-unheard")
        orchestrator = self.orchestrator(order, "--deaf")
        wait_until(lambda: (stage.marks / "ended").exists(), "it had ended", SLOW)
        kill(orchestrator)
        ends: list[SessionEnd] = []
        for runner in (self.place.runner(), self.place.runner()):
            job = runner.found(order)
            assert job is not None
            wait_until(lambda runner=runner, job=job: runner.poll(job, 0.2), "it had ended", SLOW)  # type: ignore[misc]
            ends.append(runner.collect(job))
        assert ends[0].kind is EndKind.ENDED, ends[0].reason
        assert ends[0].work == ends[1].work
        assert len(stage.lines("began")) == 1
        self.place.runner().clean_up(order)

    def orchestrator(self, order: LaunchOrder, *more: str) -> subprocess.Popen[bytes]:
        """A process that starts the launch and waits for it. `--deaf`: it touches `ended`, and collects nothing."""
        spelled, variables = self.place.spelled()
        marks = Path(order.agent.environment["MARKS"])
        order_file = marks / "order.json"
        order_file.write_text(json.dumps(order_document(order)), encoding="utf-8")
        argv = [sys.executable, "-m", "agent_fox.testing.runners", spelled, str(order_file), *more]
        return subprocess.Popen(argv, cwd=SOURCE, env={**os.environ, **variables}, start_new_session=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(SLOW)


def local_runner() -> Runner:
    from agent_fox.session.local_runner import LocalRunner  # noqa: PLC0415 - named by who tries it

    return LocalRunner()


def main(spelled: str, order_file: str, *more: str) -> None:
    module, _, name = spelled.partition(":")
    runner: Runner = getattr(import_module(module), name)()
    order = read_order(json.loads(Path(order_file).read_bytes()))
    job = runner.start(order)
    while not runner.poll(job, 1.0):
        pass
    if "--deaf" in more:
        Path(order_file).with_name("ended").touch()
        time.sleep(SLOW)
    runner.collect(job)


if __name__ == "__main__":
    main(*sys.argv[1:])
