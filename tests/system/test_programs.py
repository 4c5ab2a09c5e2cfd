"""Programs that are started: bounded in time and output; and git processes that stay, whatever happens to them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from agent_fox.system import git, programs
from agent_fox.testing.worlds import new_repository, wait_until

COMMIT = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--allow-empty", "-m", "one")


def sh(repo: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    new_repository(made)
    (made / "a\nb").write_text("text")
    sh(made, "add", "-A")
    sh(made, *COMMIT)
    return made


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that stay, as they are started."""
    begun: list[subprocess.Popen[bytes]] = []
    start = git._start

    def noting(repo: Path, arguments: Sequence[str], extra: Mapping[str, str]) -> subprocess.Popen[bytes]:
        begun.append(start(repo, arguments, extra))
        return begun[-1]

    monkeypatch.setattr(git, "_start", noting)
    return begun


@pytest.fixture
def served(repo: Path, started: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    with git.serving(repo):
        yield


def answers(repo: Path) -> list[object]:
    """What git says of names that stand for something, or for nothing, or for something else than is asked."""
    head = git.head(repo) or ""
    names = ("HEAD", "main", "gone", "", "a b", "HEAD:a\nb", "HEAD:no\nsuch", head[:7], "0" * 40, "^main", "HEAD^")
    found: list[object] = [git.commit_of(repo, name) for name in names]
    found += [git.show(repo, "HEAD", path) for path in ("a\nb", "no\nsuch", "", "x")]
    return [*found, git.tree_of(repo, "HEAD"), git.read(repo, "HEAD:a\nb"), git.parents(repo, head)]


def test_answers_are_the_same_with_and_without(repo: Path, started: list[subprocess.Popen[bytes]]) -> None:
    apart = answers(repo)
    assert started == []
    with git.serving(repo):
        assert answers(repo) == apart
        assert len(started) == 1


def test_the_process_that_stays_keeps_no_tree_that_was_asked_for(
    repo: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    """Each tree takes 0.25 MB: sixty that are kept would be 15 MB."""
    files = "".join(f"M 100644 inline file-{number:04}\ndata 1\nx\n" for number in range(6000))
    commits = (
        f"commit refs/heads/wide\ncommitter A <a@b> {number} +0000\ndata 1\nm\n"
        f"{files if not number else ''}M 100644 inline more-{number:04}\ndata 1\ny\n\n"
        for number in range(60)
    )
    git.call(repo, "fast-import", "--quiet", data="".join(commits).encode())
    names = git.call(repo, "rev-list", "wide").text.split()
    with git.serving(repo):
        trees = [git.tree_of(repo, names[0])]
        (process,) = started
        before = resident_kilobytes(process.pid)
        trees += [git.tree_of(repo, name) for name in names[1:]]
        assert len(set(trees)) == 60
        assert resident_kilobytes(process.pid) - before < 4_000


def resident_kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])


@pytest.mark.parametrize("name", ["gone", "HEAD:x", "0" * 40])
def test_what_has_no_tree_is_an_error_with_its_name(repo: Path, name: str) -> None:
    with pytest.raises(git.GitError, match=f"{name} in .* is no commit and no tree"):
        git.tree_of(repo, name)


def test_a_tag_stands_for_the_tree_of_its_commit_and_a_tree_for_itself(repo: Path) -> None:
    git.call(repo, "tag", "-a", "-m", "m", "one", "HEAD")
    git.call(repo, "tag", "-a", "-m", "m", "two", "one")
    tree = git.call(repo, "rev-parse", "HEAD^{tree}").text
    assert [git.tree_of(repo, name) for name in ("HEAD", "one", "two", "HEAD^{tree}", tree)] == [tree] * 5


