"""gotestsum: failed leaves with the folders of their packages, and the counts of the last line."""

from __future__ import annotations

from agent_fox.verifier.ground.results import TestSummary
from tests.verifier.logs.samples import messages, parser_of, places, read


def test_leaves_fail_in_the_folders_of_their_packages() -> None:
    found = read(parser_of("gotestsum"), "gotestsum/list", "/workspace")
    assert [failure.test_name for failure in found.failures] == ["TestThing/a_b", "TestAdd"]
    assert places(found) == ["sub/sub_test.go:12", "shop_test.go:3"]
    assert messages(found) == ["bad a b", "Add = -1, want 3"]


def test_the_last_line_counts() -> None:
    found = read(parser_of("gotestsum"), "gotestsum/list", "/workspace")
    assert found.summary == TestSummary(tests=9, passed=5, failures=3, skipped=1)
