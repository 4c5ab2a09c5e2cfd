"""Cargo's text is believed only where its lines and its counts tell the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.cases import Outcome, ReportUnreadable
from agent_fox.verifier.suites.rust_cases import read_rust

HEAD = "     Running tests/cart.rs (target/debug/deps/cart-0123456789abcdef)\n\n"


def result(passed: int, failed: int = 0, ignored: int = 0) -> str:
    return f"\ntest result: ok. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out\n\n"


def _read(tmp_path: Path, text: str) -> dict[str, Outcome] | None:
    (tmp_path / "log").write_text(text)
    cases = read_rust(tmp_path / "log", tmp_path)
    return None if cases is None else {case.id: case.outcome for case in cases}


def test_each_test_of_a_target_has_its_outcome_and_file(tmp_path: Path) -> None:
    text = HEAD + "running 3 tests\ntest a ... ok\ntest m::b - should panic ... FAILED\ntest c ... ignored, later\n"
    assert _read(tmp_path, text + result(1, 1, 1)) == {
        "tests/cart.rs::a": Outcome.PASSED,
        "tests/cart.rs::m::b": Outcome.FAILED,
        "tests/cart.rs::c": Outcome.SKIPPED,
    }


def test_an_example_in_a_comment_is_called_by_what_it_stands_over(tmp_path: Path) -> None:
    text = "   Doc-tests cart\n\nrunning 2 tests\ntest src/lib.rs - Cart::total (line 9) ... ok\n"
    (tmp_path / "log").write_text(f"{text}test src/lib.rs - name (line 3) ... ok\n{result(2)}")
    cases = read_rust(tmp_path / "log", tmp_path) or ()
    assert [(case.file, case.classes, case.function, case.id) for case in cases] == [
        ("src/lib.rs", ("Cart",), "total", "src/lib.rs::Cart::total (line 9)"),
        ("src/lib.rs", (), "name", "src/lib.rs::name (line 3)"),
    ]


def test_what_a_failed_test_printed_is_no_test(tmp_path: Path) -> None:
    printed = "\nfailures:\n\n---- a stdout ----\ntest ghost ... ok\nrunning 7 tests\n\nfailures:\n    a\n"
    text = HEAD + "running 1 test\ntest a ... FAILED\n" + printed + result(0, 1)
    assert _read(tmp_path, text) == {"tests/cart.rs::a": Outcome.FAILED}


@pytest.mark.parametrize(
    "lines",
    [
        "running 2 tests\ntest a ... ok\ntest ghost ... ok\n" + result(1),
        "running 1 test\ntest a ... ok\n" + result(0, 1),
        "running 1 test\ntest a ... " + result(1) + "running 0 tests\n" + result(0),
    ],
)
def test_a_target_whose_lines_and_counts_differ_is_refused(tmp_path: Path, lines: str) -> None:
    with pytest.raises(ReportUnreadable):
        _read(tmp_path, HEAD + lines)


def test_no_target_is_no_report_and_no_test_is_one(tmp_path: Path) -> None:
    assert _read(tmp_path, "error: could not compile `shop`\n") is None
    assert _read(tmp_path, HEAD + "running 0 tests\n" + result(0)) == {}
