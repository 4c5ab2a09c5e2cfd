"""An agent that damages or arms its own clone: the files are taken all the same, and nothing that it planted runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import clean_up, run_session
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git
from agent_fox.system.git_refs import Picture, picture
from tests.session.world import make_order, never_told, sh, shell

WORK = "echo x > new.txt; "
COMMITTED = f"{WORK}git add -A; git commit -qm x; "

DAMAGES = {
    "history rewritten": f"{COMMITTED}git commit -q --amend -m other; git checkout -q --orphan o; git commit -qm root",
    "its base dropped": f"{COMMITTED}git update-ref refs/heads/attempt $(git commit-tree -m root HEAD^{{tree}})",
    "commits filtered": f"{COMMITTED}git filter-branch -f --msg-filter 'echo changed' -- --all > /dev/null 2>&1",
    "references deleted": f"{COMMITTED}git for-each-ref --format='delete %(refname)' | git update-ref --stdin",
    "references overwritten": f"{COMMITTED}echo garbage > .git/refs/heads/attempt; echo garbage > .git/packed-refs",
    "alternates to nowhere": f"{COMMITTED}echo /nowhere > .git/objects/info/alternates",
    "alternates to another store": (
        f'{COMMITTED}git init -q --bare ../other; echo "$PWD/../other/objects" > .git/objects/info/alternates'
    ),
    "objects deleted": f"{COMMITTED}rm -rf .git/objects",
    "folder .git deleted": f"{COMMITTED}rm -rf .git",
    "folder .git replaced by a file": f"{COMMITTED}rm -rf .git; echo 'gitdir: /elsewhere' > .git",
    "folder .git replaced by a link": f"{COMMITTED}mv .git ../moved; ln -s ../moved .git",
    "folder .git unreadable": f"{COMMITTED}chmod 000 .git",
    "another work tree": f"{COMMITTED}git config core.worktree /",
    "a version nobody knows": (
        f"{COMMITTED}git config extensions.evil 1; printf '[core]\\n\\trepositoryformatversion = 9\\n' >> .git/config"
    ),
    "a lock that stays": f"{COMMITTED}touch .git/index.lock .git/HEAD.lock",
    "everything ignored by itself": f"{COMMITTED}echo '*' > .git/info/exclude",
    "everything assumed unchanged": f"{WORK}git update-index --assume-unchanged README.md src/app.py",
}


def run(order: LaunchOrder) -> SessionEnd:
    return run_session(order, never_told, StopSignal())


def others(found: Picture) -> dict[str, str]:
    """References and settings beside the launch's own reference."""
    return {**{name: at for name, at in found.refs.items() if "/launches/" not in name}, **found.files}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_work_is_taken_and_the_persons_repository_is_as_it_was(repo: Path, damage: str) -> None:
    before = picture(repo)
    order = make_order(repo, agent=shell(damage))
    end = run(order)
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert git.parents(repo, end.work.commit) == (order.pinned,)
    assert sh(repo, "git", "diff", "--name-only", "HEAD", end.work.commit) == "new.txt"
    assert others(picture(repo)) == others(before)
    assert git.commit_of(repo, launch_ref(order.launch)) == end.work.commit
    clean_up(order)
    assert picture(repo) == before
    assert sh(repo, "git", "fsck", "--no-dangling") == ""


ARMS = {
    "hooks": (
        "mkdir -p .git/hooks; for hook in pre-commit post-index-change reference-transaction post-checkout; do\n"
        "printf '#!/bin/sh\\ntouch {ran}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done"
    ),
    "a file-system monitor": "git config core.fsmonitor 'touch {ran}; false'",
    "filters": (
        "git config filter.f.clean 'touch {ran}; cat'; git config filter.f.smudge 'touch {ran}; cat'\n"
        "git config filter.f.process 'touch {ran}'; echo '* filter=f' > .git/info/attributes"
    ),
    "included settings": (
        "printf '[core]\\n\\tfsmonitor = touch {ran}\\n\\thooksPath = /tmp\\n' > .git/more\n"
        "git config include.path more"
    ),
    "programs": (
        "for key in core.pager core.editor core.sshCommand core.gitProxy core.alternateRefsCommand diff.external\n"
        "do git config $key 'touch {ran}'; done; git config merge.m.driver 'touch {ran}'\n"
        "git config gpg.program 'touch {ran}'; git config commit.gpgSign true\n"
        "git config credential.helper '!touch {ran}'"
    ),
}


@pytest.mark.parametrize("archetype", [Archetype.CODER, Archetype.VERIFIER])
@pytest.mark.parametrize("arms", ARMS.values(), ids=ARMS)
def test_nothing_that_was_planted_in_the_clone_runs(
    repo: Path, tmp_path: Path, arms: str, archetype: Archetype
) -> None:
    ran = tmp_path / "ran"
    order = make_order(repo, archetype=archetype, agent=shell(f"{arms.format(ran=ran)}\n{WORK}"))
    end = run(order)
    assert end.kind is EndKind.ENDED, end.reason
    clean_up(order)
    assert not ran.exists()


def test_a_clone_without_its_base_lands_nothing_of_another_history(repo: Path) -> None:
    """Files of an unrelated history are a change like any other: one commit on what was pinned."""
    order = make_order(
        repo, agent=shell("rm -rf .git src; git init -q; echo y > README.md; git add -A; git commit -qm y")
    )
    end = run(order)
    assert end.work is not None
    assert git.parents(repo, end.work.commit) == (order.pinned,)
    assert sh(repo, "git", "diff", "--name-status", "HEAD", end.work.commit) == "M\tREADME.md\nD\tsrc/app.py"
