"""A coder's work that weakens tests does not count, and the coder is told why; honest work is not held up."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import agent, make_order, make_repo, sh, write
from tests.verifier.made_projects import OWN_PATH

TEST = "from app import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FILES = {"app.py": "def total(prices):\n    return sum(prices)\n", "tests/test_app.py": TEST}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def session(repo: Path, code: str, **changes: str | bool) -> SessionEnd:
    """The end of a coder's session that runs this Python code in its workspace."""
    # A name of its own: what ends the leftovers of a launch finds them by its name, in all tests that run at once.
    own = {"launch": "policy-gate-1", "spec_places": (), **changes}
    order: LaunchOrder = make_order(repo, agent=agent(sys.executable, "-c", code), **own)
    return run_session(order, lambda pid, start: None, StopSignal())


def writing(path: str, text: str, summary: str = "") -> str:
    """Code that writes a file, and the session's result with a summary."""
    result = json.dumps({"summary": summary})
    tell = f"import os; open(os.environ['AGENT_FOX_RESULT'], 'w').write({result!r})\n" if summary else ""
    return f"open({path!r}, 'w').write({text!r})\n{tell}"


def test_work_that_leaves_the_tests_alone_is_taken(repo: Path) -> None:
    end = session(repo, writing("app.py", "def total(prices):\n    return sum(list(prices))\n"))
    assert (end.kind, end.work is not None) == (EndKind.ENDED, True)


def test_a_weakened_assertion_is_refused_with_the_place_and_what_to_do(repo: Path) -> None:
    end = session(repo, writing("tests/test_app.py", TEST.replace("== 3", "is not None")))
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert end.reason.startswith("refused by policy, tests or checks were weakened: tests/test_app.py:5: ")


def test_a_skipped_test_is_refused_whatever_the_coder_says_of_it(repo: Path) -> None:
    skipped = "import pytest\n" + TEST.replace("def test_total", "@pytest.mark.skip\ndef test_total")
    end = session(repo, writing("tests/test_app.py", skipped, "test_total is skipped because it is slow on my machine"))
    assert end.kind is EndKind.REFUSED


def test_a_deleted_test_is_refused(repo: Path) -> None:
    end = session(repo, "import os; os.unlink('tests/test_app.py')")
    assert end.kind is EndKind.REFUSED
    assert "tests/test_app.py" in end.reason


def test_new_and_stronger_tests_are_taken(repo: Path) -> None:
    stronger = TEST + "\n\ndef test_empty():\n    assert total([]) == 0\n"
    assert session(repo, writing("tests/test_app.py", stronger)).kind is EndKind.ENDED


def test_an_expectation_that_changed_without_a_reason_is_refused(repo: Path) -> None:
    end = session(repo, writing("tests/test_app.py", TEST.replace("== 3", "== 4")))
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert "tests/test_app.py:5: the expected value changed and no reason was stated" in end.reason


def test_an_expectation_that_changed_for_a_stated_reason_is_taken(repo: Path) -> None:
    reason = "test_total expected 3 although the shop adds one for the bag since March"
    end = session(repo, writing("tests/test_app.py", TEST.replace("== 3", "== 4"), reason))
    assert (end.kind, end.work is not None) == (EndKind.ENDED, True)


def test_a_repository_may_have_it_told_only(repo: Path) -> None:
    weak = writing("tests/test_app.py", TEST.replace("== 3", "is not None"))
    end = session(repo, weak, changes="report")
    assert (end.kind, bool(end.notes)) == (EndKind.ENDED, True)
    assert session(repo, weak, changes="ignore", launch="policy-gate-2").notes == ("no result file; cost unknown",)


def test_work_that_only_lacks_format_is_formatted_where_that_is_allowed(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", OWN_PATH)
    settings = {"pyproject.toml": "[tool.ruff]\n", "app.py": "def total( prices ):\n    return sum( prices )\n"}
    code = "".join(writing(path, text) for path, text in settings.items())
    end = session(repo, code, format_apply=True)
    assert end.work is not None
    assert sh(repo, "git", "show", f"{end.work.commit}:app.py") == FILES["app.py"].strip()
    assert "run_format_apply formatted app.py" in end.notes


def test_a_formatter_leaves_alone_what_the_change_does_not_touch(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", OWN_PATH)
    ugly = {"old.py": "x = {  'a':1 }\n", "pyproject.toml": "[tool.ruff]\n"}
    write(repo, ugly)
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "ugly")
    end = session(repo, writing("app.py", "def total( prices ):\n    return sum( prices )\n"), format_apply=True)
    assert end.work is not None
    assert "total( prices )" in sh(repo, "git", "show", f"{end.work.commit}:app.py")
    assert any(note.startswith("not formatted") for note in end.notes)
