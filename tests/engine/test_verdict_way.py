"""The way of a verdict through the engine, from the end of a verifier's session to the rows that come of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

import pytest

from agent_fox.engine.record.docket import Handled
from bench.stub import Stub
from bench.worlds import plan_with, planned

ROOT = Path(__file__).resolve().parents[2]
LONGEST_WAY = 8
"""Files of the engine. This number only goes down."""


def failing(expected: Iterable[str]) -> str:
    """A report in which the first requirement fails, and all others pass."""
    rows = [
        {"requirement_id": part, "verdict": "FAIL" if not number else "PASS", "evidence": "seen"}
        for number, part in enumerate(expected)
    ]
    return json.dumps({"verdicts": rows})


def files_of_the_engine(do: Callable[[], object]) -> set[str]:
    """Those that have a function which is called meanwhile."""
    seen: set[str] = set()
    folder = f"{ROOT}/agent_fox/engine/"

    def hear(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder) and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename.removeprefix(folder))

    sys.setprofile(hear)
    try:
        do()
    finally:
        sys.setprofile(None)
    return seen


def documented() -> set[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    part = text.partition("## A verdict's way")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `engine/([\w/]+\.py)` \|", part, re.MULTILINE))


def test_a_fail_becomes_rows_in_the_files_that_the_document_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world outside of the transaction (git, programs, trackers) is left out, as in the bench."""
    with planned(tmp_path / "state.db", plan_with(10)) as world:
        stub = Stub(world)
        while (ready := stub.board.take()) is not None:
            flight = stub.launch(ready)
            if ready.node.archetype == "verifier":
                break
            stub.follow(flight, stub.result(flight, stub.ended(flight)))
        monkeypatch.setattr("bench.stub.report", failing)

        handled: list[Handled] = []
        assert files_of_the_engine(lambda: handled.append(stub.result(flight, stub.ended(flight)))) == documented()
        stub.board.apply(handled[0])
        again = stub.board.take()
        assert again is not None
        assert again.standing.attempt == 2
    assert len(documented()) <= LONGEST_WAY
