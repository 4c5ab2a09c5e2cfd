"""Where failing tests began to fail, by running them at the states of scripted sessions."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from math import ceil, log2
from pathlib import Path

import pytest

from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import Finding, State
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.verifier.judging.checks import answer
from tests.session.world import sh
from tests.verifier.proof.scripted_sessions import BODIES, Session, begun, code, played, read, requirement, trail_of

SESSIONS = 100


def test_the_onset_of_one_planted_edit_is_exact_and_cheap_in_a_hundred_sessions(tmp_path: Path) -> None:
    exact, wrong = 0, []
    for seed in range(SESSIONS):
        session, trace = played(tmp_path / str(seed), seed)
        (finding,) = read(session, trace, tmp_path / str(seed)).onsets
        assert (finding.requirement, finding.onset) == (requirement(session.name), Onset.FOUND), finding
        assert finding.runs - finding.beside <= ceil(log2(finding.states - 1)) + 2, finding
        if finding.step == session.planted:
            exact += 1
        else:
            wrong.append((seed, finding.step, session.planted, finding.skipped))
    assert exact >= 90, wrong


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session that has written every function as it should be, in five steps."""
    session = begun(tmp_path, 1)
    for name in BODIES:
        session.write(f"shop/{name}.py", code(name))
    return session


def findings(session: Session, folder: Path, **settings: object) -> tuple[Finding, ...]:
    return read(session, session.end(), folder, **settings).onsets


def test_nothing_is_searched_where_all_passes(session: Session, tmp_path: Path) -> None:
    assert findings(session, tmp_path) == ()


def test_the_same_search_again_runs_nothing(session: Session, tmp_path: Path) -> None:
    session.write("shop/flip.py", code("flip", is_right=False))
    session.write("notes.txt", "later\n")
    trace = session.end()
    (first,), (again,) = (read(session, trace, tmp_path).onsets for _ in range(2))
    assert (first.step, first.states, first.runs, first.reused) == (6, 8, 4, 0)
    assert again == replace(first, runs=0, reused=4)


def test_a_test_that_failed_from_the_start_in_the_same_way_has_its_onset_at_the_last_step(tmp_path: Path) -> None:
    session = begun(tmp_path, 1)
    for name in list(BODIES)[:-1]:
        session.write(f"shop/{name}.py", code(name))
    (finding,) = findings(session, tmp_path)
    assert (finding.requirement, finding.onset, finding.step, finding.runs) == ("01-REQ-5.1", Onset.FROM_START, 4, 1)


def test_a_flaky_test_has_none_and_it_is_said(session: Session, tmp_path: Path) -> None:
    session.write("shop/flip.py", FLAKY)
    (finding,) = findings(session, tmp_path)
    assert (finding.onset, finding.why) == (Onset.NONE, "it is flaky: it passed again on the same files")


FLAKY = """import os


def flip(a, b):
    return a if "0-first" in os.environ["TMPDIR"] else -a
"""
"""Wrong in the first run of a reading, which has a folder of its own, and right in all others."""


def test_a_file_that_cannot_be_loaded_any_more_has_the_step_that_broke_it(session: Session, tmp_path: Path) -> None:
    session.write("shop/__init__.py", "def half(:\n")
    session.write("notes.txt", "later\n")
    broken = findings(session, tmp_path)
    assert {(each.onset, each.step, each.test) for each in broken} == {(Onset.FOUND, 6, "test_shop.py")}
    assert len(broken) == len(BODIES)
    assert sum(each.runs for each in broken[1:]) == sum(each.runs for each in broken[:1]) * (len(BODIES) - 1)


def test_work_of_others_that_breaks_it_is_in_none_of_these_steps(session: Session, tmp_path: Path) -> None:
    trace = session.end()
    (session.workspace / "shop/flip.py").write_text(code("flip", is_right=False))
    sh(session.workspace, "git", "add", "-A")
    sh(session.workspace, "git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "others")
    commit = sh(session.workspace, "git", "rev-parse", "HEAD")
    sh(session.order.repo, "git", "fetch", "-q", str(session.workspace), commit)
    (finding,) = read(session, trace, tmp_path, commit=commit).onsets
    assert (finding.onset, finding.step, finding.runs) == (Onset.ELSEWHERE, None, 1)
    assert "other work that landed beside them" in finding.why


def test_more_tests_than_may_be_searched_are_told_so(session: Session, tmp_path: Path) -> None:
    for name in BODIES:
        session.write(f"shop/{name}.py", code(name, is_right=False))
    found = findings(session, tmp_path)
    assert [each.onset for each in found] == [Onset.FOUND] * 3 + [Onset.NONE] * 2
    assert found[-1].why == "3 other tests of this reading were searched"


def test_states_that_are_gone_are_said(session: Session, tmp_path: Path) -> None:
    session.write("shop/flip.py", code("flip", is_right=False))
    trail = (*(replace(state, tree="d" * 40) for state in trail_of(session.end())[:-1]), State(1, 6, ""))
    last = replace(trail[-1], tree=trail_of(session.end())[-1].tree)
    (finding,) = findings(session, tmp_path, trail=(*trail[:-1], last))
    assert (finding.onset, finding.why) == (Onset.NONE, "the files of the steps are not there any more")


def test_nothing_is_written_through_a_link_that_leads_elsewhere(session: Session, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    session.write("data/kept.txt", "of a step\n")
    shutil.rmtree(session.workspace / "data")
    (session.workspace / "data").symlink_to(tmp_path / "elsewhere")
    session.write("shop/flip.py", code("flip", is_right=False))
    (finding,) = findings(session, tmp_path)
    assert (finding.onset, finding.step) == (Onset.FOUND, 7)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_a_later_session_began_with_is_no_step_of_it(session: Session, tmp_path: Path) -> None:
    session.write("shop/flip.py", code("flip", is_right=False))
    trail = trail_of(session.end())
    two = tuple(State(2, state.step - 6, state.tree) if state.step >= 6 else state for state in trail)
    (finding,) = read(session, session.end(), tmp_path, trail=two).onsets
    assert (finding.onset, finding.session, finding.step) == (Onset.ELSEWHERE, None, None)


def test_the_answer_has_them_beside_the_verdicts_and_only_where_there_are_some(
    session: Session, tmp_path: Path
) -> None:
    session.write("shop/flip.py", code("flip", is_right=False))
    trace = session.end()
    document = json.loads(json.dumps(answer(read(session, trace, tmp_path))))
    assert [(row["requirement"], row["onset"], row["step"]) for row in document["onsets"]] == [
        ("01-REQ-5.1", "found", 6)
    ]
    assert "onsets" not in answer(read(session, trace, tmp_path, trail=()))


@pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")
def test_the_search_runs_in_the_sandbox_where_the_reading_does(session: Session, tmp_path: Path) -> None:
    session.write("shop/flip.py", code("flip", is_right=False))
    session.write("notes.txt", "later\n")
    (finding,) = findings(session, tmp_path, sandbox=SandboxMode.REQUIRE)
    assert (finding.onset, finding.step) == (Onset.FOUND, 6)
