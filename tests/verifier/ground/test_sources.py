"""Test sources are read, never imported, and a file that can't be parsed still has its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.sources import read_source

SOURCE = '''
"""The module's docstring speaks of 01-REQ-9 and binds no test."""
import pytest
raise SystemExit("imported")
pytestmark = [pytest.mark.requirement("of the module")]

class TestCart:
    """of the class"""
    pytestmark = pytest.mark.requirement("of its marks")

    @pytest.mark.requirement("of the test")
    @pytest.mark.parametrize("x", ["of the data"])
    async def test_total(self, x):
        """of the docstring"""
        "of the body"
'''


def test_a_test_is_told_by_its_own_words_its_classes_and_its_modules_marks(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(SOURCE)
    source = read_source(tmp_path, "test_a.py")
    assert source is not None
    said = source.said[("TestCart", "test_total")].split("\n")
    wanted = ["of the module", "of the class", "of its marks", "of the docstring", "of the test"]
    assert [line for line in said if line] == wanted


def test_a_comment_right_above_a_test_or_its_class_speaks_for_it(tmp_path: Path) -> None:
    head = "# far\n\n# of the class\nclass TestX:\n    # of the\n    # test\n    @mark\n"
    (tmp_path / "test_a.py").write_text(f"{head}    def test_a(self): ...\n\n    def test_b(self): ...\n")
    source = read_source(tmp_path, "test_a.py")
    assert source is not None
    words = {place[1]: [line.strip() for line in said.split("\n") if line] for place, said in source.said.items()}
    assert words == {"test_a": ["# of the class", "# of the", "# test"], "test_b": ["# of the class"]}


def test_a_broken_file_keeps_its_text_and_one_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def x(:  # 04-REQ-1.1")
    source = read_source(tmp_path, "test_a.py")
    assert source is not None
    assert (source.text, source.said) == ("def x(:  # 04-REQ-1.1", {})
    (tmp_path / "inner").mkdir()
    assert read_source(tmp_path / "inner", "../test_a.py") is None
    assert read_source(tmp_path, "gone.py") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.test.ts", "// 04-REQ-1.1\nit('adds', () => {});\n// 04-REQ-1.2\n\nit('other', () => {});\n"),
        ("a_test.go", "// 04-REQ-1.1\nfunc TestX(t *testing.T) {\n"),
        ("a.rs", "    /// 04-REQ-1.1\n    #[test]\n    fn adds() {\n"),
        ("A.java", '    @DisplayName("04-REQ-1.1")\n    @Test\n    void adds() {\n'),
    ],
)
def test_comments_right_above_a_test_speak_for_it(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    source = read_source(tmp_path, name)
    assert source is not None
    test = "TestX" if name.endswith(".go") else "adds"
    assert "04-REQ-1.1" in source.said_of((), test)
    assert source.said_of((), "other") == ""


def test_a_name_that_stands_twice_is_told_by_no_comment(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("// 04-REQ-1.1\ntest('adds', f);\ntest('adds', g);\n")
    source = read_source(tmp_path, "a.js")
    assert source is not None
    assert source.said == {}
