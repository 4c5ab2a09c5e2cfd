"""The files of a workspace after each step, as trees in a git folder of ours: what they hold, what they may cost."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.session.workspaces import steps
from agent_fox.session.workspaces.steps import Beginning, Steps, beginning_of, brought_home
from agent_fox.session.workspaces.workspace import Preparation
from agent_fox.system import git, git_objects
from tests.session.world import make_order, make_repo, sh


@pytest.fixture
def taking(tmp_path: Path) -> Steps:
    repo = make_repo(tmp_path / "repo")
    workspace = tmp_path / "workspace"
    sh(tmp_path, "git", "clone", "-q", str(repo), str(workspace))
    (workspace / ".env").write_text("brought in\n")
    return Steps(Beginning(repo, git.tree_of(repo, "HEAD"), tmp_path / "steps", (".env", "lib")), workspace)


def files(taking: Steps, tree: str) -> dict[str, str]:
    """What a tree holds, asked of the folder of the states."""
    store = git_objects.lasting_store(taking.beginning.folder, taking.beginning.repo, taking.workspace)
    listed = store.call("ls-tree", "-r", "--name-only", tree).text.split()
    return {path: store.call("show", f"{tree}:{path}").out.decode() for path in listed}


def test_a_state_is_the_tree_of_the_files_without_what_tools_leave_and_what_was_brought(taking: Steps) -> None:
    begin = taking.take()
    assert begin == taking.beginning.tree
    (taking.workspace / "src/app.py").write_text("print('two')\n")
    (taking.workspace / "new.txt").write_text("new\n")
    (taking.workspace / "__pycache__").mkdir()
    (taking.workspace / "__pycache__/a.pyc").write_text("x")
    (taking.workspace / "ignored").mkdir()
    (taking.workspace / "ignored/a").write_text("x")
    (taking.workspace / "README.md").unlink()
    tree = taking.take()
    found = files(taking, tree)
    assert (found["src/app.py"], found["new.txt"]) == ("print('two')\n", "new\n")
    assert set(found) == {".agent-fox/config.toml", ".gitignore", "new.txt", "specs/01_app/requirements.md",
                          "specs/01_app/tasks.md", "src/app.py"}  # fmt: skip
    assert (taking.take(), taking.taken, taking.unseen) == (tree, 1, {})


def test_files_that_are_put_back_give_the_tree_from_before(taking: Steps) -> None:
    text = (taking.workspace / "src/app.py").read_text()
    (taking.workspace / "src/app.py").write_text("x = 1\n")
    changed = taking.take()
    (taking.workspace / "src/app.py").write_text(text)
    assert taking.take() == taking.beginning.tree != changed


def test_git_in_the_workspace_is_neither_read_nor_run(taking: Steps, tmp_path: Path) -> None:
    touch = f"touch {tmp_path}/ran"
    settings = f'[core]\n\tfsmonitor = {touch}\n\tworktree = /nowhere\n[filter "x"]\n\tclean = {touch}\n'
    (taking.workspace / ".git/config").write_text(settings)
    (taking.workspace / ".gitattributes").write_text("* filter=x\n")
    (taking.workspace / "src/app.py").write_text("x = 1\n")
    assert files(taking, taking.take())["src/app.py"] == "x = 1\n"
    assert not (tmp_path / "ran").exists()


def test_large_files_and_repositories_inside_are_left_out_and_counted(
    taking: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LARGEST", 100)
    (taking.workspace / "big.bin").write_text("x" * 101)
    (taking.workspace / "small.txt").write_text("x" * 99)
    (taking.workspace / "inner").mkdir()
    sh(taking.workspace / "inner", "git", "init", "-q")
    (taking.workspace / "inner/a.txt").write_text("a\n")
    found = files(taking, taking.take())
    assert ("small.txt" in found, "big.bin" in found, any(path.startswith("inner") for path in found)) == (
        True, False, False,
    )  # fmt: skip
    assert taking.large == {"big.bin"}


def test_a_folder_in_the_place_of_a_file_and_a_link_are_taken_as_they_are(taking: Steps) -> None:
    (taking.workspace / "README.md").unlink()
    (taking.workspace / "README.md").mkdir()
    (taking.workspace / "README.md/part").write_text("x\n")
    (taking.workspace / "link").symlink_to("src")
    shutil.rmtree(taking.workspace / "specs")
    (taking.workspace / "specs").symlink_to("src")
    found = files(taking, taking.take())
    assert (found["specs"], [path for path in found if path.startswith("specs/")]) == ("src", [])
    assert (found["README.md/part"], found["link"]) == ("x\n", "src")


def test_the_number_of_states_is_bounded_and_the_others_are_counted(
    taking: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MOST_STEPS", 2)
    trees = []
    for number in range(4):
        (taking.workspace / "n.txt").write_text(f"{number}\n")
        trees.append(taking.take())
    assert [bool(tree) for tree in trees] == [True, True, False, False]
    assert taking.unseen == {"more than 2 states": 2}


def test_the_time_is_bounded_by_a_clock_that_jumps_back_too(taking: Steps) -> None:
    times = iter([0.0, 100.0, 50.0, 40.0, 1000.0, 10.0])
    slow = Steps(taking.beginning, taking.workspace, clock=lambda: next(times))
    assert slow.take()  # began at 0; looked from 100 to 50: counts as nothing
    assert slow.spent == 0.0
    slow.spent, slow.clock = 6.0, lambda: 10.0
    assert slow.take() == ""
    assert slow.unseen == {"looking would have taken too long": 1}
    slow.clock = lambda: 1000.0
    assert slow.take()


def test_a_project_with_too_many_files_is_not_looked_at(taking: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_FILES", 3)
    assert (taking.take(), taking.take()) == ("", "")
    assert taking.unseen == {"the project has more than 3 files": 2}


def test_trouble_ends_the_taking_after_some_tries_and_never_raises(taking: Steps, tmp_path: Path) -> None:
    assert taking.take()
    (tmp_path / "steps/index").write_text("broken")
    assert [taking.take() for _ in range(5)] == [""] * 5
    assert taking.unseen == {"the files cannot be taken: GitError": 5}


def test_states_are_brought_home_as_a_chain_of_commits_and_twice_the_same(taking: Steps) -> None:
    repo, head = taking.beginning.repo, sh(taking.beginning.repo, "git", "rev-parse", "HEAD")
    states = []
    for number in range(3):
        (taking.workspace / "src/app.py").write_text(f"n = {number}\n")
        states.append((taking.take(), f"call {number}: Edit src/app.py"))
    assert git.commit_of(repo, states[0][0]) is None
    last = brought_home(taking.beginning.folder, repo, head, states, 1_700_000_000)
    assert brought_home(taking.beginning.folder, repo, head, states, 1_700_000_000) == last
    assert sh(repo, "git", "log", "--format=%s", last, f"^{head}").splitlines() == [
        "call 2: Edit src/app.py", "call 1: Edit src/app.py", "call 0: Edit src/app.py",
    ]  # fmt: skip
    assert sh(repo, "git", "show", f"{last}:src/app.py") == "n = 2"
    assert sh(repo, "git", "fsck", "--strict", "--no-dangling") == ""
    assert brought_home(taking.beginning.folder, repo, head, [], 0) == ""


def test_the_objects_of_a_session_under_way_are_not_the_repositorys(taking: Steps) -> None:
    before = sh(taking.beginning.repo, "git", "count-objects")
    (taking.workspace / "src/app.py").write_text("n = 1\n")
    assert taking.take()
    assert sh(taking.beginning.repo, "git", "count-objects") == before


def test_a_session_begins_with_what_setup_made_or_with_the_work_that_was_laid_over_it(tmp_path: Path) -> None:
    order = make_order(make_repo(tmp_path / "repo"))
    head = git.tree_of(order.repo, order.pinned)
    assert beginning_of(order, Preparation("b" * 40, (".env",))).tree == "b" * 40
    assert beginning_of(replace(order, resume=order.pinned), Preparation("b" * 40)).tree == head
