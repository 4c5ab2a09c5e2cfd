"""Code of a repository that means harm: what it reaches, what it leaves behind, and what is said about it."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.system.cgroups import places
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.testing.worlds import wait_until
from agent_fox.verifier.running.limits import Limits
from tests.verifier.commands_at_work import (
    PYTHON,
    Workspace,
    alive_with,
    both_ways,
    needs_proc,
    needs_sandbox,
    workspace,
)

__all__ = ["workspace"]
REQUIRE, OFF = SandboxMode.REQUIRE, SandboxMode.OFF

bounded = {place.resource.controller for place in places()}
needs_process_groups = pytest.mark.skipif(
    "pids" not in bounded, reason="no control group for processes can be made here"
)
needs_memory_groups = pytest.mark.skipif("memory" not in bounded, reason="no control group for memory can be made here")

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[2], 'w').write('up'); time.sleep(300)
    os._exit(0)
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
"""
LISTEN = "import socket, sys; s = socket.create_connection(('127.0.0.1', {port}), 2); print('reached')"


@pytest.fixture
def mark() -> str:
    """A word in the command line of every process of one test, so that what is left of them can be found."""
    return f"mark-{uuid.uuid4().hex}"


@needs_process_groups
@both_ways
def test_a_fork_bomb_ends_and_is_told(workspace: Workspace, mode: SandboxMode, mark: str) -> None:
    bomb = "import os, sys, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.05)"
    order = workspace.order(*PYTHON, bomb, mark, limits=Limits(2.0, 10_000, processes=60))
    end, _ = workspace.run(order, mode)
    assert (end.process_limit_hit, end.timed_out) == (True, True)
    assert not alive_with(mark)


@needs_memory_groups
@both_ways
def test_a_command_that_takes_too_much_memory_is_killed_and_told(workspace: Workspace, mode: SandboxMode) -> None:
    end, output = workspace.python("x = bytearray(300 << 20); print(len(x))", mode, Limits(20.0, 10_000, 100 << 20))
    assert end.out_of_memory
    assert end.signal == signal.SIGKILL
    assert output == ""


@needs_memory_groups
@needs_sandbox
def test_files_in_the_temporary_folder_of_the_sandbox_are_memory_and_bounded(workspace: Workspace) -> None:
    end, _ = workspace.shell("dd if=/dev/zero of=/tmp/x bs=1M count=300 2>&1", REQUIRE, Limits(20.0, 10_000, 64 << 20))
    assert end.out_of_memory


@both_ways
def test_gigabytes_of_output_fill_neither_memory_nor_disk(workspace: Workspace, mode: SandboxMode) -> None:
    order = workspace.order("sh", "-c", "yes 'out of hand' | head -c 10000000000", limits=Limits(3.0, 200_000))
    tracemalloc.start()
    end, output = workspace.run(order, mode)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert end.output_bytes > 100_000_000
    assert len(output) < 200_100
    assert end.left_out >= end.output_bytes - 200_000
    assert most < 8 << 20


@needs_proc
@both_ways
def test_a_daemon_left_behind_is_found_and_killed(workspace: Workspace, mode: SandboxMode, mark: str) -> None:
    end, _ = workspace.run(workspace.order(*PYTHON, DAEMON, mark, "up"), mode)
    assert end.exit_code == 0
    assert (workspace.root / "up").exists()
    assert not alive_with(mark)
    assert end.leftovers == (1 if mode is OFF else 0)


@needs_proc
@both_ways
def test_an_orphan_that_holds_the_output_open_does_not_hold_us(
    workspace: Workspace, mode: SandboxMode, mark: str
) -> None:
    began = time.monotonic()
    end, output = workspace.shell(f"(sleep 300; : {mark}) & echo done", mode)
    assert (end.exit_code, output) == (0, "done\n")
    assert time.monotonic() - began < 10
    assert not alive_with(mark)


@needs_proc
@both_ways
def test_cancelling_in_the_middle_leaves_nothing(workspace: Workspace, mode: SandboxMode, mark: str) -> None:
    order = workspace.order(*PYTHON, DAEMON + "\nwhile True: time.sleep(1)", mark, "up")
    threading.Timer(1.0, workspace.stop.set).start()
    end, _ = workspace.run(order, mode)
    assert (end.cancelled, end.timed_out, end.exit_code, end.start_error) == (True, False, None, "")
    assert (workspace.root / "up").exists()
    assert not alive_with(mark)


