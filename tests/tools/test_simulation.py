"""The simulation itself: the same seed is the same story, what is planted is found, and its git answers as git does."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from agent_fox.system import git, git_objects
from agent_fox.testing.worlds import new_repository
from tools.planted_bugs import planted, read_bugs
from tools.simulation import seeds
from tools.simulation.__main__ import BUGS, Block, block_of, main, note, read_blocks
from tools.simulation.claims import like
from tools.simulation.made_git import FILE, MadeGit
from tools.simulation.made_world import NEAR, MadeJob, Place, Troubles, told
from tools.simulation.seeds import Bounds, tell
from tools.simulation.stage import Stage

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder

KILLED = 3
"""A seed in which orchestrators are killed, as its test shows."""


def test_a_seed_tells_the_same_story_again() -> None:
    first, again = tell(KILLED), tell(KILLED)
    assert first.trace == again.trace
    assert first.parts == again.parts
    assert "killed" in first.parts
    assert first.wrong == ""


def test_a_session_that_died_with_its_orchestrator_comes_to_no_result_under_a_later_one() -> None:
    """The order is never looked at, for nothing may ask what such a session came to."""
    place = Place(replace(told(0), runner=NEAR), MadeGit(), stage=Stage(Random(0), calm=True, monotonic=5.0))
    job = place.jobs["a"] = MadeJob(cast("LaunchOrder", None), ends_at=10.0)
    for _ in range(2):
        place.begin_part(Stage(Random(0), calm=True, monotonic=20.0), Troubles())
        assert (job.is_gone, job.end, place.results.total()) == (True, None, 0)


def test_a_block_of_seeds_holds() -> None:
    block = block_of((0, 12))
    assert block.wrong == {}
    assert block.ends["killed"] > 0
    ended = block.ends["PROVEN"] + block.ends["NOT_PROVEN"]
    assert block.count <= ended <= 2 * block.count, "one more orchestrator delivers what a tracker had refused"


def test_in_calm_nobody_dies_and_stories_end_in_both_ways() -> None:
    ends = {str(seeds.calm_end(number)[0]) for number in range(6)}
    assert ends == {"PROVEN", "NOT_PROVEN"}


def test_another_end_than_in_calm_is_told() -> None:
    calm = seeds.calm_end(told(1).number)
    exit_, standings, *rest = calm
    other = [*standings[:-1], ("99_other:1", "blocked", "")]  # type: ignore[index]
    with pytest.raises(AssertionError, match=r"standings: .*99_other:1"):
        like((exit_, other, *rest), calm)


def test_what_is_left_out_leaves_the_rest_as_it_was() -> None:
    """Each kind of trouble has dice of its own."""
    assert tell(KILLED, replace(Bounds(), without=frozenset({"tracker"}))).parts.count("killed") > 0


def test_what_was_run_is_written_down_and_gone_on_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.jsonl"
    note(results, Block(0, 2))
    assert main(["--seeds", "3", "--block", "1", "--results", str(results)]) == 0
    assert [(block.first, block.count) for block in read_blocks(results)] == [(0, 2), (2, 1), (3, 1), (4, 1)]
    assert "seeds 2 to 4, 2 were run before" in capsys.readouterr().out


def test_the_planted_bugs_can_be_planted() -> None:
    bugs = read_bugs(BUGS, [])
    assert len(bugs) == 20
    for bug in bugs:
        compile(planted(bug), bug.file, "exec")


def test_a_planted_bug_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--planted", "lost-launch-stays-running", "--seeds", "20"]) == 0
    assert "1 of 1 found" in capsys.readouterr().out


# Its git, beside git


def both(folder: Path, files: list[dict[str, bytes]]) -> tuple[MadeGit, Path, list[str]]:
    """The same commits in both, one upon the other."""
    root = folder / "repo"
    root.mkdir()
    new_repository(root)
    made, commits = MadeGit(), list[str]()
    for number, one in enumerate(files):
        tree = made.tree(one)
        for kind, content in made.objects.values():
            subprocess.run(
                ["git", "hash-object", "-t", kind, "-w", "--stdin"],
                cwd=root,
                input=content,
                check=True,
                capture_output=True,
            )
        commits.append(made.commit(tree, commits[-1:], f"commit {number}"))
        kind, content = made.objects[commits[-1]]
        subprocess.run(["git", "hash-object", "-t", kind, "-w", "--stdin"], cwd=root, input=content, check=True)
    made.refs |= {"refs/heads/main": commits[-1], "refs/heads/other": commits[0]}
    for name, commit in made.refs.items():
        subprocess.run(["git", "update-ref", name, commit], cwd=root, check=True)
    return made, root, commits


def answers(root: Path, commits: list[str]) -> list[object]:
    """What the engine asks of git, and what it hears."""
    first, last = commits[0], commits[-1]
    git.set_ref(root, "refs/heads/gone", first)
    git.delete_ref(root, "refs/heads/gone")
    return [
        git.head(root),
        git.commit_of(root, "refs/heads/other"),
        git.commit_of(root, "refs/heads/nowhere"),
        git.tree_of(root, "HEAD"),
        git.read(root, last),
        git.show(root, last, "a/one.txt"),
        git.show(root, last, "a"),
        git.show(root, last, "nowhere"),
        git.is_ancestor(root, first, last),
        git.is_ancestor(root, last, first),
        git.merge_base(root, "refs/heads/main", "refs/heads/other"),
        git.move_ref(root, "refs/heads/new", last, None),
        git.move_ref(root, "refs/heads/new", first, first),
        git.move_ref(root, "refs/heads/new", first, last),
        git.commit_of(root, "refs/heads/new"),
        git.call(root, "for-each-ref", "--format=%(HEAD)%(refname) %(objectname) %(symref)").text,
        git.call(root, "diff-tree", "-r", "-z", "--name-status", "--no-renames", first, last).text,
        git.messages(root, first, last),
        git.first_commit(root),
        git_objects.files_under(root, last),
        git_objects.merge(root, first, last),
    ]


def test_the_made_git_answers_as_git_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions: list[dict[str, bytes]] = [
        {"a/one.txt": b"1\n", "b.txt": b"b\n"},
        {"a/one.txt": b"2\n", "a/two/three.txt": b"3\n", "b.txt": b"b\n"},
        {"a/one.txt": b"2\n", "a-b.txt": b"between\n"},
    ]
    made, root, commits = both(tmp_path, versions)
    real = answers(root, commits)
    monkeypatch.setattr(git, "_call_once", made.call_once)
    assert answers(root, commits) == real


def test_two_sides_that_changed_one_file_conflict_in_it(tmp_path: Path) -> None:
    made = MadeGit()
    base = made.commit(made.tree({"f": b"0", "g": b"0"}), [], "base")
    ours = made.commit(made.tree({"f": b"1", "g": b"0", "h": b"1"}), [base], "ours")
    theirs = made.commit(made.tree({"f": b"2", "g": b"2"}), [base], "theirs")
    tree, conflicts = made.merge(ours, theirs)
    assert conflicts == ["f"]
    assert made.files(tree) == {"f": b"1", "g": b"2", "h": b"1"}
    assert FILE.encode() in made.objects[tree][1]
