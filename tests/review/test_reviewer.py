"""The reviewer as a program: found once, told the prompt on its standard input, bounded, and gone when it is over."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from agent_fox.review.reviewer import Printed, Reviewer, ReviewerTrouble, Silent, ask, resolved, safe_path
from agent_fox.testing.worlds import wait_until
from tests.review.worlds import program, reviewer, saying


def asked(reviewing: Reviewer, tmp_path: Path, prompt: str = "the prompt") -> Printed | Silent:
    return ask(reviewing, prompt, tmp_path / "home", threading.Event())


def found(argv: list[str], path: Path | str, workspace: Path, **variables: str) -> Reviewer:
    return resolved(argv, {"PATH": str(path), **variables}, [workspace], seconds=5.0, inherit=["A_KEY"])


def test_it_reads_the_prompt_and_only_its_standard_output_counts(tmp_path: Path) -> None:
    file = program(tmp_path / "bin", "print(prompt[::-1], end=''); print('noise', file=sys.stderr)")
    assert asked(reviewer(file), tmp_path, "abc") == Printed("cba")


def test_a_long_prompt_reaches_it_whole(tmp_path: Path) -> None:
    file = program(tmp_path / "bin", "print(len(prompt), prompt[-3:], end='')")
    assert asked(reviewer(file), tmp_path, "abc" * 500_000) == Printed("1500000 abc")


def test_it_works_in_an_empty_folder_of_its_own_that_is_gone_afterwards(tmp_path: Path) -> None:
    body = "import json; print(json.dumps([os.getcwd(), os.listdir(), sorted(os.environ)]))"
    said = asked(reviewer(program(tmp_path / "bin", body)), tmp_path)
    assert isinstance(said, Printed)
    folder, listed, names = json.loads(said.text)
    assert listed == []
    assert Path(folder).is_relative_to(tmp_path / "home")
    assert not Path(folder).exists()
    assert list((tmp_path / "home").iterdir()) == []
    assert set(names) <= {"PATH", "LC_CTYPE"}


def test_the_prompt_does_not_stay_on_the_disk_while_it_reads(tmp_path: Path) -> None:
    body = "import pathlib; print([p.name for p in pathlib.Path.cwd().parent.rglob('*') if 'prompt' in p.name])"
    assert asked(reviewer(program(tmp_path / "bin", body)), tmp_path) == Printed("[]\n")


def test_one_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    note = tmp_path / "child"
    body = (
        "import subprocess, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(300)"
    )
    said = asked(reviewer(program(tmp_path / "bin", body), seconds=1.5), tmp_path)
    assert isinstance(said, Silent)
    assert "did not answer within" in said.why
    assert "timeout" in said.remedy
    assert not Path(f"/proc/{note.read_text()}").exists()


def test_a_cancelled_review_ends_the_reviewer(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    body = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    file, stop, said = program(tmp_path / "bin", body), threading.Event(), []
    waiting = threading.Thread(target=lambda: said.append(ask(reviewer(file), "p", tmp_path / "home", stop)))
    waiting.start()
    wait_until(lambda: note.exists() and bool(note.read_text()), "the reviewer ran")
    stop.set()
    waiting.join()
    assert said == [Silent("the review was cancelled", "call todoCompleteAndVerify again")]
    assert not Path(f"/proc/{note.read_text()}").exists()


def test_one_that_fails_says_why_without_secrets(tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-abcdefghijklmnopqrstuvwxyz0123456789"
    said = asked(reviewer(program(tmp_path / "bin", f"sys.exit('not logged in, key {key}')")), tmp_path)
    assert isinstance(said, Silent)
    assert "exit status 1: not logged in" in said.why
    assert key not in said.why


def test_one_that_prints_without_end_is_no_answer(tmp_path: Path) -> None:
    said = asked(reviewer(program(tmp_path / "bin", "print('x' * 3_000_000)")), tmp_path)
    assert isinstance(said, Silent)
    assert "printed more than" in said.why


def test_one_that_is_killed_is_no_answer(tmp_path: Path) -> None:
    said = asked(reviewer(program(tmp_path / "bin", "os.kill(os.getpid(), 9)")), tmp_path)
    assert isinstance(said, Silent)
    assert "signal 9" in said.why


def test_a_program_that_took_its_place_is_not_run(tmp_path: Path) -> None:
    file = saying(tmp_path / "bin", "{}")
    reviewing = reviewer(file)
    file.unlink()
    saying(tmp_path / "bin", '{"status": "OK"}  ')
    said = asked(reviewing, tmp_path)
    assert isinstance(said, Silent)
    assert "not the program any more" in said.why


def test_a_program_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    file = tmp_path / "bin" / "reviewer"
    file.parent.mkdir()
    file.write_text("#!/nonexistent/interpreter\n")
    file.chmod(0o755)
    said = asked(reviewer(file), tmp_path)
    assert isinstance(said, Silent)
    assert "cannot be started" in said.why


def test_it_is_found_once_on_path_outside_of_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    evil, good = saying(workspace / "bin", "evil", "judge"), saying(tmp_path / "bin", "good", "judge")
    path = os.pathsep.join(("", ".", str(evil.parent), str(good.parent)))
    assert found(["judge", "--print"], path, workspace).argv == (str(good), "--print")
    with pytest.raises(ReviewerTrouble, match="not found on PATH outside"):
        found(["judge"], evil.parent, workspace)


def test_a_link_into_the_workspace_is_refused_unless_it_is_named_absolutely(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    evil = saying(workspace / "bin", "evil", "judge")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "judge").symlink_to(evil)
    with pytest.raises(ReviewerTrouble, match="lies in the workspace"):
        found(["judge"], tmp_path / "bin", workspace)
    assert found([str(evil)], "/usr/bin", workspace).argv == (str(evil),)


@pytest.mark.parametrize("name", ["", "./judge", "bin/judge", "../judge", "no-such-program-anywhere", "/no/such/file"])
def test_a_relative_name_and_one_that_is_not_there_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReviewerTrouble):
        found([name] if name else [], tmp_path, tmp_path / "project")


def test_its_environment_is_small_and_its_path_has_nothing_of_the_workspace(tmp_path: Path) -> None:
    workspace, file = tmp_path / "project", saying(tmp_path / "bin", "x", "judge")
    (workspace / "bin").mkdir(parents=True)
    path = os.pathsep.join((str(workspace / "bin"), str(file.parent)))
    got = found(["judge"], path, workspace, HOME="/h", A_KEY="k", OTHER_KEY="o", CLAUDECODE="1", XDG_CONFIG_HOME="/c")
    assert got.environment == {"PATH": str(file.parent), "HOME": "/h", "A_KEY": "k", "XDG_CONFIG_HOME": "/c"}
    assert safe_path("/a::b:/c", []) == "/a:/c"
