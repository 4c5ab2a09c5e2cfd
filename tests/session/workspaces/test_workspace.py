"""Making a launch's checkout ready, and what may come into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, LaunchOrder, Paths, Provisions, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from agent_fox.session.workspaces.workspace import WorkspaceError, launch_ref, prepare
from agent_fox.system import git
from tests.session.world import make_order, never_told, sh, shell, write

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def made(repo: Path, **provisions: tuple[str, ...]) -> Path:
    """The workspace of a coder's launch with these provisions."""
    order = make_order(repo, workspace=Provisions(**provisions))
    prepare(order, ENVIRONMENT, StopSignal())
    return Paths(order.state).workspace


def run(order: LaunchOrder) -> SessionEnd:
    return run_session(order, never_told, StopSignal())


def test_a_workspace_is_the_pinned_commit_whatever_the_person_has_open(repo: Path) -> None:
    pinned = sh(repo, "git", "rev-parse", "HEAD")
    write(repo, {"README.md": "later\n"})
    sh(repo, "git", "commit", "-qam", "later")
    write(repo, {"README.md": "unsaved\n"})
    order = make_order(repo, pinned=pinned)
    prepare(order, ENVIRONMENT, StopSignal())
    assert (Paths(order.state).workspace / "README.md").read_text() == "hello\n"
    assert git.commit_of(repo, launch_ref(order.launch)) == pinned


def test_an_agent_can_look_at_history_and_commit_without_reaching_the_repository(repo: Path) -> None:
    workspace = made(repo)
    write(workspace, {"README.md": "mine\n"})
    sh(workspace, "git", "commit", "-qam", "mine")
    assert sh(workspace, "git", "log", "--format=%s %an") == "mine Ada\nstart Ada"
    assert sh(workspace, "git", "remote") == ""
    assert sh(workspace, "git", "branch", "--format=%(refname:short)") == "attempt"
    assert sh(repo, "git", "log", "--all", "--format=%s") == "start"


@pytest.mark.parametrize("name", ['Ada "the Count" #1', "back\\slash; semi", "two  spaces", "[core] = Ada", "Åda 阿达"])
def test_the_persons_name_comes_along_as_it_is_and_becomes_no_setting(repo: Path, name: str) -> None:
    sh(repo, "git", "config", "user.name", name)
    workspace = made(repo)
    settings = sh(workspace, "git", "config", "--local", "--null", "--list", "--name-only").split("\0")
    assert sh(workspace, "git", "config", "--local", "--null", "user.name") == f"{git.identity(repo).name}\0"
    assert git.identity(repo).name == name
    assert {key.partition(".")[0] for key in settings if key} <= {"core", "extensions", "gc", "maintenance", "user"}


def test_settings_and_hooks_of_the_repository_do_not_come_along(repo: Path, tmp_path: Path) -> None:
    sh(repo, "git", "config", "core.hooksPath", "/planted")
    sh(repo, "git", "config", "filter.planted.smudge", f"touch {tmp_path / 'ran'}")
    hook = repo / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    workspace = made(repo)
    assert "planted" not in (workspace / ".git/config").read_text()
    assert not (workspace / ".git/hooks").exists()
    assert not (tmp_path / "ran").exists()


def test_a_shallow_repository_can_be_worked_in(repo: Path, tmp_path: Path) -> None:
    write(repo, {"README.md": "second\n"})
    sh(repo, "git", "commit", "-qam", "second")
    shallow = tmp_path / "shallow" / "repo"
    sh(tmp_path, "git", "clone", "-q", "--depth=1", f"file://{repo}", str(shallow))
    end = run(make_order(shallow, agent=shell("git log --oneline > seen.txt")))
    assert end.work is not None
    assert b"second" in (git.show(shallow, end.work.commit, "seen.txt") or b"")


