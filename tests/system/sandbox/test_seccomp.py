"""The system call filter: what leads out is refused, what builds need is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox import seccomp
from agent_fox.system.sandbox.bubblewrap import enclosed, why_missing
from agent_fox.system.sandbox.view import View

pytestmark = [
    pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox"),
    pytest.mark.skipif(seccomp.program() is None, reason="pyseccomp or libseccomp is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
]

CALL = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = libc.syscall(*map(int, sys.argv[1:]))
print(errno.errorcode[ctypes.get_errno()] if number == -1 else 'allowed')
"""
X86_64 = {"mount": 165, "unshare": 272, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323}
X86_64 |= {
    "ptrace": 101,
    "clone3": 435,
    "io_uring_setup": 425,
    "setns": 308,
    "init_module": 175,
    "open_by_handle_at": 304,
}


def answer(tmp_path: Path, *words: str) -> str:
    view = View(tmp_path, tmp_path, tmp_path, tmp_path, readable=(Path(sys.base_prefix), Path(sys.prefix)))
    with enclosed((sys.executable, "-I", "-S", "-c", *words), view) as command:
        return subprocess.run(command.argv, pass_fds=command.descriptors, capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif(Path("/proc/self/exe").exists() and sys.maxsize < 2**32, reason="numbers of 64 bits")
@pytest.mark.parametrize("name", ["mount", "unshare", "keyctl", "bpf", "perf_event_open", "userfaultfd", "setns"])
def test_calls_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    assert answer(tmp_path, CALL, str(X86_64[name]), *["0"] * 5) == "EPERM"


@pytest.mark.parametrize("name", ["clone3", "io_uring_setup"])
def test_calls_that_cannot_be_looked_into_seem_not_to_exist(tmp_path: Path, name: str) -> None:
    assert answer(tmp_path, CALL, str(X86_64[name]), *["0"] * 5) == "ENOSYS"


@pytest.mark.parametrize("flag", seccomp.NEW_NAMESPACES)
def test_no_namespace_is_made_by_clone(tmp_path: Path, flag: int) -> None:
    assert answer(tmp_path, CALL, "56", str(flag | 17), *["0"] * 4) == "EPERM"


def test_sockets_of_rare_families_are_refused_and_common_ones_are_not(tmp_path: Path) -> None:
    common, rare = [(1, 1, 0), (2, 1, 0), (10, 2, 0), (16, 3, 0)], [(16, 3, 12), (17, 3, 0), (38, 5, 0), (40, 1, 0)]
    code = (
        "import socket\n"
        f"for family, kind, protocol in {common + rare}:\n"
        "    try: socket.socket(family, kind, protocol); print('yes')\n"
        "    except OSError as error: print(error.errno)\n"
    )
    assert answer(tmp_path, code).split() == ["yes"] * 4 + ["97"] * 4


def test_typing_into_a_terminal_is_refused(tmp_path: Path) -> None:
    code = (
        "import fcntl, os, pty\n"
        "_, terminal = pty.openpty()\n"
        "try: fcntl.ioctl(terminal, 0x5412, b'x'); print('typed')\n"
        "except PermissionError: print('refused')\n"
    )
    assert answer(tmp_path, code) == "refused"


def test_threads_and_processes_work(tmp_path: Path) -> None:
    code = (
        "import subprocess, threading\n"
        "thread = threading.Thread(target=lambda: print(subprocess.run(['echo', 'fine']).returncode))\n"
        "thread.start(); thread.join()\n"
    )
    assert answer(tmp_path, code).split() == ["fine", "0"]


SET_USER_ID = """
import os, sys
how = sys.argv[1]
try:
    if how == "open":
        os.close(os.open("made", os.O_CREAT | os.O_WRONLY, 0o4755))
    elif how == "fchmod":
        os.fchmod(os.open("made", os.O_CREAT | os.O_WRONLY), 0o4755)
    else:
        open("made", "w").close()
        os.chmod("made", 0o4755)
    print("allowed")
except PermissionError:
    print("refused")
"""


@pytest.mark.parametrize("how", ["chmod", "fchmod", "open"])
def test_no_file_that_makes_its_owner_of_whoever_runs_it_is_left_in_a_workspace(tmp_path: Path, how: str) -> None:
    assert answer(tmp_path, SET_USER_ID, how) == "refused"
    assert not any(path.stat().st_mode & 0o4000 for path in tmp_path.iterdir())


def test_other_modes_of_files_and_folders_are_set_as_ever(tmp_path: Path) -> None:
    code = (
        "import os; os.mkdir('d'); os.chmod('d', 0o2775); open('f', 'w').close(); os.chmod('f', 0o755); print('done')"
    )
    assert answer(tmp_path, code) == "done"
