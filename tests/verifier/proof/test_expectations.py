"""Both versions of a committed test, and which is older by the person's own history: the test, or the requirement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.verdicts.expectations import Agreed, Seal
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.ground.cases import Case, Outcome
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.proof.expectations import deciding, digest_of, expectation_of, sealed, who_agreed
from tests.verifier.proof.test_stage import put, sh

SPEC, TEST, CODE = "specs/requirements.md", "tests/test_a.py", "a.py"
OLD_TEXT = "1. [R1] WHEN asked, `f` SHALL return\n   three.\n"
NEW_TEXT = "1. [R1] WHEN asked, `f` SHALL return\n   four.\n"
ASKED = "WHEN asked, f SHALL return four."
WHY = "test_a expects four because the requirement was changed to four."
CASE = Case((), "test_a", TEST, Outcome.FAILED)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    new_repository(folder)
    return folder


def commit(root: Path, files: dict[str, str]) -> None:
    put(root, files)
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "more")


def seal(root: Path, said: str = WHY, text: str = ASKED, spec: str = SPEC) -> Seal:
    """What the committed test amounts to that asks for three, where the tree asks for four."""
    tree = root.parent / "tree"
    put(tree, {TEST: "def test_a():\n    assert f() == 4\n"})
    found = expectation_of(CASE, OWN, (TEST,), (TEST,), root, tree, said)
    order = CheckOrder(
        {"R1": text},
        str(tree),
        repository=str(root),
        base_commit=sh(root, "rev-parse", "HEAD"),
        spec_files={"R1": spec},
    )
    return sealed(order, "R1", found)


OWN = frozenset({"test_a"})
THREE = {TEST: "def test_a():\n    assert f() == 3\n"}


def test_a_requirement_that_was_changed_after_its_test_allows_another_expectation(root: Path) -> None:
    commit(root, {**THREE, SPEC: OLD_TEXT})
    commit(root, {SPEC: NEW_TEXT})
    assert seal(root) is Seal.OLDER
    assert seal(root, said="") is Seal.WEAKENED


def test_a_requirement_that_is_as_old_as_its_test_or_older_allows_none(root: Path) -> None:
    commit(root, {**THREE, SPEC: NEW_TEXT})
    assert seal(root) is Seal.CHANGED
    commit(root, {TEST: f"{THREE[TEST]}\n# said again\n"})
    assert seal(root) is Seal.CHANGED


def test_another_change_of_the_spec_and_a_move_of_its_file_make_no_text_younger(root: Path) -> None:
    commit(root, {SPEC: NEW_TEXT, "docs/old.md": NEW_TEXT * 5})
    commit(root, THREE)
    commit(root, {SPEC: f"# Title\n\n{NEW_TEXT}"})
    assert seal(root) is Seal.CHANGED
    sh(root, "mv", SPEC, "specs/moved.md")
    sh(root, "commit", "-qm", "moved")
    assert seal(root, spec="specs/moved.md") is Seal.CHANGED


def test_what_the_history_does_not_show_is_not_older(root: Path) -> None:
    commit(root, {**THREE, SPEC: OLD_TEXT})
    commit(root, {SPEC: NEW_TEXT})
    assert seal(root, text="something else") is Seal.CHANGED
    assert seal(root, text="") is Seal.CHANGED


def test_a_branch_that_brought_both_does_not_make_the_text_younger(root: Path) -> None:
    commit(root, {"README.md": "a\n"})
    sh(root, "checkout", "-qb", "side")
    commit(root, {SPEC: NEW_TEXT})
    commit(root, THREE)
    sh(root, "checkout", "-q", "main")
    commit(root, {"README.md": "b\n"})
    sh(root, "merge", "-q", "--no-edit", "side")
    assert seal(root) is Seal.CHANGED


def test_what_was_changed_is_bound_whole_and_shown_in_part(tmp_path: Path) -> None:
    base, tree = tmp_path / "base", tmp_path / "tree"
    lines = [f"line {number}\n" for number in range(40)]
    put(base, {TEST: "".join(lines), "tests/other_test.py": "x", "tests/conftest.py": "1\n"})
    lines[20] = "changed\n"
    put(tree, {TEST: "".join(lines), "tests/other_test.py": "y", "tests/conftest.py": "1\n2\n"})
    changed = (TEST, "tests/other_test.py", "tests/conftest.py", "tests/__pycache__/a.pyc", "tests/new/golden.json")
    found = expectation_of(CASE, OWN, changed, (TEST, "tests/other_test.py"), base, tree, "")
    assert found.files == ("tests/conftest.py", "tests/new/golden.json", TEST)
    assert "line 20" in found.before
    assert "changed" in found.after
    assert "line 2\n" not in found.before
    put(tree, {"tests/conftest.py": "1\n3\n"})
    other = expectation_of(CASE, OWN, changed, (TEST, "tests/other_test.py"), base, tree, "")
    assert (other.committed == found.committed, other.changed == found.changed) == (True, False)
    assert replace(other, changed=found.changed, after=found.after) == found


FILE = """\
import shop

