"""A coder's close-out in its session: commands on its tree, its change against the contract, and signed waivers."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ledger.close_out import Contract, FindingWaiver, Severity
from agent_fox.core.ledger.close_out_scope import Boundary
from agent_fox.session.order import Closing, EndKind, SessionEnd, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import make_order, make_repo, never_told, sh, shell, write

TEST = "from app import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FILES = {
    "app.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_app.py": TEST,
    "specs/01_app/tasks.md": "# Tasks\n\n- [ ] 1. Build it\n",
    ".gitignore": "*.log\n",
}
NOTHING = Contract(needs_feedback=False)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def session(repo: Path, script: str, closing: Closing, launch: str, **changes: str) -> SessionEnd:
    order = make_order(repo, agent=shell(script), closing=closing, launch=f"close-out-{launch}", **changes)
    return run_session(order, never_told, StopSignal())


def held_to(boundary: Boundary | None = None, *commands: str, off_scope: Severity = Severity.BLOCK) -> Closing:
    return Closing(
        replace(NOTHING, boundary=boundary or Boundary(), expected=commands, off_scope=off_scope), timeout=30
    )


def details(end: SessionEnd) -> list[tuple[str, str, str]]:
    assert end.closed is not None
    return [(one.check.value, one.severity.value, one.detail) for one in end.closed.verification.findings]


def test_work_without_any_contract_is_judged_and_passes(repo: Path) -> None:
    end = session(repo, "echo '# more' >> app.py", Closing(), "plain")
    assert (end.kind, details(end)) == (EndKind.ENDED, [])
    assert end.closed is not None
    assert end.work is not None
    assert (end.closed.given.task_id, end.closed.tree) == ("01_app:1@1", end.work.tree)


def test_a_forbidden_write_refuses_the_work_and_says_why(repo: Path) -> None:
    end = session(
        repo, "mkdir -p Deploy; echo x > Deploy/prod.yml", held_to(Boundary(forbidden=("deploy",))), "forbidden"
    )
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert end.reason == "refused by the close-out gate: forbidden_write: Wrote to forbidden path: Deploy/prod.yml"
    assert details(end) == [("forbidden_write", "block", "Wrote to forbidden path: Deploy/prod.yml")]


def test_a_write_outside_of_what_a_person_allowed_refuses_it_or_is_told(repo: Path) -> None:
    outside = held_to(Boundary(allowed=("tests",)))
    end = session(repo, "echo '# more' >> app.py", outside, "off")
    assert (end.kind, details(end)) == (
        EndKind.REFUSED, [("off_scope_write", "block", "Wrote outside allowed scope: app.py")],
    )  # fmt: skip
    told = session(repo, "echo '# more' >> app.py", held_to(Boundary(("tests",)), off_scope=Severity.WARN), "off-warn")
    assert (told.kind, [row[1] for row in details(told)]) == (EndKind.ENDED, ["warn"])
    assert any("Wrote outside allowed scope: app.py" in note for note in told.notes)


def test_what_the_design_forgot_is_a_warning_and_never_refuses_work(repo: Path) -> None:
    end = session(repo, "echo x > new.py; echo '# more' >> app.py", held_to(Boundary(named=("**/app.py",))), "named")
    assert end.kind is EndKind.ENDED
    assert details(end) == [
        ("touched_outside", "warn", "Touched a file that is not among the allowed files: new.py")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("removed", "rm app.py"),
        ("renamed", "git mv app.py tests/app2.py"),
        ("mode", "chmod +x app.py"),
        ("link", "rm app.py; ln -s tests/test_app.py app.py"),
        ("alias", "ln -s ../app.py tests/alias.py"),
        ("committed", "echo '# x' >> app.py; git -c user.name=a -c user.email=b@c commit -qam x"),
        ("hidden", "echo '# x' >> app.py; git update-index --assume-unchanged app.py"),
        ("folder", "rm app.py; mkdir app.py; echo x > app.py/x"),
    ],
)
def test_no_way_of_changing_a_forbidden_file_goes_unseen(repo: Path, name: str, script: str) -> None:
    end = session(repo, script, held_to(Boundary(forbidden=("app.py",))), f"trick-{name}")
    assert end.kind is EndKind.REFUSED
    assert any(row[0] == "forbidden_write" for row in details(end))


def test_a_ticked_box_in_its_spec_is_no_write_off_scope(repo: Path) -> None:
    tick = "sed -i 's/\\[ \\] 1/[x] 1/' specs/01_app/tasks.md; echo '# more' >> app.py"
    end = session(repo, tick, held_to(Boundary(allowed=("app.py",))), "tick")
    assert (end.kind, details(end)) == (EndKind.ENDED, [])


def test_acceptance_commands_run_on_the_coder_s_tree_and_do_not_land_what_they_write(repo: Path) -> None:
    check = f"{sys.executable} -c \"import app; open('made.txt', 'w').write('x'); assert app.total([1]) == 1\""
    end = session(repo, "echo '# more' >> app.py", held_to(None, check), "command")
    assert (end.kind, details(end)) == (EndKind.ENDED, [])
    assert end.work is not None
    assert "made.txt" not in sh(repo, "git", "ls-tree", "-r", "--name-only", end.work.commit)
    assert "--- close-out: " in end.log.read_text()


def test_a_command_that_fails_refuses_the_work_with_its_last_words(repo: Path) -> None:
    fails = "sh -c 'echo the build is red; exit 3'"
    end = session(repo, "echo '# more' >> app.py", held_to(None, fails), "fails")
    assert end.kind is EndKind.REFUSED
    assert details(end) == [
        ("nonzero_exit", "block", f"Command '{fails}' exited 3: the build is red")
    ]  # fmt: skip


def test_a_command_that_is_not_there_or_does_not_end_has_no_exit_code(repo: Path) -> None:
    gone = session(repo, "echo '# more' >> app.py", held_to(None, "no-such-program --now"), "gone")
    assert [row[0] for row in details(gone)] == ["null_exit_code"]
    hangs = replace(held_to(None, "sleep 60"), timeout=0.3)
    end = session(repo, "echo '# more' >> app.py", hangs, "hangs")
    assert (end.kind, [row[0] for row in details(end)]) == (EndKind.REFUSED, ["null_exit_code"])


def test_a_weakened_test_is_a_rule_that_blocks_and_reads_as_before(repo: Path) -> None:
    end = session(repo, "sed -i 's/== 3/is not None/' tests/test_app.py", Closing(), "weak")
    assert end.reason.startswith("refused by policy, tests or checks were weakened: tests/test_app.py:5: ")
    (row,) = details(end)
    assert row[:2] == ("rule_block", "block")
    assert "assertion-weakened: tests/test_app.py:5" in row[2]


def test_what_a_person_signed_for_lands(repo: Path) -> None:
    weaken = "sed -i 's/== 3/is not None/' tests/test_app.py"
    refused = session(repo, weaken, Closing(), "sign-1")
    assert refused.closed is not None
    (finding,) = refused.closed.verification.blocking
    waiver = FindingWaiver(finding.check, finding.detail_hash, "w1", "ada", "the figure is random")
    end = session(repo, weaken, Closing(waivers=(waiver,)), "sign-2")
    assert (end.kind, end.work is not None) == (EndKind.ENDED, True)
    assert "close-out: rule_block waived by ada: the figure is random" in end.notes
    other = session(repo, "rm tests/test_app.py", Closing(waivers=(waiver,)), "sign-3")
    assert other.kind is EndKind.REFUSED


def test_files_of_other_specs_are_a_rule_too(repo: Path) -> None:
    write(repo, {"lib/b.py": "x = 1\n"})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "work\n\nAgent-Fox-Node: 02_b:1")
    refused = session(repo, "echo 'y = 2' >> lib/b.py", Closing(), "foreign", other_specs="refuse")
    assert refused.reason == "refused by policy ([policy] other_specs): changes files of 02_b: lib/b.py"
    assert details(refused)[0][0] == "rule_block"
    noted = session(repo, "echo 'y = 2' >> lib/b.py", Closing(), "foreign-note")
    assert (noted.kind, details(noted)[0][0]) == (EndKind.ENDED, "rule_warn")


def test_a_secret_that_a_command_prints_is_kept_nowhere(repo: Path) -> None:
    secret = "a-secret-value-" + "0123456789abcdef"
    agent = shell("echo '# more' >> app.py", environment={"DEPLOY_TOKEN": secret})
    closing = held_to(None, f"sh -c 'echo {secret}; exit 1'")
    order = make_order(repo, agent=agent, closing=closing, launch="close-out-secret")
    end = run_session(order, never_told, StopSignal())
    assert end.kind is EndKind.REFUSED
    assert secret not in repr(end)
    assert secret not in end.log.read_text()
    assert [row[0] for row in details(end)] == ["nonzero_exit"]


def test_a_run_that_is_stopped_while_commands_run_gets_no_judgement(repo: Path) -> None:
    stop, closing = StopSignal(), replace(held_to(None, "sh -c 'touch began; sleep 60'"), timeout=60)
    order = make_order(repo, agent=shell("echo '# more' >> app.py"), closing=closing, launch="close-out-stopped")
    ends: list[SessionEnd] = []
    worker = threading.Thread(target=lambda: ends.append(run_session(order, never_told, stop)))
    worker.start()
    while worker.is_alive() and not (order.state / "workspace" / "began").exists():
        worker.join(0.02)
    stop.set()
    worker.join()
    assert (ends[0].kind, ends[0].closed) == (EndKind.INTERRUPTED, None)
