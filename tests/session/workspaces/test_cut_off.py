"""What a coder's session that was cut off had done is kept, whatever cut it off; and what cannot be kept is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.agents.backend import readable
from agent_fox.session.order import EndKind, Kept, LaunchOrder, Paths, Provisions, Sizes, StopSignal
from agent_fox.session.session_lifecycle import harvest, run_session
from agent_fox.system import git
from tests.session.world import make_order, never_told, sh, shell, write

MIB = 1024**2


def kept_by(order: LaunchOrder, kind: EndKind = EndKind.FAILED) -> Kept:
    end = run_session(order, never_told, StopSignal())
    assert (end.kind, end.work) == (kind, None), end.reason
    assert end.kept is not None
    return end.kept


def files(repo: Path, kept: Kept) -> list[str]:
    return sh(repo, "git", "diff", "--name-only", "HEAD", kept.commit).splitlines()


@pytest.mark.parametrize(
    ("script", "timeout", "kind"),
    [
        ("echo half > new.txt; exit 3", 60.0, EndKind.FAILED),
        ("echo half > new.txt; git add -A; git commit -qm x; kill -9 $$", 60.0, EndKind.FAILED),
        ("echo half > new.txt; sleep 60", 0.5, EndKind.TIMED_OUT),
        ("echo half > new.txt; rm src/app.py; git init -q inner; echo x > inner/y", 60.0, EndKind.REFUSED),
    ],
)
def test_a_crash_a_limit_and_a_refusal_leave_a_commit_on_the_pinned_one(
    repo: Path, script: str, timeout: float, kind: EndKind
) -> None:
    order = make_order(repo, agent=shell(script, timeout=timeout))
    kept = kept_by(order, kind)
    assert git.show(repo, kept.commit, "new.txt") == b"half\n"
    assert git.parents(repo, kept.commit) == (order.pinned,)
    assert git.commit_of(repo, f"refs/agent-fox/launches/{order.launch}") == kept.commit
    message = sh(repo, "git", "log", "-1", "--format=%B", kept.commit)
    assert message.startswith(f"01_app:1, attempt 1, cut off\n\n{kind}: ")
    if kind is EndKind.REFUSED:
        assert (files(repo, kept), kept.left_out) == (["new.txt", "src/app.py"], ("inner (a repository of its own)",))


def test_what_would_never_land_is_not_kept_either(repo: Path) -> None:
    """Secrets that are ignored or brought in, files of ours, specs; a ticked box is."""
    write(repo, {".env": "KEY=1\n", "local.key": "secret\n"})
    sh(repo, "git", "check-ignore", ".env")
    script = (
        "echo more >> .env; echo more >> local.key; echo x > a.log; echo theirs > .agent-fox/config.toml\n"
        "echo '# other' > specs/01_app/requirements.md; sed -i 's/- \\[ \\] 1\\./- [x] 1./' specs/01_app/tasks.md\n"
        "echo half > new.txt; exit 3"
    )
    order = make_order(repo, agent=shell(script), workspace=Provisions(copy=(".env", "local.key")))
    kept = kept_by(order)
    assert files(repo, kept) == ["new.txt", "specs/01_app/tasks.md"]


def test_what_is_too_large_is_left_out_and_named_and_the_rest_is_kept(repo: Path) -> None:
    script = "truncate -s 3M huge.bin; for n in 1 2 3 4 5; do truncate -s 900K file$n; done; echo x > small; exit 3"
    kept = kept_by(make_order(repo, agent=shell(script), sizes=Sizes(file=MIB, change=3 * MIB)))
    assert files(repo, kept) == ["file3", "file4", "file5", "small"]
    assert kept.left_out == tuple(
        f"{name} ({size} MiB, too large)" for name, size in (("huge.bin", 3.0), ("file1", 0.9), ("file2", 0.9))
    )


def test_many_that_are_left_out_are_counted(repo: Path) -> None:
    script = "for n in $(seq 12); do truncate -s 2M file$n; done; exit 3"
    kept = kept_by(make_order(repo, agent=shell(script), sizes=Sizes(file=MIB, change=3 * MIB)))
    assert (kept.commit, len(kept.left_out), kept.left_out[-1]) == ("", 11, "2 more")


@pytest.mark.parametrize("script", ["rm -rf ../workspace; exit 3", "rm ../preparation.json; echo x > new.txt; exit 3"])
def test_a_workspace_that_cannot_be_read_any_more_is_told_and_the_end_is_the_same(repo: Path, script: str) -> None:
    kept = kept_by(make_order(repo, agent=shell(script)))
    (told,) = kept.left_out
    assert (kept.commit, told.startswith("its files")) == ("", True)


def test_who_ended_by_itself_who_judges_and_who_did_nothing_leave_no_such_commit(repo: Path) -> None:
    ended = run_session(make_order(repo, agent=shell("echo x > new.txt")), never_told, StopSignal())
    reader = make_order(repo, agent=shell("echo x > new.txt; exit 3"), archetype=Archetype.VERIFIER)
    assert (ended.kept, run_session(reader, never_told, StopSignal()).kept) == (None, None)
    assert kept_by(make_order(repo, agent=shell("exit 3"))) == Kept()


def test_kept_twice_it_is_the_same_commit_and_nothing_planted_in_the_workspace_runs(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    plant = f"git config filter.p.clean 'touch {ran}; cat'; git config core.fsmonitor 'touch {ran}; false'"
    script = f"{plant}; echo '* filter=p' > .gitattributes; echo half > new.txt; exit 3"
    order = make_order(repo, agent=shell(script))
    kept = kept_by(order)
    again = harvest(order)
    assert again is not None
    assert (again.kept, ran.exists()) == (kept, False)


def test_an_attempt_that_continues_finds_the_files_and_its_work_is_one_commit_on_the_pinned_one(repo: Path) -> None:
    cut = kept_by(make_order(repo, agent=shell("echo half > new.txt; rm README.md; chmod +x src/app.py; exit 3")))
    seen = "test ! -e README.md; test -x src/app.py; echo whole >> new.txt; git status --porcelain > /dev/null"
    order = make_order(repo, agent=shell(seen), resume=git.tree_of(repo, cut.commit), attempt=2, launch="continued")
    end = run_session(order, never_told, StopSignal())
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert git.show(repo, end.work.commit, "new.txt") == b"half\nwhole\n"
    assert git.parents(repo, end.work.commit) == (order.pinned,)


def test_a_handoff_lies_beside_the_brief(repo: Path) -> None:
    order = make_order(repo, agent=shell('cat "$(dirname "$AGENT_FOX_BRIEF")/cut-off.md" > told.txt'), handoff="told\n")
    end = run_session(order, never_told, StopSignal())
    assert end.work is not None
    assert git.show(repo, end.work.commit, "told.txt") == b"told\n"
    assert Paths(order.state).handoff.name == "cut-off.md"


def test_an_agents_sandbox_shows_the_handoff_where_there_is_one(repo: Path) -> None:
    order = make_order(repo, handoff="told\n")
    paths = Paths(order.state)
    assert str(paths.handoff) in readable(order, paths)
    assert str(paths.handoff) not in readable(replace(order, handoff=""), paths)