US = """
import sys, threading
from pathlib import Path
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.running.guarded import CommandOrder, run_command
from agent_fox.verifier.running.limits import Limits
root, private, mode, *argv = sys.argv[1:]
order = CommandOrder(tuple(argv), Path(root), Path(root), Path(private), {}, Limits(60.0, 1000, 1 << 30, 100))
run_command(order, sys.stdout.buffer, SandboxMode(mode), threading.Event())
"""


@needs_proc
@both_ways
def test_our_own_sudden_death_leaves_nothing(workspace: Workspace, mode: SandboxMode, mark: str) -> None:
    order = workspace.order(*PYTHON, DAEMON + "\nwhile True: time.sleep(1)", mark, "up")
    words = [sys.executable, "-c", US, str(order.root), str(order.private), mode, *order.argv]
    with subprocess.Popen(words, cwd=Path(__file__).resolve().parents[2]) as us:
        wait_until((workspace.root / "up").exists, "the daemon was up")
        groups = groups_of(us.pid)
        us.kill()
    assert bool(groups) == bool(places())
    wait_until(lambda: not alive_with(mark), "the daemon was gone")
    wait_until(lambda: not any(folder.exists() for folder in groups), "the groups were gone")


def groups_of(pid: int) -> set[Path]:
    """The control groups of a process's command: those that name it, or one of its children, as their maker."""
    makers = [str(pid), *children_of(pid)]
    return {folder for place in places() for maker in makers for folder in place.folder.glob(f"agent-fox-{maker}-*")}


