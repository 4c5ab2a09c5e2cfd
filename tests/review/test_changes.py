"""What changed since a task was registered: found whatever was done to hide it, shown only as far as it may be."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from agent_fox.review import repositories
from agent_fox.review.changes import IGNORES_CHANGED, Change, Limits, change_of, fingerprint_of
from agent_fox.review.looking import look
from agent_fox.review.repositories import Registered
from agent_fox.system.git import GitError
from tests.review.worlds import git, repository

SMALL = Limits(new_file=2000, diff=20_000)


def registered(root: Path) -> Registered:
    found = repositories.repositories([root])
    return repositories.register(found[0], found, SMALL.new_file)


def change(repo: Registered, limits: Limits = SMALL) -> Change:
    return change_of(repo, limits)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", **{"app.py": "x = 1\n", ".gitignore": "build/\n"})


def test_nothing_changed_is_no_change(root: Path) -> None:
    found = change(registered(root))
    assert (found.is_changed, found.names, found.diff) == (False, (), "")


def test_committed_staged_unstaged_and_untracked_work_is_all_there(root: Path) -> None:
    repo = registered(root)
    (root / "committed.py").write_text("committed = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "work")
    (root / "staged.py").write_text("staged = 1\n")
    git(root, "add", "staged.py")
    (root / "app.py").write_text("x = 2\n")
    (root / "new.py").write_text("new = 1\n")
    (root / "README.md").unlink()
    found = change(repo)
    assert found.is_changed
    assert found.names == (
        "deleted README.md",
        "modified app.py",
        "added committed.py",
        "added new.py",
        "added staged.py",
    )
    for line in ("+committed = 1", "+staged = 1", "-x = 1", "+x = 2", "+new = 1", "-a project"):
        assert f"\n{line}\n" in found.diff
    assert [one.path for one in found.sent] == ["README.md", "app.py", "committed.py", "new.py", "staged.py"]
    assert sum(one.bytes for one in found.sent) == len(found.diff.encode())


def test_what_is_sent_is_named_by_its_hash(root: Path) -> None:
    repo = registered(root)
    (root / "app.py").write_text("x = 2\n")
    found = change(repo)
    assert [one.sha256 for one in found.sent] == [hashlib.sha256(found.diff.encode()).hexdigest()]


def test_committing_the_same_files_changes_nothing_about_them(root: Path) -> None:
    repo = registered(root)
    (root / "app.py").write_text("x = 2\n")
    before = change(repo).fingerprint
    git(root, "commit", "-qam", "work")
    assert change(repo).fingerprint == before == fingerprint_of(repo, SMALL)


def test_what_was_changed_before_is_marked_and_is_no_work(root: Path) -> None:
    (root / "app.py").write_text("x = 2\n")
    (root / "notes.txt").write_text("mine\n")
    repo = registered(root)
    assert not change(repo).is_changed
    (root / "work.py").write_text("w = 1\n")
    (root / "notes.txt").write_text("mine and more\n")
    assert change(repo).names == (
        "modified app.py (unchanged since before the task was registered)",
        "added notes.txt",
        "added work.py",
    )


def test_what_was_gone_before_is_named_only(root: Path) -> None:
    (root / "app.py").unlink()
    repo = registered(root)
    (root / "work.py").write_text("w = 1\n")
    found = change(repo)
    assert "x = 1" not in found.diff
    assert found.names[0].startswith("deleted app.py (not shown: it was removed before")


def test_a_repository_without_commits_is_compared_with_nothing(tmp_path: Path) -> None:
    root = tmp_path / "fresh"
    root.mkdir()
    git(root, "init", "-q")
    repo = registered(root)
    assert repo.base == ""
    (root / "first.py").write_text("f = 1\n")
    assert change(repo).names == ("added first.py",)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    assert "+f = 1" in change(repo).diff


def test_flags_of_the_index_hide_nothing(root: Path) -> None:
    repo = registered(root)
    git(root, "update-index", "--assume-unchanged", "app.py")
    git(root, "update-index", "--skip-worktree", "README.md")
    (root / "app.py").write_text("x = 2\n")
    (root / "README.md").write_text("another\n")
    assert change(repo).names == ("modified README.md", "modified app.py")


def test_attributes_hide_nothing_and_run_nothing(root: Path, tmp_path: Path) -> None:
    repo = registered(root)
    ran = tmp_path / "ran"
    for name in ("clean", "smudge", "textconv", "command"):
        git(
            root,
            "config",
            f"{'diff' if name in ('textconv', 'command') else 'filter'}.evil.{name}",
            f"touch {ran}; cat",
        )
    git(root, "config", "core.fsmonitor", f"touch {ran}; false")
    git(root, "config", "diff.external", f"touch {ran}; true")
    (root / ".gitattributes").write_text("*.py -diff filter=evil ident\n*.md diff=evil\n")
    (root / "app.py").write_text('x = "$Id: hidden() $"\n')
    (root / "README.md").write_text("another\n")
    hook = root / ".git/hooks/post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    found = change(repo)
    assert "hidden()" in found.diff
    assert "+another" in found.diff
    assert not ran.exists()


def test_a_tracked_file_that_is_ignored_is_there(root: Path) -> None:
    repo = registered(root)
    (root / "build").mkdir()
    (root / "build" / "made.py").write_text("m = 1\n")
    assert not change(repo).is_changed
    git(root, "add", "-f", "build/made.py")
    assert change(repo).names == ("added build/made.py",)
    git(root, "commit", "-qm", "forced")
    assert "+m = 1" in change(repo).diff


def test_files_with_the_names_of_secrets_are_named_and_not_sent(root: Path) -> None:
    repo = registered(root)
    for name in (".env", "server.pem", "id_rsa", "prod-credentials.json", "secrets/one.txt", ".env.production"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("hunter2hunter2\n")
    (root / ".env.example").write_text("NAME=\n")
    (root / "credentials.py").write_text("def load(): ...\n")
    found = change(repo)
    assert "hunter2" not in found.diff
    assert {one.path for one in found.sent} == {".env.example", "credentials.py"}
    assert sum("its name says that it holds a secret" in name for name in found.names) == 6
    before = found.fingerprint
    (root / ".env").write_text("other\n")
    assert change(repo).fingerprint != before


def test_a_tracked_file_with_the_name_of_a_secret_is_named_and_not_sent(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", **{"server.key": "old\n"})
    repo = registered(root)
    (root / "server.key").write_text("newsecret\n")
    found = change(repo)
    assert found.is_changed
    assert (found.sent, found.diff) == ((), "")
    assert found.names[0].startswith("modified server.key (not shown")


def test_a_secret_in_ordinary_text_is_masked(root: Path) -> None:
    repo = registered(root)
    (root / "app.py").write_text('password = "kJ8#mQ2$vL9@xR4z"\nmine = "tell-nobody-this"\n')
    found = change_of(repo, SMALL, ("tell-nobody-this",))
    assert "kJ8#mQ2" not in found.diff
    assert "tell-nobody" not in found.diff
    assert "[redacted]" in found.diff


def test_a_large_new_file_is_named_with_its_size(root: Path) -> None:
    repo = registered(root)
    (root / "large.txt").write_text("x" * 5000)
    found = change(repo)
    assert found.names == ("added large.txt (not shown: it is too large to be shown, 5,000 bytes)",)
    assert found.diff == ""
    git(root, "add", "-A")
    git(root, "commit", "-qm", "large")
    assert change(repo) == found


def test_a_binary_file_is_named_with_its_size(root: Path) -> None:
    repo = registered(root)
    (root / "logo.png").write_bytes(b"\x89PNG\0\0\xff" * 10)
    found = change(repo)
    assert found.names == ("added logo.png (binary, not shown, 70 bytes)",)
    assert "Binary files" in found.diff
    assert "\0" not in found.diff


def test_a_change_that_is_too_large_is_not_shown_in_part(root: Path) -> None:
    repo = registered(root)
    (root / "app.py").write_text("".join(f"line_{number} = {number}\n" for number in range(5000)))
    found = change(repo)
    assert "larger than 20,000 bytes" in found.too_large
    assert (found.names, found.diff, found.sent) == ((), "", ())


def test_who_hides_a_file_by_the_repositorys_own_rules_is_told_of(root: Path) -> None:
    repo = registered(root)
    (root / ".git" / "info" / "exclude").write_text("hidden.py\n")
    (root / "hidden.py").write_text("h = 1\n")
    hidden = "added hidden.py (hidden from git by rules that are not committed)"
    assert change(repo).names == (hidden, IGNORES_CHANGED)
    (root / "app.py").write_text("x = 2\n")
    assert change(repo).names == ("modified app.py", hidden, IGNORES_CHANGED)


def test_a_name_that_is_no_text_is_shown_as_what_can_be_printed(root: Path) -> None:
    repo = registered(root)
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.txt")).write_text("c\n")
    found = change(repo)
    assert found.names == ('added "caf\\udce9.txt"',)
    assert [one.path for one in found.sent] == ['"caf\\udce9.txt"']


def test_a_link_is_shown_and_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("outside\n")
    repo = registered(root)
    (root / "link").symlink_to(tmp_path / "private.txt")
    (root / "app.py").unlink()
    (root / "app.py").symlink_to("README.md")
    found = change(repo)
    assert "outside" not in found.diff
    assert "new file mode 120000" in found.diff
    assert [one.path for one in found.sent] == ["app.py", "app.py", "link"]


def test_names_with_line_breaks_stay_on_one_line(root: Path) -> None:
    repo = registered(root)
    (root / "a\nadded evil").write_text("e\n")
    assert change(repo).names == ('added "a\\nadded evil"',)


def test_a_line_that_looks_like_a_header_of_a_diff_is_content(root: Path) -> None:
    repo = registered(root)
    (root / "app.py").write_text("diff --git a/x b/x\nBinary files a and b differ\n")
    (root / "new.py").write_text("diff --git a/y b/y")
    assert [one.path for one in change(repo).sent] == ["app.py", "new.py"]


def test_our_own_state_is_no_change(root: Path) -> None:
    repo = registered(root)
    (root / ".agent-fox" / "logs").mkdir(parents=True)
    (root / ".agent-fox" / "logs" / "one.log").write_text("l\n")
    for name in ("state.db", "state.db-wal", "run.lock"):
        (root / ".agent-fox" / name).write_text("s\n")
    assert not change(repo).is_changed


def test_a_repository_inside_is_named(root: Path) -> None:
    repo = registered(root)
    repository(root / "vendor" / "inner")
    before = change(repo)
    assert before.names == ("added vendor/inner/ (not shown: it is a repository of its own, 0 bytes)",)
    git(root / "vendor" / "inner", "commit", "-q", "--allow-empty", "-m", "more")
    assert change(repo).fingerprint != before.fingerprint


def test_a_submodule_is_a_repository_of_its_own(root: Path, tmp_path: Path) -> None:
    library = repository(tmp_path / "library", **{"lib.py": "l = 1\n"})
    git(root, "submodule", "--quiet", "add", str(library), "lib")
    git(root, "commit", "-qm", "submodule")
    paths = repositories.repositories([root])
    assert paths == (root, root / "lib")
    outer, inner = (repositories.register(path, paths, SMALL.new_file) for path in paths)
    (root / "lib" / "lib.py").write_text("l = 2\n")
    git(root / "lib", "commit", "-qam", "inside")
    (root / "lib" / "new.py").write_text("n = 1\n")
    assert not change(outer).is_changed
    assert change(inner).names == ("modified lib.py", "added new.py")


def test_hooks_of_a_submodule_do_not_run(root: Path, tmp_path: Path) -> None:
    library = repository(tmp_path / "library", **{"lib.py": "l = 1\n"})
    git(root, "submodule", "--quiet", "add", str(library), "lib")
    git(root, "commit", "-qm", "submodule")
    ran = tmp_path / "ran"
    paths = repositories.repositories([root])
    outer = repositories.register(paths[0], paths, SMALL.new_file)
    git(root / "lib", "config", "core.fsmonitor", f"touch {ran}; false")
    git(root / "lib", "config", "filter.evil.clean", f"touch {ran}; cat")
    (root / "lib" / ".gitattributes").write_text("* filter=evil\n")
    (root / "lib" / "lib.py").write_text("l = 22\n")
    change(outer)
    assert not ran.exists()


def test_a_base_that_is_gone_and_a_repository_that_is_gone_are_errors(root: Path) -> None:
    repo = registered(root)
    gone = Registered(repo.path, "1" * 40, repo.fingerprint)
    with pytest.raises(GitError):
        change(gone)
    (root / ".git").rename(root / "elsewhere")
    with pytest.raises(GitError, match="is none now"):
        change(repo)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_is_an_error(root: Path) -> None:
    repo = registered(root)
    (root / "locked.py").write_text("l = 1\n")
    (root / "locked.py").chmod(0)
    with pytest.raises(GitError):
        change(repo)


def test_a_pipe_in_place_of_a_file_is_no_file(root: Path) -> None:
    repo = registered(root)
    os.mkfifo(root / "pipe")
    assert not change(repo).is_changed


def test_a_tracked_file_that_became_something_else_is_gone(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", **{"pipe.py": "p = 1\n", "folder.py": "f = 1\n"})
    (root / "package").mkdir()
    (root / "package" / "one.py").write_text("o = 1\n")
    (root / "flat").mkdir()
    (root / "flat" / "two.py").write_text("t = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "more")
    repo = registered(root)
    (root / "pipe.py").unlink()
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").unlink()
    (root / "folder.py").mkdir()
    (root / "folder.py" / "inner.py").write_text("i = 1\n")
    (root / "package").rename(tmp_path / "moved")
    (root / "package").symlink_to(tmp_path / "moved")
    (root / "flat" / "two.py").unlink()
    (root / "flat").rmdir()
    (root / "flat").write_text("a file now\n")
    found = change(repo)
    assert set(found.names) == {
        "deleted pipe.py",
        "deleted folder.py",
        "added folder.py/inner.py",
        "deleted package/one.py",
        "added package",
        "deleted flat/two.py",
        "added flat",
    }
    assert "o = 1" not in found.diff.replace("-o = 1", "")


def test_a_pipe_in_place_of_what_git_reads_is_an_error_after_a_while(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = registered(root)
    os.mkfifo(root / ".gitattributes")
    monkeypatch.setattr("agent_fox.review.looking.SECONDS", 0.5)
    with pytest.raises(GitError, match="took longer"):
        change(repo)


def test_git_that_waits_for_ever_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_fox.review.looking.SECONDS", 0.5)
    os.mkfifo(root / "pipe")
    with look(root) as ours, pytest.raises(GitError, match="took longer"):
        ours.ask("hash-object", "--no-filters", "pipe")


def test_nothing_is_written_into_the_repository(root: Path) -> None:
    repo = registered(root)
    (root / "new.py").write_text("n = 1\n")
    before = sorted((str(file), file.lstat().st_size) for file in (root / ".git").rglob("*"))
    change(repo)
    assert sorted((str(file), file.lstat().st_size) for file in (root / ".git").rglob("*")) == before


def test_a_linked_worktree_is_looked_at_by_itself(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    repo = registered(tmp_path / "other")
    (root / "app.py").write_text("x = 2\n")
    assert not change(repo).is_changed
    (tmp_path / "other" / "app.py").write_text("x = 3\n")
    assert change(repo).names == ("modified app.py",)


PERSONAL = ("info/exclude", "core.excludesFile", "a .gitignore that nobody committed")


def hide(root: Path, how: str, rules: str, home: Path) -> None:
    """Tell git to hide files by rules that are in no commit."""
    if how == "info/exclude":
        (root / ".git/info/exclude").write_text(rules)
    elif how == "core.excludesFile":
        (home / "ignored").write_text(rules)
        git(root, "config", "core.excludesFile", str(home / "ignored"))
    else:
        (root / "sub").mkdir()
        (root / "sub/.gitignore").write_text("*\n")
        (root / ".gitignore").write_text(f"build/\n{rules}")


@pytest.mark.parametrize("how", PERSONAL)
def test_only_committed_rules_hide_a_file_from_the_reviewer(root: Path, tmp_path: Path, how: str) -> None:
    repo = registered(root)
    hide(root, how, "evil.py\n", tmp_path)
    (root / "evil.py").write_text("evil = 1\n")
    (root / "build").mkdir()
    (root / "build/app.o").write_text("object")
    found = change(repo)
    assert "\n+evil = 1\n" in found.diff
    assert "added evil.py (hidden from git by rules that are not committed)" in found.names
    assert not any("build/" in name for name in found.names)


def test_rules_of_a_folder_hold_there_and_below(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/.gitignore").write_text("*.log\n/top.txt\n!keep.log\nb/only.py\n# no rule\n\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "rules")
    repo = registered(root)
    for name in ("a/x.log", "a/b/y.log", "a/top.txt", "a/b/top.txt", "a/keep.log", "a/b/only.py", "a/only.py", "x.log"):
        (root / name).write_text("1\n")
    (root / ".git/info/exclude").write_text("*\n")
    added = {name.split()[1] for name in change(repo).names if name.startswith("added")}
    assert added == {"a/b/top.txt", "a/keep.log", "a/only.py", "x.log"}


def test_what_lay_there_hidden_before_the_task_is_named_and_not_sent(root: Path) -> None:
    (root / ".git/info/exclude").write_text("notes.txt\nother.txt\n")
    (root / "notes.txt").write_text("private\n")
    (root / "other.txt").write_text("private too\n")
    repo = registered(root)
    (root / "app.py").write_text("x = 2\n")
    (root / "other.txt").write_text("changed\n")
    found = change(repo)
    assert "private" not in found.diff
    assert "+changed" in found.diff
    assert any(name.startswith("added notes.txt (not shown: it lay there, hidden from git") for name in found.names)


def test_hidden_caches_of_tools_are_counted_only_and_their_change_is_none(root: Path) -> None:
    (root / ".git/info/exclude").write_text("__pycache__/\n")
    repo = registered(root)
    (root / "app.py").write_text("x = 2\n")
    before = fingerprint_of(repo, SMALL)
    (root / "__pycache__").mkdir()
    (root / "__pycache__/app.pyc").write_bytes(b"1")
    assert "(1 file in caches of tools, hidden from git by rules that are not committed)" in change(repo).names
    assert fingerprint_of(repo, SMALL) == before


def test_a_new_text_that_is_too_large_to_be_shown_is_told_apart_from_what_nobody_can_show(root: Path) -> None:
    (root / "data.csv").write_text("1,2\n" * 1000)
    repo = registered(root)
    (root / "large.py").write_text("x = 1\n" * 1000)
    (root / "picture.png").write_bytes(b"\0" * 5000)
    assert change(repo).unread == ("large.py (6,000 bytes)",)


def test_code_with_a_zero_byte_is_no_picture_nobody_can_say_ok_to_it(root: Path) -> None:
    repo = registered(root)
    (root / "small.js").write_bytes(b"/* \0 */ steal()\n")
    (root / "large.js").write_bytes(b"/* \0 */ steal()\n" * 1000)
    (root / "app.py").write_bytes("x = 'ü'\n".encode("utf-16"))
    (root / "picture.png").write_bytes(b"\0" * 50)
    assert change(repo).unread == (
        "large.js (16,000 bytes)",
        "app.py (18 bytes, with a zero byte in it)",
        "small.js (16 bytes, with a zero byte in it)",
    )
    git(root, "add", "app.py")
    (root / "app.py").unlink()
    assert [one.split()[0] for one in change(repo).unread] == ["large.js", "small.js"]
