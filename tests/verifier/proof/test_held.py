"""Dependencies and settings of tests cannot be changed by a run; what tools cache among them is gone with it."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_fox.core.verdicts.verdict import Word
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.proof.held import CACHES, emptied, held
from tests.verifier.commands_at_work import needs_sandbox

WRITING = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("place", ["node_modules/left/index.js", "pytest.ini", "tests/conftest.py", "package.json"])
def test_01_REQ_1_1_what_is_held_cannot_be_written(place):
    with pytest.raises(OSError):
        Path(place).write_text("changed")
    with pytest.raises(OSError):
        Path(place).unlink()

def test_01_REQ_1_1_nothing_can_be_added_to_what_is_installed():
    with pytest.raises(OSError):
        Path("node_modules/new.js").write_text("")

def test_01_REQ_1_1_a_cache_of_tools_can_be_written_and_has_nothing_of_earlier_runs():
    cache = Path("node_modules/.cache")
    assert list(cache.iterdir()) == []
    (cache / "x").write_text("x")
    Path("made.txt").write_text("other files can be written")
"""
FILES = {
    "node_modules/left/index.js": "", "pytest.ini": "[pytest]\n", "tests/conftest.py": "", "package.json": "{}",
    "tests/test_it.py": WRITING,
}  # fmt: skip


def laid(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@needs_sandbox
def test_a_run_cannot_change_what_is_installed_nor_how_tests_are_run(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "tree", tmp_path / "installed" / "node_modules"
    laid(root)
    for is_lent in (False, True):
        if is_lent:
            elsewhere.parent.mkdir()
            (root / "node_modules").rename(elsewhere)
            (root / "node_modules").symlink_to(elsewhere)
        lent = (str(elsewhere),) if is_lent else ()
        command = f"{sys.executable} -m pytest tests"
        order = CheckOrder(
            {"01-REQ-1.1": "It SHALL."}, str(root), configured=(command,), sandbox=SandboxMode.REQUIRE, readable=lent
        )
        (finding,) = run_checks(order).findings
        assert finding.verdict.word is Word.PASS, finding.verdict.evidence
        assert {name: (root / name).read_text() for name in FILES} == FILES
        assert sorted(path.name for path in (root / "node_modules" / ".cache").iterdir()) == []
    assert (root / "made.txt").is_file()


def test_what_is_held_are_folders_of_dependencies_and_settings_and_no_links(tmp_path: Path) -> None:
    laid(tmp_path)
    (tmp_path / "venv").symlink_to(tmp_path / "tests")
    (tmp_path / "node_modules/left/jest.config.js").write_text("")
    found = sorted(path.relative_to(tmp_path).as_posix() for path in held(tmp_path))
    assert found == ["node_modules", "package.json", "pytest.ini", "tests/conftest.py"]
    assert [path.name for path in emptied(held(tmp_path))] == list(CACHES)
