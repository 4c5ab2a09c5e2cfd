"""Calls to the world outside: each goes through a door that knows the policy, and a failure that passes is unseen."""

from __future__ import annotations

import ast
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_fox.review import looking
from agent_fox.system import git, git_objects
from agent_fox.system.outside import TRIES, TRIES_UNKNOWN, Trouble, trouble_of
from agent_fox.testing.worlds import commit_all
from agent_fox.testing.worlds import git as real_git

PACKAGE = Path(git.__file__).parents[1]
DOORS = {"system/git.py": "_call_once", "system/git_push.py": "_run_once", "review/looking.py": "_ask_once"}
"""The functions that start git, each called by `outside.tried` alone."""

SAID = {
    "fatal: Unable to create '/x/index.lock': File exists.": Trouble.TRANSIENT,
    "error: cannot fork() for fetch: Resource temporarily unavailable": Trouble.TRANSIENT,
    "fatal: Out of memory, malloc failed": Trouble.TRANSIENT,
    "error: unable to write file: No space left on device": Trouble.INFRASTRUCTURE,
    "fatal: sha1 file write error: Input/output error": Trouble.INFRASTRUCTURE,
    "fatal: not a git repository (or any of the parent directories): .git": Trouble.PERSON,
    "fatal: ambiguous argument 'x': unknown revision or path not in the working tree.": Trouble.PERSON,
    "fatal: update_ref failed: cannot lock ref 'r': is at 1 but expected 2": Trouble.PERSON,
    "fatal: something that nobody foresaw": Trouble.UNKNOWN,
}


def starters() -> Iterator[tuple[str, str]]:
    """Every function of the package that starts a program whose name is `git`, found in the code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith("testing/"):
            continue
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and starts_git(function):
                yield name, function.name


def starts_git(function: ast.FunctionDef) -> bool:
    names = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    lists = [node for node in ast.walk(function) if isinstance(node, ast.List) and node.elts]
    is_git = any(isinstance(one.elts[0], ast.Constant) and one.elts[0].value == "git" for one in lists)
    is_given = function.name == DOORS.get("system/git.py") and "run" in names
    return (is_git and bool(names & {"run", "run_bounded", "start"})) or is_given


def test_git_is_started_at_three_doors_and_each_is_tried_again() -> None:
    assert dict(starters()) == DOORS
    for name, door in DOORS.items():
        tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == door]
        lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == "tried"]
        assert (len(calls), len(lambdas)) == (1, 1), name
        assert calls[0] in ast.walk(lambdas[0]), name


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def test_what_git_says_tells_whose_trouble_it_is() -> None:
    assert {said: trouble_of(128, said) for said in SAID} == SAID


def test_who_was_killed_or_died_without_a_word_has_given_no_answer() -> None:
    assert [trouble_of(status, "") for status in (-9, 137, 128, 1)] == [Trouble.TRANSIENT] * 3 + [Trouble.UNKNOWN]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    real_git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("a\n")
    commit_all(root, "start")
    return root


FAILING = """#!/bin/sh
n=$(($(cat {count}) + 1))
echo $n > {count}
if [ $n -le {failures} ]; then echo "{said}" >&2; exit {status}; fi
exec {git} "$@"
"""


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[], int]]:
    """Put a real program in git's place on PATH that fails so many times; gives how often it was called."""
    count, folder, found = tmp_path / "count", tmp_path / "bin", shutil.which("git")
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def fail(failures: int, said: str, status: int = 128) -> Callable[[], int]:
        count.write_text("0")
        program = folder / "git"
        text = FAILING.format(count=count, failures=failures, said=said, status=status, git=found)
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return lambda: int(count.read_text())

    return fail


def test_an_answer_that_failed_once_is_the_same_answer(repo: Path, failing: Callable[..., Callable[[], int]]) -> None:
    """A failure may look like an answer: `rev-parse` says 128 for a commit that is not there, too."""
    head = real_git(repo, "rev-parse", "HEAD")
    for said in (
        "fatal: Unable to create '/x/HEAD.lock': File exists.",
        "",
        "fatal: write error: No space left on device",
    ):
        failing(1, said)
        assert git.commit_of(repo, "main") == head
        failing(2, said)
        assert git.is_ancestor(repo, head, "main")
    failing(1, "fatal: nobody foresaw this")
    with git_objects.store(repo) as store:
        assert store.call("rev-parse", head).text == head
    failing(1, "fatal: Out of memory, malloc failed")
    assert looking.Look(repo, repo, {}).line("rev-parse", "HEAD") == head


def test_what_does_not_pass_is_tried_for_a_while_and_then_says_what_to_do(
    repo: Path, failing: Callable[..., Callable[[], int]]
) -> None:
    calls = failing(99, "fatal: Unable to create '/x/index.lock': File exists.")
    with pytest.raises(git.GitStuck, match=r"index\.lock.*tried 5 times: see to that, then run again"):
        git.commit_of(repo, "main")
    assert calls() == TRIES
    calls = failing(99, "fatal: nobody foresaw this")
    with pytest.raises(git.GitError, match="nobody foresaw"):
        git.head(repo) or git.dirty(repo)
    assert calls() <= 1 + TRIES_UNKNOWN


def test_what_a_person_must_put_right_is_not_tried_again(repo: Path, failing: Callable[..., Callable[[], int]]) -> None:
    calls = failing(99, "fatal: detected dubious ownership in repository")
    with pytest.raises(git.GitError, match="dubious ownership"):
        git.dirty(repo)
    assert calls() == 1
