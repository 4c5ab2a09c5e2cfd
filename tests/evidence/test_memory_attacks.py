"""An agent tries to plant, accept or forget an item of regression memory: by a shell in the sandbox of its session, by
what it prints, and by rows that somebody wrote past us. Nothing moves.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.memory import Birth, Move, Step
from agent_fox.core.policy import Policy
from agent_fox.evidence import memory
from agent_fox.store.ledger import memory as stored
from agent_fox.store.state import open_state, transaction
from agent_fox.system import git
from agent_fox.system.sandbox import bubblewrap
from tests.engine.desk import Desk, small_spec
from tests.evidence.attack_scripts import NOT_SEEN
from tests.evidence.test_waiver_attacks import Cell, Place, everything
from tests.evidence.waiver_world import PASSPHRASE, Person, person
from tests.store.world import remembered
from tests.stories.scene import PROVEN
from tests.stories.test_memory import BROKEN, two

COLUMNS = (
    "id, at, spec_name, requirement_id, version, line, name, test, born, envelope",
    "'{id}', '2020', '01_cart', '01-REQ-1.1', 'v', 'true', 't', 't', '{born}', '{envelope}'",
)
OWN_KEY = """
unset AGENT_FOX_LAUNCH AGENT_FOX_NODE
mkdir -p $HOME/k
$PYTHON -c "
from pathlib import Path
import os
from agent_fox.evidence.signing import keys
public = keys.new_key(Path(os.environ['HOME']) / 'k/me.pem', 'mine')
keys.trust(Path(os.environ['HOME']) / 'k/allowed_signers', keys.Signer('alice', ('agent-fox-waiver',), public))
"
echo mine > $HOME/k/passphrase
memory() { $PYTHON -P -m agent_fox.cli.main "$@"; }
sign() { memory memory "$@" --reason fine --key $HOME/k/me.pem --passphrase-file $HOME/k/passphrase; }
"""


def sql(statement: str) -> str:
    """A script that runs a statement on the person's state file."""
    return f"""$PYTHON - <<'END'
import os, sqlite3
try:
    db = sqlite3.connect(os.environ["STATE"])
    db.execute({statement!r})
    db.commit()
    print("it is written")
except sqlite3.Error as error:
    print(error)
END
"""


def planted(born: str, envelope: str = "") -> str:
    values = COLUMNS[1].format(id="f" * 16, born=born, envelope=envelope)
    return sql(f"INSERT INTO memory_items ({COLUMNS[0]}) VALUES ({values})")


def moved(step: str, envelope: str = "") -> str:
    return sql(
        "INSERT INTO memory_moves (id, item, at, step, envelope, status, watch, life) SELECT max(id) + 1, item, "
        f"'2020', '{step}', '{envelope}', 'accepted', 'never', '{{}}' FROM memory_moves"
    )


