"""Specifications, gates and records as resources: a real client asks, a finished run is what is asked about."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import TextResourceContents

from agent_fox.core.ledger.evidence import Evidence, Kind, Outcome, canonical
from agent_fox.core.memory import Move, Step
from agent_fox.mcp.evidence import LONGEST_RECORD, LONGEST_TEXT, MOST
from agent_fox.mcp.runs import Runs
from agent_fox.mcp.server import build_server
from agent_fox.store import plan
from agent_fox.store.ledger import memory
from agent_fox.store.ledger.ledger import append
from agent_fox.store.plan import StoredPart
from agent_fox.store.state import open_state, transaction
from agent_fox.testing.worlds import NEVER, Req, World, run_cli
from tests.mcp.clients import MODES, environment, served
from tests.mcp.scripted import ScriptedToolbox
from tests.store.world import AT, SPEC, fill, remembered, writing

Document = dict[str, Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state file of a run that proved one spec and not the other."""
    specs = {"01_calc": [Req("01-REQ-1.1")], "02_top": [Req("02-REQ-1.1", right_at=NEVER), Req("02-REQ-1.2")]}
    root = World(specs).build(tmp_path_factory.mktemp("evidence") / "world")
    assert run_cli(root, "run").returncode == 2
    return root / ".agent-fox" / "state.db"


def ask(state: Path, act: Callable[[Client], Awaitable[str]], mode: str = "legacy") -> str:
    async def main() -> str:
        server = build_server(ScriptedToolbox(), "0", Runs(), state)
        async with Client(server, mode=mode) as client:
            return await act(client)

    return anyio.run(main)


async def contents(client: Client, uri: str) -> str:
    (only,) = (await client.read_resource(uri)).contents
    assert isinstance(only, TextResourceContents)
    assert only.mime_type == "application/json"
    return only.text


def read(state: Path, uri: str, mode: str = "legacy") -> Document:
    found: Document = json.loads(ask(state, lambda client: contents(client, uri), mode))
    return found


def refused(state: Path, uri: str, mode: str = "legacy") -> MCPError:
    async def attempt(client: Client) -> str:
        try:
            return await contents(client, uri)
        except MCPError as error:
            errors.append(error)
            return ""

    errors: list[MCPError] = []
    ask(state, attempt, mode)
    assert errors, f"{uri} was not refused"
    return errors[0]


@pytest.mark.parametrize("mode", MODES)
def test_the_specs_are_listed_with_what_stands_at_which_gate(finished: Path, mode: str) -> None:
    told = read(finished, "evidence://specifications", mode)
    specs = told["specifications"]
    assert [(one["spec"], one["requirements"], one["gates"]) for one in specs] == [
        ("01_calc", 1, {"tested": 1}),
        ("02_top", 2, {"proposed": 2}),
    ]
    assert (told["required"], told["left_out"], told["disbelieved"]) == ("tested", 0, "")


def test_a_spec_tells_the_version_of_each_text(finished: Path) -> None:
    told = read(finished, "evidence://specifications/02_top")
    requirements = told["requirements"]
    assert [(one["address"], len(one["version"])) for one in requirements] == [
        ("02_top/02-REQ-1.1", 16),
        ("02_top/02-REQ-1.2", 16),
    ]


def test_blocked_transitions_are_told_with_whose_they_are_and_why(finished: Path) -> None:
    gates = read(finished, "evidence://gates/02_top")["gates"]
    failing, passing = gates
    assert (failing["gate"], failing["is_enough"], failing["failed"]) == ("proposed", False, 1)
    assert [(one["finish"], one["roles"], one["why"]) for one in failing["blocked"]] == [
        ("tested", ["evaluator"], "the current verdict on it is FAIL"),
        (
            *("waived", ["person"]),
            "no person has waived this version of it: agent-fox waive 02_top/02-REQ-1.1 --reason '...' --expires 30d",
        ),
    ]
    assert passing["blocked"][0]["why"] == "a spec is accepted as a whole, and these are not proven: 02-REQ-1.1"


def test_the_verifier_says_what_is_blocked_in_the_same_words(finished: Path) -> None:
    for place in ("02_top", "02_top/02-REQ-1.1"):
        gates, blocked = (read(finished, f"{kind}://gates/{place}") for kind in ("evidence", "verifier"))
        assert {**blocked, "at": ""} == {**gates, "at": ""}


