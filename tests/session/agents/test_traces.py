"""A session's trace at its harvest: from what our runner recorded, whatever else lies there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.trace import BEGUN, LEFT, NodeKind
from agent_fox.session.agents.events import Answered, Called
from agent_fox.session.agents.runner.trace import Recorder
from agent_fox.session.agents.traces import CUT, read_recording, trace_of
from agent_fox.session.order import LaunchOrder, Paths, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.session.workspaces.steps import Steps, beginning_of
from agent_fox.session.workspaces.workspace import Preparation
from agent_fox.system import git, git_objects
from tests.session.world import make_order, make_repo, never_told, sh, shell

END = {"kind": "end", "is_whole": True}
C, V, E = NodeKind.STATE_CHANGE, NodeKind.VERIFICATION, NodeKind.EXPLORATION


@pytest.fixture
def order(tmp_path: Path) -> LaunchOrder:
    """A coder's launch with our runner, whose workspace is there."""
    order = make_order(make_repo(tmp_path / "repo"))
    workspace = Paths(order.state).workspace
    workspace.parent.mkdir(parents=True)
    sh(tmp_path, "git", "clone", "-q", str(order.repo), str(workspace))
    return replace(order, agent=replace(order.agent, backend="claude"))


def preparation(order: LaunchOrder) -> Preparation:
    return Preparation(git.tree_of(order.repo, order.pinned))


def recorder_of(order: LaunchOrder) -> Recorder:
    paths = Paths(order.state)
    return Recorder(
        paths.events, paths.workspace, steps=Steps(beginning_of(order, preparation(order)), paths.workspace)
    )


def act(recorder: Recorder, tool: str, shown: str = "", *, is_error: bool = False, **arguments: object) -> None:
    recorder.hear(Called(tool, arguments, "c"))
    recorder.hear(Answered("c", shown, is_error))


def write(recorder: Recorder, path: str, text: str) -> None:
    """A file is written by the agent's tool, and the runner hears of it."""
    recorder.hear(Called("Write", {"file_path": str(recorder.workspace / path)}, "w"))
    (recorder.workspace / path).write_text(text)
    recorder.hear(Answered("w"))


def put(order: LaunchOrder, lines: Iterable[Mapping[str, object]]) -> None:
    Paths(order.state).events.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_session_of_our_runner_becomes_its_states_with_their_files_and_what_was_tested_under_them(
    order: LaunchOrder,
) -> None:
    recorder = recorder_of(order)
    act(recorder, "Read", file_path="a")
    write(recorder, "src/app.py", "n = 1\n")
    act(recorder, "Bash", "FAILED tests/test_a.py::test_n - assert\n1 failed", is_error=True, command="pytest -q")
    write(recorder, "src/app.py", "n = 2\n")
    recorder.close(is_ended=True)
    trace = trace_of(order, preparation(order), git.tree_of(order.repo, order.pinned), (), 1_700_000_000)
    found = [(node.kind, node.step, node.call, node.action, node.files) for node in trace.nodes]
    assert found == [
        (C, 0, 0, BEGUN, ()),
        (E, 0, 1, "Read", ()),
        (C, 1, 2, "Write src/app.py", ("src/app.py",)),
        (V, 1, 3, "Bash pytest -q", ()),
        (C, 2, 4, "Write src/app.py", ("src/app.py",)),
        (C, 3, 0, LEFT, ("src/app.py",)),
    ]
    assert trace.nodes[3].observation.red == ("FAILED tests/test_a.py::test_n - assert", "1 failed")[:1]
    assert git.show(order.repo, trace.commit, "src/app.py") == b"n = 2\n"
    assert git.show(order.repo, f"{trace.commit}~1", "src/app.py") == b"n = 1\n"
    assert trace.left_out == {}


def test_an_agent_without_our_runner_that_writes_events_of_its_own_has_the_coarse_trace(tmp_path: Path) -> None:
    event = json.dumps({"kind": "call", "tool": "Edit", "edits": ["planted.py"]})
    script = f"echo 'n = 1' > src/app.py; echo '{event}' > ../events.jsonl; mkdir -p ../steps; echo x > ../steps/HEAD"
    order = make_order(make_repo(tmp_path / "repo"), agent=shell(script))
    end = run_session(order, never_told, StopSignal())
    assert end.trace is not None
    assert [(node.step, node.action, node.files) for node in end.trace.nodes] == [
        (0, BEGUN, ()), (1, LEFT, ("src/app.py",)),
    ]  # fmt: skip
    assert "planted" not in json.dumps(end.trace.document())


