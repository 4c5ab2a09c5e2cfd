"""Pushing to a real bare repository: only the integration branch, never with force, never a protected one."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from agent_fox.config import GitSettings
from agent_fox.engine.launching.pushing import Pushed, objections, push
from agent_fox.system import git_push
from agent_fox.system.git_push import PushError
from tests.session.world import make_repo, sh, write

BRANCH = "agent-fox/integration"
ON = GitSettings(push="origin")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with an integration branch one commit ahead, and a bare remote that has `main`."""
    root = make_repo(tmp_path / "repo")
    sh(tmp_path, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
    sh(root, "git", "remote", "add", "origin", str(tmp_path / "remote.git"))
    sh(root, "git", "push", "-q", "origin", "main")
    sh(root, "git", "checkout", "-q", "-b", BRANCH)
    commit(root, "work")
    sh(root, "git", "checkout", "-q", "main")
    return root


def commit(root: Path, text: str) -> str:
    write(root, {"work.txt": text})
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-qm", text)
    return sh(root, "git", "rev-parse", "HEAD")


def tip(root: Path) -> str:
    return sh(root, "git", "rev-parse", BRANCH)


def there(root: Path) -> dict[str, str]:
    lines = sh(root.parent / "remote.git", "git", "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in lines)


def test_nothing_is_pushed_unless_a_remote_is_named(repo: Path) -> None:
    before = there(repo)
    assert push(repo, GitSettings(), tip(repo)) is None
    assert there(repo) == before


def test_the_integration_branch_is_pushed_and_nothing_else(repo: Path) -> None:
    sh(repo, "git", "tag", "-a", "-m", "v1", "v1", BRANCH)
    sh(repo, "git", "config", "push.followTags", "true")
    main = there(repo)["refs/heads/main"]
    assert push(repo, ON, tip(repo)) == Pushed(f"pushed {BRANCH} to origin ({tip(repo)[:12]})")
    assert there(repo) == {"refs/heads/main": main, f"refs/heads/{BRANCH}": tip(repo)}
    assert push(repo, ON, tip(repo)) is None


def test_what_the_remote_has_beyond_ours_is_not_overwritten(repo: Path) -> None:
    push(repo, ON, tip(repo))
    other = sh(repo, "git", "commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    sh(repo, "git", "push", "-qf", "origin", f"{other}:refs/heads/{BRANCH}")
    sh(repo, "git", "config", "remote.origin.push", f"+refs/heads/{BRANCH}:refs/heads/{BRANCH}")
    done = push(repo, ON, tip(repo))
    assert done is not None
    assert done.has_failed
    assert "not pushed to origin: " in done.told
    assert f"git push origin {BRANCH}" in done.told
    assert there(repo)[f"refs/heads/{BRANCH}"] == other


@pytest.mark.parametrize(
    ("branch", "protected"), [("main", ["main"]), ("release/1.0", ["release/*"]), (BRANCH, ["agent-fox/*"])]
)
def test_a_protected_branch_is_refused_before_anything_starts(repo: Path, branch: str, protected: list[str]) -> None:
    settings = GitSettings(push="origin", integration_branch=branch, protected=protected)
    (line,) = objections(repo, settings)
    assert f"{branch} is protected" in line
    assert "set another integration_branch" in line


def test_without_pushing_nothing_is_protected(repo: Path) -> None:
    assert list(objections(repo, GitSettings(integration_branch="main"))) == []


def test_the_remotes_default_branch_is_refused_as_the_repository_remembers_it(repo: Path) -> None:
    sh(repo, "git", "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{BRANCH}")
    (line,) = objections(repo, ON)
    assert "is the default branch of origin" in line


def test_the_remotes_default_branch_is_refused_as_the_remote_tells_it(repo: Path) -> None:
    push(repo, ON, tip(repo))
    sh(repo.parent / "remote.git", "git", "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
    before = there(repo)
    sh(repo, "git", "checkout", "-q", BRANCH)
    commit(repo, "more")
    done = push(repo, ON, tip(repo))
    assert done is not None
    assert "is the default branch of origin" in done.told
    assert there(repo) == before


def test_a_remote_that_there_is_none_of_is_refused_with_the_remedy(repo: Path) -> None:
    (line,) = objections(repo, GitSettings(push="upstream"))
    assert "[git] push = 'upstream'" in line
    assert "git remote add" in line


def test_a_remote_that_is_gone_fails_the_push_and_nothing_else(repo: Path) -> None:
    sh(repo, "git", "remote", "set-url", "origin", str(repo.parent / "nowhere.git"))
    done = push(repo, ON, tip(repo))
    assert done is not None
    assert done.has_failed
    assert "nowhere.git" in done.told


def test_the_persons_hooks_do_not_run_when_we_push(repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git/hooks/pre-push"
    write(repo, {".git/hooks/pre-push": f"#!/bin/sh\ntouch {tmp_path / 'ran'}\nexit 1\n"})
    hook.chmod(0o755)
    done = push(repo, ON, tip(repo))
    assert done == Pushed(f"pushed {BRANCH} to origin ({tip(repo)[:12]})")
    assert not (tmp_path / "ran").exists()


def test_settings_that_somebody_changed_during_the_run_keep_us_from_pushing(repo: Path) -> None:
    before = there(repo)
    done = push(repo, ON, tip(repo), ("config",))
    assert done is not None
    assert "config in the folder .git changed during the run" in done.told
    assert there(repo) == before


def test_a_remote_that_asks_for_a_password_is_not_waited_for(repo: Path) -> None:
    """The helper stands for a transport that wants to ask at the terminal: there is none."""
    helper = repo.parent / "ask"
    helper.write_text("#!/bin/sh\nread -r answer < /dev/tty || { echo 'no terminal to ask at' >&2; exit 1; }\n")
    helper.chmod(0o755)
    sh(repo, "git", "config", "core.sshCommand", str(helper))
    sh(repo, "git", "remote", "set-url", "origin", "ssh://git@127.0.0.1/nowhere.git")
    done = push(repo, ON, tip(repo))
    assert done is not None
    assert "no terminal to ask at" in done.told or "/dev/tty" in done.told


def test_a_remote_that_never_answers_is_given_up_and_leaves_no_process(repo: Path) -> None:
    """A socket that accepts and says nothing stands for a remote that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sh(repo, "git", "remote", "set-url", "origin", f"git://127.0.0.1:{silent.getsockname()[1]}/nowhere.git")
        begun = time.monotonic()
        with pytest.raises(PushError, match=r"did not answer within 0\.5 s"):
            git_push.ask(repo, "origin", BRANCH, seconds=0.5)
        assert time.monotonic() - begun < 20


def test_secrets_in_the_address_of_a_remote_are_not_told(repo: Path) -> None:
    address = "http://ada:ghp_0123456789abcdefghijklmnopqrstuvwxyz@127.0.0.1:9/nowhere.git"
    sh(repo, "git", "remote", "set-url", "origin", address)
    done = push(repo, ON, tip(repo))
    assert done is not None
    assert done.has_failed
    assert "ghp_0123" not in done.told
