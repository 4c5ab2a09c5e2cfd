"""The system call filter for commands in the sandbox: what no build or test needs, and what could lead out.

It is a list of what is denied: a list of what is allowed would break the next version of the JVM, Go or Node.
`ptrace` stays allowed: it reaches only into the sandbox's own processes, and leak sanitizers need it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib
import socket
import tempfile
from collections.abc import Iterator
from types import ModuleType

DENIED = (
    *(
        "mount",
        "umount",
        "umount2",
        "pivot_root",
        "chroot",
        "move_mount",
        "open_tree",
        "mount_setattr",
        "open_tree_attr",
    ),
    *("fsopen", "fsconfig", "fsmount", "fspick", "unshare", "setns", "open_by_handle_at", "fanotify_init"),
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "lookup_dcookie"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module"),
    *("reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "nfsservctl", "uselib", "vhangup"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname"),
    *("ioperm", "iopl", "modify_ldt", "vm86", "vm86old", "_sysctl", "sysfs", "kcmp"),
)

NOT_THERE = ("clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Answered as if the kernel did not know them: libraries then take the older way, which can be looked into."""

NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""The CLONE_NEW… flags: mount, cgroup, uts, ipc, user, pid, net."""

TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: typing into the terminal of whoever started us."""

NETLINK, NETLINK_ROUTE = 16, 0
SOCKETS = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, NETLINK)
"""Of netlink only the part that lists network interfaces."""

SET_USER_ID, CREATING = 0o4000, 0o100
"""A mode bit that lets whoever runs a file become its owner, also outside of the sandbox; and the flag O_CREAT."""

WITH_MODE = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
OPENING = {"open": 1, "openat": 2}
"""Calls that give a file its mode, by the argument that holds it; for those that open, by the one with the flags."""

HIGHEST_FAMILY = 64
LOW_HALF = 0xFFFFFFFF
"""Of an argument of 64 bits, those that the kernel looks at for an `int`."""


@functools.cache
def program() -> bytes | None:
    """The filter as the kernel reads it, made once; None where the `sandbox` extra or libseccomp is missing."""
    library = _library()
    return None if library is None else _made(library)


def _library() -> ModuleType | None:
    try:
        return importlib.import_module("pyseccomp")  # a heavy optional extra: it searches for libseccomp when imported
    except (ImportError, OSError, RuntimeError):
        return None


def _made(library: ModuleType) -> bytes:
    filtering = library.SyscallFilter(library.ALLOW)
    for error, name, *conditions in _rules(library):
        with contextlib.suppress(OSError, ValueError):  # a call that this libseccomp has not heard of
            filtering.add_rule(library.ERRNO(error), name, *conditions)
    with tempfile.TemporaryFile() as file:
        filtering.export_bpf(file)
        file.seek(0)
        return file.read()


def _rules(
    library: ModuleType,
) -> Iterator[tuple[int, str] | tuple[int, str, object] | tuple[int, str, object, object]]:
    """(error, call, conditions that must all hold)."""
    condition = library.Arg
    yield from ((errno.EPERM, name) for name in DENIED)
    yield from ((errno.ENOSYS, name) for name in NOT_THERE)
    for flag in NEW_NAMESPACES:
        yield errno.EPERM, "clone", condition(0, library.MASKED_EQ, flag, flag)
    for request in TERMINAL_INPUT:
        yield errno.EPERM, "ioctl", condition(1, library.MASKED_EQ, LOW_HALF, request)
    for family in set(range(HIGHEST_FAMILY)) - set(SOCKETS):
        yield errno.EAFNOSUPPORT, "socket", condition(0, library.MASKED_EQ, LOW_HALF, family)
    for name, at in WITH_MODE.items():
        yield errno.EPERM, name, condition(at, library.MASKED_EQ, SET_USER_ID, SET_USER_ID)
    for name, at in OPENING.items():
        creating = condition(at, library.MASKED_EQ, CREATING, CREATING)
        yield errno.EPERM, name, creating, condition(at + 1, library.MASKED_EQ, SET_USER_ID, SET_USER_ID)
    other_netlink = condition(0, library.MASKED_EQ, LOW_HALF, NETLINK), condition(2, library.NE, NETLINK_ROUTE)
    yield errno.EAFNOSUPPORT, "socket", *other_netlink
