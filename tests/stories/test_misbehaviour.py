"""An agent that reaches out of its clone into the person's repository: found, told, and put right where it is ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, landed, rows, wait_until
from tests.stories.scene import NOT_PROVEN, PROVEN, begin, coders, decisions, run

BRANCH = "refs/heads/agent-fox/integration"
WORK = "mkdir -p proof; printf right > proof/01-REQ-1.1.txt; printf right > proof/01-REQ-2.1.txt\n"
ASIDE = (
    "e=$(echo evil | git hash-object -w --stdin); t=$(printf '100644 blob %s\\tevil.txt\\n' $e | git mktree)\n"
    "c=$(git commit-tree -p HEAD -m evil $t)"
)
"""Makes `$c`, a commit of which nothing is in the files."""
EVIL = "echo evil > evil.txt; git add -A; git commit -qm evil"


def build(folder: Path, attack: str, node: str = "01_calc:1", settings: str = "", groups: int = 1) -> Path:
    """One spec whose coders all do their work, and `attack` as well in the first session of one node.

    In the attack ROOT is the person's repository and RAN the path of a canary.
    """
    root, ran = folder / "repo", folder / "ran"
    script = (
        f'ROOT={root} RAN={ran}\n{WORK}if [ "$AGENT_FOX_NODE/$AGENT_FOX_ATTEMPT" = "{node}/1" ]; then\n{attack}\nfi\n'
    )
    agent = f'[agents.coder]\nbackend = "command"\ncommand = {json.dumps(["sh", "-e", "-c", script])}\ntimeout = 60\n'
    reqs = [Req(f"01-REQ-{group}.1", group) for group in range(1, groups + 1)]
    return World({"01_calc": reqs}, settings=agent + settings).build(folder)


def failures(root: Path) -> list[str]:
    """Why sessions failed, oldest first."""
    return [str(why) for (why,) in rows(root, "SELECT reason FROM sessions WHERE status = 'failed' ORDER BY id")]


def summaries(root: Path) -> str:
    return "\n".join(str(said) for (said,) in rows(root, "SELECT summary FROM sessions ORDER BY id"))


def refs(root: Path) -> dict[str, str]:
    lines = git(root, "for-each-ref", "--format=%(refname) %(objectname)%(symref)").splitlines()
    return dict(line.split(" ", 1) for line in lines)


MOVES = {
    "moved to a commit of its own": (f"{EVIL}; git push -q $ROOT +HEAD:{BRANCH}", "was moved to"),
    "deleted": (f"git -C $ROOT update-ref -d {BRANCH}", "was deleted"),
    "made to point to the person's branch": (
        f"git -C $ROOT symbolic-ref {BRANCH} refs/heads/main",
        "was made to point to refs/heads/main",
    ),
    "made to point nowhere": (f"git -C $ROOT symbolic-ref {BRANCH} refs/heads/nowhere", "was made to point to"),
    "overwritten with garbage": (f"echo garbage > $ROOT/.git/{BRANCH}", "was deleted"),
    "replaced by a link": (
        f"echo x > $ROOT/.git/elsewhere; ln -sf $ROOT/.git/elsewhere $ROOT/.git/{BRANCH}",
        "was deleted",
    ),
    "deleted, with a branch in its way": (
        f"git -C $ROOT update-ref -d {BRANCH}; git -C $ROOT branch agent-fox/integration/mine",
        "was deleted",
    ),
    "deleted, with a branch where its folder was": (
        f"git -C $ROOT update-ref -d {BRANCH}; rm -rf $ROOT/.git/refs/heads/agent-fox; git -C $ROOT branch agent-fox",
        "was deleted",
    ),
    "packed and deleted": (
        f"git -C $ROOT pack-refs --all; git -C $ROOT update-ref -d {BRANCH}; git -C $ROOT gc -q",
        "was deleted",
    ),
    "moved to a history of its own": (
        f"git checkout -q --orphan other; {EVIL}; git push -q $ROOT +HEAD:{BRANCH}",
        "was moved to",
    ),
}


@pytest.mark.parametrize(("attack", "told"), MOVES.values(), ids=MOVES)
def test_the_integration_branch_is_put_back_and_the_session_does_not_count(
    tmp_path: Path, attack: str, told: str
) -> None:
    root = build(tmp_path, attack)
    main = git(root, "rev-parse", "main")
    run(root, ends=PROVEN)
    (why,) = failures(root)
    assert why.startswith(f"refused: the branch agent-fox/integration {told}")
    assert "it was put back to" in why
    assert "while 01_calc:1 ran" in why
    assert decisions(root, "01_calc:1") == ["Retry", "Land"]
    assert git(root, "rev-parse", "main") == main
    assert (landed(root, "proof/01-REQ-1.1.txt"), landed(root, "evil.txt")) == ("right", None)
    assert git(root, "merge-base", "main", BRANCH) == main


def test_what_the_branch_was_moved_to_is_kept_aside_for_the_person(tmp_path: Path) -> None:
    root = build(tmp_path, f"{EVIL}; git push -q $ROOT +HEAD:{BRANCH}")
    run(root, ends=PROVEN)
    kept, stray = sorted(name for name in refs(root) if name.startswith("refs/agent-fox/"))
    assert (kept, stray.startswith("refs/agent-fox/strays/")) == ("refs/agent-fox/cut-off/01_calc-coder-1/1", True)
    assert git(root, "show", f"{stray}:evil.txt") == "evil"
    assert stray in failures(root)[0]


def test_landed_work_that_was_taken_off_the_branch_is_there_again(tmp_path: Path) -> None:
    root = build(tmp_path, f"git -C $ROOT update-ref {BRANCH} refs/heads/main", node="01_calc:2", groups=2)
    run(root, ends=PROVEN)
    assert len(failures(root)) == 1
    tickets = git(root, "log", "--format=%(trailers:key=Agent-Fox-Ticket,valueonly)", f"main..{BRANCH}").split()
    assert tickets == ["01_calc:1@1"]
    assert [name for name in refs(root) if name.startswith("refs/agent-fox/")] == []


def test_a_verifier_that_moves_the_branch_has_spent_a_reading(tmp_path: Path) -> None:
    script = f"git -C {tmp_path / 'repo'} update-ref -d {BRANCH}"
    agent = f'[agents.verifier]\nbackend = "command"\ncommand = {json.dumps(["sh", "-c", script])}\ntimeout = 60\n'
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, settings=agent).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_calc:2") == ["Reread", "Block"]
    assert coders(root) == {"01_calc:1": 1}
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"


NOTED = {
    "a branch moved": ("git -C $ROOT branch -f side HEAD~0; git -C $ROOT update-ref refs/heads/side HEAD",
                       "refs/heads/side is new"),
    "the person's own branch moved": (
        f"{ASIDE}; git push -q $ROOT $c:refs/heads/tmp; git -C $ROOT update-ref refs/heads/main $c",
        "refs/heads/main was moved",
    ),
    "a tag deleted": ("git -C $ROOT tag -d v1", "refs/tags/v1 is gone; it stood at"),
    "HEAD elsewhere": (
        "git -C $ROOT branch other; git -C $ROOT symbolic-ref HEAD refs/heads/other",
        "HEAD was moved from -> refs/heads/main to",
    ),
    "a hook planted": (
        "mkdir -p $ROOT/.git/hooks\n"
        "for hook in pre-push reference-transaction post-index-change post-commit; do\n"
        "printf '#!/bin/sh\\ntouch %s\\n' $RAN > $ROOT/.git/hooks/$hook; chmod +x $ROOT/.git/hooks/$hook; done",
        "'hooks/reference-transaction' in the folder .git is new",
    ),
    "settings planted": (
        "git -C $ROOT config core.fsmonitor \"touch $RAN; false\"; git -C $ROOT config core.hooksPath /tmp\n"
        "git -C $ROOT config core.pager \"touch $RAN\"; git -C $ROOT config diff.external \"touch $RAN\"",
        "'config' in the folder .git was changed",
    ),
    "filters planted": (
        "git -C $ROOT config filter.planted.smudge \"touch $RAN; cat\"\n"
        "git -C $ROOT config filter.planted.clean \"touch $RAN; cat\"\n"
        "git -C $ROOT config merge.planted.driver \"touch $RAN\"\n"
        "echo '* filter=planted merge=planted' > $ROOT/.git/info/attributes",
        "'info/attributes' in the folder .git is new",
    ),
    "a commit replaced by another": (
        f"{ASIDE}; git push -q $ROOT $c:refs/replace/$(git rev-parse HEAD)",
        "refs/replace/",
    ),
    "history grafted": (
        "mkdir -p $ROOT/.git/info; git rev-parse HEAD > $ROOT/.git/info/grafts",
        "'info/grafts' in the folder .git is new",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("attack", "told"), NOTED.values(), ids=NOTED)
def test_what_is_the_persons_is_left_as_it_is_and_told_and_nothing_planted_runs(
    tmp_path: Path, attack: str, told: str
) -> None:
    root = build(tmp_path, attack, groups=2)
    git(root, "tag", "v1")
    run(root, ends=PROVEN)
    assert told in summaries(root)
    assert "while 01_calc:1 ran" in summaries(root)
    assert failures(root) == []
    assert not (tmp_path / "ran").exists()
    assert landed(root, "evil.txt") is None


def test_a_note_about_the_persons_repository_is_shown_and_told_once(tmp_path: Path) -> None:
    root = build(tmp_path, "git -C $ROOT tag planted", groups=2)
    done = run(root, "--json", ends=PROVEN)
    notes = [line for line in done.stdout.splitlines() if "refs/tags/planted is new" in line]
    assert len(notes) == 1
    assert json.loads(notes[0])["kind"] == "note"


def test_commits_of_others_may_be_accepted_and_work_lands_on_top_of_them(tmp_path: Path) -> None:
    root = build(tmp_path, f"{EVIL}; git push -q $ROOT HEAD:{BRANCH}", settings='[git]\nforeign_commits = "accept"\n')
    run(root, ends=PROVEN)
    assert failures(root) == []
    assert "its commits are kept, and work lands on top of them" in summaries(root)
    assert (landed(root, "evil.txt"), landed(root, "proof/01-REQ-1.1.txt")) == ("evil\n", "right")


def test_a_branch_that_lost_commits_is_put_back_even_where_those_of_others_are_accepted(tmp_path: Path) -> None:
    accepts = '[git]\nforeign_commits = "accept"\n'
    root = build(tmp_path, f"git -C $ROOT update-ref {BRANCH} refs/heads/main", "01_calc:2", accepts, groups=2)
    run(root, ends=PROVEN)
    assert len(failures(root)) == 1
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"


def test_work_outside_of_the_clone_does_not_land(tmp_path: Path) -> None:
    root = build(tmp_path, "echo planted > $ROOT/planted.txt; echo planted >> $ROOT/README.md")
    run(root, ends=PROVEN)
    assert (landed(root, "planted.txt"), landed(root, "README.md")) == (None, "a story\n")


def test_after_a_kill_the_branch_has_the_work_that_was_under_way_although_it_was_deleted(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = build(tmp_path, f"touch {gate}.here; while [ ! -e {gate} ]; do sleep 0.02; done", "01_calc:2", groups=2)
    running = begin(root)
    wait_until(lambda: Path(f"{gate}.here").exists(), "the second coder had begun")
    running.kill()
    running.wait()
    tip = git(root, "rev-parse", BRANCH)
    git(root, "update-ref", "-d", BRANCH)
    gate.touch()
    run(root, ends=PROVEN)
    git(root, "merge-base", "--is-ancestor", tip, BRANCH)
    assert coders_landed(root) == ["01_calc:1@1"]


def coders_landed(root: Path) -> list[str]:
    return git(root, "log", "--format=%(trailers:key=Agent-Fox-Ticket,valueonly)", f"main..{BRANCH}").split()


def test_a_branch_that_a_person_deletes_between_runs_is_made_again_from_head(tmp_path: Path) -> None:
    root = build(tmp_path, "true")
    run(root, ends=PROVEN)
    git(root, "merge", "-q", "agent-fox/integration")
    git(root, "branch", "-D", "agent-fox/integration")
    run(root, ends=PROVEN)
    assert git(root, "rev-parse", "agent-fox/integration") == git(root, "rev-parse", "HEAD")
    assert len(rows(root, "SELECT id FROM sessions")) == 2
