"""Whole sessions with real processes and real git: how each of them ends, and what is left."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_fox.core.ids import Archetype, Mode
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, LaunchOrder, Paths, Provisions, SessionEnd, StopSignal, brief_beside
from agent_fox.session.session_lifecycle import clean_up, harvest, run_session
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git
from agent_fox.system.processes import is_running, read_end, start_time
from agent_fox.testing.worlds import wait_until
from tests.session.world import LAUNCH, agent, make_order, never_told, python, sh, shell


def run(order: LaunchOrder) -> SessionEnd:
    return run_session(order, never_told, StopSignal())


def test_a_coders_work_becomes_one_commit_on_the_pinned_one_and_moves_no_branch(repo: Path) -> None:
    order = make_order(repo, agent=shell("echo \"print('two')\" > src/app.py; echo new > src/new.py"))
    end = run(order)
    assert end.kind is EndKind.ENDED, end.reason
    assert end.work is not None
    assert not end.work.is_unchanged
    assert sh(repo, "git", "rev-list", "--parents", "-1", end.work.commit).split() == [
        end.work.commit,
        order.pinned,
    ]
    assert git.show(repo, end.work.commit, "src/app.py") == b"print('two')\n"
    assert git.show(repo, end.work.commit, "src/new.py") == b"new\n"
    assert git.tree_of(repo, end.work.commit) == end.work.tree
    assert sh(repo, "git", "show", "-s", "--format=%s|%an", end.work.commit) == "build the app|Ada"
    assert git.commit_of(repo, launch_ref(order.launch)) == end.work.commit
    assert git.commit_of(repo, "main") == order.pinned


def test_a_session_that_changes_nothing_is_unchanged_and_not_failed(repo: Path) -> None:
    order = make_order(repo, agent=shell("true"))
    end = run(order)
    assert (end.kind, end.exit_status) == (EndKind.ENDED, 0)
    assert end.work is not None
    assert (end.work.commit, end.work.is_unchanged) == (order.pinned, True)


def test_the_agent_sees_its_variables_its_brief_and_nothing_of_ours(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PERSON", "1")
    monkeypatch.setenv("WANTED", "2")
    code = "import json, os; json.dump(dict(os.environ), open(os.environ['AGENT_FOX_RESULT'] + '.seen', 'w'))"
    asked = python(code, inherit=("WANTED", "ABSENT"), environment={"MORE": "3", "LANG": "C"})
    order = make_order(repo, agent=asked, archetype=Archetype.REVIEWER, mode=Mode.PRE_REVIEW, attempt=2, reading=3)
    assert run(order).kind is EndKind.ENDED
    paths = Paths(order.state)
    seen = json.loads(Path(f"{paths.result}.seen").read_text())
    seen.pop("LC_CTYPE", None)
    assert seen == {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "LANG": "C",
        "TMPDIR": str(paths.temporary),
        "WANTED": "2",
        "MORE": "3",
        "AGENT_FOX_RUN": "run-1",
        "AGENT_FOX_LAUNCH": LAUNCH,
        "AGENT_FOX_NODE": "01_app:1",
        "AGENT_FOX_SPEC": "01_app",
        "AGENT_FOX_ATTEMPT": "2",
        "AGENT_FOX_READING": "3",
        "AGENT_FOX_ARCHETYPE": "reviewer",
        "AGENT_FOX_ROLE": "reviewer",
        "AGENT_FOX_MODE": "pre-review",
        "AGENT_FOX_BRIEF": str(paths.brief),
        "AGENT_FOX_BRIEF_JSON": str(paths.brief_json),
        "AGENT_FOX_RESULT": str(paths.result),
    }
    assert paths.brief.read_text() == order.brief_markdown
    assert json.loads(paths.brief_json.read_text()) == order.brief_json


def test_cost_tokens_and_summary_are_what_the_agent_left(repo: Path) -> None:
    result = {
        "cost_usd": 0.25,
        "input_tokens": 10,
        "output_tokens": 5,
        "summary": "did it, password=hunter2hunter2",
    }
    end = run(
        make_order(
            repo,
            agent=python(f"import os; open(os.environ['AGENT_FOX_RESULT'], 'w').write('{json.dumps(result)}')"),
        )
    )
    assert (end.cost_usd, end.input_tokens, end.output_tokens, end.notes) == (0.25, 10, 5, ())
    assert end.summary == "did it, password=[redacted]"


def test_a_failed_session_says_how_and_leaves_no_work(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("echo half > src/half.py; echo 'cannot go on' >&2; exit 7")))
    assert (end.kind, end.exit_status, end.reason, end.work) == (
        EndKind.FAILED,
        7,
        "exit 7: cannot go on",
        None,
    )


def test_a_session_killed_by_a_signal_failed(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("kill -9 $$")))
    assert (end.kind, end.exit_status, end.reason) == (EndKind.FAILED, None, "killed by signal 9")


def test_a_session_over_its_time_is_timed_out(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("sleep 60", timeout=0.5)))
    assert (end.kind, end.reason) == (EndKind.TIMED_OUT, "did not end within 0.5 s")


def test_a_failure_with_a_known_signature_is_infrastructure(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("echo 'API Error: 429 Slow down' >&2; exit 1")))
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.RATE_LIMIT)


@pytest.mark.parametrize("argv", [("no-such-agent-anywhere",), ("sh", "-c", "no-such-agent-anywhere")])
def test_a_binary_that_is_gone_is_infrastructure(repo: Path, argv: tuple[str, ...]) -> None:
    end = run(make_order(repo, agent=agent(*argv)))
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.MISSING_BINARY)
    assert "no-such-agent-anywhere" in end.reason


def test_a_verifiers_report_is_what_it_printed(repo: Path) -> None:
    end = run(make_order(repo, archetype=Archetype.VERIFIER, agent=shell("echo '{\"verdicts\": []}'; echo noise >&2")))
    assert (end.kind, end.output, end.work) == (EndKind.ENDED, '{"verdicts": []}\n', None)


def test_invalid_utf_8_is_read_with_marks_in_its_place(repo: Path) -> None:
    asked = python("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')")
    assert run(make_order(repo, archetype=Archetype.VERIFIER, agent=asked)).output == "a\ufffd\ufffdb"


def test_a_verifier_that_prints_a_hundred_megabytes_is_too_loud(repo: Path) -> None:
    asked = python("import sys\nfor _ in range(100): sys.stdout.write('x' * 1000000)")
    order = make_order(repo, archetype=Archetype.VERIFIER, agent=asked)
    end = run(order)
    assert (end.kind, end.work) == (EndKind.TOO_LOUD, None)
    assert order.log.stat().st_size < 10_000_000


@pytest.mark.parametrize("harm", ["echo x >> README.md", "rm README.md", "chmod +x README.md", "rm -rf ../workspace"])
def test_a_verifier_that_changes_tracked_files_is_void(repo: Path, harm: str) -> None:
    order = make_order(repo, archetype=Archetype.VERIFIER, agent=shell(f"chmod -R u+w .; {harm}; echo ok"))
    end = run(order)
    assert end.kind is EndKind.SOURCE_CHANGED, end.reason
    assert "README.md" in end.reason or "rm -rf" in harm


def test_a_verifier_may_leave_what_building_leaves(repo: Path) -> None:
    order = make_order(
        repo,
        archetype=Archetype.VERIFIER,
        agent=shell("mkdir -p ignored build; echo x > build/new; touch src/app.py"),
    )
    assert run(order).kind is EndKind.ENDED


def test_a_verifiers_source_is_read_only(repo: Path) -> None:
    order = make_order(repo, archetype=Archetype.VERIFIER, agent=shell("stat -c %a README.md src/app.py"))
    assert run(order).output == "444\n444\n"


def test_a_verifier_cannot_hide_a_change_behind_its_own_git(repo: Path) -> None:
    hide = "git update-index --assume-unchanged README.md; git commit -qam hidden || true"
    change = "chmod u+w README.md; echo x > README.md"
    end = run(make_order(repo, archetype=Archetype.VERIFIER, agent=shell(f"{change}; {hide}")))
    assert (end.kind, end.reason) == (EndKind.SOURCE_CHANGED, "changed tracked files: README.md")


def test_the_log_holds_both_streams_redacted(repo: Path) -> None:
    asked = shell(
        "echo told $API_TOKEN; echo ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2",
        environment={"API_TOKEN": "opensesame"},
    )
    order = make_order(repo, archetype=Archetype.VERIFIER, agent=asked)
    end = run(order)
    assert order.log.read_text() == "--- stdout, 16 bytes\ntold [redacted]\n--- stderr, 33 bytes\n[redacted]\n"
    assert end.output == "told [redacted]\n"
    assert list(order.log.parent.iterdir()) == [order.log]


def test_the_brief_is_kept_beside_the_log_redacted(repo: Path) -> None:
    order = make_order(
        repo, agent=shell("true", environment={"API_TOKEN": "opensesame"}), brief_markdown="Do it.\nopensesame\n",
        keeps_brief=True,
    )  # fmt: skip
    run(order)
    assert brief_beside(order.log).read_text() == "Do it.\n[redacted]\n"


def test_who_was_started_is_told_before_anything_runs(repo: Path) -> None:
    told: list[tuple[int, str]] = []
    order = make_order(repo, agent=shell("true"))

    def remember(pid: int, start: str) -> None:
        assert is_running(pid, start)
        assert not Paths(order.state).result.exists()
        told.append((pid, start))

    run_session(order, remember, StopSignal())
    assert len(told) == 1


def test_a_launch_that_cannot_be_recorded_does_not_run(repo: Path) -> None:
    class Full(Exception):
        pass

    def refuse(pid: int, start: str) -> None:
        raise Full

    order = make_order(repo, agent=shell("touch $AGENT_FOX_RESULT"))
    with pytest.raises(Full):
        run_session(order, refuse, StopSignal())
    assert not Paths(order.state).result.exists()


def test_a_session_that_is_told_to_stop_is_interrupted(repo: Path) -> None:
    stop = StopSignal()
    order = make_order(repo, agent=shell("touch $AGENT_FOX_RESULT; sleep 60"))
    ends: list[SessionEnd] = []
    worker = threading.Thread(target=lambda: ends.append(run_session(order, never_told, stop)))
    worker.start()
    _until_there(Paths(order.state).result)
    stop.set()
    worker.join(20)
    assert [end.kind for end in ends] == [EndKind.INTERRUPTED]
    assert harvest(order) is None


def test_a_stop_during_setup_interrupts_and_a_stop_before_starts_nothing(repo: Path) -> None:
    stop = StopSignal()
    order = make_order(
        repo, agent=shell("true"), workspace=Provisions(setup=("sh -c 'touch ../setting-up; sleep 60'",))
    )
    ends: list[SessionEnd] = []
    worker = threading.Thread(target=lambda: ends.append(run_session(order, never_told, stop)))
    worker.start()
    _until_there(order.state / "setting-up")
    stop.set()
    worker.join(20)
    later = make_order(repo, launch="later")
    ends.append(run_session(later, never_told, stop))
    assert [end.kind for end in ends] == [EndKind.INTERRUPTED, EndKind.INTERRUPTED]
    assert not later.state.exists()


def test_an_unknown_pinned_commit_is_infrastructure_and_no_exception(repo: Path) -> None:
    end = run(make_order(repo, pinned="0" * 39 + "1", agent=shell("true")))
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.WORKSPACE)


def test_a_disk_that_is_full_is_infrastructure(repo: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    order = make_order(repo, agent=shell("true"))
    order.log.parent.mkdir(parents=True)
    order.log.with_name(f"{order.log.name}.{order.launch}.part").symlink_to(full)
    end = run(order)
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.DISK_FULL)


def test_a_shim_killed_by_its_session_is_lost_and_nothing_of_it_goes_on(repo: Path) -> None:
    order = make_order(repo, agent=shell("sleep 60 & echo $! > ../below; kill -9 $PPID; sleep 60"))
    end = run(order)
    assert (end.kind, end.infrastructure) == (EndKind.INFRASTRUCTURE, Infrastructure.LOST)
    below = int((order.state / "below").read_text())
    wait_until(lambda: start_time(below) is None, "what the session had started was gone")


def test_a_session_that_tampers_with_our_notes_gets_no_work_taken(repo: Path) -> None:
    end = run(make_order(repo, agent=shell("echo {} > ../preparation.json; echo x > README.md")))
    assert (end.kind, end.infrastructure, end.work) == (
        EndKind.INFRASTRUCTURE,
        Infrastructure.WORKSPACE,
        None,
    )


def test_a_half_made_workspace_is_made_again(repo: Path) -> None:
    order = make_order(repo, agent=shell("test ! -e leftover; cat README.md"), archetype=Archetype.REVIEWER)
    workspace = Paths(order.state).workspace
    (workspace / ".git").mkdir(parents=True)
    (workspace / "leftover").write_text("")
    assert run(order).output == "hello\n"


def test_cleaning_up_leaves_nothing_and_can_be_repeated(repo: Path) -> None:
    order = make_order(repo, agent=shell("mkdir shut; touch shut/in; chmod 500 shut; echo x > src/app.py"))
    run(order)
    clean_up(order)
    clean_up(order)
    assert not order.state.exists()
    assert git.commit_of(repo, launch_ref(order.launch)) is None


DIES_BEFORE_THE_FOLDER_GOES = """
import os, pickle, sys
from agent_fox.session.session_lifecycle import clean_up
sys.addaudithook(lambda event, given: os._exit(9) if event == "shutil.rmtree" else None)
clean_up(pickle.load(open(sys.argv[1], "rb")))
"""


def test_killed_while_it_cleans_up_it_leaves_the_folder_by_which_it_is_found_and_no_reference(
    repo: Path, tmp_path: Path
) -> None:
    order = make_order(repo, agent=shell("echo x > src/app.py"))
    run(order)
    (tmp_path / "order").write_bytes(pickle.dumps(order))
    done = subprocess.run([sys.executable, "-c", DIES_BEFORE_THE_FOLDER_GOES, tmp_path / "order"], check=False)
    assert (done.returncode, order.state.exists()) == (9, True)
    assert git.commit_of(repo, launch_ref(order.launch)) is None
    clean_up(order)
    assert not order.state.exists()


def test_the_persons_checkout_index_and_branches_stay_as_they_are(repo: Path) -> None:
    (repo / "README.md").write_text("being edited\n")
    (repo / "untracked.txt").write_text("mine\n")
    (repo / "src/staged.py").write_text("staged\n")
    sh(repo, "git", "add", "src/staged.py")
    index = (repo / ".git/index").read_bytes()
    status, branches = sh(repo, "git", "status", "--porcelain"), sh(repo, "git", "branch", "-a", "-v")
    (repo / ".git/index").write_bytes(index)
    order = make_order(repo, agent=shell("echo x > README.md; test ! -e untracked.txt; test ! -e src/staged.py"))
    end = run(order)
    assert end.kind is EndKind.ENDED, end.reason
    clean_up(order)
    assert (repo / ".git/index").read_bytes() == index
    assert (repo / "README.md").read_text() == "being edited\n"
    assert sh(repo, "git", "status", "--porcelain") == status
    assert sh(repo, "git", "branch", "-a", "-v") == branches


ORCHESTRATOR = """
import pickle, sys
from agent_fox.session.order import StopSignal
from agent_fox.session.session_lifecycle import run_session
run_session(pickle.load(open(sys.argv[1], "rb")), lambda pid, start: None, StopSignal())
"""


def _orchestrate(order: LaunchOrder, folder: Path) -> subprocess.Popen[bytes]:
    """A process of its own that runs the session, so that it can be killed."""
    (folder / "order.pickle").write_bytes(pickle.dumps(order))
    root = Path(__file__).resolve().parents[2]
    return subprocess.Popen([sys.executable, "-c", ORCHESTRATOR, str(folder / "order.pickle")], cwd=root)


def test_a_session_of_a_killed_orchestrator_never_ended_and_can_be_launched_again(repo: Path, tmp_path: Path) -> None:
    order = make_order(repo, agent=shell("echo x >> README.md; echo $$ > ../own; sleep ${NAP:-60}"))
    parent = _orchestrate(order, tmp_path)
    _until_there(order.state / "own")
    parent.kill()
    parent.wait()
    own = int((order.state / "own").read_text())
    assert harvest(order) is None
    assert start_time(own) is None
    again = make_order(repo, agent=shell("echo x >> README.md"))
    end = run(again)
    assert end.work is not None
    assert git.show(repo, end.work.commit, "README.md") == b"hello\nx\n"


def test_a_session_that_ended_while_nobody_looked_is_harvested_twice_to_the_same_end(
    repo: Path, tmp_path: Path
) -> None:
    order = make_order(repo, agent=shell("echo x >> README.md; echo $$ > ../own; sleep 0.5"))
    parent = _orchestrate(order, tmp_path)
    _until_there(order.state / "own")
    parent.send_signal(signal.SIGSTOP)
    wait_until(lambda: read_end(Paths(order.state).session) is not None, "the end was written down")
    parent.kill()
    parent.wait()
    first, second = harvest(order), harvest(order)
    assert first is not None
    assert first.kind is EndKind.ENDED
    assert first.work is not None
    assert git.show(repo, first.work.commit, "README.md") == b"hello\nx\n"
    assert first == second


def test_a_launch_that_was_never_begun_has_no_end(repo: Path) -> None:
    assert harvest(make_order(repo)) is None


def _until_there(path: Path) -> None:
    wait_until(lambda: path.exists() and (path.name != "own" or path.read_text().strip() != ""), f"{path} was there")
