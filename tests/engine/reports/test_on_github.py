"""What is put for GitHub beside issues: the table of a run, its checks, and when it is put again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_fox.config import Settings
from agent_fox.core.policy import Policy
from agent_fox.engine.account.account import nothing_waived
from agent_fox.engine.issues.effects import effect_of
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.reports.on_github import checks, put_all
from agent_fox.engine.reports.run_table import PartLine, RunTable, as_markdown, read_table
from agent_fox.store import outbox
from agent_fox.store.state import transaction
from agent_fox.testing.worlds import commit_all, git
from agent_fox.trackers.github.work.checks import CHECKS
from agent_fox.trackers.protocol import Effect
from tests.engine.desk import AT
from tests.engine.reading_desk import CALC, PARTS, A, B, C, ReadingDesk, reading_desk
from tests.evidence.ledgers import grown, opened
from tests.evidence.test_verify import without_guards
from tests.github_reader import read

COMMIT = "c" * 40
BRANCH = "agent-fox/integration"
ENDED = Stop(RunExit.NOT_PROVEN, "not proven: 01_calc")
EVERYTHING: dict[str, Any] = {"pull_request": True, "checks": True, "comment_on": 7}


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    return reading_desk(tmp_path, [CALC])


def table(desk: ReadingDesk, stop: Stop | None = ENDED) -> RunTable:
    return read_table(desk.docket(), desk.commit, nothing_waived, stop)


def tell(desk: ReadingDesk, root: Path, commit: str = COMMIT, kind: str = "github", **wanted: object) -> list[Effect]:
    settings = Settings.model_validate({"tracker": {"kind": kind}, "github": wanted})
    with transaction(desk.db):
        put = put_all(desk.docket(), settings, root, commit, table(desk))
    rows = [row for row in outbox.undelivered(desk.db, AT) if row.id in put]
    return [effect_of(row) for row in rows]


def test_each_is_an_effect_with_a_target_of_its_own(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read({A: "FAIL", B: "PASS", C: "PERHAPS"})
    pull, comment, listed = tell(desk, tmp_path, **EVERYTHING)
    assert [effect.target for effect in (pull, comment, listed)] == [f"pull:{BRANCH}", "#7", f"checks:{COMMIT}"]
    assert pull.title == "agent-fox: 0 of 1 spec proven"
    assert pull.body == comment.body
    assert [check.conclusion for check in CHECKS.validate_json(listed.body)] == ["failure"]


def test_a_base_is_named_with_the_branch(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(dict.fromkeys(PARTS, "PASS"))
    assert [one.target for one in tell(desk, tmp_path, pull_request=True, base="dev")] == [f"pull:{BRANCH}:dev"]


def test_nothing_is_put_where_nothing_is_asked_for_or_issues_go_elsewhere(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(dict.fromkeys(PARTS, "PASS"))
    assert tell(desk, tmp_path) == []
    assert tell(desk, tmp_path, kind="local", **EVERYTHING) == []


def test_what_says_the_same_is_not_put_again_but_for_what_came_to_nothing(tmp_path: Path) -> None:
    desk = reading_desk(tmp_path, [CALC], Policy(attempts=2, readings=1))
    desk.read({A: "FAIL", B: "PASS", C: "PASS"})
    [first] = tell(desk, tmp_path, pull_request=True)
    assert tell(desk, tmp_path, pull_request=True) == []
    outbox.set_outbox(desk.db, first.id, "moot", AT)
    assert [one.body for one in tell(desk, tmp_path, pull_request=True)] == [first.body]
    desk.end("01_calc:1")
    desk.report("01_calc:2", dict.fromkeys(PARTS, "PASS"))
    assert [one.title for one in tell(desk, tmp_path, pull_request=True)] == ["agent-fox: 1 of 1 spec proven"]


def test_nothing_is_said_of_a_state_that_cannot_be_believed(tmp_path: Path) -> None:
    path = grown(tmp_path, 8)
    settings = Settings.model_validate({"tracker": {"kind": "github"}, "github": EVERYTHING})

    def put() -> tuple[str, ...]:
        with opened(path) as db, transaction(db):
            docket = Docket(db, AT, Policy(), SpecShelf(), 1)
            return put_all(docket, settings, tmp_path, COMMIT, read_table(docket, "t", nothing_waived))

    without_guards(path, "DELETE FROM plan_parts WHERE id = 'R2'")
    assert put() == ()
    grown_again = tmp_path / "again"
    grown_again.mkdir()
    path = grown(grown_again, 8)
    assert len(put()) == 3


def test_a_proven_spec_succeeds_and_a_waived_one_says_so(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read(dict.fromkeys(PARTS, "PASS"))
    [check] = checks(table(desk), tmp_path, COMMIT)
    assert (check["conclusion"], check["title"], check["is_open"]) == ("success", "3 of 3 proven", False)


def test_what_has_no_clear_verdict_is_no_success_and_no_failure(desk: ReadingDesk, tmp_path: Path) -> None:
    desk.read({A: "PASS", B: "PASS", C: "PERHAPS"})
    [check] = checks(table(desk), tmp_path, COMMIT)
    assert (check["conclusion"], check["is_open"]) == ("action_required", False)
    assert check["title"] == "2 of 3 proven; 1 has no clear verdict: 01-REQ-1.3"


def test_a_spec_that_was_not_read_yet_is_open(desk: ReadingDesk, tmp_path: Path) -> None:
    [check] = checks(table(desk), tmp_path, COMMIT)
    assert (check["conclusion"], check["is_open"]) == ("action_required", True)


def test_remarks_stand_at_files_that_the_commit_has(desk: ReadingDesk, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "calc.py").write_text("x = 1\n")
    commit_all(root, "one")
    seen = "AssertionError: 1 == 2\n  calc.py:7: in add\n  gone.py:3: in sub\n  ../out.py:1: x"
    rows = [{"requirement_id": part, "verdict": "PASS", "evidence": "-"} for part in PARTS[1:]]
    rows += [{"requirement_id": A, "verdict": "FAIL", "evidence": seen}]
    desk.end("01_calc:1")
    desk.end("01_calc:2", output=json.dumps({"verdicts": rows}))
    [check] = checks(table(desk), root, git(root, "rev-parse", "HEAD"))
    assert check["remarks"] == [{"path": "calc.py", "line": 7, "text": f"{A}: AssertionError: 1 == 2"}]


def part(number: int, state: str = "proven") -> PartLine:
    return PartLine("01_calc", f"01-REQ-{number}", "text " * 30, state, "red without", "seen", "r" * 40, COMMIT)


def test_a_thousand_requirements_are_cut_and_counted_what_fails_first(desk: ReadingDesk) -> None:
    desk.read(dict.fromkeys(PARTS, "PASS"))
    parts = tuple(part(number, "failing" if number % 100 == 0 else "proven") for number in range(1, 1_001))
    text = as_markdown(replace(table(desk), parts=parts), BRANCH, COMMIT)
    assert len(text) < 60_000
    assert text.count("| fails |") == 10
    shown = text.count("| red without |")
    assert f"{990 - shown} of 990 are not shown here; `agent-fox status --all` shows every one." in text


def test_foreign_text_stays_in_its_cell(desk: ReadingDesk) -> None:
    desk.read(dict.fromkeys(PARTS, "PASS"))
    hostile = replace(part(1, "failing"), text="a | b\n| c |<script>", seen="`x` | ```\n# h")
    text = as_markdown(replace(table(desk), parts=(hostile,)), BRANCH, COMMIT)
    assert sum(block.startswith("tr ") for block in read(text).blocks) == 2 + 2


def test_every_number_is_that_of_the_account(desk: ReadingDesk) -> None:
    desk.read({A: "FAIL", B: "PASS", C: "PERHAPS"})
    made = table(desk)
    text = as_markdown(made, BRANCH, COMMIT)
    counts = f"{made.account.proven} of {made.account.proven + made.account.waived + made.account.not_proven} proven"
    assert text.startswith(f"**NOT PROVEN**: {made.banner.because}.")
    assert counts == "1 of 3 proven"
    assert counts in made.banner.because
    assert len(made.parts) == made.account.proven + made.account.waived + made.account.not_proven
    assert [sum(part.state == state for part in made.parts) for state in ("failing", "unclear", "proven")] == [1, 1, 1]