SCRIPTS = {
    "plant an item of a regression": planted("regression"),
    "plant an item of a repair": planted("repair"),
    "plant an item of a person": planted("person", "{}"),
    "forge an acceptance": moved("accepted", "{}"),
    "forge a forgetting": moved("forgotten", "{}"),
    "forge a withdrawal": moved("withdrawn"),
    "forge a green reading": moved("passed"),
    "forge a demotion": moved("demoted"),
    "forge a lost test": moved("lost"),
    "remove the items": sql("DELETE FROM memory_items"),
    "remove the moves": sql("DELETE FROM memory_moves"),
    "drop the tables": sql("DROP TABLE memory_moves"),
    "drop the guards": sql("DROP TRIGGER memory_moves_no_delete"),
    "change what an item runs": sql("UPDATE memory_items SET line = 'true'"),
    "forge a record": sql(
        "INSERT INTO ledger (position, record_id, identity, previous, head, kind, at, content) "
        "VALUES (9999, 'x', 'memory:9999', 'x', 'x', 'memory', '2099', '{}')"
    ),
    "write over the state file": "echo x > $STATE; truncate -s 0 $STATE; ls -l $STATE",
    "put a state file of its own in the workspace": f"""{OWN_KEY}
mkdir -p .agent-fox; $PYTHON -c "import sqlite3; sqlite3.connect('.agent-fox/state.db').execute('CREATE TABLE t (a)')"
sign forget 0000
""",
    "forget with a key of its own": f"{OWN_KEY}\nAGENT_FOX_KEYS=$HOME/k sign forget 0",
    "accept in the person's repository": f"{OWN_KEY}\nAGENT_FOX_KEYS=$HOME/k memory -C $REPO memory list",
    "add with a key of its own": f"{OWN_KEY}\nAGENT_FOX_KEYS=$HOME/k sign add 01-REQ-1.1 --test a.py::test_a",
    "add inside of a session": "$PYTHON -m agent_fox.cli.main memory add 01-REQ-1.1 --test a.py::test_a --reason x",
    "accept inside of a session": "$PYTHON -m agent_fox.cli.main memory accept 0 --reason x --key $KEYS/alice.pem",
    "sign with the person's key": f"{OWN_KEY}\nsign forget 0 --key $KEYS/alice.pem; cat $KEYS/alice.pem",
    "settings that read nothing": """
mkdir -p .agent-fox; printf '[memory]\\npre_reading = false\\n' > .agent-fox/config.toml
cp .agent-fox/config.toml $REPO/.agent-fox/config.toml; ls $REPO/.agent-fox
""",
    "events of its own": """
mkdir -p .agent-fox/logs; echo '{"kind": "memory", "item": "x", "step": "forgotten"}' > .agent-fox/logs/events.jsonl
cp .agent-fox/logs/events.jsonl $REPO/.agent-fox/logs/events.jsonl; ls $REPO/.agent-fox/logs
""",
}
REFUSED = {
    "put a state file of its own in the workspace": ("not agent-fox state",),
    "forget with a key of its own": ("no state yet", "there is no state"),
    "accept in the person's repository": ("does not exist", "no state yet", "No such"),
    "add with a key of its own": ("no state yet", "there is no state"),
    "add inside of a session": ("a session cannot",),
    "accept inside of a session": ("a session cannot",),
    "sign with the person's key": ("no state yet", "No such file"),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run that remembers two failures; the tests only look at it."""
    folder = tmp_path_factory.mktemp("attacked")
    alice = person(folder / "people")
    (folder / "w").mkdir()
    root = two(folder / "w" / "repo", *BROKEN)
    alice.run(root, PROVEN)
    return Place(root, alice)


@pytest.fixture
def cell(ended: Place, tmp_path: Path) -> Cell:
    folder = tmp_path / "session"
    folder.mkdir()
    git.call(tmp_path, "clone", "-q", "--shared", str(ended.root), str(folder / "workspace"))
    return Cell(ended, folder)


def kept(place: Place) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{place.state}?mode=ro", uri=True)) as db:
        items = db.execute("SELECT * FROM memory_items ORDER BY id").fetchall()
        return [*items, *db.execute("SELECT * FROM memory_moves ORDER BY id")]


def test_at_least_twenty_five_scripts_are_tried() -> None:
    assert len(SCRIPTS) >= 25


@pytest.mark.skipif(bool(bubblewrap.why_missing()), reason="no sandbox here")
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_shell_in_the_sandbox_neither_plants_nor_ends_an_item(cell: Cell, name: str) -> None:
    before, items = everything(cell.place), kept(cell.place)
    printed = cell.run(SCRIPTS[name])
    assert any(words in printed for words in REFUSED.get(name, NOT_SEEN)), printed[-2000:]
    assert "PRIVATE KEY" not in printed
    assert PASSPHRASE not in printed
    assert everything(cell.place) == before
    assert kept(cell.place) == items


ANSWERS: dict[str, dict[str, object]] = {
    "a FAIL with tests": {"verdict": "FAIL", "check": "true", "first_error": "x",
                          "ran": [{"line": "true", "file": "t.py", "classes": [], "name": "t", "id": "t.py::t"}]},
    "a counterexample": {"verdict": "FAIL", "evidence": "Falsifying example: test_x(n=0)", "check": "pytest"},
    "a regression detected": {"verdict": "FAIL", "disposition": "regression detected"},
}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk.open(tmp_path, [small_spec("01_a", {1: ("1.1",)})], Policy(attempts=9))
    desk.end("01_a:1")
    yield desk
    desk.db.close()


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_verifier_that_is_a_model_makes_no_item_whatever_it_prints(desk: Desk, name: str) -> None:
    passing = {"requirement_id": "01-REQ-1.1", "verdict": "UNKNOWN"}
    desk.end("01_a:2", output=json.dumps({"verdicts": [passing]}))
    row = {"requirement_id": "01-REQ-1.1", **ANSWERS[name]}
    reads = [{"id": "0" * 16, "ending": "lost", "is_touched": False, "file": "", "note": ""}]
    desk.end("01_a:2", output=json.dumps({"verdicts": [row], "memory": reads}))
    assert desk.rows("SELECT count(*) FROM memory_items") == [(0,)]
    assert desk.rows("SELECT count(*) FROM verification_results WHERE disposition = 'regression detected'") == [(0,)]


def test_an_end_that_nobody_trusted_signed_ends_nothing(ended: Place, tmp_path: Path) -> None:
    place = ended.copy(tmp_path)
    with closing(open_state(place.state)) as db:
        each = stored.items(db)[0]
        with transaction(db):
            stored.move(db, [(each, Move(Step.FORGOTTEN, "2026-01-01T00:00:00.000Z", envelope="{}"))])
        assert stored.items(db)[0].life.is_over
        believed = {known.item.id: known for known in memory.believed(db, place.grounds())}
    assert believed[each.item.id] == each


def test_an_item_of_a_person_that_nobody_trusted_signed_is_not_run(ended: Place, tmp_path: Path) -> None:
    place = ended.copy(tmp_path)
    with closing(open_state(place.state)) as db:
        forged = remembered(1, spec="01_cart", born=Birth.PERSON, envelope="{}", cause="")
        with transaction(db):
            stored.remember(db, forged)
        assert forged.id not in {known.item.id for known in memory.believed(db, place.grounds())}
        with transaction(db), pytest.raises(memory.MemoryRefused, match="nobody who is trusted now has signed it"):
            memory.add(db, place.grounds(), replace(forged, id="e" * 16))


def test_a_signature_for_one_item_ends_no_other(ended: Place, tmp_path: Path) -> None:
    place = ended.copy(tmp_path)
    alice: Person = place.alice
    with closing(open_state(place.state)) as db:
        first, second = stored.items(db)
    done = alice.cli(place.root, "memory", "forget", first.item.id, "--reason", "fine", *alice.signing)
    assert done.returncode == 0, done
    with closing(open_state(place.state)) as db:
        (signed,) = stored.signed_moves(db)
        with transaction(db), pytest.raises(memory.MemoryRefused, match="nobody who is trusted now has signed it"):
            memory.end(db, place.grounds(), second, Step.FORGOTTEN, signed.move.at, "fine", signed.move.envelope)
