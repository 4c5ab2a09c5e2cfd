"""`agent-fox memory`: why a requirement should be believed to hold now, and what persons say of what is remembered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.testing.worlds import rows
from tests.evidence.waiver_world import Person, person
from tests.stories.scene import PROVEN
from tests.stories.test_memory import BROKEN, HIGHEST, SUM, two

REQ, TEST = "01_cart/01-REQ-1.2", "tests/test_most.py::test_most"


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Person]:
    """A spec that was proven after regressions, and a person; made once, and copied for each test."""
    folder = tmp_path_factory.mktemp("proven")
    alice = person(folder / "people")
    root = two(folder / "repo", *BROKEN, SUM + HIGHEST + "# one\n", SUM + HIGHEST + "# two\n")
    alice.run(root, PROVEN)
    return root, alice


@pytest.fixture
def alice(proven: tuple[Path, Person], tmp_path: Path) -> Person:
    shutil.copytree(proven[1].home, tmp_path / "people" / "alice", ignore=shutil.ignore_patterns("state"))
    return Person(tmp_path / "people" / "alice")


@pytest.fixture
def root(proven: tuple[Path, Person], tmp_path: Path) -> Path:
    shutil.copytree(proven[0], tmp_path / "repo", symlinks=True)
    shutil.copy(proven[0].parent / "agent.py", tmp_path / "agent.py")
    return tmp_path / "repo"


def done(ended: CompletedProcess[str]) -> str:
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    return ended.stdout


def refused(ended: CompletedProcess[str]) -> str:
    assert ended.returncode == 1, ended
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr


def items(alice: Person, root: Path, *more: str) -> dict[str, dict[str, object]]:
    listed = json.loads(done(alice.cli(root, "memory", "list", "--json", *more)))
    return {str(item["address"]): item for item in listed}


def test_each_requirement_has_an_answer_to_why_it_should_work_now(root: Path, alice: Person) -> None:
    shown = done(alice.cli(root, "memory"))
    assert f"{REQ}  PASS, red without, read on " in shown
    assert f"fixed  every reading  {TEST}  last green on " in shown
    (first, second) = json.loads(done(alice.cli(root, "memory", "--json")))
    assert (first["address"], second["address"]) == ("01_cart/01-REQ-1.1", REQ)
    assert [item["test"] for item in second["items"]] == [TEST]


def test_an_item_is_shown_with_its_history_and_its_records(root: Path, alice: Person) -> None:
    number = str(items(alice, root)[REQ]["id"])
    shown = done(alice.cli(root, "memory", "show", number[:8]))
    for words in (
        f"{number}  {REQ}",
        f"test: {TEST}",
        "may be broken by: cart.py, pytest.ini, tests/test_most.py",
        "it failed by:",
    ):
        assert words in shown
    history = done(alice.cli(root, "memory", "why", number))
    assert "failed on " in history
    assert "-> regression detected, every reading (record memory:" in history
    moves = json.loads(done(alice.cli(root, "memory", "why", number, "--json")))["moves"]
    assert [kept["move"]["step"] for kept in moves] == ["born", "failed", "passed"]
    assert rows(root, f"SELECT status FROM ledger WHERE identity = '{moves[1]['record']}'") == [("failed",)]


def test_an_id_that_is_none_says_where_ids_are(root: Path, alice: Person) -> None:
    assert "no item has this id; `agent-fox memory list --all`" in refused(alice.cli(root, "memory", "show", "ffff"))


@pytest.mark.parametrize(("word", "status"), [("accept", "accepted"), ("forget", "fixed")])
def test_what_a_person_signs_ends_an_item_for_good(root: Path, alice: Person, word: str, status: str) -> None:
    number = str(items(alice, root)[REQ]["id"])
    done(alice.cli(root, "memory", word, number, "--reason", "it is as it should be", *alice.signing))
    assert REQ not in items(alice, root)
    ended = items(alice, root, "--all")[REQ]
    assert (ended["status"], ended["watch"]) == (status, "never")
    again = refused(alice.cli(root, "memory", word, number, "--reason", "again", *alice.signing))
    assert "is over already" in again
    assert alice.cli(root, "ledger", "verify").returncode == 0


def test_what_nobody_signed_or_gave_no_reason_for_changes_nothing(root: Path, alice: Person, tmp_path: Path) -> None:
    number = str(items(alice, root)[REQ]["id"])
    before = rows(root, "SELECT count(*) FROM memory_moves")
    assert "reason" in alice.cli(root, "memory", "forget", number, *alice.signing).stderr
    mallory = person(tmp_path / "others", "mallory", is_trusted=False)
    forging = ("--key", str(mallory.key), "--passphrase-file", str(mallory.passphrase))
    assert "not trusted" in refused(alice.cli(root, "memory", "forget", number, "--reason", "x", *forging))
    session = alice.cli(root, "memory", "accept", number, "--reason", "x", *alice.signing, AGENT_FOX_LAUNCH="l-1")
    assert "a session cannot" in refused(session)
    assert rows(root, "SELECT count(*) FROM memory_moves") == before


def test_a_test_that_a_person_adds_is_read_from_then_on(root: Path, alice: Person) -> None:
    adding = ("memory", "add", "01-REQ-1.1", "--test", TEST, "--input", "most([0])", "--reason", "it broke the shop")
    assert "open  every reading" in done(alice.cli(root, *adding, *alice.signing))
    assert "is remembered already" in refused(alice.cli(root, *adding, *alice.signing))
    done(alice.cli(root, "reset", "01_cart:2"))
    alice.run(root, PROVEN)
    listed = json.loads(done(alice.cli(root, "memory", "list", "--json")))
    (added,) = [item for item in listed if item["born"] == "person"]
    assert (added["status"], added["greens"], added["counterexample"]) == ("fixed", 1, "most([0])")


def test_a_test_that_is_gone_is_said_and_fails_nothing(root: Path, alice: Person) -> None:
    adding = ("memory", "add", "01-REQ-1.1", "--test", "tests/test_cart.py::test_gone", "--reason", "it was there once")
    done(alice.cli(root, *adding, *alice.signing))
    done(alice.cli(root, "reset", "01_cart:2"))
    alice.run(root, PROVEN)
    listed = json.loads(done(alice.cli(root, "memory", "list", "--json")))
    (gone,) = [item for item in listed if item["born"] == "person"]
    assert (gone["is_lost"], gone["watch"], gone["status"]) == (True, "on touch", "open")
    assert "its test was not found" in done(alice.cli(root, "memory"))