def test_what_once_failed_is_listed_bounded_with_what_fails_first(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        for number in range(1, MOST + 3):
            memory.remember(db, remembered(number))
        worst = memory.items(db)[-1]
        memory.move(db, [(worst, Move(Step.FAILED, AT))])
    document = read(tmp_path / "state.db", "verifier://regressions")
    first, second, *_ = document["regressions"]
    assert (first["id"], first["status"], first["watch"]) == (worst.item.id, "regression detected", "every reading")
    assert (second["status"], second["counterexample"]) == ("fixed", "test_1(n=0)")
    assert (len(document["regressions"]), document["left_out"], document["over"]) == (MOST, 2, 0)


@pytest.mark.parametrize("mode", MODES)
def test_the_chain_of_a_requirement_leads_to_its_record(finished: Path, mode: str) -> None:
    told = read(finished, "evidence://gates/01_calc/01-REQ-1.1", mode)
    (proof,) = [one for one in told["proofs"] if one["is_current"]]
    assert (proof["status"], told["steps"][-1]["role"], told["steps"][-1]["finish"]) == ("PASS", "evaluator", "tested")
    assert told["check"][1] == f"git worktree add --detach ../check-{proof['commit'][:12]} {proof['commit']}"
    for name in (proof["id"], proof["id"][:8]):
        record = read(finished, f"evidence://records/{name}")
        content = record["record"]
        assert hashlib.sha256(canonical(content).encode()).hexdigest() == record["record_id"] == proof["id"]


def test_what_the_last_session_of_a_group_did_is_told_as_its_trace(finished: Path) -> None:
    told = read(finished, "verifier://trace/01_calc/1")
    assert [(node["kind"], node["step"]) for node in told["nodes"]] == [("state change", 0), ("state change", 1)]
    assert (told["node"], told["attempt"], told["onsets"]) == ("01_calc:1", 1, [])
    assert told["left_out"]["nodes before these"] == 0


def test_a_plan_that_is_not_the_recorded_one_is_said_to_prove_nothing(finished: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    with closing(sqlite3.connect(finished)) as db, closing(sqlite3.connect(state)) as copy:
        db.backup(copy)
    with closing(sqlite3.connect(state)) as db:
        assert db.execute("UPDATE plan_specs SET title = 'another'").rowcount
        db.commit()
    for uri in ("specifications", "gates/01_calc", "gates/01_calc/01-REQ-1.1"):
        assert "not those of the ledger" in read(state, f"evidence://{uri}")["disbelieved"], uri


def test_what_is_not_known_to_the_server_is_not_said_to_count(finished: Path) -> None:
    told = read(finished, "evidence://gates/01_calc/01-REQ-1.1")
    assert told["is_proven_now"] is False
    assert "whether the code has changed is not known here" in told["proofs"][-1]["why_stale"]


NOT_THERE = (
    "evidence://specifications/no_such",
    "evidence://specifications/..%2f..%2fetc",
    "evidence://gates/no_such",
    "evidence://gates/01_calc/99-REQ-9.9",
    "evidence://gates/02_top/01-REQ-1.1",
    "evidence://records/0000000",
    "evidence://records/00000000",
    "evidence://records/%25%25%25%25%25%25%25%25",
    "evidence://records/'%20OR%20'1'='1",
    "evidence://other",
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("uri", NOT_THERE)
def test_what_is_not_there_is_an_error_of_the_protocol(finished: Path, uri: str, mode: str) -> None:
    error = refused(finished, uri, mode)
    assert error.code == -32602
    assert "Traceback" not in error.message


def test_without_a_state_there_is_nothing_yet_and_later_there_is(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    for content in (None, b"", b"not a database at all"):
        if content is not None:
            state.write_bytes(content)
        assert "no evidence yet" in refused(state, "evidence://specifications").message
    state.unlink()
    with writing(tmp_path):
        pass
    assert read(state, "evidence://specifications")["specifications"] == []


def test_answers_are_bounded_and_tell_what_they_leave_out(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        parts = [StoredPart(SPEC, f"R{number}", f"R{number}", "x" * 100_000, "v1") for number in range(MOST + 100)]
        plan.save_parts(db, parts)
    for uri, name in ((f"evidence://gates/{SPEC}", "gates"), (f"evidence://specifications/{SPEC}", "requirements")):
        told = read(tmp_path / "state.db", uri)
        assert (len(told[name]), told["left_out"]) == (MOST, 100)
    told = read(tmp_path / "state.db", f"evidence://gates/{SPEC}/R{MOST + 1}")
    assert len(str(told["text"])) == LONGEST_TEXT


def test_a_record_that_is_too_long_is_named_and_not_sent(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        long = Evidence(Kind.RUN, "run:1", "now", Outcome("begun"), body={"more": "x" * LONGEST_RECORD})
        (link,) = append(db, [long])
    said = refused(tmp_path / "state.db", f"evidence://records/{link.record_id}").message
    assert f"`agent-fox ledger show {link.record_id}` shows it" in said


def test_reading_writes_nothing_and_waits_for_nobody(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    with closing(open_state(state)) as db:
        fill(db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = state.read_bytes()
        with transaction(db):
            assert read(state, f"evidence://gates/{SPEC}")["spec"] == SPEC
        assert state.read_bytes() == before


def test_a_client_sees_them_in_its_lists_and_only_with_a_state(finished: Path) -> None:
    async def named(client: Client) -> str:
        templates = (await client.list_resource_templates()).resource_templates
        listed = (await client.list_resources()).resources
        assert all(one.description for one in templates)
        assert all(one.description for one in listed)
        return " ".join([*(one.uri_template for one in templates), *(str(one.uri) for one in listed)])

    told = ask(finished, named)
    assert told.count("evidence://") == 5

    async def without() -> str:
        async with Client(build_server(ScriptedToolbox(), "0", Runs())) as client:
            return await named(client)

    assert "evidence://" not in anyio.run(without)


def test_the_program_serves_them_to_an_agent_that_works_elsewhere(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "cart"\nversion = "1"\n')
    words = ("verifier", "--root", str(tmp_path), "--state", str(finished))
    answer = served(
        tmp_path, lambda client: contents(client, "evidence://gates/01_calc"), *words, variables=environment(tmp_path)
    )
    gates = json.loads(answer)["gates"]
    assert [one["gate"] for one in gates] == ["tested"]
