"""Sessions over ssh, with OpenSSH's own server on loopback: what every runner keeps to, and what of a cut line."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agent_fox.cluster.ssh import NoAddress, split
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.runners import Runner, attended
from agent_fox.system.processes import start_time
from agent_fox.testing.cluster import free_port
from agent_fox.testing.runners import HANGS, SLOW, WORKS, RunnerContract, Stage
from agent_fox.testing.worlds import Req, World, rows, run_cli, wait_until
from tests.cluster.sshd import WHY_NOT, SshHost, from_environment, runner_to, ssh_host
from tests.cluster.test_run import end_state

needs_sshd = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHost]:
    with ssh_host(tmp_path_factory.mktemp("ssh")) as own:
        yield own


class There:
    seconds = 20.0

    def __init__(self, host: SshHost) -> None:
        self.host = host

    def runner(self) -> Runner:
        return runner_to(self.host.address, self.host.command, {**os.environ, **self.host.variables()})

    def spelled(self) -> tuple[str, Mapping[str, str]]:
        known = {"SSH_ADDRESS": self.host.address, "SSH_COMMAND": shlex.join(self.host.command)}
        return f"{from_environment.__module__}:{from_environment.__name__}", known | self.host.variables()


@needs_sshd
class TestOverSsh(RunnerContract):
    @pytest.fixture(autouse=True)
    def served(self, host: SshHost) -> None:
        self.place = There(host)


@needs_sshd
def test_a_fail_is_repaired_and_proven_over_ssh_as_on_this_machine(host: SshHost, tmp_path: Path) -> None:
    story = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)]})
    here, there = story.build(tmp_path / "here"), story.build(tmp_path / "there")
    with (there / ".agent-fox/config.toml").open("a") as settings:
        settings.write(host.settings())
    assert run_cli(here, "run").returncode == 0
    done = run_cli(there, "run", **host.variables())  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr
    assert end_state(there) == end_state(here)
    assert {name for (name,) in rows(there, "SELECT DISTINCT runner FROM launches")} == {f"ssh://{host.address}"}
    environment = "SELECT DISTINCT environment FROM sessions WHERE archetype = 'verifier'"
    assert rows(here, environment) != rows(there, environment)
    assert not [*host.launches.iterdir()]


@needs_sshd
@pytest.mark.parametrize("victim", ["client", "far side", "supervisor there"])
def test_a_session_whose_line_is_cut_ends_there_before_it_is_said_to_be_lost(
    host: SshHost, tmp_path: Path, victim: str
) -> None:
    stage, ends = Stage.made(tmp_path), list[SessionEnd]()
    order, runner = stage.order(HANGS, f"{tmp_path.name}-{victim.replace(' ', '-')}"), There(host).runner()
    waiting = threading.Thread(target=lambda: ends.append(attended(runner, order, StopSignal())))
    waiting.start()
    stage.wait_for("began")
    agent = int(stage.lines("began")[0])
    for pid in victims(host, order, victim):
        os.kill(pid, signal.SIGKILL)
    waiting.join(SLOW)
    assert [(end.kind, end.infrastructure) for end in ends] == [(EndKind.INFRASTRUCTURE, Infrastructure.LOST)]
    assert start_time(agent) is None
    again = stage.order(WORKS, f"{order.launch}-again")
    assert attended(runner, again, StopSignal()).kind is EndKind.ENDED
    assert not [*host.launches.iterdir()]


def victims(host: SshHost, order: LaunchOrder, who: str) -> list[int]:
    if who == "client":
        return processes_with(f"-F {host.folder / 'ssh_config'}")
    if who == "far side":
        return processes_with("agent_fox.cli.main worker --once")
    return [pid for pid in processes_with(f"{host.launches / order.launch}.d1/launch/session") if pid != os.getpid()]


def processes_with(words: str) -> list[int]:
    """Processes whose command line holds these words: those of this test alone have its folders in them."""
    found = subprocess.run(["pgrep", "-f", "--", words], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in found.split()]


@needs_sshd
def test_a_frozen_far_side_ends_its_session_by_its_lease_and_a_line_that_is_silent_is_lost(
    host: SshHost, tmp_path: Path
) -> None:
    """As where the network between the two is gone: nobody hears anything, and nobody is told."""
    stage, ends = Stage.made(tmp_path), list[SessionEnd]()
    order, runner = stage.order(HANGS, f"{tmp_path.name}-frozen"), There(host).runner()
    waiting = threading.Thread(target=lambda: ends.append(attended(runner, order, StopSignal())))
    waiting.start()
    stage.wait_for("began")
    frozen = [*processes_with(f"-F {host.folder / 'ssh_config'}"), *processes_of_server(host)]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    agent = int(stage.lines("began")[0])
    wait_until(lambda: start_time(agent) is None, "the session there had ended", SLOW)
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)
    waiting.join(SLOW)
    assert [(end.kind, end.infrastructure) for end in ends] == [(EndKind.INFRASTRUCTURE, Infrastructure.LOST)]


def processes_of_server(host: SshHost) -> list[int]:
    """Those of sshd that serve the connections, and not the one that listens."""
    assert host.server is not None
    below = subprocess.run(["pgrep", "-P", str(host.server.pid)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in below.split()]


@needs_sshd
def test_who_is_not_let_in_and_a_host_that_nobody_knows_are_trouble_of_ours(host: SshHost, tmp_path: Path) -> None:
    stage = Stage.made(tmp_path)
    known, environ = host.folder / "known", {**os.environ, **host.variables()}
    text = known.read_text()
    known.write_text("")
    try:
        runner = runner_to(host.address, host.command, environ)
        end = attended(runner, stage.order(WORKS, f"{tmp_path.name}-unknown"), StopSignal())
    finally:
        known.write_text(text)
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.LOST)
    assert "Host key verification failed" in end.reason
    end = attended(runner_to(host.address, ["no-such-program"], environ), stage.order(WORKS, "none"), StopSignal())
    assert "not found" in end.reason
    assert stage.lines("began") == []


@needs_sshd
def test_a_host_of_another_version_refuses_with_both_versions(host: SshHost, tmp_path: Path) -> None:
    stage, runner = Stage.made(tmp_path), There(host).runner()
    runner.version = "0.0.1"  # type: ignore[attr-defined]
    end = attended(runner, stage.order(WORKS, f"{tmp_path.name}-old"), StopSignal())
    assert end.kind is EndKind.INFRASTRUCTURE
    assert "and the run 0.0.1; install the same on both" in end.reason


@needs_sshd
def test_doctor_says_of_each_place_whether_it_is_there_and_what_to_do(host: SshHost, tmp_path: Path) -> None:
    settings = f"{host.settings()}[places.shut]\nssh = '127.0.0.1:{free_port()}'\n[places.box]\nimage = 'none:1'\n"
    root = World({"01_a": [Req("01-REQ-1.1")]}, settings=settings).build(tmp_path)
    done = run_cli(root, "doctor", "--json", **host.variables())  # type: ignore[arg-type]
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["place far"]["state"] == "ok", checks["place far"]
    assert "Connection refused" in checks["place shut"]["what"]
    assert checks["place box"]["state"] == "missing"
    assert checks["place box"]["remedy"]
    assert done.returncode == 1


@pytest.mark.parametrize("address", ["", "-oProxyCommand=x", "a b", "me@host:ssh", "me@host;rm"])
def test_what_names_no_host_is_refused(address: str) -> None:
    with pytest.raises(NoAddress):
        split(address)


def test_a_host_is_named_with_and_without_a_port() -> None:
    assert split("ssh://me@far.example:2222") == ("me@far.example", 2222)
    assert split("far") == ("far", 0)
