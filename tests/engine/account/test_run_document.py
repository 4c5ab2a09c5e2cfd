"""Every number of a run's document is that of its account, every story that of the state, what is cut is counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.engine.account.account import RunAccount, read_account
from agent_fox.engine.account.overview import Takeover, read_overview
from agent_fox.engine.account.run_document import (
    LONGEST_TEXT,
    MOST_EVENTS,
    SCHEMA,
    TEXTS,
    RunDocument,
    critical_chain,
    cut,
    events_beside,
    kept_brief,
    len_of,
    log_text,
    read_run,
    slots_of,
)
from agent_fox.engine.account.stories import SessionStory
from agent_fox.session.agents.runner.trace import trace_beside
from agent_fox.session.order import brief_beside
from agent_fox.store.state import read_state
from agent_fox.system import git
from agent_fox.testing.worlds import NEVER, Req, World, log, run_cli

WORLD = World(
    {
        "01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", right_at=2)],
        "02_b": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2")],
        "03_c": [Req("03-REQ-1.1")],
    },
    depends={"02_b": "01_a", "03_c": "02_b"},
    verifier_says={"01_a/1/1": "unsure"},
    coder_does={"01_a:1/1": "crash"},
    settings="[retry]\nattempts = 3\n",
    cost=0.25,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = WORLD.build(tmp_path_factory.mktemp("document") / "w")
    assert run_cli(root, "run", "--parallel", "2").returncode == 2
    return root


@pytest.fixture(scope="module")
def db(root: Path) -> Iterator[Database]:
    with closing(read_state(root / ".agent-fox" / "state.db")) as db:
        yield db


@pytest.fixture(scope="module")
def account(root: Path, db: Database) -> RunAccount:
    tip = git.commit_of(root, "agent-fox/integration")
    assert tip is not None
    return read_account(db, tip_tree=git.tree_of(root, tip))


def no_work() -> Takeover | None:
    return None


def read(db: Database, root: Path, account: RunAccount, most: int = 0) -> RunDocument:
    overview = read_overview(db, account, is_alive=False, work=no_work)
    return read_run(db, root, account, overview, made_at="2026-01-01T00:00:00Z", is_alive=False, most=most)


@pytest.fixture(scope="module")
def document(db: Database, root: Path, account: RunAccount) -> RunDocument:
    return read(db, root, account)


def test_every_number_is_that_of_status(root: Path, document: RunDocument) -> None:
    account = json.loads(run_cli(root, "status", "--json").stdout)
    assert set(document.account) <= set(account)
    assert {name: account[name] for name in document.account} == document.account


def test_requirements_add_up_to_the_account(document: RunDocument, account: RunAccount) -> None:
    by_state = Counter((story.spec, story.state) for story in document.requirements)
    for spec in account.specs:
        lists = ("proven", "waived", "failing", "unclear", "stale", "unread", "short", "elsewhere")
        assert {name: by_state[spec.name, name] for name in lists} == {name: len(getattr(spec, name)) for name in lists}
    assert len(document.requirements) == account.proven + account.waived + account.not_proven


def test_costs_add_up_to_the_account(document: RunDocument, account: RunAccount) -> None:
    told = sum(session.cost_usd or 0 for session in document.sessions)
    assert told == pytest.approx(account.cost.known_usd)
    assert sum(session.assumed_usd for session in document.sessions) == pytest.approx(account.cost.assumed_usd)
    assert sum(spend.known_usd for spend in document.costs.by_archetype) == pytest.approx(account.cost.known_usd)
    assert document.costs.points[-1].known_usd == pytest.approx(account.cost.known_usd)
    assert document.costs.per_proven_usd == pytest.approx(account.cost.total_usd / account.proven)


def test_sessions_and_nodes_are_those_that_were(root: Path, document: RunDocument, account: RunAccount) -> None:
    assert len(document.sessions) == account.sessions == len(log(root))
    assert Counter(node.status for node in document.nodes) == account.nodes


def test_a_requirement_has_its_text_its_owner_and_every_reading(document: RunDocument) -> None:
    story = next(story for story in document.requirements if story.id == "02-REQ-1.1")
    assert story.text
    assert story.owners == ("02_b:1",)
    assert [(reading.attempt, reading.word) for reading in story.readings] == [(1, "FAIL"), (2, "FAIL")]
    assert all(len(reading.landed) == 1 for reading in story.readings)
    assert [reading.is_current for reading in story.readings] == [False, True]
    sessions = {session.id: session for session in document.sessions}
    assert all(sessions[reading.session].archetype == "verifier" for reading in story.readings)
    unclear = next(story for story in document.requirements if story.id == "01-REQ-1.1")
    assert unclear.readings[0].word == "UNKNOWN"


def test_a_coder_session_has_its_brief_its_log_and_its_change(document: RunDocument) -> None:
    coder = next(session for session in document.sessions if session.node == "02_b:1" and session.attempt == 2)
    assert "02-REQ-1.1" in coder.brief
    assert coder.diff.startswith("diff --git ")
    assert coder.log.startswith("--- stdout, ")


def test_levels_follow_the_edges(document: RunDocument) -> None:
    level = {node.id: node.level for node in document.nodes}
    assert level["01_a:1"] == 0
    assert all(level[edge.source] < level[edge.target] for edge in document.edges)
    assert ("02_b:1" in level, level["03_c:1"] > level["02_b:2"]) == (True, True)


def test_a_decision_keeps_its_name_and_has_its_words(document: RunDocument) -> None:
    recode = next(decision for decision in document.decisions if decision.kind == "Recode")
    assert recode.words.startswith(f"sent back to coder {recode.blamed[0]}")
    assert all(decision.words for decision in document.decisions)
    verdicts = {reading.session for story in document.requirements for reading in story.readings}
    assert verdicts <= {decision.session for decision in document.decisions}


def test_the_document_is_json_with_a_schema(document: RunDocument) -> None:
    printed = json.loads(json.dumps(document.document()))
    assert printed["schema"] == SCHEMA
    assert next(iter(printed)) == "schema"
    assert not {"log", "brief"} & set(document.document(without=("log", "brief"))["sessions"][0])  # type: ignore[index]


@pytest.mark.parametrize("most", [1, 500, 2_000, 10_000])
def test_what_is_cut_is_counted_logs_first_and_what_is_not_proven_last(document: RunDocument, most: int) -> None:
    small = cut(document, most)
    whole = {name: sum(len_of(session, name) for session in document.sessions) for name in TEXTS}
    kept = {name: sum(len_of(session, name) for session in small.sessions) for name in TEXTS}
    assert sum(kept.values()) <= most
    assert sum(cut.characters for cut in small.cuts) == sum(whole.values()) - sum(kept.values())
    assert kept["log"] == 0 or kept["brief"] == whole["brief"]
    if kept["diff"]:
        of_proven = [session for session in small.sessions if session.spec == "01_a"]
        assert all(not session.log for session in of_proven)
    assert [name for name in ("logs", "diffs", "briefs") if name in {cut.what for cut in small.cuts}] == [
        cut.what for cut in small.cuts if cut.what in ("logs", "diffs", "briefs")
    ]


def test_nothing_is_cut_where_it_fits(document: RunDocument) -> None:
    assert cut(document, 10_000_000).cuts == ()


def session(number: int, start: int, end: int | None) -> SessionStory:
    at = "2026-01-01T00:00:{:02}Z".format
    story = SessionStory(
        number, 1, "a:1", "a", "coder", 1, 1, "completed", "", "", "", at(start), "" if end is None else at(end), None,
        None, 0.0, "", 0, "", "", "", 0, False, (),
    )  # fmt: skip
    return replace(story, id=number)


def test_sessions_that_overlap_have_lanes_of_their_own() -> None:
    made = [session(1, 0, 5), session(2, 1, 3), session(3, 3, 6), session(4, 5, None), session(5, 9, 10)]
    assert slots_of(made) == {1: 0, 2: 1, 3: 1, 4: 0, 5: 1}


def test_the_critical_chain_leads_back_from_the_last_end() -> None:
    made = [session(1, 0, 5), session(2, 0, 3), session(3, 5, 8), session(4, 8, 20), session(5, 6, 9)]
    assert critical_chain(made) == {1, 3, 4}
    assert critical_chain([]) == frozenset()


def test_what_is_kept_of_a_long_session_says_how_much_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number}\n" for number in range(5_000)))
    text = log_text(log)
    left_out, _, end = text.partition("\n")
    assert left_out == f"… {log.stat().st_size - len(end) - 1:,} bytes before this are left out"
    assert end.endswith("line 4999")
    trace_beside(log).write_text("".join(f'{{"kind": "call", "tool": "{n}"}}\n' for n in range(400)) + "no JSON\n")
    events, left_out_events = events_beside(log)
    assert (len(events), left_out_events, events[-1]["tool"]) == (MOST_EVENTS - 1, 102, "399")
    brief_beside(log).write_text("x" * (LONGEST_TEXT + 5))
    assert kept_brief(log).endswith("… (5 more characters)")
