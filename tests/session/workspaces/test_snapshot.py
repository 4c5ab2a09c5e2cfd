"""Taking a coder's work: all of it, only it, and nothing of what was planted in the workspace runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype
from agent_fox.session.order import EndKind, LaunchOrder, Provisions, SessionEnd, StopSignal, Work
from agent_fox.session.session_lifecycle import run_session
from agent_fox.system import git
from tests.session.world import make_order, never_told, sh, shell, write


def run(order: LaunchOrder) -> SessionEnd:
    return run_session(order, never_told, StopSignal())


def work_of(repo: Path, script: str) -> Work:
    end = run(make_order(repo, agent=shell(script)))
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    return end.work


def changed(repo: Path, work: Work) -> list[str]:
    return sh(repo, "git", "diff", "--name-only", "HEAD", work.commit).splitlines()


COMMITTED = "echo x > new.txt; git add -A; git commit -qm x"


@pytest.mark.parametrize(
    "script",
    [
        "echo x > new.txt",
        "echo x > new.txt; git add -A",
        COMMITTED,
        f"{COMMITTED}; rm -rf .git",
        f"{COMMITTED}; git checkout -q -b other HEAD~1; git checkout -q attempt",
        f"{COMMITTED}; echo garbage > .git/HEAD; echo garbage > .git/index",
        "echo x > new.txt; rm -rf .git; git init -q; git add -A; git commit -qm unrelated",
        "echo x > new.txt; rm -rf .git; ln -s /etc .git",
    ],
)
def test_work_is_taken_committed_or_not_and_whatever_became_of_its_git(repo: Path, script: str) -> None:
    work = work_of(repo, script)
    assert changed(repo, work) == ["new.txt"]
    assert git.show(repo, work.commit, "new.txt") == b"x\n"


def test_deleted_renamed_linked_and_executable_files_are_taken_as_they_are(repo: Path) -> None:
    work = work_of(repo, "git mv src/app.py src/main.py; chmod +x src/main.py; rm README.md; ln -s src/main.py go")
    listed = sh(repo, "git", "ls-tree", "-r", work.commit, "src", "go", "README.md")
    assert [line.split()[0] + line.split("\t")[1] for line in listed.splitlines()] == [
        "120000go",
        "100755src/main.py",
    ]


def test_ignored_files_are_left_and_names_of_all_kinds_are_taken(repo: Path) -> None:
    work = work_of(
        repo,
        "mkdir ignored; echo x > ignored/a; echo x > b.log\n"
        "echo x > 'ü \"q\" :(top)'; printf x > \"$(printf 'n\\377')\"",
    )
    names = sh(repo, "git", "-c", "core.quotePath=true", "diff", "--name-only", "HEAD", work.commit).splitlines()
    assert names == ['"n\\377"', '"\\303\\274 \\"q\\" :(top)"']


def test_what_the_person_alone_ignores_is_left_too(repo: Path) -> None:
    write(repo, {".git/info/exclude": "*.swp\n"})
    assert work_of(repo, "echo x > a.swp").is_unchanged


def test_a_file_that_was_brought_in_and_is_ignored_is_no_reason_to_refuse_the_work(repo: Path) -> None:
    write(repo, {".env": "KEY=1\n", "a.key": "KEY=2\n"})
    brought = Provisions(setup=("true",), copy=(".env", "a.key"))
    end = run(make_order(repo, agent=shell("echo x > new.txt; echo y >> .env; echo y >> a.key"), workspace=brought))
    assert end.work is not None, end.reason
    assert changed(repo, end.work) == ["new.txt"]


PLANTS = """
mkdir -p .git/hooks
for hook in pre-commit post-index-change reference-transaction post-commit post-checkout; do
  printf '#!/bin/sh\\ntouch {ran}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook
