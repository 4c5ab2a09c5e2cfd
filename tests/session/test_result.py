"""What an agent says about its own cost is read with care."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_fox.session.result import LARGEST_RESULT, Result, read_result


def test_a_whole_result_is_read(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text('{"cost_usd": 1, "input_tokens": 2, "output_tokens": 3, "summary": "s", "more": []}')
    assert read_result(file) == Result(1.0, 2, 3, "s")


@pytest.mark.parametrize("cost", ["-1", "NaN", "Infinity", "1e400", '"0.5"', "true", "[]", "1e7"])
def test_a_cost_that_cannot_be_is_unknown_and_the_rest_still_counts(tmp_path: Path, cost: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(f'{{"cost_usd": {cost}, "input_tokens": -5, "output_tokens": 3}}')
    notes = tuple(f"result file: {name} is not usable; unknown" for name in ("cost_usd", "input_tokens"))
    assert read_result(file) == Result(None, None, 3, "", notes)


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000, b" " * (LARGEST_RESULT + 1)])
def test_a_file_that_is_no_result_is_unknown_and_noted(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(raw)
    found = read_result(file)
    assert found.cost_usd is None
    assert len(found.notes) == 1


def test_what_is_no_regular_file_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder", "absent"):
        assert read_result(tmp_path / name) == Result(notes=("no result file; cost unknown",))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.binary(max_size=200))
def test_no_bytes_are_a_crash(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "result.json").write_bytes(raw)
    read_result(tmp_path / "result.json")
