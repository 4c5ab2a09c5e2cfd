"""Trees, indexes and differences as we read and write them, held against git's own."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import Entry

MODES = ("100644", "100755", "120000", "160000")
NAMES = ("a", "b", "a-b", "a.c", "é\n x", 'q"uote', "z" * 300)


def plumb(repo: Path, *words: str, data: bytes = b"") -> bytes:
    return subprocess.run(["git", *words], cwd=repo, input=data, check=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module", params=["sha1", "sha256"])
def repo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("trees")
    plumb(made, "init", "-q", f"--object-format={request.param}")
    return made


def made_up(chance: random.Random, blobs: list[str]) -> dict[str, tuple[str, str]]:
    """Path → mode and id; no file has the place of another's folder."""
    files: dict[str, tuple[str, str]] = {}
    for _ in range(chance.randrange(25)):
        path = "/".join(chance.choices(NAMES, k=chance.randrange(1, 4)))
        if not any(path.startswith(f"{old}/") or old.startswith(f"{path}/") for old in files):
            files[path] = (chance.choice(MODES), chance.choice(blobs))
    return files


@pytest.fixture(scope="module")
def trees(repo: Path) -> list[str]:
    chance = random.Random(7)
    blobs = [plumb(repo, "hash-object", "-w", "--stdin", data=word).decode().strip() for word in (b"", b"1", b"22")]
    made = []
    for _ in range(6):
        plumb(repo, "read-tree", "--empty")
        rows = "".join(f"{mode} {id}\t{path}\0" for path, (mode, id) in made_up(chance, blobs).items())
        plumb(repo, "update-index", "-z", "--index-info", data=rows.encode())
        made.append(plumb(repo, "write-tree").decode().strip())
    return made


def test_an_index_is_the_one_that_git_would_have_filled(repo: Path, trees: list[str]) -> None:
    for tree in trees:
        with git_objects.store(repo) as store:
            store.read_tree(tree)
            ours = store.call("ls-files", "--stage", "-z").out
            assert store.write_tree() == tree
            store.call("read-tree", tree)
            assert store.call("ls-files", "--stage", "-z").out == ours


def test_differences_are_those_that_git_finds(repo: Path, trees: list[str]) -> None:
    with git_objects.store(repo) as store:
        for old in trees:
            for new in trees:
                records = store.call("diff-tree", "-r", "-z", *git_objects.ALL, old, new).records
                theirs = [git_objects._change(*pair) for pair in zip(records[::2], records[1::2], strict=True)]
                assert store.changes(old, new) == theirs


def test_differences_below_some_paths_are_those_that_git_finds_there(repo: Path, trees: list[str]) -> None:
    with git_objects.store(repo) as store:
        for paths in (("a",), ("b/a", "é\n x/"), ("a-b/z",)):
            literal = [f":(literal,top){path}" for path in paths]
            asked = ("diff-tree", "-r", "-z", *git_objects.ALL, trees[1], trees[2], "--", *literal)
            assert [change.path for change in store.changes(trees[1], trees[2], *paths)] == [
                path for path in store.call(*asked).records[1::2]
            ]


def test_sizes_are_those_that_git_lists(repo: Path, trees: list[str]) -> None:
    with git_objects.store(repo) as store:
        for tree in trees:
            rows = (row.split("\t", 1) for row in store.call("ls-tree", "-r", "-l", "-z", tree).records)
            theirs = {path: int(facts.split()[3]) for facts, path in rows if facts.split()[1] == "blob"}
            assert store.sizes(tree) == theirs


def test_a_missing_object_is_an_error_that_says_where(repo: Path, trees: list[str]) -> None:
    absent = "1" * len(trees[0])
    with git_objects.store(repo) as store:
        for ask in (store.blob, store.size, store.files):
            with pytest.raises(git.GitError, match=f"{absent}.*{repo}|{repo}.*{absent}"):
                ask(absent)


def test_a_mode_of_an_old_program_is_written_as_git_writes_it() -> None:
    assert git_objects._row(Entry("a", "100664", "0" * 40)) == git_objects._row(Entry("a", "100644", "0" * 40))
