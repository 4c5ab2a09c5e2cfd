"""Listening sockets inside of a container: `python doorway.py DESCRIPTOR PID PORT...`.

It enters the network of process PID, opens the ports on the loopback there, sends the sockets over DESCRIPTOR (a Unix
socket), and ends: a socket stays in the network that it was opened in, whoever holds it. A process of its own, since
only one with a single thread may enter the users of another; it loads the standard library alone.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
LOOPBACK = "127.0.0.1"


def enter(pid: int) -> None:
    """Be in the network of another process, and among its users where they are not ours. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    spaces = [("net", CLONE_NEWNET)]
    if not os.path.samefile(f"/proc/{pid}/ns/user", "/proc/self/ns/user"):  # noqa: PTH121 - pathlib loads slowly
        spaces.insert(0, ("user", CLONE_NEWUSER))
    opened = [(kind, os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)) for name, kind in spaces]
    for kind, descriptor in opened:
        if library.setns(descriptor, kind):
            raise OSError(ctypes.get_errno(), "the container's network cannot be entered")


def main(descriptor: str, pid: str, *ports: str) -> None:
    enter(int(pid))
    doors = [socket.create_server((LOOPBACK, int(port))) for port in ports]
    with socket.socket(fileno=int(descriptor)) as line:
        socket.send_fds(line, [b"x"], [door.fileno() for door in doors])


if __name__ == "__main__":
    main(*sys.argv[1:])