done
git config core.fsmonitor 'touch {ran}; false'
git config core.hooksPath .git/hooks
git config filter.planted.clean 'touch {ran}; cat'
git config filter.planted.process 'touch {ran}'
git config core.sshCommand 'touch {ran}'
git config diff.external 'touch {ran}'
echo '* filter=planted diff=planted' > .gitattributes
echo '* filter=planted' > .git/info/attributes
printf '[core]\\n\\tfsmonitor = touch {ran}\\n' > .gitconfig
echo x > new.txt
"""


@pytest.mark.parametrize("archetype", [Archetype.CODER, Archetype.VERIFIER])
def test_planted_hooks_filters_and_settings_do_not_run(repo: Path, tmp_path: Path, archetype: Archetype) -> None:
    sh(repo, "git", "config", "filter.planted.clean", f"touch {tmp_path / 'ran'}; cat")
    end = run(make_order(repo, archetype=archetype, agent=shell(PLANTS.format(ran=tmp_path / "ran"))))
    assert end.kind is EndKind.ENDED, end.reason
    assert not (tmp_path / "ran").exists()
    if end.work:
        assert changed(repo, end.work) == [".gitattributes", ".gitconfig", "new.txt"]


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("mkdir inner; cd inner; git init -q; git commit -q --allow-empty -m x", "inner"),
        ("mkdir -p deep/inner; cd deep/inner; git init -q; echo x > file", "deep/inner"),
        ("git init -q src", "src/.git"),
        ("mkdir -p sub; echo 'gitdir: /elsewhere' > sub/.git; echo x > sub/file", "sub/.git"),
        ("mkdir .GIT; echo x > .GIT/config", ".GIT/config"),
        ("rm -rf ../workspace; ln -s / ../workspace", "removed its workspace"),
        ("rm -rf ../workspace", "removed its workspace"),
    ],
)
def test_a_repository_inside_the_work_is_refused_and_named(repo: Path, script: str, named: str) -> None:
    end = run(make_order(repo, agent=shell(script)))
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert named in end.reason


def test_an_ignored_repository_is_nobodys_business(repo: Path) -> None:
    assert work_of(repo, "git init -q ignored/dep; echo x > new.txt").is_unchanged is False


def test_a_submodule_of_the_base_stays_and_a_moved_one_is_refused(repo: Path) -> None:
    link = sh(repo, "git", "rev-parse", "HEAD")
    sh(repo, "git", "update-index", "--add", "--cacheinfo", f"160000,{link},vendored")
    sh(repo, "git", "commit", "-qm", "submodule")
    assert changed(repo, work_of(repo, "echo x > new.txt")) == ["new.txt"]
    inside = "git -C vendored init -q; git -C vendored commit -q --allow-empty -m x"
    end = run(make_order(repo, launch="snapshot-two", agent=shell(inside)))
    assert (end.kind, "vendored" in end.reason) == (EndKind.REFUSED, True)


def test_changes_of_specs_and_of_our_state_are_dropped_but_ticked_boxes(repo: Path) -> None:
    work = work_of(
        repo,
        "sed -i 's/\\[ \\] 1\\. /[x] 1. /; s/\\[ \\] 1.1/[-] 1.1/' specs/01_app/tasks.md\n"
        "echo weaker > specs/01_app/requirements.md; echo new > specs/01_app/extra.md\n"
        "mkdir specs/02; echo x > specs/02/tasks.md\n"
        "echo 'x = 1' > .agent-fox/config.toml; echo planted > .agent-fox/state.db; echo x > src/app.py",
    )
    assert changed(repo, work) == ["specs/01_app/tasks.md", "src/app.py"]
    ticked = "# Tasks\n\n- [x] 1. Build it\n  - [-] 1.1 Write\n"
    assert git.show(repo, work.commit, "specs/01_app/tasks.md") == ticked.encode()


@pytest.mark.parametrize(
    "script",
    [
        "sed -i 's/\\[ \\] 1. Build/[x] 1. Skip/' specs/01_app/tasks.md",
        "sed -i 's/\\[ \\]/[x]/' specs/01_app/tasks.md; echo more >> specs/01_app/tasks.md",
        "rm -r specs",
        "rm -r .agent-fox; echo x > .agent-fox",
        "rm specs/01_app/tasks.md; ln -s /etc/passwd specs/01_app/tasks.md",
    ],
)
def test_a_spec_that_changed_in_more_than_boxes_is_put_back_whole(repo: Path, script: str) -> None:
    assert work_of(repo, script).is_unchanged


def test_a_file_in_the_place_of_the_folder_of_specs_is_no_way_around(repo: Path) -> None:
    sh(repo, "git", "mv", "specs", "plan")
    sh(repo, "git", "mv", "-k", "plan/01_app", "plan/01_app")
    (repo / "docs").mkdir()
    sh(repo, "git", "mv", "plan", "docs/specs")
    sh(repo, "git", "commit", "-qm", "moved")
    end = run(make_order(repo, spec_places=("docs/specs",), agent=shell("rm -r docs; echo x > docs")))
    assert end.kind is EndKind.REFUSED or (end.work is not None and end.work.is_unchanged)


def test_each_place_of_specs_is_kept_and_a_file_that_is_a_spec(repo: Path) -> None:
    """Specs of several dialects lie in several places; in each of them boxes are all that may change."""
    before = "# Spec: Bell\n\n- [ ] 1. Ring\n"
    write(repo, {"plans/bell.md": before, "plans/notes.txt": "mine\n", "openspec/changes/a/tasks.md": "- [ ] 1.1 A\n"})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "specs")
    script = "sed -i 's/\\[ \\]/[x]/' plans/bell.md openspec/changes/a/tasks.md; echo x > openspec/changes/a/b.md"
    places = ("plans/bell.md", "openspec/changes")
    end = run(make_order(repo, spec_places=places, agent=shell(f"{script}; echo yours > plans/notes.txt")))
    assert end.work is not None
    assert changed(repo, end.work) == ["openspec/changes/a/tasks.md", "plans/bell.md", "plans/notes.txt"]
    weaker = shell("sed -i 's/Ring/Skip/' plans/bell.md")
    end = run(make_order(repo, spec_places=places, agent=weaker, launch="again"))
    assert end.work is not None
    assert end.work.is_unchanged


def test_line_ends_are_taken_as_the_repository_says(repo: Path) -> None:
    write(repo, {".gitattributes": "*.txt text\n"})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "attributes")
    work = work_of(repo, "printf 'a\\r\\n' > new.txt; printf 'a\\r\\n' > new.bin")
    assert git.show(repo, work.commit, "new.txt") == b"a\n"
    assert git.show(repo, work.commit, "new.bin") == b"a\r\n"


def test_a_file_that_cannot_be_committed_refuses_the_work(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("mkdir 'git~1'; echo x > 'git~1/config'")))
    assert end.kind is EndKind.REFUSED
    assert "git~1" in end.reason
