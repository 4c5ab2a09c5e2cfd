"""`agent-fox training` and `agent-fox export`: what may be learned from, by a person's signature, and what an export
holds. A real run of scripted agents; the documents are read by the models of nvidia-nat-atif.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from nat.atif import Trajectory  # type: ignore[import-untyped]

from agent_fox.testing.worlds import rows
from tests.evidence.waiver_world import HOPELESS, Person, person

WHY = ("--reason", "our own work")
TUNING = ("--purpose", "tuning")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Person]:
    folder = tmp_path_factory.mktemp("training")
    alice = person(folder / "people")
    root = HOPELESS.build(folder / "w")
    alice.run(root, 2)
    return root, alice


@pytest.fixture
def root(ended: tuple[Path, Person], tmp_path: Path) -> Path:
    shutil.copytree(ended[0].parent, tmp_path / "w", symlinks=True)
    return tmp_path / "w" / "repo"


@pytest.fixture
def alice(ended: tuple[Path, Person], tmp_path: Path) -> Person:
    shutil.copytree(ended[1].home, tmp_path / "alice", symlinks=True)
    return Person(tmp_path / "alice", "alice")


def training(alice: Person, root: Path, act: str, *words: str, **variables: str) -> str:
    done = alice.cli(root, "training", act, *words, *WHY, *alice.signing, **variables)
    assert done.returncode == 0, done
    return done.stdout


def allow(alice: Person, root: Path, selector: str, *words: str) -> str:
    """The id of what was allowed."""
    told = training(alice, root, "allow", selector, *TUNING, "--expires", "30d", *words)
    return told.splitlines()[-1].removeprefix("id ")


def export(alice: Person, root: Path, folder: Path, kind: str = "trajectories") -> dict[str, Any]:
    done = alice.cli(root, "export", kind, str(folder), *TUNING, "--json")
    assert done.returncode == 0, done
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_nothing_is_exported_that_nobody_allowed(root: Path, alice: Person, tmp_path: Path) -> None:
    told = export(alice, root, tmp_path / "out")
    assert (told["files"], told["records"]) == ([], [])
    sessions = rows(root, "SELECT count(*) FROM sessions WHERE archetype = 'coder' AND status = 'completed'")
    assert len(told["left_out"]) == int(str(sessions[0][0])) > 0
    assert {why for _, why in told["left_out"]} == {"nobody has allowed it for tuning"}


def test_what_is_allowed_is_exported_as_atif_with_a_reward_for_each_requirement(
    root: Path, alice: Person, tmp_path: Path
) -> None:
    allow(alice, root, "all")
    told = export(alice, root, tmp_path / "out")
    (name,) = told["files"]
    text = (tmp_path / "out" / str(name)).read_text()
    read = Trajectory.model_validate_json(text)
    assert read.schema_version == "ATIF-v1.7"
    ours = json.loads(text)["extra"]["agent-fox"]
    assert (ours["spec"], ours["reward"]) == ("01_calc", {"01-REQ-1.1": 0, "01-REQ-1.2": 1})
    assert read.steps[0].source == "user"
    assert "01-REQ-1.2" in str(read.steps[0].message)
    records = {record for (record,) in rows(root, "SELECT record_id FROM ledger")}
    assert {*told["records"]} <= records
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["digest"], manifest["left_out"]) == (told["digest"], [])


def test_the_same_state_gives_the_same_bytes(root: Path, alice: Person, tmp_path: Path) -> None:
    allow(alice, root, "spec:01_calc")
    one, other = export(alice, root, tmp_path / "one"), export(alice, root, tmp_path / "other")
    assert one["files"]
    assert one["digest"] == other["digest"]
    assert all(
        (tmp_path / "one" / str(f)).read_bytes() == (tmp_path / "other" / str(f)).read_bytes() for f in one["files"]
    )


def test_what_is_taken_back_is_exported_no_more_and_leaves_a_tombstone(
    root: Path, alice: Person, tmp_path: Path
) -> None:
    number = allow(alice, root, "spec:01_calc")
    digest = str(export(alice, root, tmp_path / "one")["digest"])
    told = alice.cli(root, "training", "revoke", number, *WHY).stdout
    assert f"an export holds what it allowed: {digest}" in told
    assert export(alice, root, tmp_path / "two")["files"] == []
    bodies = rows(root, "SELECT content FROM ledger WHERE kind = 'training' AND status = 'revoked'")
    assert json.loads(str(bodies[0][0]))["body"]["exports"] == [digest]


@pytest.mark.parametrize("act", ["deny", "lock"])
@pytest.mark.parametrize("selector", ["spec:01_calc", "requirement:01_calc/01-REQ-1.2", "all"])
def test_a_denial_or_a_lock_of_any_part_keeps_it_out(
    root: Path, alice: Person, tmp_path: Path, act: str, selector: str
) -> None:
    allow(alice, root, "node:01_calc:1")
    number = training(alice, root, act, selector).splitlines()[-1].removeprefix("id ")
    told = export(alice, root, tmp_path / "out")
    assert told["files"] == []
    refused = alice.cli(root, "training", "revoke", number, *WHY)
    assert (refused.returncode, "A lock is for ever" in refused.stderr) == (1, True)


def test_an_agent_can_ask_and_that_is_counted_and_nothing_more(root: Path, alice: Person, tmp_path: Path) -> None:
    for times in (1, 2):
        done = alice.cli(root, "training", "ask", "all", "--reason", "please", AGENT_FOX_NODE="01_calc:1")
        assert f"{times} time" in done.stdout
    signed = alice.cli(
        root, "training", "allow", "all", *TUNING, "--expires", "1d", *WHY, *alice.signing, AGENT_FOX_LAUNCH="x"
    )
    assert (signed.returncode, "a session cannot" in signed.stderr) == (1, True)
    assert "asked for: all, 2 times" in alice.cli(root, "training", "list").stdout
    assert export(alice, root, tmp_path / "out")["files"] == []


def test_a_dry_export_says_what_would_be_left_out_and_writes_nothing(root: Path, alice: Person) -> None:
    before = rows(root, "SELECT count(*) FROM ledger")
    done = alice.cli(root, "export", "trajectories", "--dry", *TUNING)
    assert "nothing was written" in done.stdout
    assert "left out: session" in done.stdout
    assert rows(root, "SELECT count(*) FROM ledger") == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("allow", "spec:x", *WHY), "allow needs --purpose and --expires"),
        (("allow", "everything", *WHY), "SELECTOR everything: write all, spec:NAME"),
        (("lock", "all", "--expires", "30d", *WHY), "lock takes neither --expires nor --purpose"),
        (("revoke", "abc", *WHY), "no waiver has this id"),
    ],
)
def test_what_is_missing_is_said_in_a_line(root: Path, alice: Person, words: tuple[str, ...], says: str) -> None:
    done = alice.cli(root, "training", *words)
    assert (done.returncode, says in done.stderr) == (1, True), done
