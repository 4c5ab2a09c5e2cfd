"""The facts of a brief, as the state has them: who is told what, and what is told no more."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.formal.specification import (
    Check,
    Checklist,
    ChosenTests,
    FunctionContract,
    PropertyTests,
    Specification,
    SpecKind,
    TheoremStatement,
    TraceFormula,
)
from agent_fox.core.ids import Archetype
from agent_fox.engine.launching.briefing import brief_facts
from agent_fox.engine.launching.required_checks import checked
from agent_fox.engine.record.docket import Docket
from agent_fox.session.briefs.text import BriefFacts, Conflict, Since, brief_json, brief_markdown
from agent_fox.store import sessions
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, answer, small_spec

SPEC = "01_gate"
A, B, C = "01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1"
SECRET = "ghp_" + "a1B2" * 9
CODER, OTHER, VERIFIER = f"{SPEC}:1", f"{SPEC}:2", f"{SPEC}:3"


SMALL = replace(
    small_spec(SPEC, {1: ("1.1", "1.2"), 2: ("2.1",)}),
    test_commands={"Spec tests": "pytest -q tests/gate"},
    documents={"design.md": "specs/01_gate/design.md"},
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.open(tmp_path, [SMALL])


def facts(
    desk: Desk, node_id: str, repo: Path | None = None, secrets: tuple[str, ...] = (),
    conflict: Conflict | None = None, adopted: tuple[Specification, ...] = (),
) -> BriefFacts:  # fmt: skip
    """What the awaited session of a node is told; its row is made as a launch would make it."""
    planned = desk.node(node_id)
    with transaction(desk.db):
        session = sessions.session_by_id(desk.db, desk.session(planned))
    file = desk.shelf.take(desk.db, SPEC)
    return brief_facts(desk.db, planned, session, file, repo=repo, secrets=secrets, conflict=conflict, adopted=adopted)


def landing(desk: Desk, node_id: str, base: str = "c0", landed: str = "c1") -> None:
    """Note in the awaited session's row what landing notes there."""
    with transaction(desk.db):
        row = sessions.session_by_id(desk.db, desk.session(desk.node(node_id)))
        if row.landed is None:
            ended = {"base_commit": base, "landed_commit": landed, "status": "completed"}
            sessions.set_session(desk.db, row.id, ended)


def round_of(desk: Desk, **words: str) -> None:
    """Every coder that is awaited lands something, and the verifier says these words of A, B and C."""
    for node_id in (CODER, OTHER):
        if not desk.node(node_id).standing.is_settled:
            landing(desk, node_id)
            desk.end(node_id)
    desk.report(VERIFIER, {A: words["a"], B: words["b"], C: words["c"]})


def test_a_first_attempt_is_told_its_tasks_and_commands_and_no_failure(desk: Desk) -> None:
    told = facts(desk, CODER)
    assert [part.id for part in told.requirements] == [A, B]
    assert told.commands == (("Spec tests", "pytest -q tests/gate"),)
    assert told.documents == ("specs/01_gate/design.md",)
    assert (told.failing, told.fixed, told.must_stay_green, told.tried, told.changed) == ((), (), (), (), ())


