"""What a command in the sandbox tries against the machine, the person's git and ourselves: all of it in one start.

Each attack is a piece of Python that runs in a process of its own; what it says, or how it was refused, is compared
with what must come of it. Ids of system calls are those of x86-64, where they are not asked for by name.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.system import git, programs
from agent_fox.system.files import remove_tree
from agent_fox.system.sandbox import seccomp
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.system.sandbox.view import View, folders_of, without_secrets
from agent_fox.verifier.source.scope import SourceScope
from agent_fox.verifier.source.watch import changed, read_tree
from tests.verifier.commands_at_work import PYTHON, Workspace

pytestmark = [
    pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox"),
    pytest.mark.skipif(seccomp.program() is None, reason="pyseccomp or libseccomp is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="ids of system calls are those of x86-64"),
]

TOKEN = "t0ken-of-the-person"
KEY = 0x51AFF0C5

DRIVER = """
import ctypes, errno, json, mmap, os, signal, socket, stat, struct, sys
given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *words):
    ctypes.set_errno(0)
    libc.syscall.restype = ctypes.c_long
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(w) if isinstance(w, int) else w for w in words])
    return errno.errorcode[ctypes.get_errno()] if answer == -1 else "done"

def put(path, text="planted"):
    with open(path, "a") as file:
        file.write(text)
    return "done"