def test_a_session_that_recorded_nothing_has_the_coarse_trace_and_it_is_said(order: LaunchOrder) -> None:
    trace = trace_of(order, preparation(order), "", (), 0)
    assert ([node.action for node in trace.nodes], trace.commit, trace.left_out) == ([BEGUN], "", {CUT: 0})


def test_fifty_thousand_events_are_cut_where_recording_ends_and_the_rest_is_counted(order: LaunchOrder) -> None:
    recorder = Recorder(Paths(order.state).events, Paths(order.state).workspace)
    for _ in range(25_000):
        act(recorder, "Read")
    recorder.close(is_ended=True)
    trace = trace_of(order, preparation(order), "", (), 0)
    assert [(node.kind, node.calls) for node in trace.nodes] == [(C, 0), (E, 10_000)]
    assert trace.left_out == {CUT: 30_000}


@pytest.mark.parametrize(
    ("lines", "tools", "is_whole"),
    [
        ([{"kind": "call", "tool": "Read"}, {"kind": "done", "tool": "Read", "call": 1}, END], ["Read"], True),
        ([{"kind": "call", "tool": "Read"}, {"kind": "done", "tool": "Read", "call": 1}], ["Read"], False),
        ([{"kind": "call", "tool": "Read"}, {"kind": "call"}, {"kind": "call", "tool": "Grep"}], ["Read"], False),
        ([{"kind": "call", "tool": "Edit"}, {"kind": "done", "tool": "Edit", "tree": "--all"}], ["Edit"], False),
        ([{"kind": "call", "tool": "Edit"}, {"kind": "done", "tool": "Edit", "call": 7}, END], ["Edit"], True),
        ([END, {"kind": "call", "tool": "Edit"}], [], True),
        ([], [], False),
    ],
)  # fmt: skip
def test_a_recording_that_was_cut_or_is_broken_ends_there(
    order: LaunchOrder, lines: list[dict[str, object]], tools: list[str], *, is_whole: bool
) -> None:
    put(order, lines)
    recording = read_recording(Paths(order.state).events, ())
    assert ([action.tool for action in recording.actions], recording.is_whole) == (tools, is_whole)


def test_a_recording_that_ends_within_a_line_keeps_what_is_before_it(order: LaunchOrder) -> None:
    put(order, [{"kind": "call", "tool": "Read"}, {"kind": "call", "tool": "Edit"}])
    events = Paths(order.state).events
    events.write_bytes(events.read_bytes()[:-8])
    recording = read_recording(events, ())
    assert ([action.tool for action in recording.actions], recording.is_whole) == (["Read"], False)


def test_states_whose_objects_are_gone_are_left_out_and_counted(order: LaunchOrder) -> None:
    lines: list[dict[str, object]] = [
        {"kind": "call", "tool": "Edit", "edits": ["a.py"]},
        {"kind": "done", "tool": "Edit", "call": 1, "tree": "d" * 40},
    ]
    put(order, [*lines, END])
    trace = trace_of(order, preparation(order), "", (), 0)
    assert [(node.action, node.tree) for node in trace.nodes[1:]] == [("Edit a.py", "")]
    assert (trace.commit, trace.left_out) == ("", {"states that could not be read any more": 1})


def test_a_secret_is_in_no_node(order: LaunchOrder) -> None:
    recorder = recorder_of(order)
    act(recorder, "Bash", "Error: hush-hush-hush\nError: ghp_" + "a1B2" * 9, command="pytest hush-hush-hush")
    recorder.close(is_ended=True)
    text = json.dumps(trace_of(order, preparation(order), "", ("hush-hush-hush",), 0).document())
    assert "hush" not in text
    assert "ghp_" not in text


def test_what_was_not_looked_at_is_counted_with_the_reason(order: LaunchOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_fox.session.workspaces.steps.MOST_STEPS", 1)
    recorder = recorder_of(order)
    for number in range(3):
        write(recorder, "src/app.py", f"n = {number}\n")
    recorder.close(is_ended=True)
    trace = trace_of(order, preparation(order), "", (), 0)
    assert [(node.step, bool(node.tree)) for node in trace.states] == [(0, True), (1, True), (2, False), (3, False)]
    assert trace.left_out == {"more than 1 states": 2}


def test_a_tool_that_changes_nothing_costs_no_look(order: LaunchOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the files were looked at")

    monkeypatch.setattr(git_objects, "lasting_store", never)
    recorder = recorder_of(order)
    act(recorder, "Read", file_path="a.py")
    act(recorder, "mcp__verifier__run_unit_tests")
    recorder.close(is_ended=True)
    assert [node.kind for node in trace_of(order, preparation(order), "", (), 0).nodes] == [C, E, V]