def test_blocks_and_threads_share_one_process_which_ends_with_the_last(
    repo: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    head = git.head(repo)
    found: list[str | None] = []

    def ask() -> None:
        with git.serving(repo):
            found.extend(git.head(repo) for _ in range(20))

    with git.serving(repo):
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert git.head(repo) == head
        assert [process.poll() for process in started] == [None]
    assert found == [head] * 80
    assert [process.returncode for process in started] == [0]


@pytest.mark.usefixtures("served")
def test_one_that_was_killed_is_replaced(repo: Path, started: list[subprocess.Popen[bytes]]) -> None:
    head = git.head(repo)
    started[0].kill()
    started[0].wait()
    assert git.head(repo) == head
    assert git.head(repo) == head
    assert len(started) == 2


@pytest.mark.usefixtures("served")
def test_references_move_by_one_process_and_only_from_where_they_were_expected(
    repo: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    first = git.head(repo) or ""
    sh(repo, *COMMIT)
    second = sh(repo, "rev-parse", "HEAD")
    git.set_ref(repo, "refs/agent-fox/x", first)
    assert git.move_ref(repo, "refs/agent-fox/x", second, first)
    git.delete_ref(repo, "refs/agent-fox/x")
    git.delete_ref(repo, "refs/agent-fox/x")
    assert sh(repo, "for-each-ref", "refs/agent-fox") == ""
    assert len(started) == 2, "one for references, one for objects"
    assert not git.move_ref(repo, "refs/heads/main", first, first)
    assert git.commit_of(repo, "main") == second
    assert git.move_ref(repo, "refs/heads/main", first, second)
    assert sh(repo, "rev-parse", "main") == first


@pytest.mark.usefixtures("served")
def test_what_others_do_meanwhile_is_seen(repo: Path) -> None:
    first = git.head(repo)
    sh(repo, *COMMIT)
    assert git.head(repo) == sh(repo, "rev-parse", "HEAD") != first
    sh(repo, "gc", "-q", "--prune=now")
    assert git.read(repo, str(first)) is not None
    sh(repo, "pack-refs", "--all")
    sh(repo, "update-ref", "refs/heads/main", str(first))
    assert git.head(repo) == first


@pytest.mark.usefixtures("served")
def test_an_ancestor_is_found_without_another_process(repo: Path, started: list[subprocess.Popen[bytes]]) -> None:
    first = git.head(repo) or ""
    for _ in range(5):
        sh(repo, *COMMIT)
    tip = git.head(repo) or ""
    before = len(started)
    assert git.is_ancestor(repo, first, tip)
    assert git.merge_base(repo, tip, first) == first
    assert not git.is_ancestor(repo, tip, first)
    assert git.merge_base(repo, tip, "0" * 40) is None
    assert len(started) == before


def test_a_sudden_death_leaves_no_process(repo: Path) -> None:
    program = (
        "import os, pathlib, signal; from agent_fox.system import git; repo = pathlib.Path.cwd()\n"
        "with git.serving(repo):\n"
        "    git.set_ref(repo, 'refs/agent-fox/x', git.head(repo))\n"
        "    both = git._SERVED[repo, ()]\n"
        "    print(both.objects._process.pid, both.references._process.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repo, stdout=subprocess.PIPE, text=True, check=False)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    until = time.monotonic() + 10
    while any(is_there(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(is_there(pid) for pid in pids)


def is_there(pid: int) -> bool:
    """Whether a process runs; one that nobody waited for yet does not."""
    try:
        os.kill(pid, 0)
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except (ProcessLookupError, FileNotFoundError):
        return False


def bounded(folder: Path, code: str, seconds: float = 20.0, limit: int = 1000) -> programs.Finished:
    """What came of a shell's line."""
    return programs.run_bounded(
        ["sh", "-c", code], seconds, limit, environment={"PATH": os.environ["PATH"]}, cwd=folder
    )


@pytest.mark.parametrize(
    ("code", "finished"),
    [
        ("echo out; echo err >&2; exit 3", programs.Finished(3, b"out\n", b"err\n")),
        ("kill -9 $$", programs.Finished(-9, b"", b"")),
        ("printf %1000s; cat", programs.Finished(0, b" " * 1000, b"")),
        ("sleep 60 & echo here", programs.Finished(0, b"here\n", b"")),
        ("printf %1001s; sleep 60", programs.Finished(-9, b" " * 1000, b"", is_cut=True)),
        ("yes >&2", programs.Finished(-9, b"", b"y\n" * 500, is_cut=True)),
    ],
)
def test_what_a_bounded_program_prints_is_kept_up_to_the_limit(
    tmp_path: Path, code: str, finished: programs.Finished
) -> None:
    assert bounded(tmp_path, code) == finished


@pytest.mark.parametrize("code", ["sleep 60", "exec 1>&- 2>&-; sleep 60", "sleep 60 & wait"])
def test_a_bounded_program_ends_with_all_that_it_started_when_its_time_is_up(tmp_path: Path, code: str) -> None:
    with pytest.raises(TimeoutError, match=r"it took longer than 0\.2 seconds"):
        bounded(tmp_path, f"echo $$ > pid; {code}", 0.2)
    group = int((tmp_path / "pid").read_text())
    wait_until(lambda: not any(map(is_there, members_of(group))), "all that it started was gone")


def members_of(group: int) -> list[int]:
    """The processes of a group, also those that are dead and that nobody waited for."""
    members = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            members += [int(path.name)] if os.getpgid(int(path.name)) == group else []
    return members


def test_a_program_that_runs_to_its_end_gets_its_input_and_no_more_time_than_it_has(tmp_path: Path) -> None:
    cat = ["sh", "-c", "cat; echo $X; pwd >&2; exit 2"]
    done = programs.run(cat, data=b"given ", environment={"PATH": os.environ["PATH"], "X": "y"}, cwd=tmp_path)
    assert done == programs.Finished(2, b"given y\n", f"{tmp_path}\n".encode())
    with pytest.raises(TimeoutError, match=r"it took longer than 0\.1 seconds"):
        programs.run(["sleep", "60"], 0.1)
    with pytest.raises(FileNotFoundError):
        programs.run(["no-such-program"])
