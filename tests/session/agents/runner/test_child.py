from __future__ import annotations

import os
import queue
from pathlib import Path

import pytest

from agent_fox.session.agents.runner.child import Child, Stream, StreamLine, descendants, program_below
from agent_fox.system.processes import start_time
from agent_fox.testing.worlds import wait_until


def started(tmp_path: Path, script: str, stdin: str = "") -> tuple[Child, queue.SimpleQueue[StreamLine]]:
    heard: queue.SimpleQueue[StreamLine] = queue.SimpleQueue()
    return Child(("/bin/sh", "-c", script), {"PATH": os.environ["PATH"]}, tmp_path, stdin, heard.put), heard


def lines(heard: queue.SimpleQueue[StreamLine]) -> list[StreamLine]:
    found: list[StreamLine] = []
    while [one.stream for one in found].count(Stream.END) < 2:
        found.append(heard.get(timeout=20))
    return found


def test_both_streams_are_heard_line_by_line(tmp_path: Path) -> None:
    child, heard = started(tmp_path, "cat; echo oops >&2", "one\ntwo")
    found = lines(heard)
    assert [one.text for one in found if one.stream is Stream.OUTPUT] == ["one", "two"]
    assert [one.text for one in found if one.stream is Stream.COMPLAINTS] == ["oops"]
    assert child.wait(10) == 0


def test_a_program_that_does_not_read_its_input_is_no_trouble(tmp_path: Path) -> None:
    child, heard = started(tmp_path, "exec true", "x" * 1_000_000)
    lines(heard)
    assert child.wait(10) == 0


def test_bytes_that_are_no_text_are_heard_all_the_same(tmp_path: Path) -> None:
    _, heard = started(tmp_path, r"printf '\377\376 x\n'")
    (line,) = (one.text for one in lines(heard) if one.stream is Stream.OUTPUT)
    assert line.endswith(" x")


def test_interrupting_reaches_the_program(tmp_path: Path) -> None:
    child, heard = started(tmp_path, "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done")
    assert heard.get(timeout=20).text == "ready"
    child.interrupt()
    assert child.wait(10) == 7


def test_killing_takes_the_whole_family_along(tmp_path: Path) -> None:
    child, heard = started(tmp_path, "setsid sleep 300 & echo $!; wait")
    below = int(heard.get(timeout=20).text)
    child.kill()
    child.wait(10)
    wait_until(lambda: start_time(below) is None, "the whole family was gone")


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Child(("/no/such/program",), {}, tmp_path, "", lambda _: None)


def test_a_process_that_is_no_wrapper_is_the_program_itself() -> None:
    assert program_below(os.getpid()) == os.getpid()
    assert descendants(2**22 + 1) == []
