"""The judge `memory`: what a pre-reading makes of tests that pass, fail, moved, are gone, or could not be run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from agent_fox.core.verdicts.verdict import RunTest
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.memory_order import Asked, MemoryOrder, read_in
from agent_fox.verifier.judging.remembered import answer, place
from tests.verifier.made_projects import write

LINE = f"{sys.executable} -m pytest -q"
GREEN, RED = "def test_{0}():\n    assert True\n\n\n", "def test_{0}():\n    assert {0} == 0, 'was {0}'\n\n\n"


def asked(number: int, file: str = "tests/test_a.py", name: str = "", line: str = LINE, **more: object) -> Asked:
    name = name or f"test_{number}"
    test = RunTest(line, file, (), name, f"{file}::{name}")
    return Asked(f"{number:016}", f"R{number}", test, words=f"item {number}", **more)  # type: ignore[arg-type]


def read(folder: Path, files: dict[str, str], *items: Asked, seconds: float = 60.0) -> dict[str, Any]:
    write(folder, files)
    return answer(MemoryOrder(items, CheckOrder({}, workspace=str(folder)), seconds))


def endings(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["id"][-1], each["ending"]) for each in document["memory"]]


def test_what_passes_says_nothing_what_fails_fails_its_requirement_and_what_is_gone_is_told(tmp_path: Path) -> None:
    file = {"tests/test_a.py": GREEN.format(1) + RED.format(2) + "# test_3, and test_4[x], were here\n"}
    document = read(
        tmp_path, file, asked(1), asked(2, first_error="assert # == #"), asked(3), asked(4, name="test_4[x]")
    )
    assert endings(document) == [("1", "passed"), ("2", "failed"), ("3", "lost"), ("4", "lost")]
    (row,) = document["verdicts"]
    assert (row["requirement_id"], row["verdict"], row["disposition"]) == ("R2", "FAIL", "regression detected")
    assert row["evidence"].startswith("item 2\n")
    assert "was 2" in row["evidence"]
    assert (row["check"], row["first_error"]) == (LINE, "assert # == #")  # of the item, so that it joins its issue
    assert document["summary"] == "regression memory: 1 passed, 1 failed, 0 not read, 2 lost"


def test_a_file_that_moved_is_found_and_one_that_stands_twice_is_not_guessed(tmp_path: Path) -> None:
    write(tmp_path, {"tests/test_b.py": GREEN.format(1) + GREEN.format(2), "tests/test_c.py": GREEN.format(2)})
    moved, doubled = (place(asked(number), tmp_path) for number in (1, 2))
    assert moved is not None
    assert (moved.file, doubled) == ("tests/test_b.py", None)


def test_a_moved_test_is_run_where_it_stands_now(tmp_path: Path) -> None:
    document = read(tmp_path, {"tests/new/test_b.py": RED.format(1)}, asked(1))
    (item,) = document["memory"]
    assert (item["ending"], item["file"]) == ("failed", "tests/new/test_b.py")


def test_code_that_can_not_be_imported_any_more_is_a_failure_and_no_lost_test(tmp_path: Path) -> None:
    document = read(tmp_path, {"tests/test_a.py": "import gone\n\n\n" + GREEN.format(1)}, asked(1))
    assert endings(document) == [("1", "failed")]
    assert "No module named 'gone'" in document["verdicts"][0]["evidence"]


def test_what_can_not_be_run_is_unknown_and_never_a_pass(tmp_path: Path) -> None:
    items = (asked(1, line="no-such-pytest -q"), asked(2, line="make test"))
    document = read(tmp_path, {"tests/test_a.py": GREEN.format(1) + GREEN.format(2)}, *items)
    assert endings(document) == [("1", "not read"), ("2", "not read")]
    assert [row["verdict"] for row in document["verdicts"]] == ["UNKNOWN", "UNKNOWN"]


def test_what_there_is_no_time_for_is_told(tmp_path: Path) -> None:
    document = read(tmp_path, {"tests/test_a.py": GREEN.format(1)}, asked(1), seconds=1e-9)
    assert endings(document) == [("1", "not read")]
    assert "no time left" in document["verdicts"][0]["evidence"]


def test_a_failure_by_chance_is_none(tmp_path: Path) -> None:
    token = tmp_path.parent / f"{tmp_path.name}-token"
    token.write_text("")
    text = (
        f"import pathlib\n\nTOKEN = pathlib.Path({str(token)!r})\n\n\ndef test_1():\n    is_bad_day = TOKEN.exists()\n"
        "    TOKEN.unlink(missing_ok=True)\n    assert not is_bad_day\n"
    )
    document = read(tmp_path, {"tests/test_a.py": text}, asked(1))
    assert endings(document) == [("1", "passed")]
    assert document["memory"][0]["note"] == "failed, and passed its reruns"


def test_an_item_that_never_held_is_repairable_and_no_regression(tmp_path: Path) -> None:
    document = read(tmp_path, {"tests/test_a.py": RED.format(1)}, asked(1, is_regression=False))
    assert document["verdicts"][0]["disposition"] == "repairable"


def test_an_answer_that_is_cut_off_says_nothing_of_any_item() -> None:
    assert read_in('{"memory": [{"id": "0", "ending": "passed"') == ()
    assert read_in('{"memory": [{"id": "0", "ending": "forgotten"}]}') == ()
