"""A host that is reached over ssh: OpenSSH's own server on loopback, with keys of its own, and agent-fox behind it.

It needs root, the program `sshd`, and an ssh client.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent_fox.cluster.make import ssh_runner
from agent_fox.config import ClusterSettings, PlaceSettings, Settings
from agent_fox.session.built_in.registry import BACKENDS
from agent_fox.session.runners import Runner
from agent_fox.testing.cluster import HEARTBEAT, TIMEOUT, free_port
from agent_fox.testing.worlds import wait_until

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
WHY_NOT = "" if SSHD and shutil.which("ssh") and os.getuid() == 0 else "there is no sshd, no ssh, or we are not root"


@dataclass
class SshHost:
    """`folder` holds its keys, its settings, and a home. What was started is ended by `stop`."""

    folder: Path
    port: int = field(default_factory=free_port)
    server: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{os.environ.get('USER', 'root')}@127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        home = self.folder / "home"
        return ["env", f"HOME={home}", f"XDG_STATE_HOME={home / 'state'}", sys.executable, "-m", "agent_fox.cli.main"]

    @property
    def launches(self) -> Path:
        return self.folder / "home/state/agent-fox/worker/launches"

    def prepare(self) -> None:
        (self.folder / "home").mkdir(parents=True)
        Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host", "user"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(words, check=True)
        public = (self.folder / "host.pub").read_text().split()[:2]
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {' '.join(public)}\n")
        (self.folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.folder / 'host'}\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder / 'user.pub'}\nPasswordAuthentication no\nPermitRootLogin yes\n"
            f"PidFile none\nMaxStartups 100\n"
        )
        (self.folder / "ssh_config").write_text(
            f"Host *\n IdentityFile {self.folder / 'user'}\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {self.folder / 'known'}\n StrictHostKeyChecking yes\n"
        )
        (self.folder / "bin").mkdir()
        client = self.folder / "bin/ssh"
        real = shlex.quote(shutil.which("ssh") or "ssh")
        client.write_text(f'#!/bin/sh\nexec {real} -F {shlex.quote(str(self.folder / "ssh_config"))} "$@"\n')
        client.chmod(0o755)

    def start(self) -> None:
        assert SSHD is not None
        argv = [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")]
        with (self.folder / "sshd.log").open("ab") as log:
            self.server = subprocess.Popen(argv, stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: b"listening" in (self.folder / "sshd.log").read_bytes(), "sshd listened")

    def stop(self) -> None:
        if self.server is not None:
            self.server.send_signal(signal.SIGKILL)
            self.server.wait()

    def variables(self) -> dict[str, str]:
        """What a run needs so that its ssh knows the host."""
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "AGENT_FOX__CLUSTER__HEARTBEAT": str(HEARTBEAT),
            "AGENT_FOX__CLUSTER__TIMEOUT": str(TIMEOUT),
        }

    def settings(self) -> str:
        return f"[places.far]\nssh = {self.address!r}\ncommand = {self.command!r}\n"


@contextmanager
def ssh_host(folder: Path) -> Iterator[SshHost]:
    host = SshHost(folder)
    host.prepare()
    try:
        host.start()
        yield host
    finally:
        host.stop()


def runner_to(address: str, command: list[str], environ: dict[str, str]) -> Runner:
    settings = Settings(
        cluster=ClusterSettings(heartbeat=HEARTBEAT, timeout=TIMEOUT),
        places={"far": PlaceSettings(ssh=address, command=command)},
    )
    return ssh_runner(f"ssh://{address}", settings, environ, Path("/nonexistent"), BACKENDS)


def from_environment() -> Runner:
    """As a process of a test makes it."""
    return runner_to(os.environ["SSH_ADDRESS"], shlex.split(os.environ["SSH_COMMAND"]), dict(os.environ))
