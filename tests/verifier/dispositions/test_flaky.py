"""The list of flaky tests: how a test gets on it and off it, and what the file withstands."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_fox.verifier.dispositions.flaky import (
    DECAY_DAYS,
    MOST_COMMITS,
    STEADY_PASSES,
    FlakyList,
    FlakyListDamaged,
    FlakyTest,
    Sighting,
    read_flaky,
    write_flaky,
)
from agent_fox.verifier.ground.disposition_facts import PROOF_RUNS

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def sighting(name: str = "tests/test_a.py::test_x", commit: str = "c1", at: datetime = NOON) -> Sighting:
    return Sighting(name, commit, at, PROOF_RUNS, "artifact://run-1/1/tests.log")


def test_a_test_seen_again_keeps_its_first_day_and_counts_on() -> None:
    later = NOON + timedelta(days=2)
    flaky = FlakyList().seen(sighting()).passed(["tests/test_a.py::test_x"]).seen(sighting(commit="c2", at=later))
    assert flaky.tests == (
        FlakyTest(
            name="tests/test_a.py::test_x",
            first_seen=NOON,
            last_seen=later,
            commits=("c1", "c2"),
            count=2,
            passes_since=0,
            evidence="artifact://run-1/1/tests.log",
        ),
    )


@pytest.mark.parametrize("passed", range(PROOF_RUNS))
def test_fewer_reruns_than_a_proof_takes_put_nobody_on_the_list(passed: int) -> None:
    with pytest.raises(ValueError, match="no proof"):
        FlakyList().seen(Sighting("t", "c1", NOON, passed))


def test_only_so_many_commits_are_kept_and_the_newest() -> None:
    flaky = FlakyList()
    for number in range(MOST_COMMITS + 5):
        flaky = flaky.seen(sighting(commit=f"c{number}"))
    assert flaky.tests[0].commits[0] == "c5"
    assert len(flaky.tests[0].commits) == MOST_COMMITS
    assert flaky.tests[0].count == MOST_COMMITS + 5


def test_a_test_leaves_the_list_after_long_enough_without_trouble() -> None:
    flaky = FlakyList().seen(sighting())
    assert flaky.decayed(NOON + timedelta(days=DECAY_DAYS, seconds=-1)) == flaky
    assert flaky.decayed(NOON + timedelta(days=DECAY_DAYS)) == FlakyList()


def test_a_test_leaves_the_list_after_enough_first_time_passes() -> None:
    flaky = FlakyList().seen(sighting()).seen(sighting("other"))
    for _ in range(STEADY_PASSES):
        flaky = flaky.passed(["other", "not on the list"])
    assert flaky.decayed(NOON).names == {"tests/test_a.py::test_x"}


def test_what_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "state" / "flaky.json"
    flaky = FlakyList().seen(sighting("b ünïcode")).seen(sighting("a")).passed(["a"])
    write_flaky(path, flaky)
    assert read_flaky(path) == flaky
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_file_is_an_empty_list(tmp_path: Path) -> None:
    assert read_flaky(tmp_path / "flaky.json") == FlakyList()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b'{"format": 2, "tests": []}',
        b'{"format": 1, "tests": [{"name": "t"}]}',
        b'{"format": 1, "tests": [{"name": "t", "first_seen": "soon", "last_seen": "later"}]}',
        b'{"format": 1, "tests": [{"name": "t", "first_seen": "2026-01-01T00:00:00", "last_seen": "2026-01-01"}]}',
        b'{"format": 1, "tests": [], "more": 1}',
        b'{"tests": []}',
    ],
)
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "flaky.json"
    path.write_bytes(content)
    with pytest.raises(FlakyListDamaged, match=r"flaky\.json is not a list of flaky tests"):
        read_flaky(path)
    assert path.read_bytes() == content


def test_a_list_that_cannot_be_written_leaves_no_piece_of_it(tmp_path: Path) -> None:
    path = tmp_path / "flaky.json"
    (path / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match=r"flaky\.json"):
        write_flaky(path, FlakyList().seen(sighting()))
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_entries_of_one_name_the_later_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "flaky.json"
    entry = {"name": "t", "first_seen": NOON.isoformat(), "last_seen": NOON.isoformat()}
    newer = entry | {"last_seen": (NOON + timedelta(days=1)).isoformat(), "count": 2}
    path.write_text(json.dumps({"format": 1, "tests": [newer, entry]}), encoding="utf-8")
    assert [(test.name, test.count) for test in read_flaky(path).tests] == [("t", 2)]


def test_the_table_shows_each_test_in_a_row_that_no_name_can_break() -> None:
    flaky = FlakyList().seen(sighting("test_x[a|b]", commit="0123456789abcdef")).seen(sighting("b\n| c"))
    lines = flaky.as_markdown().splitlines()
    assert lines[0].startswith("| Test | Times |")
    assert len(lines) == 4
    assert "2026-05-04" in lines[3]
    assert "0123456789 |" in lines[3]
    assert all(len(line.replace("\\|", "").split("|")) == 9 for line in lines)


def test_an_empty_list_says_so() -> None:
    assert FlakyList().as_markdown() == "No flaky tests are known.\n"
