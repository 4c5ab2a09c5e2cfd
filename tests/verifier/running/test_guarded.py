"""One command with its guards: what it gets, what is kept of what it prints, and how its end is told."""

from __future__ import annotations

import io
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.running.guarded import CommandEnd, OutsideWorkspace, Slots, environment_of, run_command
from agent_fox.verifier.running.limits import Limits
from tests.verifier.commands_at_work import PYTHON, Workspace, both_ways, needs_sandbox, workspace

__all__ = ["workspace"]
OFF = SandboxMode.OFF


@both_ways
def test_exit_code_output_and_times_are_told(workspace: Workspace, mode: SandboxMode) -> None:
    end, output = workspace.shell("echo out; echo err >&2; echo more; exit 7", mode)
    assert output == "out\nerr\nmore\n"
    assert (end.exit_code, end.signal, end.timed_out, end.cancelled, end.start_error) == (7, None, False, False, "")
    assert (end.output_bytes, end.left_out) == (13, 0)
    assert 0 < end.seconds < 30
    assert end.started_at < end.completed_at
    assert end.started_at.endswith("+00:00")


@both_ways
def test_a_signal_is_told_from_an_exit(workspace: Workspace, mode: SandboxMode) -> None:
    assert workspace.shell("kill -9 $$", mode)[0].signal == 9
    assert workspace.shell("exit 9", mode)[0].signal is None


@both_ways
def test_standard_input_is_closed_and_no_file_of_ours_is_open(workspace: Workspace, mode: SandboxMode) -> None:
    code = "import os, sys; print(repr(sys.stdin.read()), [n for n in range(3, 256) if os.path.exists(f'/dev/fd/{n}')])"
    _, output = workspace.python(code, mode)
    assert output == "'' []\n"


