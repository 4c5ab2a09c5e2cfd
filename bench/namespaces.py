"""Hosts of a cluster as network namespaces of one machine, each with a card of its own on a bridge. It takes root."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent_fox.system.sandbox import lending


def why_not() -> str:
    """Why there are none here; empty where they can be made. Tried out with one."""
    if os.getuid() != 0 or shutil.which("ip") is None:
        return "network namespaces take root and the program `ip` (Debian: apt install iproute2)"
    name = f"fox-{os.getpid()}-try"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"no network namespace can be made here: {done.stderr.strip()}"
    ip("netns", "del", name)
    return ""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass
class Network:
    """A bridge of this machine's, at `host`, and the namespaces on it."""

    number: int
    names: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"10.{self.number >> 8}.{self.number & 255}.1"

    @property
    def bridge(self) -> str:
        return f"fox{self.number}"

    def entering(self, number: int) -> list[str]:
        """The words before a command that is to run on the host of this number, which is made where it is not there."""
        while len(self.names) <= number:
            self.add(len(self.names))
        return ["ip", "netns", "exec", self.names[number]]

    def add(self, number: int) -> None:
        name, card = f"{self.bridge}-{number}", f"{self.bridge}v{number}"
        ip("netns", "add", name)
        self.names.append(name)
        ip("link", "add", card, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", card, "master", self.bridge, "up")
        for words in (
            ["addr", "add", f"{self.host.removesuffix('.1')}.{number + 10}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"],
        ):  # fmt: skip
            ip("-netns", name, *words)

    def lend(self, port: int) -> None:
        """Have what comes to this port of the bridge go to ours on loopback, as long as this process lives."""
        door = socket.create_server((self.host, port))
        threading.Thread(target=lending.serve, args=(door, port), daemon=True).start()

    def cut(self, number: int, *, is_cut: bool = True) -> None:
        """Take the host's cable out, or put it in again."""
        ip("link", "set", f"{self.bridge}v{number}", "down" if is_cut else "up")


@contextmanager
def network() -> Iterator[Network]:
    own = Network(random.SystemRandom().randrange(200 << 8, 250 << 8))
    ip("link", "add", own.bridge, "type", "bridge")
    try:
        ip("addr", "add", f"{own.host}/24", "dev", own.bridge)
        ip("link", "set", own.bridge, "up")
        yield own
    finally:
        for name in own.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        ip("link", "del", own.bridge)