def test_a_repository_that_is_itself_a_worktree_can_be_worked_in(repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "elsewhere" / "tree"
    sh(repo, "git", "worktree", "add", "-q", "-b", "side", str(tree))
    end = run(make_order(tree, agent=shell("echo x > new.txt")))
    assert end.work is not None
    assert git.show(repo, end.work.commit, "new.txt") == b"x\n"


def test_copies_are_the_agents_own_and_links_lead_back(repo: Path) -> None:
    write(repo, {".env": "A=1\n", "ignored/deps/a.js": "a\n", "ignored/deps/b.js": "b\n"})
    workspace = made(repo, copy=(".env",), link=("ignored/dep*",))
    assert (workspace / ".env").read_text() == "A=1\n"
    assert not (workspace / ".env").is_symlink()
    assert (workspace / "ignored/deps").readlink() == repo / "ignored/deps"


def test_what_was_brought_in_is_no_work_even_where_nothing_ignores_it(repo: Path) -> None:
    write(repo, {"vendor/lib.txt": "lib\n", "settings.txt": "s\n"})
    order = make_order(repo, agent=shell("echo x >> settings.txt; git add -A; git commit -qm all --allow-empty"))
    order = make_order(repo, agent=order.agent, workspace=Provisions(copy=("settings.txt",), link=("vendor",)))
    end = run(order)
    assert end.work is not None
    assert end.work.is_unchanged, sh(repo, "git", "show", "--stat", end.work.commit)
    assert (repo / "settings.txt").read_text() == "s\n"


def test_a_path_that_names_nothing_is_told_by_name(repo: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"link: 'node_modules' names nothing in .*; create it"):
        made(repo, link=("node_modules",))


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "a/../../b", ".git/config", ""])
def test_a_path_that_leads_outside_is_refused(repo: Path, path: str) -> None:
    with pytest.raises(WorkspaceError, match="must be a path inside the repository"):
        made(repo, copy=(path,))


def test_a_link_in_the_checkout_cannot_lead_a_copy_outside(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo / "out").symlink_to(tmp_path / "outside")
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "link")
    (tmp_path / "outside/file").write_text("x")
    with pytest.raises(WorkspaceError, match="outside of the checkout"):
        made(repo, copy=("out/file",))


def test_a_tracked_path_cannot_be_linked(repo: Path) -> None:
    with pytest.raises(WorkspaceError, match="in the checkout already"):
        made(repo, link=("src",))


def test_setup_runs_in_the_workspace_without_a_shell(repo: Path) -> None:
    workspace = made(repo, setup=("touch 'a file' $HOME", "sh -c 'echo done > ignored.log'"))
    assert (workspace / "a file").exists()
    assert (workspace / "$HOME").exists()
    assert (workspace / "ignored.log").read_text() == "done\n"


def test_a_failed_setup_is_told_with_its_last_lines_and_is_infrastructure(repo: Path) -> None:
    setup = "sh -c 'for i in 1 2 3 4 5 6 7; do echo line $i; done; echo no lock file >&2; exit 3'"
    end = run(make_order(repo, agent=shell("true"), workspace=Provisions(setup=(setup,))))
    assert (end.kind, str(end.infrastructure)) == (EndKind.INFRASTRUCTURE, "workspace")
    assert "ended with exit status 3" in end.reason
    assert "line 7\nno lock file" in end.reason
    assert "line 2" not in end.reason


@pytest.mark.parametrize(
    ("setup", "said"),
    [("no-such-tool x", "could not be started"), ("echo 'open", "cannot be split"), ("", "an empty command")],
)
def test_a_setup_that_cannot_run_is_told(repo: Path, setup: str, said: str) -> None:
    with pytest.raises(WorkspaceError, match=said):
        made(repo, setup=(setup,))


def test_what_setup_changed_is_not_the_coders_work(repo: Path) -> None:
    setup = ("sh -c 'echo locked >> README.md; echo made > made.txt; echo made > other.txt'",)
    idle = run(make_order(repo, agent=shell("true"), workspace=Provisions(setup=setup)))
    assert idle.work is not None
    assert idle.work.is_unchanged
    busy = run(
        make_order(
            repo, launch="workspace-two", agent=shell("echo more >> other.txt"), workspace=Provisions(setup=setup)
        )
    )
    assert busy.work is not None
    assert sh(repo, "git", "diff", "--name-only", "HEAD", busy.work.commit) == "other.txt"
