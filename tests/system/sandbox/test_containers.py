"""What a command in a container sees and can do. Command lines against a stand-in; the rest with podman itself."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.system.sandbox import containers
from agent_fox.system.sandbox.bubblewrap import (
    Container,
    SandboxMissing,
    SandboxMode,
    container_in,
    is_used,
    kept_apart,
    mode_of,
)
from agent_fox.system.sandbox.view import View
from agent_fox.testing.worlds import wait_until
from tests.system.sandbox.images import image

STAND_IN = """#!/bin/sh
{ for word in "$@"; do printf '%s\\n' "$word"; done; echo ---; } >> "$(dirname "$0")/said"
exit 0
"""


@pytest.fixture
def view(tmp_path: Path) -> View:
    root, private = tmp_path / "work", tmp_path / "own"
    (root / ".git").mkdir(parents=True)
    (root / ".git/config").write_text("[core]\n\tbare = false\n[http]\n\textraheader = Authorization: secret\n")
    (private / "home").mkdir(parents=True)
    (tmp_path / "objects").mkdir()
    return View(root, root, private, private / "home", readable=(tmp_path / "objects",))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records the command lines of podman and docker and runs nothing: for what no test can find out by a container."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("podman", "docker"):
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "said"


def words_of(view: View, container: Container, environment: Mapping[str, str] | None = None) -> list[str]:
    with containers.contained(("do", "it"), view, container, environment or {}) as wrapped:
        return list(wrapped.argv)


@pytest.mark.parametrize("program", ["podman", "docker"])
def test_the_command_line_has_every_fence_and_nothing_that_leads_out(stand_in: Path, view: View, program: str) -> None:
    words = words_of(view, Container(program, "sha256:1", owner="L1"), {"WORD": "not on the line", "PATH": "/ours"})
    line = " ".join(words[words.index("run") :])
    for fence in (
        "--rm", "--pull never", "--cap-drop ALL", "--security-opt no-new-privileges", "--read-only", "--network none",
        f"--user {os.getuid()}:{os.getgid()}", "--label agent-fox.launch=L1", "--env WORD", f"--env HOME={view.home}",
        f"--mount type=bind,source={view.readable[0]},target={view.readable[0]},readonly",
        f"--mount type=bind,source={view.root},target={view.root} ",
        f"--mount type=bind,source={view.root}/.git,target={view.root}/.git,readonly",
    ):  # fmt: skip
        assert fence in line, fence
    for way_out in ("privileged", ".sock", "not on the line", "/ours", "host", "--device", "/etc", "--publish"):
        assert way_out not in line.replace("--hostname localhost", ""), way_out
    assert "WORD=not on the line" in words[: words.index("run")]
    removed = stand_in.read_text().split("---\n")[-2].split()
    assert removed[:2] == ["rm", "--force"]
    assert removed[-1] == words[words.index("--name") + 1]


def test_programs_of_the_workspace_stand_before_the_image_s_own(stand_in: Path, view: View) -> None:
    words = words_of(view, Container("podman", "sha256:1"), {"PATH": f"{view.root}/.venv/bin{os.pathsep}/ours"})
    entry = words[words.index("-c") : -2]
    shown = subprocess.run(
        ["/bin/sh", *entry, "/bin/sh", "-c", "echo $PATH"],
        env={"PATH": "/image"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"{view.root}/.venv/bin:/image\n"


def test_who_judges_may_write_nothing_and_a_path_that_no_mount_can_hold_is_refused(
    stand_in: Path, view: View, tmp_path: Path
) -> None:
    line = " ".join(words_of(replace(view, writable=()), Container("podman", "i")))
    assert f"target={view.root},readonly" in line
    (tmp_path / "a,b").mkdir()
    with pytest.raises(ValueError, match="comma"):
        words_of(replace(view, readable=(tmp_path / "a,b",)), Container("podman", "i"))


@pytest.mark.parametrize("container", [Container("podman", "sha256:1", True, "L"), Container("docker", "a/b:c", False)])
def test_a_container_in_an_order_is_read_as_it_was_written(container: Container) -> None:
    assert container_in(container.spelled()) == container
    assert mode_of(container.spelled()).owner == container.owner  # type: ignore[union-attr]


def test_a_mode_is_no_container_and_broken_words_are_neither() -> None:
    assert mode_of("auto") is SandboxMode.AUTO
    assert container_in("off") is None
    for text in ("podman x", "podman x ajar", "podman x open L more", "sometimes"):
        with pytest.raises(ValueError):
            mode_of(text)


def test_an_image_that_is_not_here_is_required_in_vain_and_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    containers.found.cache_clear()
    with pytest.raises(SandboxMissing, match="podman is not installed; install it"):
        is_used(Container("podman", "none"))
    containers.found.cache_clear()


@pytest.fixture(scope="module")
def made() -> str:
    name, why_not = image()
    if why_not:
        pytest.skip(why_not)
    return name


def ran(
    argv: tuple[str, ...], view: View, made: str, ports: tuple[int, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    with kept_apart(argv, view, Container("podman", made, owner="test"), environment, ports) as wrapped:
        done = subprocess.run(wrapped.argv, capture_output=True, text=True, check=False, timeout=120)
        assert wrapped.is_command_started(), done.stderr
    return done


LOOK = """
import json, os, pathlib, socket
def can(act):
    try:
        act()
    except OSError:
        return False
    return True
