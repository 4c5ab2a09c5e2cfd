"""Too little coverage is why a run failed whose tests all passed."""

from __future__ import annotations

import pytest

from tests.verifier.logs.samples import messages, parser_of, read_text


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("pytest", "FAIL Required test coverage of 80% not reached. Total coverage: 50.00%"),
        ("pytest", "Coverage failure: total of 50 is less than fail-under=80"),
        ("mocha", "ERROR: Coverage for lines (50%) does not meet global threshold (80%)"),
        ("jest", 'Jest: "global" coverage threshold for lines (80%) not met: 50%'),
    ],
)
def test_tools_say_it_in_their_own_words(tool: str, line: str) -> None:
    (said,) = messages(read_text(parser_of(tool), line))
    assert said.lower() in line.lower()


@pytest.mark.parametrize("line", ["coverage: platform linux", "Required test coverage of 80% reached.", "threshold"])
@pytest.mark.parametrize("tool", ["pytest", "mocha", "vitest", "jest"])
def test_other_words_about_coverage_are_no_failure(tool: str, line: str) -> None:
    assert messages(read_text(parser_of(tool), line)) == []


def test_runners_logs_name_it_where_nothing_else_failed() -> None:
    pytest_log = "tests/test_a.py ..\n\nFAIL Required test coverage of 80% not reached. Total coverage: 50.00%\n"
    pytest_log += "============================== 2 passed in 0.03s ==============================="
    vitest_log = "      Tests  2 passed (2)\n\nERROR: Coverage for lines (50%) does not meet global threshold (80%)"
    assert messages(read_text(parser_of("pytest"), pytest_log)) == [
        "Required test coverage of 80% not reached. Total coverage: 50.00%"
    ]
    assert messages(read_text(parser_of("vitest"), vitest_log)) == [
        "Coverage for lines (50%) does not meet global threshold (80%)"
    ]
