from __future__ import annotations

from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.samples import Samples, messages, places, read_text

SAMPLES = Samples("javac", "javac", "/workspace/javac")
sample = SAMPLES.sample


def test_columns_come_from_the_caret() -> None:
    assert places(sample("javac"))[:3] == ["A.java:3:16", "A.java:4:24", "A.java:8:61"]


def test_errors_on_one_line_are_told_apart() -> None:
    assert [place for place in places(sample("javac")) if place.startswith("B.java")] == ["B.java:1:38", "B.java:1:50"]


def test_a_path_may_hold_spaces() -> None:
    assert "my dir/B.java:1:38" in places(sample("javac"))


def test_other_languages_are_read() -> None:
    said = messages(sample("javac"))
    assert "シンボルを見つけられません" in said
    assert "找不到符号" in said
    assert {failure.symbol for failure in sample("javac").failures} >= {"method undefined()", "メソッド undefined()"}


def test_warnings_have_their_lint_category() -> None:
    codes = [warning.code for warning in sample("javac").warnings]
    assert codes[:3] == ["rawtypes", "rawtypes", "unchecked"]


def test_werror_is_one_failure_beside_the_warnings() -> None:
    parsed = sample("javac_werror")
    assert messages(parsed) == ["warnings found and -Werror specified"]
    assert len(parsed.warnings) == 6


def test_source_lines_are_no_carets_and_notes_no_errors() -> None:
    parsed = read_text(
        built_in("javac"), "A.java:1: error: illegal start\n   ^\n   ^\nNote: A.java uses unchecked operations."
    )
    assert places(parsed) == ["A.java:1:4"]