def reach(address):
    with socket.create_connection(address, 2): pass
me = pathlib.Path('/proc/self/status').read_text()
print(json.dumps({
    'image': can(lambda: open('/etc/image').read()),
    'work': can(lambda: open('made.txt', 'w').write('x')),
    'git': can(lambda: open('.git/config', 'a').write('x')),
    'config': open('.git/config').read(),
    'system': can(lambda: open('/usr/new', 'w')),
    'lent': can(lambda: open(os.environ['LENT'] + '/x', 'w')),
    'outside': can(lambda: os.listdir(os.environ['OUTSIDE'])),
    'network': can(lambda: reach(('1.1.1.1', 53))),
    'loopback': can(lambda: reach(('127.0.0.1', int(os.environ['PORT'])))),
    'capabilities': [line.split()[1] for line in me.splitlines() if line.startswith(('CapEff', 'CapBnd'))],
    'privileges': [line.split()[1] for line in me.splitlines() if line.startswith('NoNewPrivs')],
    'home': os.environ['HOME'], 'path': os.environ['PATH'], 'user': os.getuid(),
    'socket': [p for p in ('/run/podman/podman.sock', '/var/run/docker.sock') if os.path.exists(p)],
}))
"""


@contextmanager
def answering() -> Iterator[int]:
    class Hello(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello " * 100_000)

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()


def test_a_command_in_a_container_sees_its_workspace_and_the_image_and_nothing_else(view: View, made: str) -> None:
    with answering() as port:
        more = {"LENT": str(view.readable[0]), "OUTSIDE": str(Path(__file__).parent), "PORT": str(port)}
        done = ran(("python3", "-c", LOOK), view, made, (), **more)
    seen = json.loads(done.stdout or done.stderr)
    assert seen.pop("path").startswith("/usr/bin:")
    assert seen == {
        "image": True, "work": True, "git": False, "config": "[core]\n\tbare = false\n[http]\n", "system": False,
        "lent": False, "outside": False, "network": False, "loopback": False, "capabilities": ["0" * 16] * 2,
        "privileges": ["1"], "home": str(view.home), "user": os.getuid(), "socket": [],
    }  # fmt: skip
    assert (view.root / "made.txt").read_text() == "x"
    assert (view.root / "made.txt").stat().st_uid == os.getuid()


def test_ports_that_are_lent_are_reached_and_others_are_not(view: View, made: str) -> None:
    script = (
        "import sys, urllib.request as u\n"
        "print(len(u.urlopen(f'http://127.0.0.1:{sys.argv[1]}/').read()))\n"
        "try: u.urlopen(f'http://127.0.0.1:{sys.argv[2]}/', timeout=3)\n"
        "except OSError as e: print('refused' in str(e))\n"
    )
    with answering() as lent, answering() as other:
        done = ran(("python3", "-c", script, str(lent), str(other)), view, made, (lent,))
    assert done.stdout.split() == ["600000", "True"], done.stderr
    assert [path.name for path in view.private.iterdir()] == ["home"]


def test_the_exit_status_is_the_commands_own_and_one_that_is_not_there_was_not_found(view: View, made: str) -> None:
    assert ran(("sh", "-c", "exit 7"), view, made).returncode == 7
    assert ran(("no-such-program",), view, made).returncode == 127


def test_an_image_that_is_not_there_starts_nothing(view: View, made: str) -> None:
    with kept_apart(("true",), view, Container("podman", "localhost/none:1"), {}) as wrapped:
        assert subprocess.run(wrapped.argv, capture_output=True, check=False).returncode == 125
        assert not wrapped.is_command_started()


def test_what_a_killed_process_left_running_is_found_by_its_launch_and_removed(view: View, made: str) -> None:
    """As where an orchestrator was killed: nobody left the block, and its container goes on."""
    own = Container("podman", made, owner=f"killed-{os.getpid()}")
    code = (
        "import subprocess, sys; from pathlib import Path\n"
        "from agent_fox.system.sandbox.bubblewrap import kept_apart, mode_of\n"
        "from agent_fox.system.sandbox.view import View\n"
        "root, private = map(Path, sys.argv[2:])\n"
        "view = View(root, root, private, private / 'home')\n"
        "with kept_apart(('sh', '-c', 'echo > began; sleep 600'), view, mode_of(sys.argv[1]), {}) as wrapped:\n"
        "    subprocess.run(wrapped.argv)\n"
    )
    argv = [sys.executable, "-c", code, own.spelled(), str(view.root), str(view.private)]
    process = subprocess.Popen(argv, start_new_session=True)
    wait_until(lambda: (view.root / "began").exists(), "it had begun", 60)
    os.killpg(process.pid, 9)
    process.wait()
    assert containers.remove_of(own) == 1
    assert containers.remove_of(own) == 0
    time.sleep(0.1)
    left = subprocess.run(["pgrep", "-f", "sleep 600"], capture_output=True, text=True, check=False).stdout.split()
    assert not [pid for pid in left if own.owner in Path(f"/proc/{pid}/environ").read_text(errors="replace")]


def test_a_rootless_container_is_told_from_one_of_root(made: str) -> None:
    assert containers.is_of_root("podman") is (os.getuid() == 0)
    assert containers.found("podman", made).digest.startswith("sha256:")
