"""What a commit is said to be worth, at the fake GitHub: check runs by an App, commit statuses by anybody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.retry.filing import Says
from agent_fox.testing.github import Break, Fault, Grant, Say, faults
from agent_fox.trackers.github.work.checks import AS_STATUSES, CHECKS, MOST_ANNOTATIONS, Check, Remark
from agent_fox.trackers.protocol import Done, Effect, EffectKind, Held
from tests.trackers.github.scene import Scene, scene

SHA = "c" * 40
GATE = Check(
    name="agent-fox / 04_gate",
    conclusion="failure",
    title="1 of 2 proven, 04-REQ-1.1 fails",
    summary="**04-REQ-1.1** fails\n",
    remarks=(Remark(path="src/gate.py", line=7, text="assert 1 == 2"),),
)
BELL = Check(name="agent-fox / 05_bell", conclusion="success", title="2 of 2 proven", summary="Proven.\n")
OPEN = Check(name="agent-fox / 06_late", conclusion="action_required", title="not read yet", summary="-", is_open=True)


def effect(*said: Check, id: str = "c1") -> Effect:
    return Effect(
        id=id,
        kind=EffectKind.COMMENT,
        fingerprint="checks",
        title="checks",
        body=CHECKS.dump_json(said).decode(),
        says=Says.PROGRESS,
        target=f"checks:{SHA}",
    )


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Scene]:
    """With a token of a person's own, which may write statuses only."""
    with scene(tmp_path) as made:
        made.fake.person().pushes("agent-fox/integration", SHA)
        yield made


@pytest.fixture
def app(person: Scene) -> Scene:
    """With the token of an App."""
    installed = person.fake.add_app()
    person.fake.token.account, person.fake.token.installation = installed.account, installed.installation
    return person


def runs(at: Scene) -> list[tuple[str, str, str | None]]:
    return [(run.name, run.status, run.conclusion) for run in at.fake.repository.check_runs]


def statuses(at: Scene) -> list[tuple[str, str, str]]:
    return [(status.context, status.state, status.description) for status in at.fake.repository.statuses]


def test_a_check_run_for_each_spec_with_annotations_is_written_once(app: Scene) -> None:
    for id in ("c1", "c2"):
        done = app.settled(effect(GATE, BELL, OPEN, id=id))
        assert done == Done("", f"https://github.com/octo/project/commit/{SHA}")
    assert runs(app) == [
        ("agent-fox / 04_gate", "completed", "failure"),
        ("agent-fox / 05_bell", "completed", "success"),
        ("agent-fox / 06_late", "queued", None),
    ]
    [remark] = app.fake.repository.check_runs[0].annotations
    assert (remark.path, remark.line, remark.level, remark.message) == ("src/gate.py", 7, "failure", "assert 1 == 2")
    assert app.fake.repository.statuses == []


def test_what_is_said_anew_of_the_same_commit_is_a_newer_check_run(app: Scene) -> None:
    mended = GATE.model_copy(update={"conclusion": "success", "title": "2 of 2 proven", "remarks": ()})
    for number, said in enumerate((GATE, mended, GATE)):
        app.settled(effect(said, id=f"c{number}"))
    assert [conclusion for _, _, conclusion in runs(app)] == ["failure", "success", "failure"]


def test_where_check_runs_are_refused_statuses_are_written_and_that_is_said(person: Scene) -> None:
    for id in ("c1", "c2"):
        done = person.settled(effect(GATE, BELL, OPEN, id=id))
        assert isinstance(done, Done)
        assert done.note == AS_STATUSES
    assert runs(person) == []
    assert statuses(person) == [
        ("agent-fox / 04_gate", "failure", "1 of 2 proven, 04-REQ-1.1 fails"),
        ("agent-fox / 05_bell", "success", "2 of 2 proven"),
        ("agent-fox / 06_late", "pending", "not read yet"),
    ]


def test_where_neither_may_be_written_it_is_held_once_and_holds_up_nothing_else(person: Scene) -> None:
    person.fake.token.statuses = Grant.NONE
    held = person.settled(effect(GATE, BELL))
    assert isinstance(held, Held)
    assert "`[github] checks = false`" in held.remedy
    assert not held.is_general
    assert [write.status for write in person.fake.writes] == [403, 403]


@pytest.mark.parametrize("who", ["app", "person"])
def test_a_renamed_repository_gets_its_checks(who: str, request: pytest.FixtureRequest) -> None:
    at: Scene = request.getfixturevalue(who)
    at.fake.rename("octo/renamed")
    assert isinstance(at.settled(effect(GATE)), Done)
    assert len(runs(at) or statuses(at)) == 1


def test_an_app_without_the_permission_falls_back_too(app: Scene) -> None:
    app.fake.token.checks = Grant.READ
    app.settled(effect(GATE))
    assert [state for _, state, _ in statuses(app)] == ["failure"]


@pytest.mark.parametrize("who", ["app", "person"])
def test_a_commit_that_github_does_not_have_is_held_with_the_remedy(who: str, request: pytest.FixtureRequest) -> None:
    at: Scene = request.getfixturevalue(who)
    at.fake.repository.commits.clear()
    held = at.settled(effect(GATE))
    assert isinstance(held, Held)
    assert "push the integration branch" in held.remedy


def test_what_is_too_much_is_cut_and_foreign_text_acts_on_nobody(app: Scene) -> None:
    hostile = "@alex closes #1 \x1b[31m" + "x" * 1_000
    remarks = tuple(Remark(path="a.py", line=line, text=hostile) for line in range(1, 100))
    long = GATE.model_copy(update={"title": hostile, "summary": "y" * 90_000, "remarks": remarks})
    app.settled(effect(long))
    [run] = app.fake.repository.check_runs
    assert len(run.annotations) == MOST_ANNOTATIONS
    assert len(run.summary) <= 65_535
    assert "more characters" in run.summary
    assert all("@alex" not in text and "\x1b" not in text for text in (run.title, run.annotations[0].message))


FAULTS = [faults.dropped(), faults.timed_out(), faults.gateway(), faults.cut(), faults.limited("1"), faults.refused()]


@pytest.mark.parametrize("who", ["app", "person"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault)[:40])
def test_whatever_becomes_of_an_answer_each_is_written_once(
    who: str, fault: Break | Say, request: pytest.FixtureRequest
) -> None:
    at: Scene = request.getfixturevalue(who)
    at.fake.faults[:] = [Fault(lambda asked: asked.method == "POST", fault)]
    at.settled(effect(GATE, BELL))
    assert len(runs(at) or statuses(at)) == 2
    assert at.fake.violations == ()


@pytest.mark.parametrize("who", ["app", "person"])
@pytest.mark.parametrize("at_write", [0, 1, 2])
@pytest.mark.parametrize("is_answered", [False, True])
def test_a_process_that_ends_at_a_write_leaves_each_once(
    who: str, at_write: int, is_answered: bool, request: pytest.FixtureRequest
) -> None:
    at: Scene = request.getfixturevalue(who)
    at.crashing(effect(GATE, BELL, OPEN), at_write, is_answered)
    at.restart()
    at.settled(effect(GATE, BELL, OPEN))
    assert len(runs(at) or statuses(at)) == 3


def test_an_effect_holds_its_checks_as_json() -> None:
    [said] = json.loads(effect(GATE).body)
    assert said["name"] == GATE.name
    assert CHECKS.validate_json(replace(effect(GATE, BELL)).body) == (GATE, BELL)