def children_of(pid: int) -> list[str]:
    """The process ids below a process, as /proc has them."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [*below, *(deeper for child in below for deeper in children_of(int(child)))]


@needs_proc
@both_ways
def test_a_command_that_kills_all_it_can_see_harms_neither_us_nor_the_watch(
    workspace: Workspace, mode: SandboxMode, mark: str
) -> None:
    code = (
        "import os, sys\n"
        "if os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(300)\n"
        "os.kill(os.getppid(), 9)\n"
        "import time; time.sleep(1)\n"
    )
    end, _ = workspace.run(workspace.order(*PYTHON, code, mark, limits=Limits(5.0, 1000)), mode)
    assert not alive_with(mark)
    if mode is OFF:
        assert (end.exit_code, end.start_error) == (None, "the command ended the process that watched it")
    else:
        assert (end.exit_code, end.start_error) == (0, "")


@needs_sandbox
def test_in_the_sandbox_nobody_else_can_be_seen_or_killed(workspace: Workspace) -> None:
    _, output = workspace.shell("ls /proc | grep -c '^[0-9]'; kill -9 -1; echo $?", REQUIRE)
    seen, _, _ = output.partition("\n")
    assert int(seen) < 8


@needs_sandbox
def test_in_the_sandbox_the_machines_users_and_keys_are_not_there(workspace: Workspace) -> None:
    _, output = workspace.shell("cut -d: -f1 /etc/passwd; ls /etc/shadow /etc/ssh /etc/ssl/private 2>&1", REQUIRE)
    names, missing = output.splitlines()[:2], output.splitlines()[2:]
    assert names[1] == "nobody"
    assert len(missing) == 3
    assert all("No such file" in line for line in missing)


@needs_sandbox
def test_in_the_sandbox_a_token_in_the_persons_home_is_not_there(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    secrets = [".netrc", ".npmrc", ".cargo/credentials.toml", ".m2/settings.xml", ".config/gh/hosts.yml", ".ssh/id"]
    for name in (*secrets, ".cargo/registry/index", ".m2/repository/a.jar", "bin/tool"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("s3cr3t")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/bin:{home}/.config/gh:{os.environ['PATH']}")
    monkeypatch.delenv("CARGO_HOME", raising=False)
    _, output = workspace.shell(f"find {home} ~ -type f | sed 's,.*/home/,,' | sort -u", REQUIRE)
    assert output.splitlines() == [".cargo/registry/index", ".m2/repository/a.jar", "bin/tool"]


@needs_sandbox
def test_in_the_sandbox_no_socket_of_the_machine_is_reached(workspace: Workspace, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        place = Path("/tmp") / f"agent-fox-{uuid.uuid4().hex}"
        unix.bind(str(place))
        unix.listen()
        code = LISTEN.format(port=tcp.getsockname()[1])
        assert "reached" in workspace.python(code, OFF)[1]
        _, over_tcp = workspace.python(code, REQUIRE)
        over_unix = f"import socket; socket.socket(socket.AF_UNIX).connect({str(place)!r}); print('reached')"
        assert "reached" in workspace.python(over_unix, OFF)[1]
        _, over_unix_inside = workspace.python(over_unix, REQUIRE)
        place.unlink()
    assert "ConnectionRefusedError" in over_tcp
    assert "FileNotFoundError" in over_unix_inside


@needs_sandbox
def test_in_the_sandbox_no_name_is_looked_up_and_no_packet_leaves(workspace: Workspace) -> None:
    code = (
        "import socket\n"
        "for ask in (lambda: socket.getaddrinfo('example.org', 80),\n"
        "            lambda: socket.create_connection(('192.0.2.1', 80), 2),\n"
        "            lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))):\n"
        "    try: ask(); print('reached')\n"
        "    except OSError as error: print('no')\n"
    )
    assert workspace.python(code, REQUIRE)[1] == "no\nno\nno\n"


@needs_sandbox
def test_in_the_sandbox_servers_on_its_own_loopback_work(workspace: Workspace) -> None:
    code = (
        "import socket\n"
        "s = socket.create_server(('localhost', 0)); socket.create_connection(s.getsockname(), 2); print('reached')"
    )
    assert workspace.python(code, REQUIRE)[1] == "reached\n"


@needs_sandbox
def test_in_the_sandbox_nothing_outside_the_workspace_is_written(workspace: Workspace, tmp_path: Path) -> None:
    outside = [tmp_path / "stolen", Path("/tmp/agent-fox-stolen"), Path.home() / "agent-fox-stolen"]
    attempts = [f"echo x > {shlex.quote(str(path))}" for path in (*outside, Path("/usr/stolen"), Path("/etc/passwd"))]
    workspace.shell("; ".join(f"({attempt})" for attempt in [*attempts, "echo x > inside"]), REQUIRE)
    assert not any(path.exists() for path in outside)
    assert (workspace.root / "inside").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside", "work"]


@needs_sandbox
def test_in_the_sandbox_only_the_folders_that_may_be_written_are(workspace: Workspace) -> None:
    order = workspace.order("sh", "-c", "echo x > target/made; echo x > source; mkdir elsewhere")
    end, _ = workspace.run(replace(order, writable=(workspace.root / "target",)), REQUIRE)
    assert end.exit_code != 0
    assert sorted(str(path.relative_to(workspace.root)) for path in workspace.root.rglob("*")) == [
        "target",
        "target/made",
    ]


@needs_sandbox
def test_in_the_sandbox_git_is_read_but_not_changed_and_shows_no_token(workspace: Workspace) -> None:
    git = ["git", "-C", str(workspace.root)]
    subprocess.run([*git, "init", "-q"], check=True)
    header = "AUTHORIZATION: basic c2VjcmV0"
    subprocess.run([*git, "config", "http.https://github.com/.extraheader", header], check=True)
    subprocess.run([*git, "remote", "add", "origin", "https://me:t0ken@example.org/a.git"], check=True)
    before = (workspace.root / ".git/config").read_bytes()
    attempts = "echo x >> .git/config; echo x > .git/hooks/pre-commit; rm -rf .git; mv .git other"
    end, output = workspace.shell(f"git config --list; cat .git/config; git status --short; ({attempts}) 2>&1", REQUIRE)
    assert end.exit_code != 0
    assert "remote.origin.url=https://example.org/a.git" in output
    assert "c2VjcmV0" not in output
    assert "t0ken" not in output
    assert (workspace.root / ".git/config").read_bytes() == before
    assert not (workspace.root / ".git/hooks/pre-commit").exists()


@needs_sandbox
def test_a_link_out_of_the_workspace_shows_nothing_in_the_sandbox(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cr3t")
    (workspace.root / "link").symlink_to(tmp_path / "token")
    (workspace.root / ".venv").symlink_to(tmp_path)
    assert "s3cr3t" not in workspace.shell("cat link .venv/token 2>&1", REQUIRE)[1]