@both_ways
def test_the_environment_is_made_from_nothing(
    workspace: Workspace, mode: SandboxMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-builds")
    order = replace(workspace.order("env"), environment={"GREETING": "hello"})
    lines = workspace.run(order, mode)[1].splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert "GREETING=hello" in lines
    assert f"HOME={order.private}/home" in lines
    assert names <= {*environment_of(order.private, {}), "GREETING", "AGENT_FOX_COMMAND", "PWD"}
    assert not any("not-for-builds" in line for line in lines)


@both_ways
def test_home_and_temporary_folder_are_its_own(workspace: Workspace, mode: SandboxMode) -> None:
    order = workspace.order("sh", "-c", "echo kept > ~/mine && mktemp >/dev/null && echo fine")
    assert workspace.run(order, mode)[1] == "fine\n"
    left = [*(order.private / "home").glob("mine"), *(order.private / "tmp").iterdir()]
    assert len(left) == (2 if mode is OFF else 0)


@needs_sandbox
def test_in_the_sandbox_home_and_temporary_folder_are_as_small_as_tmp(workspace: Workspace) -> None:
    order = workspace.order("sh", "-c", "df -Pk ~ $TMPDIR /tmp | tail -n +2 | awk '{print $2}'")
    assert workspace.run(order, SandboxMode.REQUIRE)[1].split() == ["1048576"] * 3


@pytest.mark.parametrize("argv", [("no-such-tool",), ("./not-executable",), ("./folder",), (), ("echo", "a\0b"), ("",)])
@both_ways
def test_what_cannot_be_started_says_why(workspace: Workspace, mode: SandboxMode, argv: tuple[str, ...]) -> None:
    (workspace.root / "not-executable").write_text("text")
    (workspace.root / "folder").mkdir()
    end, output = workspace.run(workspace.order(*argv), mode)
    assert (end.exit_code, end.timed_out, end.cancelled, output) == (None, False, False, "")
    assert end.start_error


@both_ways
def test_a_file_that_only_looks_like_a_program_is_a_start_error(workspace: Workspace, mode: SandboxMode) -> None:
    broken = workspace.root / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    end, _ = workspace.run(workspace.order("./broken"), mode)
    assert (end.exit_code, bool(end.start_error)) == (None, True)


@both_ways
def test_a_program_that_prints_the_sandboxs_complaint_was_started_all_the_same(
    workspace: Workspace, mode: SandboxMode
) -> None:
    end, _ = workspace.shell("echo 'bwrap: execvp sh: No such file or directory'; exit 1", mode)
    assert (end.exit_code, end.start_error) == (1, "")


@pytest.mark.parametrize("where", ["..", "../beside", "link", "link/deeper", "/"])
def test_a_folder_outside_the_workspace_is_refused_before_anything_runs(workspace: Workspace, where: str) -> None:
    (workspace.root / "link").symlink_to(workspace.beside)
    with pytest.raises(OutsideWorkspace):
        workspace.run(replace(workspace.order("touch", "ran"), cwd=workspace.root / where), OFF)
    with pytest.raises(OutsideWorkspace):
        workspace.run(replace(workspace.order("touch", "ran"), writable=(workspace.root / where / "x",)), OFF)
    assert not list(workspace.root.rglob("ran"))


def test_a_workspace_that_vanished_is_a_start_error(workspace: Workspace) -> None:
    order = workspace.order("true")
    workspace.root.rmdir()
    assert workspace.run(order, OFF)[0].start_error == ".: no such folder in the workspace"


@both_ways
def test_bytes_that_are_no_text_come_through(workspace: Workspace, mode: SandboxMode) -> None:
    kept = io.BytesIO()
    order = workspace.order(*PYTHON, r"import sys; sys.stdout.buffer.write(b'\xff\xfe\x00' + bytes(range(256)))")
    run_command(order, kept, mode, workspace.stop)
    assert kept.getvalue() == b"\xff\xfe\x00" + bytes(range(256))


def test_of_too_much_output_whole_lines_from_both_ends_are_kept(workspace: Workspace) -> None:
    code = "for n in range(20000): print(f'line {n:06}')"
    end, output = workspace.python(code, OFF, Limits(30, 6000))
    before, _, after = output.partition("\n[... ")
    assert before.splitlines()[0] == "line 000000"
    assert after.splitlines()[-1] == "line 019999"
    assert {len(line) for line in (*before.splitlines(), *after.splitlines()[1:])} == {len("line 000000")}
    assert end.output_bytes == 20000 * 12
    assert f"{end.left_out} bytes left out" in after
    assert end.output_bytes - end.left_out <= 6000


def test_secrets_are_masked_across_pieces_and_before_anything_is_cut(workspace: Workspace) -> None:
    code = (
        "import sys, time\n"
        "for piece in ('token=s3cr', '3t-value', ' and again s3cr3t-value', '!' * 5000, 's3cr3t-value\\n'):\n"
        "    sys.stdout.write(piece); sys.stdout.flush(); time.sleep(0.05)\n"  # apart, not as one
    )
    order = replace(workspace.order(*PYTHON, code), secrets=("s3cr3t-value",))
    _, output = workspace.run(order, OFF)
    assert output == "token=[redacted] and again [redacted]" + "!" * 5000 + "[redacted]\n"
    assert "s3cr3t-value" not in repr(replace(order, argv=()))


@both_ways
def test_a_time_limit_ends_what_ignores_being_asked_and_goes_on_printing(
    workspace: Workspace, mode: SandboxMode
) -> None:
    code = (
        "import signal, time; signal.signal(15, signal.SIG_IGN)\n"
        "while True: print('still here', flush=True); time.sleep(0.01)"
    )
    began = time.monotonic()
    end, output = workspace.python(code, mode, Limits(0.5, 1 << 20))
    assert (end.exit_code, end.timed_out, end.cancelled, end.start_error) == (None, True, False, "")
    assert output.startswith("still here\n")
    assert time.monotonic() - began < 10


@both_ways
def test_a_command_that_closes_its_output_and_hangs_is_ended_too(workspace: Workspace, mode: SandboxMode) -> None:
    end, _ = workspace.shell("exec >&- 2>&-; sleep 60", mode, Limits(0.5, 1 << 20))
    assert end.timed_out
    assert end.seconds < 10


@both_ways
def test_what_was_cancelled_before_it_began_does_not_run(workspace: Workspace, mode: SandboxMode) -> None:
    workspace.stop.set()
    end, _ = workspace.shell("touch ran", mode)
    assert (end.cancelled, end.exit_code, end.start_error) == (True, None, "")
    assert not (workspace.root / "ran").exists()


def test_progress_is_told_while_it_runs(workspace: Workspace) -> None:
    told: list[tuple[float, int]] = []
    order = workspace.order("sh", "-c", "echo hello; sleep 2.4")
    workspace.run(order, OFF, lambda seconds, count: told.append((seconds, count)))
    assert [count for _, count in told] == [6, 6]
    assert told[0][0] >= 1.0


class FullDisk(io.BytesIO):
    """A sink that fakes a disk on which nothing fits any more."""

    def write(self, data: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_sink_that_fails_ends_the_command(workspace: Workspace) -> None:
    order = workspace.order("sh", "-c", "echo hello; sleep 60; touch survived")
    began = time.monotonic()
    with pytest.raises(OSError, match="No space left"):
        run_command(order, FullDisk(), OFF, workspace.stop)
    assert time.monotonic() - began < 10


def test_two_commands_with_one_slot_run_one_after_the_other(workspace: Workspace) -> None:
    slots, spans = Slots(1), list[tuple[str, str]]()

    def take_a_turn() -> None:
        order = workspace.order("sleep", "0.3")
        with slots.one(workspace.stop) as is_held:
            end, _ = workspace.run(order, OFF)
        assert is_held
        spans.append((end.started_at, end.completed_at))

    turns = [threading.Thread(target=take_a_turn) for _ in range(2)]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join()
    first, second = sorted(spans)
    assert first[1] <= second[0]


def test_waiting_for_a_slot_can_be_cancelled() -> None:
    slots, stop = Slots(1), threading.Event()
    stop.set()
    with slots.one(threading.Event()) as first, slots.one(stop) as second:
        assert (first, second) == (True, False)
    with slots.one(threading.Event()) as again:
        assert again


def test_a_search_path_with_relative_entries_is_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f".:bin:/usr/bin:{tmp_path}")
    assert environment_of(tmp_path, {})["PATH"] == f"/usr/bin:{tmp_path}"


def test_a_signal_is_read_from_either_way_of_telling_it() -> None:
    def signal_of(code: int | None) -> int | None:
        return CommandEnd(code, 0.0, "", "").signal

    assert [signal_of(code) for code in (-9, 137, 0, 1, 127, 128, None)] == [9, 9, None, None, None, None, None]


def test_many_commands_at_once_keep_their_output_apart(workspace: Workspace) -> None:
    printed: dict[int, str] = {}
    orders = {n: workspace.order("sh", "-c", f"for i in 1 2 3; do echo {n}; sleep 0.05; done") for n in range(6)}

    def run(n: int) -> None:
        printed[n] = workspace.run(orders[n], OFF)[1]

    threads = [threading.Thread(target=run, args=(n,)) for n in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert printed == {n: f"{n}\n" * 3 for n in orders}


def test_no_descriptor_of_ours_stays_open(workspace: Workspace) -> None:
    workspace.shell("true", SandboxMode.AUTO)
    before = {entry.name for entry in Path("/dev/fd").iterdir()}
    for _ in range(3):
        workspace.shell("true", SandboxMode.AUTO)
        workspace.shell("nosuch", OFF)
    assert {entry.name for entry in Path("/dev/fd").iterdir()} == before
