"""Where a rewritten test ends and a weaker one begins: what wants a reason, and what no reason makes up for."""

from __future__ import annotations

import pytest

from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import Change, FileChange, PolicyContext, Rule, Ruling

HEAD = "from cart import Cart, total\n\n\n"
OLD = f"""{HEAD}def test_total_adds_lines():
    cart = Cart([1, 2])
    assert total(cart) == 3
    assert cart.count == 2
"""
TABLE = f"""{HEAD}CASES = {{'a': 1, 'b': 2}}


def test_a():
    for name, price in CASES.items():
        assert total(name) == price
"""


def ruling(before: str | None, after: str | None, path: str = "tests/test_cart.py") -> Ruling:
    sides = [None if text is None else text.encode() for text in (before, after)]
    return check_change(Change({path: FileChange(sides[0], sides[1])}), PolicyContext()).verdict


def test_one_assertion_about_the_whole_stands_for_those_about_its_parts() -> None:
    before = f"{HEAD}def test_a():\n    found = total()\n    assert found[0] == 1\n    assert len(found) == 2\n"
    after = f"{HEAD}def test_a():\n    found = total()\n    assert found == [1, 2]\n"
    assert ruling(before, after) is Ruling.REASONS_WANTED


def test_a_length_alone_does_not_stand_for_the_whole() -> None:
    before = f"{HEAD}def test_a():\n    assert total() == [1, 2]\n"
    after = f"{HEAD}def test_a():\n    assert len(total()) == 2\n"
    assert ruling(before, after) is Ruling.BLOCKED


def test_a_test_replaced_by_another_of_the_same_function_wants_a_reason() -> None:
    after = f"{HEAD}def test_a_cart_of_three():\n    assert total(Cart([1, 2, 3])) == 6\n"
    assert ruling(OLD, after) is Ruling.REASONS_WANTED


def test_a_test_replaced_by_one_of_something_else_is_deleted() -> None:
    after = f"{HEAD}import os\n\n\ndef test_the_separator():\n    assert os.path.join('a', 'b') == 'a/b'\n"
    assert ruling(OLD, after) is Ruling.BLOCKED


def test_one_new_test_stands_for_two_and_no_more() -> None:
    names = ("one", "two", "three")
    before = HEAD + "\n\n".join(f"def test_{name}():\n    assert total('{name}') == {name!r}\n" for name in names)
    after = f"{HEAD}def test_all():\n    assert total('all') == 'all of them'\n"
    assert ruling(before, after) is Ruling.BLOCKED


@pytest.mark.parametrize(
    ("path", "test", "gone", "new", "kept"),
    [
        ("tests/test_cart.py", OLD, f"{HEAD}def test_b():\n    assert total('b') == 1\n", "tests/test_totals.py", OLD),
        (
            *("src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(total(1), 2); }\n}\n"),
            *("#[cfg(test)]\nmod tests;\n", "src/tests.rs", "#[test]\nfn adds() { assert_eq!(total(1), 2); }\n"),
        ),
    ],
    ids=["python", "rust"],
)
def test_a_test_may_move_to_another_file(path: str, test: str, gone: str, new: str, kept: str) -> None:
    moved = {path: FileChange(test.encode(), gone.encode()), new: FileChange(None, kept.encode())}
    assert check_change(Change(moved), PolicyContext()).verdict is Ruling.CLEAN


def test_self_before_a_name_makes_no_other_assertion() -> None:
    before = "class TestA:\n    def test_a(self):\n        assert self.cart.total == 1\n"
    assert ruling(before, before.replace("(self)", "(self, cart)").replace("self.cart", "cart")) is Ruling.CLEAN


@pytest.mark.parametrize(
    "expected", ["total(cart)", "wanted", "round(total(cart), 0)"], ids=["the same call", "a name for it", "made of it"]
)
def test_an_answer_that_the_code_gives_itself_is_no_expectation(expected: str) -> None:
    after = OLD.replace("total(cart) == 3", f"total(cart) == {expected}")
    after = after.replace("    assert total", "    wanted = total(cart)\n    assert total")
    assert ruling(OLD, after) is Ruling.BLOCKED


def test_a_new_test_may_show_that_a_call_repeats_itself() -> None:
    assert ruling(OLD, f"{OLD}\n\ndef test_again():\n    assert total(Cart()) == total(Cart())\n") is Ruling.CLEAN


def test_a_row_of_a_table_with_a_name_is_an_assertion_too() -> None:
    assert ruling(TABLE, TABLE.replace(", 'b': 2", "")) is Ruling.BLOCKED
    assert ruling(TABLE, TABLE.replace("'b': 2", "'b': 2, 'c': 3")) is Ruling.CLEAN


def test_a_fixture_for_all_tests_may_not_begin_to_skip() -> None:
    fixture = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef ready():\n    {}yield\n"
    skipping = fixture.format("if not ONLINE:\n        pytest.skip('no network')\n    ")
    assert ruling(fixture.format(""), skipping, "tests/conftest.py") is Ruling.BLOCKED
    assert ruling(None, skipping.replace("(autouse=True)", ""), "tests/conftest.py") is Ruling.REASONS_WANTED


def test_a_helper_of_other_files_may_not_lose_its_assertion() -> None:
    before = "def assert_balanced(cart):\n    assert cart.total == sum(cart.lines)\n"
    report = check_change(
        Change({"tests/helpers.py": FileChange(before.encode(), b"def assert_balanced(cart):\n    return cart\n")}),
        PolicyContext(),
    )
    assert [finding.rule for finding in report.findings] == [Rule.ASSERTION_REMOVED]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("run.sh", "pytest --cov-fail-under=90\n", "pytest --cov-fail-under=80\n"),
        ("run.sh", "pytest --cov-fail-under=90\n", "pytest\n"),
        (
            "vitest.config.ts",
            "export default { lines: 90, branches: 80 };\n",
            "export default { lines: 90, branches: 8 };\n",
        ),
        ("Makefile", "lint:\n\teslint --max-warnings 0 .\n", "lint:\n\teslint --max-warnings 99 .\n"),
        ("pom.xml", "<a><minimum>0.80</minimum></a>\n", "<a><minimum>0.10</minimum></a>\n"),
    ],
)
def test_a_number_that_asks_for_less_is_stopped_and_for_more_is_not(path: str, before: str, after: str) -> None:
    assert ruling(before, after, path) is Ruling.BLOCKED
    assert ruling(after, before, path) is Ruling.CLEAN


def test_a_threshold_may_move_to_another_file() -> None:
    moved = {
        "run.sh": FileChange(b"pytest --cov-fail-under=90\n", b"make test\n"),
        "Makefile": FileChange(b"", b"test:\n\tpytest --cov-fail-under=90\n"),
    }
    assert check_change(Change(moved), PolicyContext()).verdict is Ruling.CLEAN


def test_a_suppression_inside_a_text_is_none() -> None:
    code = "PATTERN = r'# type: ignore'\nSOURCE = '''\nimport os  # noqa\n'''\n"
    assert ruling("", code, "shop/scan.py") is Ruling.CLEAN
    assert ruling("", "import os  # noqa\n", "shop/scan.py") is Ruling.BLOCKED


def test_a_linter_that_is_new_may_leave_something_out() -> None:
    after = '[tool.ruff]\nextend-exclude = ["examples"]\n'
    assert ruling("", after, "pyproject.toml") is Ruling.CLEAN
    assert ruling("[tool.ruff]\nline-length = 100\n", after, "pyproject.toml") is Ruling.BLOCKED
