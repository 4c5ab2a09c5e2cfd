"""What is recorded of a session's tools: enough to tell what happened in which order, bounded, and without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.formal.temporal import EventKind, Trace, TraceEvent, Truth, check, parse
from agent_fox.core.ids import digest_of
from agent_fox.session.agents.events import Answered, Called, Spoke, Unreadable
from agent_fox.session.agents.runner import trace
from agent_fox.session.agents.runner.trace import Recorder, Transcript, trace_beside, transcript_beside
from agent_fox.session.endings import end_of
from agent_fox.session.order import EndKind, Paths, StopSignal
from agent_fox.session.workspaces.steps import Beginning
from agent_fox.system import clock, git, git_objects
from agent_fox.system.processes import ProcessEnd
from agent_fox.verifier.lanes.traces import read_trace
from tests.session.agents.toy import DONE, event, held, make_task
from tests.session.world import make_order, make_repo

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "events.jsonl", tmp_path / "workspace")


def read(recorder: Recorder, *, is_ended: bool = True) -> Trace:
    recorder.close(is_ended=is_ended)
    return read_trace(recorder.path)


def recorded(recorder: Recorder, tool: str, arguments: Mapping[str, object]) -> TraceEvent:
    recorder.hear(Called(tool, arguments, "c"))
    (event_,) = read(recorder).events
    return event_


def test_calls_and_their_ends_are_recorded_in_order(recorder: Recorder) -> None:
    recorder.hear(Spoke("I will test it"))
    recorder.hear(Called("mcp__verifier__run_unit_tests", {}, "c1"))
    recorder.hear(Called("Read", {"file_path": "a.py"}, "c2"))
    recorder.hear(Answered("c2", is_error=True))
    recorder.hear(Answered("c1"))
    recorder.hear(Answered("nobody asked"))
    kinds = [(one.kind, one.tool) for one in read(recorder).events]
    C, D, X = EventKind.CALL, EventKind.DONE, EventKind.FAILED
    assert kinds == [(C, "run_unit_tests"), (C, "Read"), (X, "Read"), (D, "run_unit_tests")]


def test_each_event_has_its_time_and_an_end_names_its_call(tmp_path: Path) -> None:
    times = iter(f"2026-03-01T12:00:{second:02}.000Z" for second in range(60))
    recorder = Recorder(tmp_path / "events.jsonl", tmp_path, now=lambda: next(times))
    for event_ in (Called("Read", {}, "a"), Called("Read", {}, "b"), Answered("b"), Answered("a", is_error=True)):
        recorder.hear(event_)
    lines = [json.loads(line) for line in recorder.path.read_text().splitlines()]
    assert [(line["kind"], line["call"], line["at"][17:19]) for line in lines] == [
        ("call", 1, "00"), ("call", 2, "01"), ("done", 2, "02"), ("failed", 1, "03"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "edits"),
    [
        ("Edit", {"file_path": "{root}/tests/test_x.py", "new_string": "x"}, ("tests/test_x.py",)),
        ("write", {"filePath": "src/./a.py"}, ("src/a.py",)),
        ("Write", {"file_path": "{root}/../other/a.py"}, None),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: b.py\n"},
            ("a.py", "b.py"),
        ),
        ("apply_patch", {}, None),
        ("Edit", {"file_path": "a" * 500}, None),
        ("Edit", {"file_path": f"tests/{SECRET}.py"}, None),
        ("Read", {"file_path": "a.py"}, ()),
    ],
)
def test_the_files_that_a_call_changes_are_named_or_nobody_can_tell(
    recorder: Recorder, tool: str, arguments: dict[str, str], edits: tuple[str, ...] | None
) -> None:
    given = {name: value.replace("{root}", str(recorder.workspace)) for name, value in arguments.items()}
    found = recorded(recorder, tool, given).edits
    if "other" in str(arguments):
        assert found == (str(recorder.workspace.parent / "other/a.py"),)
    else:
        assert found == edits


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("Bash", {"command": "git push"}, "git push"),
        ("exec_command", {"cmd": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("Bash", {"command": "x" * 500}, None),
        ("Bash", {"command": f"curl -H 'token: {SECRET}'"}, None),
        ("Bash", {}, None),
        ("Read", {"command": "not run"}, ""),
    ],
)
def test_a_command_line_is_kept_whole_or_nobody_can_tell(
    recorder: Recorder, tool: str, arguments: Mapping[str, object], command: str | None
) -> None:
    assert recorded(recorder, tool, arguments).command == command
    assert SECRET not in recorder.path.read_text()


def test_a_session_that_did_not_end_well_is_a_trace_that_was_cut(recorder: Recorder) -> None:
    recorder.hear(Called("Bash", {"command": "ls"}))
    assert not read(recorder, is_ended=False).is_whole


def test_without_its_last_line_a_trace_was_cut(recorder: Recorder) -> None:
    recorder.hear(Called("Bash", {"command": "ls"}))
    assert not read_trace(recorder.path).is_whole


def test_a_line_of_the_program_that_nobody_can_read_cuts_the_trace(recorder: Recorder) -> None:
    recorder.hear(Called("Edit", {"file_path": "a.py"}))
    recorder.hear(Unreadable("{broken"))
    recorder.hear(Called("run_unit_tests", {}))
    found = read(recorder)
    assert ([one.tool for one in found.events], found.is_whole) == (["Edit"], False)


def test_a_trace_is_bounded_and_says_that_it_was_cut(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_EVENTS", 3)
    for _ in range(5):
        recorder.hear(Called("Read", {}, "c"))
    found = read(recorder)
    assert (len(found.events), found.is_whole) == (3, False)
    assert check(parse('never(call("Bash"))'), found) is Truth.UNKNOWN


def test_a_file_that_cannot_be_written_ends_no_session(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "nowhere" / "events.jsonl", tmp_path)
    recorder.hear(Called("Bash", {"command": "ls"}))
    recorder.close(is_ended=True)
    assert not recorder.is_whole


def test_the_runner_records_what_it_hears(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("began"), event("called", tool="Bash", arguments={"command": "make"}), DONE)
    held(task)
    lines = [json.loads(line) for line in task.report.with_name("events.jsonl").read_text().splitlines()]
    began = lines[0].pop("at")
    assert lines == [{"kind": "call", "tool": "Bash", "call": 1, "edits": [], "command": "make"}]
    assert clock.later(began, 60) > clock.now() >= began


def test_the_runner_takes_the_files_of_a_coder_after_a_call_that_may_change_some(tmp_path: Path, repo: Path) -> None:
    edit = event("called", tool="Edit", arguments={"file_path": "a.py"})
    task = make_task(tmp_path, edit, f"write {tmp_path}/workspace/a.py", event("answered"), DONE)
    beginning = Beginning(repo, git.tree_of(repo, "HEAD"), tmp_path / "steps")
    held(replace(task, beginning=beginning))
    _, done = (json.loads(line) for line in task.report.with_name("events.jsonl").read_text().splitlines())
    store = git_objects.lasting_store(beginning.folder, repo, task.workspace)
    assert (done["kind"], done["call"]) == ("done", 1)
    assert store.call("show", f"{done['tree']}:a.py").out == b"written"


def test_what_an_agent_was_shown_is_kept_by_digest_with_its_lines_of_failures(recorder: Recorder) -> None:
    recorder.hear(Called("Bash", {"command": "pytest"}, "c"))
    shown = f"1 passed\nFAILED tests/test_a.py::test_b\nError: {SECRET}\nnot ok 3 adds\n{'x' * 300} AssertionError\n"
    recorder.hear(Answered("c", shown, is_error=True))
    recorder.close(is_ended=True)
    _, done, _ = (json.loads(line) for line in recorder.path.read_text().splitlines())
    assert (done["kind"], done["seen"]["characters"]) == ("failed", len(shown))
    assert done["seen"]["red"] == ["FAILED tests/test_a.py::test_b", "not ok 3 adds", "x" * 200]
    assert len(done["seen"]["sha256"]) == 64


def test_lines_that_were_not_written_are_counted_in_the_last_one(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "MOST_EVENTS", 3)
    for _ in range(5):
        recorder.hear(Called("Read", {}, "c"))
    recorder.close(is_ended=True)
    assert json.loads(recorder.path.read_text().splitlines()[-1]) == {"kind": "end", "is_whole": False, "unrecorded": 2}


@pytest.mark.parametrize(("backend", "is_kept"), [("claude", True), ("command", False)])
def test_only_what_our_own_runner_recorded_is_kept_redacted_beside_the_log(
    repo: Path, backend: str, is_kept: bool
) -> None:
    order = make_order(repo)
    order = replace(order, agent=replace(order.agent, backend=backend))
    paths = Paths(order.state)
    paths.session.mkdir(parents=True)
    for name in ("stdout", "stderr"):
        (paths.session / name).write_text("")
    line = {"kind": "call", "tool": "Bash", "edits": [], "command": "echo hush-hush-hush"}
    paths.events.write_text(f'{json.dumps(line)}\n{{"kind": "end", "is_whole": true}}\n')
    end = ProcessEnd(1.0, 0, stopped=True)
    told = end_of(order, end, {"MY_SECRET": "hush-hush-hush"}, StopSignal())
    assert told.kind is EndKind.INTERRUPTED
    kept = trace_beside(order.log)
    assert kept.is_file() == is_kept
    if is_kept:
        assert "hush" not in kept.read_text()
        (found,) = read_trace(kept).events
        assert found.command is None


def transcript(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_transcript_has_all_that_was_said_called_and_shown(tmp_path: Path) -> None:
    kept = Transcript(tmp_path / "transcript.jsonl")
    shown = "line\n" * 500
    kept.hear(Spoke("I will test it"))
    kept.hear(Spoke("  "))
    kept.hear(Called("mcp__verifier__run_tests", {"selector": "a", "deep": {"b": [1]}}, "x"))
    kept.hear(Called("Bash", {"command": "make"}, "y"))
    kept.hear(Answered("y", shown, is_error=True))
    kept.hear(Answered("x", "no", is_refused=True))
    kept.close()
    assert transcript(kept.path) == [
        {"kind": "said", "text": "I will test it"},
        {"kind": "call", "call": 1, "tool": "run_tests", "arguments": {"selector": "a", "deep": {"b": [1]}}},
        {"kind": "call", "call": 2, "tool": "Bash", "arguments": {"command": "make"}},
        {"kind": "failed", "call": 2, "text": shown},
        {"kind": "refused", "call": 1, "text": "no"},
        {"kind": "end", "unrecorded": 0},
    ]


def test_what_would_make_a_transcript_too_large_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_BYTES", 60)
    kept = Transcript(tmp_path / "transcript.jsonl")
    for text in ("a", "b" * 60, "c"):
        kept.hear(Spoke(text))
    kept.close()
    assert transcript(kept.path) == [{"kind": "said", "text": "a"}, {"kind": "end", "unrecorded": 2}]


def test_the_runner_writes_a_transcript_where_it_is_told_to(tmp_path: Path) -> None:
    task = make_task(tmp_path, event("called", tool="Bash", arguments={"command": "make"}), DONE)
    held(task)
    assert not (tmp_path / "all.jsonl").exists()
    held(replace(task, transcript=tmp_path / "all.jsonl"))
    assert transcript(tmp_path / "all.jsonl")[0] == {
        "kind": "call", "call": 1, "tool": "Bash", "arguments": {"command": "make"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "is_asked_for", "is_kept"), [("claude", True, True), ("claude", False, False), ("command", True, False)]
)
def test_a_transcript_is_kept_masked_only_where_a_person_asked_for_it(
    repo: Path, backend: str, is_asked_for: bool, is_kept: bool
) -> None:
    order = make_order(repo)
    order = replace(order, agent=replace(order.agent, backend=backend), keeps_transcript=is_asked_for)
    paths = Paths(order.state)
    paths.session.mkdir(parents=True)
    for name in ("stdout", "stderr"):
        (paths.session / name).write_text("")
    secret = 'hush-"hush"-hush'
    shown = f"it is {secret}\u2028 and {SECRET}"
    lines = [{"kind": "call", "call": 1, "tool": "Bash", "arguments": {"command": [secret]}},
             {"kind": "done", "call": 1, "text": shown}]  # fmt: skip
    paths.transcript.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines) + '{"cut')
    told = end_of(order, ProcessEnd(1.0, 0, stopped=True), {"MY_SECRET": secret}, StopSignal())
    kept = transcript_beside(order.log)
    assert kept.is_file() == is_kept
    (who,) = told.agents
    assert ("transcript" in who) == is_kept
    if is_kept:
        text = kept.read_text()
        assert "hush" not in text
        assert SECRET not in text
        assert [json.loads(line)["kind"] for line in filter(None, text.split("\n"))] == ["call", "done"]
        assert who["transcript"] == digest_of(text)


def test_an_older_record_does_not_stand_for_a_session_without_one(repo: Path) -> None:
    order = make_order(repo)
    paths = Paths(order.state)
    paths.session.mkdir(parents=True)
    for name in ("stdout", "stderr"):
        (paths.session / name).write_text("")
    order.log.parent.mkdir(parents=True, exist_ok=True)
    trace_beside(order.log).write_text('{"kind": "end", "is_whole": true}\n')
    end_of(order, ProcessEnd(1.0, 0, stopped=True), {}, StopSignal())
    assert not trace_beside(order.log).exists()