LIMITS = [1, 2]


def helper():
    return 3


@mark(LIMITS)
def test_a(one=1):
    assert shop.f() == helper()


@mark(3)
def test_other(
    value,
):
    assert value == 1
    assert shop.g() == 2


class TestMore:
    def test_inside(self):
        assert shop.h() == 1
"""


def pair(text: str) -> tuple[str, str]:
    """What an agreement about `test_a` is bound to, before a change of its file, and after."""
    return deciding(TEST, FILE.encode(), OWN).decode(), deciding(TEST, text.encode(), OWN).decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert value == 1", "assert value == 2"),
        ("    assert value == 1\n", ""),
        ("assert shop.h() == 1", "result = shop.h()\n        assert result == 5"),
    ],
)
def test_another_test_of_the_file_may_change_without_a_person_being_asked_again(old: str, new: str) -> None:
    before, after = pair(FILE.replace(old, new))
    assert before == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shop.f() == helper()", "shop.f() == 4"),
        ("return 3", "return 4"),
        ("LIMITS = [1, 2]", "LIMITS = [1]"),
        ("import shop", "import shop2 as shop"),
        ("@mark(3)", "@mark(LIMITS.pop())"),
        ("    value,\n", "    value=LIMITS.pop(),\n"),
        ("assert value == 1", "shop.f = lambda: 3"),
        ("assert value == 1", "LIMITS.append(4)"),
        ("assert value == 1", "global helper"),
        ("assert value == 1", "setattr(shop, 'f', value)"),
        ("assert value == 1", "helper.__code__ = value"),
        ("assert shop.h() == 1", "self.kept = 1"),
        ("class TestMore:", "class TestLess:"),
        ("test_other(", "test_a("),
    ],
)
def test_whatever_may_change_what_the_agreed_test_asks_is_asked_again(old: str, new: str) -> None:
    before, after = pair(FILE.replace(old, new))
    assert before != after


def test_a_file_that_cannot_be_read_as_python_is_bound_whole() -> None:
    assert deciding("a.test.js", b"test('x', () => {})", OWN) == b"test('x', () => {})"
    assert deciding(TEST, b"def test_other(:\n  1", OWN) == b"def test_other(:\n  1"


def test_an_agreement_that_was_bound_to_whole_files_holds_as_long_as_these_are_the_same(tmp_path: Path) -> None:
    base, tree = tmp_path / "base", tmp_path / "tree"
    put(base, {TEST: FILE})
    put(tree, {TEST: FILE.replace("== helper()", "== 4")})
    found = expectation_of(CASE, OWN, (TEST,), (TEST,), base, tree, "")
    whole = Agreed("R1", digest_of(base, (TEST,)), digest_of(tree, (TEST,)), "Ada")
    order = CheckOrder({"R1": "text"}, str(tree), agreed=(whole,))
    assert (found.changed == whole.changed, who_agreed(order, "R1", found, base, tree)) == (False, "Ada")
    put(tree, {TEST: FILE.replace("== helper()", "== 4").replace("value == 1", "value == 2")})
    assert who_agreed(order, "R1", found, base, tree) == ""
    part = replace(whole, committed=found.committed, changed=found.changed)
    now = expectation_of(CASE, OWN, (TEST,), (TEST,), base, tree, "")
    assert who_agreed(replace(order, agreed=(part,)), "R1", now, base, tree) == "Ada"
