"""What a person on call sees who asks for no more: at every width, however a run ended, in words that help them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.cli.account_lines import ALL, Most, Page
from agent_fox.cli.screen import cells, styled
from agent_fox.engine.account.account import Cost, RunAccount, SpecAccount
from agent_fox.engine.account.overview import Answer, Banner, Cited, Need, NeedsYou, NextStep, Overview
from agent_fox.testing.worlds import Req, World, rows, run_cli
from tests.cli.conftest import Finished
from tests.evidence.waiver_world import HOPELESS, person

INSIDE = (
    *("ledger", "head", "row", "gate", "gates", "record", "disposition", "fingerprint", "episode", "docket", "rung"),
    *("tip", "tree", "uid", "outbox", "escalated", "superseded", "courier", "ruling", "artifact", "sha256", "told"),
)
"""Words of the code, which help nobody on call. A command to type may hold one."""
COMMAND = re.compile(r"`?agent-fox [^\n`]*`?")
HASH = re.compile(r"\b[0-9a-f]{12,}\b")


@pytest.fixture(scope="module")
def places(finished: Finished, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A world for each way in which a run stands."""
    folder = tmp_path_factory.mktemp("screens")
    proven = World({"01_a": [Req("01-REQ-1.1", right_at=2)]}).build(folder / "proven")
    assert run_cli(proven, "run").returncode == 0
    paused = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-2.1", 2), Req("01-REQ-3.1", 3)]}, cost=1.0).build(
        folder / "paused"
    )
    assert run_cli(paused, "run", "--max-cost", "2.0").returncode == 3
    left_out = World({"01_a": [Req("01-REQ-1.1")], "02_b": [Req("02-REQ-1.1")]}).build(folder / "left")
    (left_out / ".agent-fox" / "specs" / "02_b" / "requirements.md").write_bytes(b"\xff\xfe\x00" * 9)
    assert run_cli(left_out, "run", "--skip-broken").returncode == 2
    alice, waived = person(folder / "people"), HOPELESS.build(folder / "waived")
    alice.run(waived, 2)
    alice.waive(waived, "01-REQ-1.1")
    fresh = World({"01_a": [Req("01-REQ-1.1")]}).build(folder / "fresh")
    return {
        "failing and blocked": finished.root, "proven": proven, "paused": paused, "left out": left_out,
        "waived": waived, "fresh": fresh,
    }  # fmt: skip


def screens(root: Path) -> Iterator[tuple[str, str]]:
    """What each command prints that a person on call types, with the error it ends with."""
    has_run = (root / ".agent-fox" / "state.db").exists()
    nodes = [str(name) for (name,) in rows(root, "SELECT id FROM plan_nodes")] if has_run else []
    parts = [str(name) for (name,) in rows(root, "SELECT id FROM plan_parts")] if has_run else []
    words = [["plan"], ["status"], ["issues", "list"], ["waive", "--list"], ["run", "--dry-run"], ["reset", "nowhere"]]
    words += [["agree", "--list"], ["lint"], ["library"]]
    for argv in (*words, *(["explain", name] for name in (*nodes, *parts))):
        done = run_cli(root, *argv)
        yield " ".join(argv), done.stdout + done.stderr


@pytest.mark.parametrize("story", ["failing and blocked", "proven", "paused", "left out", "waived", "fresh"])
def test_a_default_screen_holds_no_word_that_is_not_for_its_reader(places: dict[str, Path], story: str) -> None:
    root = places[story]
    verified = set()
    if (root / ".agent-fox" / "state.db").exists():
        commits = rows(root, "SELECT verified_commit FROM plan_specs")
        verified = {str(commit)[:12] for (commit,) in commits if commit}
    for command, printed in screens(root):
        text = COMMAND.sub("", printed)
        assert [word for word in INSIDE if re.search(rf"\b{word}\b", text)] == [], (command, printed)
        hashes = [found for found in HASH.findall(text) if found not in verified]
        assert hashes == [] or command == "waive --list", (command, printed)  # a waiver is revoked by its id


def test_what_a_run_prints_holds_none_of_them_either(finished: Finished) -> None:
    text = COMMAND.sub("", finished.done.stdout).replace("HEAD", "")
    assert [word for word in INSIDE if re.search(rf"\b{word}\b", text)] == []


HOSTILE = "\x1b[31mTHE shop SHALL\x07 \u202eadd\r\n up, 数 and " * 150
CARD = NeedsYou(
    Need.FAILING, "01_shop", "01_shop:3", "stopped after 3 attempts; " + HOSTILE,
    (Cited("01-REQ-1.1", HOSTILE, "FAIL", (HOSTILE, HOSTILE), 3),), more=2, holds_specs=("02_b",), known_usd=1.0,
    issue="https://example.org/issues/7", decide=HOSTILE,
)  # fmt: skip
OVERVIEW = Overview(
    Banner(Answer.NOT_PROVEN, "1 requirement fails; " + HOSTILE, 2), (CARD,) * 7,
    (NextStep("agent-fox explain 01_shop:3", HOSTILE),), {"01_shop": {"01-REQ-1.1": HOSTILE, "01-REQ-1.2": HOSTILE}},
)  # fmt: skip
SPEC = SpecAccount("01_shop", "01_shop:3", "escalated", failing=("01-REQ-1.1",), unclear=("01-REQ-1.2",))
ACCOUNT = RunAccount(
    run=1, status="ended", exit_code=2, reason="", started_at="2026-03-01T12:00:00.000Z", seconds=3.0, tip=None,
    specs=(SPEC,), sessions=9, retries=2, rereads=1, cost=Cost(), running=(), blocked=(), issues=(),
    undelivered=(),
)  # fmt: skip


def page(width: int, specs: tuple[SpecAccount, ...] = (SPEC,), most: Most | None = None) -> list[str]:
    made = Page(Path("/nowhere"), replace(ACCOUNT, specs=specs), OVERVIEW, width, most or Most())
    return [*styled([*made.lines(), *made.next()], width)]


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("most", [Most(), ALL])
def test_no_text_steers_the_terminal_or_is_wider_than_it(width: int, most: Most) -> None:
    lines = page(width, most=most)
    assert all(re.sub(r"\x1b\[\d+m", "", line).isprintable() for line in lines)
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    too_wide = [line for line in plain if cells(line) > width]
    assert [line for line in too_wide if "agent-fox explain" not in line and "https://" not in line] == []
    assert any("agent-fox explain 01_shop:3" in line for line in plain)


@pytest.mark.parametrize(("specs", "longest"), [(1, 85), (10, 95), (100, 105)])
def test_the_page_stays_a_page_whatever_the_plan(specs: int, longest: int) -> None:
    many = tuple(replace(SPEC, name=f"{n:03}_spec", standing="verified", failing=(), unclear=()) for n in range(specs))
    lines = page(80, (*many, SPEC))
    assert len(lines) <= longest
    counts = [line for line in lines if "specs more: " in line]
    assert len(counts) == (specs >= 10)
    assert "and 2 more: 01_shop:3, 01_shop:3 (agent-fox status --all)" in " ".join(" ".join(lines).split())