told = {}
for name, code in given["attacks"].items():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        names = {**globals(), "said": "done"}
        try:
            exec(code, names)
            said = names["said"]
        except OSError as error:
            said = errno.errorcode.get(error.errno, str(error))
        except Exception as error:
            said = type(error).__name__
        os.write(writing, str(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read().decode()
    ended = os.waitpid(child, 0)[1]
    told[name] = signal.Signals(os.WTERMSIG(ended)).name if os.WIFSIGNALED(ended) else said
print(json.dumps(told))
"""

READ_ONLY, BUSY, NO, GONE = "EROFS", "EBUSY", "EPERM", "ENOENT"

ATTACKS: dict[str, tuple[str, str | tuple[str, ...]]] = {
    # git of the person, which runs what its settings name
    "lead a submodule to settings of its own": ("put('sub/.git')", READ_ONLY),
    "put another file in the place of a submodule's": ("put('x'); os.rename('x', 'sub/.git')", (BUSY, "EXDEV")),
    "remove what leads to a submodule": ("os.unlink('sub/.git')", (BUSY, READ_ONLY)),
    "move a submodule away": ("os.rename('sub', 'moved')", BUSY),
    "move the folder of a submodule away": ("os.rename('libs', 'moved')", BUSY),
    "write into git's folder of a submodule": ("put('.git/modules/sub/config')", (READ_ONLY, "EACCES")),
    "write a hook of a submodule": ("put('.git/modules/libs/deep/hooks/post-checkout')", READ_ONLY),
    "write into a submodule's own git": ("put('old/.git/config')", (READ_ONLY, "EACCES")),
    "plant a repository where a submodule is to be": ("os.mkdir('empty/.git')", READ_ONLY),
    "take the place of an empty submodule": ("os.rename('empty', 'moved')", BUSY),
    "write the index": ("put('.git/index')", READ_ONLY),
    "link git's settings into the workspace": ("os.link('.git/config', 'mine'); put('mine')", "EXDEV"),
    "borrow objects from elsewhere": ("put('.git/objects/info/alternates')", (READ_ONLY, GONE)),
    "read a token in any settings of git": (
        "said = [os.path.join(at, n) for at, _, names in os.walk('.') for n in names"
        " if given['token'] in open(os.path.join(at, n), errors='replace').read()]",
        "[]",
    ),
    # ourselves
    "change our own program": ("put('.venv/lib/agent_fox.py')", READ_ONLY),
    "put a program beside ours": ("put('.venv/bin/git')", READ_ONLY),
    "move our installation away": ("os.rename('.venv', 'moved')", BUSY),
    "move the workspace away": ("os.rename(os.getcwd(), os.getcwd() + '2')", (BUSY, READ_ONLY)),
    # files that give their owner's rights away
    "openat2 with set-user-id": (
        "how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o4755, 0)\n"
        "said = call(437, -100, ctypes.c_char_p(b's1'), ctypes.c_char_p(how), 24)",
        "ENOSYS",
    ),
    "creat with set-user-id": ("said = call(85, ctypes.c_char_p(b's2'), 0o4755)", NO),
    "mknod with set-user-id": ("said = call(133, ctypes.c_char_p(b's3'), stat.S_IFREG | 0o4755, 0)", NO),
    "fchmodat2 with set-user-id": (
        "put('s4'); said = call(452, -100, ctypes.c_char_p(b's4'), 0o4755, 0)",
        (NO, "ENOSYS"),
    ),
    "capabilities of a file": (
        "put('s5'); os.setxattr('s5', 'security.capability', struct.pack('<IIIII', 0x2000001, 1 << 7, 0, 0, 0))",
        (NO, "ENOTSUP"),
    ),
    "a device of blocks": ("os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))", NO),
    "a device of the memory": ("os.mknod('memory', stat.S_IFCHR | 0o600, os.makedev(1, 1))", NO),
    # round the filter
    "calls of 32 bits": (
        "code = mmap.mmap(-1, 4096, prot=7)\n"
        "code.write(bytes.fromhex('b80f000000cd80c3'))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()",
        ("SIGSYS", "SIGSEGV"),
    ),
    "calls of x32": ("said = call(0x40000000 | 90, ctypes.c_char_p(b'.'), 0o4755)", ("SIGSYS", "ENOSYS")),
    "every call that leads out": (
        "said = sorted({name for name, number in given['denied'].items() if call(number, 0, 0, 0, 0, 0) != 'EPERM'})",
        "[]",
    ),
    # the machine
    "an abstract socket of the machine": (
        "socket.socket(socket.AF_UNIX).connect('\\0' + given['abstract'])",
        "ECONNREFUSED",
    ),
    "shared memory of the machine": ("said = call(29, given['key'], 0, 0)", GONE),
    "a raw socket": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", NO),
    "an address of its own": (
        "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n"
        "local = struct.pack('HH4s', 8, 2, b'\\x0a\\0\\0\\1')\n"
        "s.send(struct.pack('IHHIIBBBBI8s', 32, 20, 0x605, 1, 0, 2, 24, 0, 0, 1, local))\n"
        "said = errno.errorcode[-struct.unpack('i', s.recv(4096)[16:20])[0]]",
        NO,
    ),
    "a file in the folder of devices": ("put('/dev/mine')", READ_ONLY),
    "memory that looks like a disk, and more than a gibibyte of it": (
        "said = all(os.statvfs(at).f_blocks * os.statvfs(at).f_frsize <= 1 << 30 for at in ('/dev/shm', '/tmp'))",
        "True",
    ),
    "disks, memory and terminals of the machine": (
        "kinds = ('sd', 'vd', 'nvme', 'loop', 'mem', 'kmsg', 'kvm', 'fuse')\n"
        "said = [name for name in os.listdir('/dev') if name.startswith(kinds)]",
        "[]",
    ),
    "control groups and devices of the kernel": ("said = os.path.exists('/sys') and os.listdir('/sys')", "False"),
    "the person's files through another process": (
        "places = (f'/proc/{name}/root{given[\"secret\"]}' for name in os.listdir('/proc') if name.isdigit())\n"
        "said = [place for place in places if os.path.exists(place)]",
        "[]",
    ),
    "a program of the system": ("os.link('/usr/bin/env', 'env')", ("EXDEV", NO)),
    "the system remounted": ("said = call(165, 0, ctypes.c_char_p(b'/'), 0, 32 | 4096, 0)", NO),
    "core files": ("import resource; resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))", "ValueError"),
    "priority over others": ("os.setpriority(os.PRIO_PROCESS, 0, -20)", (NO, "EACCES")),
    "the terminal of whoever started it": ("os.open('/dev/tty', os.O_RDWR)", "ENXIO"),
    "signals to us": ("os.kill(given['us'], 0)", "ESRCH"),
}  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """The workspace, and what each attack came to."""

    root: Path
    said: dict[str, str]


def person(at: Path, *words: str) -> str:
    """The person's git, with all that their settings let it do."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *settings, *words], cwd=at, check=True, capture_output=True, text=True).stdout


def checkout(base: Path) -> Path:
    """A checkout with four submodules: one, one in a folder, one that is not checked out, one with its own git."""
    person(base, "init", "-q", "-b", "main", "part")
    person(base / "part", "commit", "-q", "--allow-empty", "-m", "a part")
    person(base, "init", "-q", "-b", "main", "work")
    root = base / "work"
    for place in ("sub", "libs/deep", "empty", "old"):
        person(root, "submodule", "--quiet", "add", str(base / "part"), place)
    person(root, "commit", "-qm", "its parts")
    person(root, "submodule", "--quiet", "deinit", "-f", "empty")
    (root / "old/.git").unlink()
    (root / ".git/modules/old").rename(root / "old/.git")
    subprocess.run(["git", "config", "--file", str(root / "old/.git/config"), "--unset", "core.worktree"], check=True)
    for place in (".git", ".git/modules/sub", ".git/modules/libs/deep", "old/.git"):
        with (root / place / "config").open("a") as file:
            file.write(f'[http "https://example.org/"]\n\textraheader = AUTHORIZATION: \\\n  {TOKEN}\n')
    (root / ".git/config.worktree").write_text(f"[sendemail] smtpPass = {TOKEN}\n")
    for name in (".venv/bin/python", ".venv/lib/agent_fox.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    base = tmp_path_factory.mktemp("attacked").resolve()
    workspace = Workspace(checkout(base), base / "beside")
    workspace.beside.mkdir()
    (base / "secret").write_text(TOKEN)
    name = f"agent-fox-{os.getpid()}"
    given = {
        "attacks": {name: code for name, (code, _) in ATTACKS.items()}, "denied": numbers(), "token": TOKEN,
        "secret": str(base / "secret"), "us": os.getpid(), "key": KEY, "abstract": name,
    }  # fmt: skip
    memory = ctypes.CDLL(None).shmget(KEY, 4096, 0o1600)
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as abstract:
        patch.setattr(sys, "prefix", str(workspace.root / ".venv"))
        abstract.bind(f"\0{name}")
        abstract.listen()
        end, output = workspace.run(workspace.order(*PYTHON, DRIVER, json.dumps(given)), SandboxMode.REQUIRE)
    ctypes.CDLL(None).shmctl(memory, 0, None)
    assert end.exit_code == 0, output
    return Tried(workspace.root, json.loads(output.splitlines()[-1]))


def numbers() -> dict[str, int]:
    """The denied calls that there are on this machine."""
    library = importlib.import_module("pyseccomp")
    found = {name: library.resolve_syscall(library.Arch.NATIVE, name) for name in seccomp.DENIED}
    return {name: number for name, number in found.items() if number >= 0}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_a_command_tries_comes_to_nothing(tried: Tried, name: str) -> None:
    wanted = ATTACKS[name][1]
    assert tried.said[name] in ((wanted,) if isinstance(wanted, str) else wanted)


def test_the_workspace_is_left_as_it_was_but_for_what_may_be_written(tried: Tried) -> None:
    assert person(tried.root, "status", "--short", "--ignore-submodules=none").split("\n")[:-1] == [
        *(f"?? {name}" for name in (".venv/", "s4", "s5", "x"))
    ]
    assert [path.name for path in tried.root.rglob("*") if path.is_file() and path.stat().st_mode & 0o6000] == []


def test_a_program_that_the_project_holds_is_never_taken_for_the_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment that lies in the project stands first on PATH where it is active, and commands write there."""
    person(tmp_path, "init", "-q", "work")
    root, ran = tmp_path / "work", tmp_path / "ran"
    (root / ".venv/bin").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(root / ".venv/bin")
    for name in ("git", "bwrap", "podman", "gh", "env"):
        (root / ".venv/bin" / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\nexit 0\n")
        (root / ".venv/bin" / name).chmod(0o755)
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(root / ".venv/bin"), str(tmp_path / "linked"), ".", os.environ["PATH"]])
    )
    workspace = Workspace(root, tmp_path)
    assert git.call(root, "rev-parse", "--is-inside-work-tree").text == "true"
    assert workspace.shell("command -v git", SandboxMode.REQUIRE)[1].strip() == str(root / ".venv/bin/git")
    monkeypatch.chdir(root)
    assert not ran.exists()
    for name in ("git", "bwrap", "podman", "gh", "env"):
        assert not str(programs.of_the_machine(name)).startswith(str(tmp_path))
    assert programs.machine_path(among=str(root / ".venv/bin")) == os.defpath


def test_a_home_that_is_a_checkout_and_folders_beside_one_keep_their_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person(tmp_path, "init", "-q", ".")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin")
    monkeypatch.chdir(tmp_path)
    assert programs.machine_path() == f"{tmp_path}/bin:/usr/bin"
    person(tmp_path, "init", "-q", "work")
    monkeypatch.chdir(tmp_path / "work")
    assert programs.machine_path() == f"{tmp_path}/bin:/usr/bin"
    assert programs.machine_path(among=f"{tmp_path}/work/bin:/usr/bin") == "/usr/bin"


@pytest.mark.parametrize(
    "config",
    [
        f'[http "https://example.org/"]\n\textraheader = AUTHORIZATION: \\\n  basic {TOKEN}\n',
        f'[http "https://example.org/"] extraHeader = AUTHORIZATION: {TOKEN}\n',
        f'[http "a]b"] extraheader={TOKEN}\n',
        f"[sendemail]\n\tsmtpPass = {TOKEN}\n",
        f"[imap]\n\tpass = {TOKEN}\n",
        f"[gitlab]\n\tapiKey={TOKEN}\n",
        f"[oauth]\r\n\tclientSecret = \\\r\n\t{TOKEN}\r\n",
        f'[url "https://me:{TOKEN}@example.org/"]\n\tinsteadOf = https://example.org/\n',
        f"[http]\n\tproxy = http://me:{TOKEN}@proxy.example.org:3128\n",
    ],
)  # fmt: skip
def test_a_token_is_cut_out_of_settings_in_every_form_that_git_reads(config: str) -> None:
    cut = without_secrets(f"[core]\n\tbare = false\n{config}[user]\n\tname = a\n")
    assert TOKEN not in cut
    assert cut.startswith("[core]\n\tbare = false\n[")
    assert cut.endswith("[user]\n\tname = a\n")


def test_around_what_may_not_be_changed_no_folder_can_be_put_in_anothers_place(tmp_path: Path) -> None:
    """A folder that holds a mount can be renamed, and its place be taken; one that is a mount cannot."""
    for name in ("root/a/b/node_modules", "root/c", "own"):
        (tmp_path / name).mkdir(parents=True)
    root, own, held = tmp_path / "root", tmp_path / "own", tmp_path / "root/a/b/node_modules"
    how = folders_of(View(root, root, own, own, kept=(held,)))
    assert how == {root: "--bind", root / "a": "--bind", root / "a/b": "--bind", held: "--ro-bind", own: "--bind"}
    only = folders_of(View(root, root, own, own, writable=(root / "a/b",), kept=(held,)))
    assert only == {root: "--ro-bind", root / "a/b": "--bind", held: "--ro-bind", own: "--bind"}


def test_what_is_left_behind_neither_holds_nor_breaks_whoever_looks_at_it(tmp_path: Path) -> None:
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_text("x = 1\n")
    before = read_tree(root, SourceScope())
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as left:
        patch.chdir(root)
        left.bind("socket")
        os.mkfifo("pipe")
        for name in (
            "-rf",
            "--upload-pack=x",
            "a\nb",
            "c\x1b[2J",
            b"\xff\xfe".decode("utf-8", "surrogateescape"),
            "d" * 255,
        ):
            Path(name).write_text("")
        Path("endless").symlink_to("endless")
        for _ in range(1500):
            Path("deep").mkdir()
            os.chdir("deep")
    shown = {change.shown for change in changed(before, read_tree(root, SourceScope(), before))}
    unreadable = {name for name in shown if name.startswith("deep/deep/") and name.endswith("/")}
    assert len(unreadable) == 1
    odd = {"--upload-pack=x", "-rf", "a\\nb", "c\\x1b[2J", "d" * 255, "endless", "pipe", "socket", "\\xff\\xfe"}
    assert shown - unreadable == odd
    remove_tree(root)
    assert not root.exists()