def test_a_retry_is_told_what_fails_now_with_evidence_and_what_must_stay_green(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    told = facts(desk, CODER)
    assert [(f.id, f.text, f.evidence, f.standing) for f in told.failing] == [
        (A, f"text of {A}", f"saw {A}", Since.FIRST)
    ]
    assert told.must_stay_green == (B, C)
    assert [(t.attempt, t.outcome) for t in told.tried] == [(1, f"landed; then failing: {A}")]


def test_a_second_retry_is_told_what_is_fixed_what_still_fails_and_what_fails_newly(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    round_of(desk, a="FAIL", b="FAIL", c="PASS")
    told = facts(desk, CODER)
    assert [(f.id, f.standing) for f in told.failing] == [(A, Since.STILL), (B, Since.NEWLY)]
    assert (told.fixed, told.must_stay_green) == ((), (C,))


def test_what_passes_now_is_nowhere_told_as_failing(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    round_of(desk, a="PASS", b="FAIL", c="PASS")
    told = facts(desk, CODER)
    assert [f.id for f in told.failing] == [B]
    assert told.fixed == (A,)
    assert A in told.must_stay_green
    assert [t.outcome for t in told.tried] == ["landed; what failed then is repaired", f"landed; then failing: {B}"]


def test_fixed_is_what_the_last_attempt_repaired_not_what_was_repaired_long_ago(desk: Desk) -> None:
    desk.policy = replace(desk.policy, attempts=5, stop_without_progress=False)
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    round_of(desk, a="PASS", b="FAIL", c="PASS")
    assert facts(desk, CODER).fixed == (A,)
    round_of(desk, a="PASS", b="FAIL", c="PASS")
    assert facts(desk, CODER).fixed == ()


def test_a_coder_is_not_told_what_another_one_must_repair(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="FAIL")
    assert [f.id for f in facts(desk, CODER).failing] == [A]
    assert [f.id for f in facts(desk, OTHER).failing] == [C]


def test_what_was_tried_names_only_what_the_group_is_for(desk: Desk) -> None:
    """In the brief, and in the issue that is filed when the attempts are spent."""
    desk.policy = replace(desk.policy, attempts=2, stop_without_progress=False)
    round_of(desk, a="PASS", b="PASS", c="FAIL")
    assert [t.outcome for t in facts(desk, OTHER).tried] == [f"landed; then failing: {C}"]
    round_of(desk, a="FAIL", b="PASS", c="FAIL")
    (payload,) = (json.loads(text) for (text,) in desk.db.execute("SELECT payload FROM outbox WHERE kind = 'file'"))
    (told,) = payload["facts"]
    rows = [(row["summary"].partition(": ")[0], row["attempt"], row["failed"]) for row in told["attempts"]]
    assert rows == [(CODER, 1, ""), (OTHER, 1, C), (OTHER, 2, C)]


def test_other_evidence_for_the_same_failure_gives_another_brief(tmp_path: Path) -> None:
    texts: list[str] = []
    for said in ("here", "elsewhere", "elsewhere"):
        desk = Desk.open(tmp_path.joinpath(str(len(texts))), [SMALL])
        desk.end(CODER)
        desk.end(OTHER)
        desk.end(VERIFIER, output=answer({A: "FAIL", B: "PASS", C: "PASS"}).replace(f"saw {A}", said))
        texts.append(brief_markdown(facts(desk, CODER)))
    assert texts[0] != texts[1]
    assert texts[1] == texts[2]


def test_a_crash_is_told_once_and_forgotten_when_the_next_attempt_landed(desk: Desk) -> None:
    desk.end(CODER, failure="exit 7")
    assert facts(desk, CODER).reason == "exit 7"
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    told = facts(desk, CODER)
    assert told.reason == ""
    assert [t.attempt for t in told.tried] == [1, 2]


class WaivingDesk(Desk):
    """A desk on which B is waived; the fact is given here, no signed waiver is."""

    def docket(self) -> Docket:
        return replace(super().docket(), waived=lambda spec_name: frozenset({B}))


def test_what_was_waived_is_nobodys_task(tmp_path: Path) -> None:
    desk = WaivingDesk.open(tmp_path, [SMALL])
    round_of(desk, a="FAIL", b="FAIL", c="PASS")
    assert [f.id for f in facts(desk, CODER).failing] == [A]


def test_a_verifier_is_told_what_to_judge_and_not_how_it_was_judged_before(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    desk.end(CODER)
    told = facts(desk, VERIFIER)
    assert told.expected == (A, B, C)
    assert told.commands == (("Spec tests", "pytest -q tests/gate"),)
    assert "saw" not in brief_markdown(told)


def test_secrets_that_a_verifier_printed_do_not_reach_the_coder(desk: Desk) -> None:
    for node_id in (CODER, OTHER):
        desk.end(node_id)
    said = answer({A: "FAIL", B: "PASS", C: "PASS"}).replace(f"saw {A}", f"the header had {SECRET} and hunter2hunter2")
    desk.end(VERIFIER, output=said)
    told = facts(desk, CODER, secrets=("hunter2hunter2",))
    text = brief_markdown(told) + str(brief_json(told))
    assert SECRET not in text
    assert "hunter2" not in text
    assert told.failing[0].evidence == "the header had [redacted] and [redacted]"


def test_a_conflict_is_the_task_of_the_session(desk: Desk) -> None:
    conflict = Conflict(("src/gate.py",), ("theirs",), ("ours",))
    assert facts(desk, CODER, conflict=conflict).conflict == conflict


def git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments],
        cwd=repo, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def commit(repo: Path, name: str) -> str:
    (repo / name).write_text(name)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", name)
    return git(repo, "rev-parse", "HEAD")


def test_a_retry_is_told_which_files_the_last_attempt_changed(desk: Desk, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet")
    base, landed = commit(repo, "one.py"), commit(repo, "zwei ü.py")
    landing(desk, CODER, base, landed)
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    assert facts(desk, CODER, repo).changed == ("zwei ü.py",)
    assert facts(desk, CODER).changed == ()
    assert facts(desk, OTHER, repo).archetype is Archetype.CODER


def test_commits_that_are_gone_change_nothing(desk: Desk, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet")
    landing(desk, CODER, "0" * 40, "1" * 40)
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    assert facts(desk, CODER, repo).changed == ()


# What else binds

ONE = FunctionContract(
    "gate:delay", "(n: int) -> int", ("__return__ <= 5", "__return__ >= 0"), ("n >= 0",), ("OSError",)
)


def bound_to(name: str, *parts: str, check: Check = ONE, kind: SpecKind = SpecKind.CONTRACT) -> Specification:
    return Specification(f"{SPEC}/{name}", kind, f"text of {name}", tuple(f"{SPEC}/{p}" for p in parts), check)


def test_a_coder_is_told_what_binds_its_own_requirements_in_the_order_of_addresses(desk: Desk) -> None:
    adopted = (bound_to("z", A), bound_to("b", C), bound_to("a", "all"), replace(bound_to("y", A), address="library/y"))
    told = facts(desk, CODER, adopted=adopted)
    assert [(one.address, one.requirements) for one in told.bound] == [
        (f"{SPEC}/a", (A, B)), (f"{SPEC}/z", (A,)), ("library/y", (A,)),
    ]  # fmt: skip
    assert [one.address for one in facts(desk, OTHER, adopted=adopted).bound] == [f"{SPEC}/a", f"{SPEC}/b"]
    assert facts(desk, CODER, adopted=adopted[::-1]) == told


def test_what_is_about_another_spec_or_asked_of_reviewers_is_not_told_to_a_coder(desk: Desk) -> None:
    elsewhere = replace(bound_to("it", A), requirements=(f"02_door/{A}",))
    asked = bound_to("readable", "all", check=Checklist(("Is it?",)), kind=SpecKind.CHECKLIST)
    assert facts(desk, CODER, adopted=(elsewhere, asked)) == facts(desk, CODER)


def test_a_verifier_is_not_told_of_it_in_its_brief(desk: Desk) -> None:
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    desk.end(CODER)
    assert facts(desk, VERIFIER, adopted=(bound_to("it", "all"),)) == facts(desk, VERIFIER)


def test_a_retry_is_told_what_binds_what_it_must_repair_in_the_place_of_another(desk: Desk) -> None:
    """C is of the other group, and passed until this coder alone changed something."""
    adopted = (bound_to("it", C),)
    round_of(desk, a="FAIL", b="PASS", c="PASS")
    assert facts(desk, CODER, adopted=adopted).bound == ()
    round_of(desk, a="PASS", b="PASS", c="FAIL")
    told = facts(desk, CODER, adopted=adopted)
    assert [one.id for one in told.failing] == [C]
    assert [one.requirements for one in told.bound] == [(C,)]


def test_what_nobody_answers_for_says_why_and_secrets_are_masked(desk: Desk) -> None:
    doubtful = replace(bound_to("it", A), text=f"keep {SECRET}", doubt="nobody signed it")
    (told,) = facts(desk, CODER, adopted=(doubtful,)).bound
    assert (told.text, told.doubt) == ("keep [redacted]", "nobody signed it")


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (ChosenTests(("t.py::a", "t.py::b")), (("tests", "t.py::a"), ("tests", "t.py::b"))),
        (ChosenTests(command="make it"), (("command", "make it"),)),
        (PropertyTests(("t.py::a",), 50), (("tests", "t.py::a"), ("examples", "50"))),
        (TraceFormula('never(call("x"))'), (("formula", 'never(call("x"))'),)),
        (
            ONE,
            (
                ("function", "gate:delay"), ("signature", "(n: int) -> int"), ("pre", "n >= 0"),
                ("post", "__return__ <= 5"), ("post", "__return__ >= 0"), ("raises", "OSError"),
            ),
        ),
        (TheoremStatement("(> n 0)", "(assert true)"), (("axioms", "(assert true)"), ("goal", "(> n 0)"))),
        (Checklist(("Is it?",)), ()),
        (None, ()),
    ],
)  # fmt: skip
def test_what_a_program_checks_is_told_in_the_words_of_the_file(
    check: Check | None, told: tuple[tuple[str, str], ...]
) -> None:
    assert checked(check) == told
