"""`agent-fox library`: anybody proposes, persons adopt by a signature, and what is proposed binds nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agent_fox.testing.worlds import rows
from tests.evidence.waiver_world import Person, person
from tests.stories.scene import NOT_PROVEN, PROVEN
from tests.stories.test_checks_in_a_run import RIGHT, world

FILE = ".agent-fox/specifications.toml"
HOLDS = """
[[specification]]
name = "empty-is-nothing"
kind = "contract"
text = "No price costs nothing."
requirements = ["01_cart/01-REQ-1.1"]
function = "cart:total"
signature = "(prices: list[int]) -> int"
pre = ["len(prices) == 0"]
post = ["__return__ == 0"]
seconds = 10.0

[[specification]]
name = "readable"
kind = "checklist"
text = "A newcomer understands it."
items = ["Are the names words of the spec?"]
"""
ADDRESS = "library/empty-is-nothing"


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Person]:
    """A proven spec, and a person; made once, and copied for each test."""
    folder = tmp_path_factory.mktemp("proven")
    somebody = person(folder / "people")
    made = world(folder / "repo", {"1": {"cart.py": RIGHT}})
    somebody.run(made, PROVEN)
    return made, somebody


@pytest.fixture
def alice(proven: tuple[Path, Person], tmp_path: Path) -> Person:
    shutil.copytree(proven[1].home, tmp_path / "people" / "alice", ignore=shutil.ignore_patterns("state"))
    return Person(tmp_path / "people" / "alice")


@pytest.fixture
def root(proven: tuple[Path, Person], tmp_path: Path) -> Path:
    """The repository with a file of a person."""
    made = tmp_path / "repo"
    shutil.copytree(proven[0], made, symlinks=True)
    shutil.copy(proven[0].parent / "agent.py", tmp_path / "agent.py")
    (made / FILE).write_text(HOLDS)
    return made


def done(ended: CompletedProcess[str]) -> str:
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    return ended.stdout


def refused(ended: CompletedProcess[str]) -> str:
    assert ended.returncode == 1, ended
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr


def listed(alice: Person, root: Path, *more: str) -> dict[str, str]:
    found = json.loads(done(alice.cli(root, "library", "list", "--json", *more)))
    return {one["address"]: one["state"] for one in found}


def test_what_is_proposed_binds_nothing(root: Path, alice: Person) -> None:
    assert "proposed library/empty-is-nothing" in done(alice.cli(root, "library", "propose"))
    assert listed(alice, root) == {ADDRESS: "proposed", "library/readable": "proposed"}
    alice.run(root, PROVEN)
    assert rows(root, "SELECT count(*) FROM ledger WHERE kind = 'check'") == [(0,)]
    assert "nothing new" in done(alice.cli(root, "library", "propose"))


def test_what_a_person_adopts_is_held_against_what_was_proven(root: Path, alice: Person) -> None:
    done(alice.cli(root, "library", "propose"))
    told = done(alice.cli(root, "library", "adopt", ADDRESS, *alice.signing, "--note", "agreed on Monday"))
    assert "by person:alice" in told
    alice.run(root, PROVEN)
    assert rows(root, "SELECT address, status FROM ledger WHERE kind = 'check'") == [(ADDRESS, "PASS")]
    shown = json.loads(done(alice.cli(root, "library", "show", ADDRESS, "--json")))
    assert [line["state"] for line in shown["history"]] == ["proposed", "adopted"]
    assert shown["adopted"]["by"] == "person:alice"
    assert [(one["status"], one["stale"]) for one in shown["evidence"]] == [("PASS", [])]
    done(alice.cli(root, "library", "withdraw", ADDRESS, *alice.signing))
    assert listed(alice, root) == {"library/readable": "proposed"}
    assert listed(alice, root, "--all")[ADDRESS] == "withdrawn"


def test_evidence_for_an_older_version_is_shown_as_stale(root: Path, alice: Person) -> None:
    done(alice.cli(root, "library", "propose"))
    done(alice.cli(root, "library", "adopt", ADDRESS, *alice.signing))
    alice.run(root, PROVEN)
    (root / FILE).write_text(HOLDS.replace("No price costs", "No price at all costs"))
    done(alice.cli(root, "library", "propose"))
    assert listed(alice, root)[ADDRESS] == "proposed"
    shown = json.loads(done(alice.cli(root, "library", "show", ADDRESS, "--json")))
    assert shown["adopted"]["text"] == "No price costs nothing."
    assert shown["evidence"][0]["stale"] == []
    done(alice.cli(root, "library", "adopt", ADDRESS, *alice.signing))
    told = done(alice.cli(root, "library", "show", ADDRESS))
    assert "the text of the specification has changed" in told


def test_who_is_not_trusted_adopts_nothing(root: Path, alice: Person, tmp_path: Path) -> None:
    done(alice.cli(root, "library", "propose"))
    mallory = person(tmp_path / "others", "mallory", is_trusted=False)
    assert "not trusted" in refused(alice.cli(root, "library", "adopt", ADDRESS, *mallory.signing))
    assert "no terminal to ask for its passphrase" in refused(alice.cli(root, "library", "adopt", ADDRESS))
    assert listed(alice, root)[ADDRESS] == "proposed"


def test_a_session_only_proposes(root: Path, alice: Person) -> None:
    session = {"AGENT_FOX_LAUNCH": "l-1", "AGENT_FOX_NODE": "01_cart:1"}
    done(alice.cli(root, "library", "propose", **session))
    assert rows(root, "SELECT DISTINCT added_by FROM specifications") == [("agent:01_cart:1 l-1",)]
    told = refused(alice.cli(root, "library", "adopt", ADDRESS, *alice.signing, **session))
    assert "a person must run: agent-fox library adopt library/empty-is-nothing\n" in told


def test_an_adoption_that_nobody_signed_holds_back_what_it_binds(root: Path, alice: Person) -> None:
    done(alice.cli(root, "library", "propose"))
    (row,) = rows(
        root, f"SELECT version, kind, text, requirements, lane FROM specifications WHERE address = '{ADDRESS}'"
    )
    with sqlite3.connect(root / ".agent-fox/state.db") as db:
        for envelope, is_refused in (("", True), ('{"payload": "e30="}', False)):
            values = (ADDRESS, *row, "person:alice", envelope)
            sql = (
                "INSERT INTO specifications (id, address, version, kind, text, requirements, lane, state, added_by, "
                "envelope, at) SELECT max(id) + 1, ?, ?, ?, ?, ?, ?, 'adopted', ?, ?, '2030' FROM specifications"
            )
            if is_refused:
                with pytest.raises(sqlite3.IntegrityError):
                    db.execute(sql, values)
            else:
                db.execute(sql, values)
    alice.run(root, NOT_PROVEN)
    (content,) = rows(root, "SELECT content FROM ledger WHERE kind = 'check' ORDER BY position DESC LIMIT 1")
    assert "signed by nobody who is trusted" in json.loads(str(content[0]))["body"]["why"]


def test_checks_can_be_tried_on_the_checkout(root: Path, alice: Person) -> None:
    (root / "cart.py").write_text(RIGHT)
    tried = alice.cli(root, "library", "check", "--file", FILE)
    assert (tried.returncode, "PASS     library/empty-is-nothing (contract), proved" in tried.stdout) == (0, True), (
        tried
    )
    (root / "cart.py").write_text("def total(prices):\n    return 5\n")
    tried = alice.cli(root, "library", "check", "--file", FILE, "--json")
    assert tried.returncode == 2
    assert [one["status"] for one in json.loads(tried.stdout)] == ["FAIL"]
    nothing = alice.cli(root, "library", "check")
    assert nothing.returncode == 2  # who looked at nothing has shown nothing
    assert nothing.stdout.startswith("nothing to check yet: what a spec's specifications.toml")


def test_trying_leaves_nothing_in_the_checkout(root: Path, alice: Person) -> None:
    (root / "cart.py").write_text(RIGHT)
    (root / "test_total.py").write_text("from cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n")
    (root / "tried.toml").write_text(
        '[[specification]]\nname = "total"\nkind = "assertion"\ntext = "It adds up."\n'
        'requirements = ["01_cart/01-REQ-1.1"]\ntests = ["test_total.py"]\n'
    )
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    tried = alice.cli(root, "library", "check", "--file", "tried.toml", PATH=path)
    assert (tried.returncode, tried.stdout.startswith("PASS")) == (0, True), tried
    assert not (root / "__pycache__").exists()


def test_an_address_that_no_file_has_is_named_where_there_is_no_state(tmp_path: Path, alice: Person) -> None:
    (tmp_path / "bare" / ".git").mkdir(parents=True)
    spec = tmp_path / "bare" / ".agent-fox" / "specs" / "01_cart"
    spec.mkdir(parents=True)
    (spec / "tasks.md").write_text("## Tasks\n- [ ] 1. Build it\n")
    wrong = alice.cli(tmp_path / "bare", "library", "check", "01_cart/nothing")
    assert (wrong.returncode, "01_cart/nothing: no specifications.toml here has it" in wrong.stderr) == (1, True), wrong


def test_a_spec_s_own_file_can_be_tried_before_a_run_adopts_it(root: Path, alice: Person) -> None:
    own = root / ".agent-fox/specs/01_cart/specifications.toml"
    own.write_text(HOLDS.replace("01_cart/01-REQ", "01-REQ"))
    (root / "cart.py").write_text(RIGHT)
    tried = alice.cli(root, "library", "check", "--file", str(own.relative_to(root)))
    assert (tried.returncode, tried.stderr) == (0, "")
    assert "PASS     01_cart/empty-is-nothing (contract), proved" in tried.stdout


def test_an_agent_in_its_workspace_can_check_what_its_spec_asks_for(tmp_path: Path, alice: Person) -> None:
    asked = HOLDS.replace("01_cart/01-REQ", "01-REQ")
    files = {".agent-fox/specs/01_cart/specifications.toml": asked, "cart.py": RIGHT}
    made = world(tmp_path / "clone", {"1": {"cart.py": RIGHT}}, files)
    tried = alice.cli(made, "library", "check", "01_cart/empty-is-nothing", AGENT_FOX_LAUNCH="l-1")
    assert (tried.returncode, tried.stderr) == (0, "")
    assert "PASS     01_cart/empty-is-nothing (contract), proved" in tried.stdout
    assert "command: agent-fox library check 01_cart/empty-is-nothing" in tried.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "library/emty-is-nothing"), "did you mean library/empty-is-nothing"),
        (("adopt", "01_cart/01-REQ-1.1"), "nothing is proposed there"),
        (("check", "library/empty-is-nothing"), "not adopted; use --file to check a proposal"),
        (("propose", "nosuch.toml"), "can't be read"),
    ],
)
def test_mistakes_are_told_in_one_line(root: Path, alice: Person, arguments: tuple[str, ...], said: str) -> None:
    done(alice.cli(root, "library", "propose"))
    assert said in refused(alice.cli(root, "library", *arguments))


def test_requirements_are_the_first_kind(root: Path, alice: Person) -> None:
    assert listed(alice, root, "--all") == {"01_cart/01-REQ-1.1": "adopted"}
    shown = json.loads(done(alice.cli(root, "library", "show", "01_cart/01-REQ-1.1", "--json")))
    assert (shown["adopted"]["kind"], shown["adopted"]["by"]) == ("requirement", "spec:01_cart")
    assert [(one["status"], one["stale"]) for one in shown["evidence"]] == [("PASS", [])]


def test_a_repository_without_state_says_so(tmp_path: Path, alice: Person) -> None:
    (tmp_path / "empty").mkdir()
    assert "there is no state yet" in refused(alice.cli(tmp_path / "empty", "library"))
