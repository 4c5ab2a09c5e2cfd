"""Which tests `make quick` chooses, in a repository made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import commit_all, git
from tools.quick import changed_files, chosen_files

FILES = {
    "agent_fox/a/one.py": "X = 1\n",
    "agent_fox/a/two.py": "Y = 2\n",
    "tests/a/test_one.py": "",
    "tests/a/test_user.py": "from agent_fox.a.two import Y\n",
    "tests/b/test_whole.py": "from agent_fox.a import two\n",
    "tests/b/test_else.py": "import json\n",
    "tests/core/test_core.py": "import agent_fox.a.one\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    commit_all(tmp_path, "start")
    return tmp_path


def test_what_differs_from_the_last_commit_is_changed_and_what_is_gone_is_not(root: Path) -> None:
    assert changed_files(root) == []
    (root / "agent_fox/a/one.py").write_text("X = 2\n")
    (root / "agent_fox/a/two.py").unlink()
    (root / "new.py").write_text("")
    git(root, "add", "agent_fox/a/one.py")
    assert changed_files(root) == ["agent_fox/a/one.py", "new.py"]


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ("agent_fox/a/one.py", ["tests/a/test_one.py"]),
        ("agent_fox/a/two.py", ["tests/a/test_user.py", "tests/b/test_whole.py"]),
        ("tests/b/test_else.py", ["tests/b/test_else.py"]),
        ("tests/core/test_core.py", []),
        ("bench/figures.py", []),
    ],
)
def test_a_change_asks_for_its_mirror_and_for_who_imports_it(root: Path, changed: str, chosen: list[str]) -> None:
    assert list(chosen_files([changed], root)) == chosen
