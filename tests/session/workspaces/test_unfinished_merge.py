"""A session whose task is a conflict: what it finds in its workspace, and what counts as resolved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, LaunchOrder, Provisions, SessionEnd, StopSignal, Unmerged
from agent_fox.session.session_lifecycle import run_session
from agent_fox.session.workspaces.landing import Conflict, Landing, Style, build_landing
from agent_fox.system import git
from tests.session.world import LAUNCH, make_order, never_told, sh, shell, write

STORY = "one\ntwo\nthree\n"
OURS, THEIRS = STORY.replace("two", "ours"), STORY.replace("two", "theirs")


def commit(repo: Path, base: str, files: Mapping[str, str | None]) -> str:
    """A commit on `base` that is on no branch; None removes a file."""
    sh(repo, "git", "checkout", "-q", "--detach", base)
    write(repo, {name: text for name, text in files.items() if text is not None})
    for name in (name for name, text in files.items() if text is None):
        (repo / name).unlink()
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "work")
    made = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "checkout", "-q", "main")
    return made


def conflicting(
    repo: Path, ours: Mapping[str, str | None], theirs: Mapping[str, str | None], **own: str
) -> LaunchOrder:
    """The order of a session on `ours` that has to take in `theirs`; both start from a commit with a story."""
    base = commit(repo, "HEAD", {"story.txt": STORY, **own})
    tip, work = commit(repo, base, ours), commit(repo, base, theirs)
    conflict = build_landing(repo, tip, work, "land")
    assert isinstance(conflict, Conflict)
    return make_order(repo, pinned=tip, unmerged=Unmerged(work, conflict.files))


def run(order: LaunchOrder, script: str, launch: str = LAUNCH) -> SessionEnd:
    told = make_order(
        order.repo, pinned=order.pinned, unmerged=order.unmerged, launch=launch, workspace=order.workspace,
        agent=shell(script),
    )  # fmt: skip
    return run_session(told, never_told, StopSignal())


def text(repo: Path, end: SessionEnd, path: str) -> str | None:
    assert end.work is not None, end.reason
    found = git.show(repo, end.work.commit, path)
    return None if found is None else found.decode()


@pytest.fixture
def order(repo: Path) -> LaunchOrder:
    """Both sides changed the same line; the work also added a file, and removed another."""
    return conflicting(
        repo, {"story.txt": OURS, "tip.txt": "tip\n"}, {"story.txt": THEIRS, "added.txt": "added\n", "README.md": None}
    )


def test_the_workspace_holds_the_merge_with_markers_and_both_sides_by_name(repo: Path, order: LaunchOrder) -> None:
    seen = repo.parent / "seen"
    end = run(order, f"git show integration:story.txt work:story.txt > {seen}; cat story.txt >> {seen}; ls >> {seen}\n"
                     "git show work:story.txt > story.txt")  # fmt: skip
    assert end.kind is EndKind.ENDED, end.reason
    marked = "one\n<<<<<<< integration\nours\n=======\ntheirs\n>>>>>>> work\nthree\n"
    assert seen.read_text() == f"{OURS}{THEIRS}{marked}added.txt\nspecs\nsrc\nstory.txt\ntip.txt\n"


def test_the_work_is_a_merge_of_the_tip_and_the_earlier_work_and_loses_nothing_of_either(
    repo: Path, order: LaunchOrder
) -> None:
    end = run(order, "printf 'one\\nours and theirs\\nthree\\n' > story.txt")
    assert end.work is not None, end.reason
    assert order.unmerged is not None
    assert git.parents(repo, end.work.commit) == (order.pinned, order.unmerged.work)
    assert text(repo, end, "story.txt") == "one\nours and theirs\nthree\n"
    assert (text(repo, end, "tip.txt"), text(repo, end, "added.txt"), text(repo, end, "README.md")) == (
        "tip\n", "added\n", None,
    )  # fmt: skip


def test_it_lands_as_that_merge_or_squashed_as_one_commit_on_the_tip(repo: Path, order: LaunchOrder) -> None:
    end = run(order, "printf 'both\\n' > story.txt")
    assert end.work is not None, end.reason
    assert build_landing(repo, order.pinned, end.work.commit, "land") == Landing(order.pinned, end.work.commit)
    squashed = build_landing(repo, order.pinned, end.work.commit, "land", Style.SQUASH)
    assert isinstance(squashed, Landing)
    assert git.parents(repo, squashed.commit) == (order.pinned,)
    assert git.tree_of(repo, squashed.commit) == end.work.tree


@pytest.mark.parametrize(
    "script",
    ["true", "git commit -qam done", "sed -i '/^<<<<<<</d' story.txt", "sed -i '/^[<>]/d' story.txt"],
)
def test_markers_that_are_left_refuse_the_work_and_name_the_file(order: LaunchOrder, script: str) -> None:
    end = run(order, script)
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert end.reason == "conflict markers are left in story.txt"


def test_lines_that_only_look_like_markers_and_were_there_before_are_no_markers(repo: Path) -> None:
    title = "Title\n=======\n<<<<<<< example\n"
    order = conflicting(
        repo, {"story.txt": title + OURS}, {"story.txt": title + THEIRS}, **{"story.txt": title + STORY}
    )
    assert run(order, "git show integration:story.txt > story.txt; echo more > more.txt").kind is EndKind.ENDED
    end = run(order, "sed -i '/^<<<<<<< integration/d; /^>>>>>>>/d' story.txt", launch="merge-two")
    assert end.reason == "conflict markers are left in story.txt"


def test_headings_that_both_sides_added_are_kept(repo: Path) -> None:
    ours, theirs = f"{OURS}Ours\n=======\n", f"{THEIRS}Theirs\n=======\n"
    order = conflicting(repo, {"story.txt": ours}, {"story.txt": theirs})
    end = run(order, "(git show integration:story.txt; git show work:story.txt) > story.txt")
    assert end.kind is EndKind.ENDED, end.reason


def test_a_file_that_one_side_deleted_and_the_other_changed_is_there_to_be_decided_about(repo: Path) -> None:
    order = conflicting(repo, {"story.txt": None, "tip.txt": "x"}, {"story.txt": THEIRS, "added.txt": "x"})
    kept = run(order, "test -f story.txt")
    assert text(repo, kept, "story.txt") == THEIRS
    removed = run(order, "rm story.txt", launch="merge-two")
    assert (text(repo, removed, "story.txt"), text(repo, removed, "added.txt")) == (None, "x")


def test_work_given_up_for_the_tip_is_work_that_changes_nothing(repo: Path, order: LaunchOrder) -> None:
    end = run(order, "git checkout -q HEAD -- .; rm -f added.txt")
    assert end.work is not None, end.reason
    assert end.work.is_unchanged


def test_setup_runs_on_the_clean_tip_and_what_it_does_is_not_the_work(repo: Path) -> None:
    order = conflicting(repo, {"story.txt": OURS}, {"story.txt": THEIRS, "added.txt": "added\n"})
    setup = Provisions(setup=("sh -c 'cp story.txt ignored.log; echo setup >> README.md; echo new > made.txt'",))
    order = make_order(repo, pinned=order.pinned, unmerged=order.unmerged, workspace=setup)
    seen = repo.parent / "seen"
    end = run(order, f"cat ignored.log > {seen}; printf 'both\\n' > story.txt")
    assert end.work is not None, end.reason
    assert seen.read_text() == OURS
    names = sh(repo, "git", "diff", "--name-only", order.pinned, end.work.commit).splitlines()
    assert names == ["added.txt", "story.txt"]


def test_hooks_and_filters_that_setup_planted_do_not_run_when_the_merge_is_laid(repo: Path) -> None:
    ran = repo.parent / "ran"
    plant = f'git config filter.planted.smudge "touch {ran}; cat"; echo "* filter=planted" > .git/info/attributes'
    order = conflicting(repo, {"story.txt": OURS}, {"story.txt": THEIRS})
    order = make_order(repo, pinned=order.pinned, unmerged=order.unmerged, workspace=Provisions((("sh", "-c", plant),)))
    assert run(order, "printf 'both\\n' > story.txt").kind is EndKind.ENDED
    assert not ran.exists()
