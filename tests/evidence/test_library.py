"""`specifications.toml` as it is read, and whose word counts: a spec's for itself, a person's by a signature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlite_utils import Database

from agent_fox.core.formal.specification import (
    Author,
    Change,
    ChosenTests,
    Entry,
    FunctionContract,
    NotAllowed,
    Specification,
    SpecKind,
    State,
    Who,
)
from agent_fox.core.spec import Criterion, Requirement, Spec
from agent_fox.evidence import library
from agent_fox.evidence.library import Statement, Trust
from agent_fox.evidence.library_files import MOST_BYTES, Owner, owner_of, read_spec_library, read_text
from agent_fox.evidence.signing.keys import LEDGER, WAIVERS, KeyTrouble, Signer, public_of
from agent_fox.evidence.spec_library import FILE
from agent_fox.specs.files import TextFile
from agent_fox.store import library as stored
from agent_fox.store.state import transaction
from tests.states import fresh_state

AT = "2030-01-01T00:00:00Z"
PARTS = (Criterion("04-REQ-1.1", "It SHALL close."), Criterion("04-REQ-1.2", "It SHALL open."))
SPEC = Spec("04_gateway", "agent-fox", "specs/04_gateway", requirements=(Requirement("04-REQ-1", "Gate", "", PARTS),))
HEAD = '[[specification]]\nname = "closed"\ntext = "It closes."\nrequirements = ["04-REQ-1.1"]\n'
TESTED = f'{HEAD}kind = "assertion"\ntests = ["t.py::test_x"]\n'
ONE = Specification(
    "04_gateway/closed", SpecKind.ASSERTION, "It closes.", ("04_gateway/04-REQ-1.1",), ChosenTests(("t.py::test_x",))
)
FREE = replace(ONE, address="library/closed")


def read(text: str) -> tuple[Specification, ...]:
    found, problems = read_text(TextFile("specs/04_gateway/specifications.toml", text), owner_of(SPEC))
    assert problems == ()
    return found


def wrong(text: str) -> str:
    found, problems = read_text(TextFile("s.toml", text), owner_of(SPEC))
    assert found == ()
    return "\n".join(f"{one.where}: {one.what}" for one in problems)


def test_every_kind_is_read() -> None:
    text = "\n".join(
        HEAD.replace("closed", name) + more
        for name, more in {
            "a": 'kind = "assertion"\ncommand = "make check"\n',
            "b": 'kind = "property"\ntests = ["t.py::test_x"]\nexamples = 50\n',
            "c": 'kind = "temporal property"\nformula = \'never(run("git push*"))\'\n',
            "d": 'kind = "contract"\nfunction = "m:f"\nsignature = "(n: int) -> int"\npost = ["__return__ > n"]\n',
            "e": 'kind = "theorem"\ngoal = "(= 1 1)"\n',
            "f": 'kind = "checklist"\nitems = ["is it clear?"]\n',
        }.items()
    )
    found = read(text)
    assert [one.address for one in found] == [f"04_gateway/{name}" for name in "abcdef"]
    assert {one.kind for one in found} == set(SpecKind) - {SpecKind.REQUIREMENT}
    assert found[3].check == FunctionContract("m:f", "(n: int) -> int", ("__return__ > n",))


def test_a_requirement_is_named_by_its_id_as_a_whole_or_all_of_them() -> None:
    def links(named: str) -> tuple[str, ...]:
        return read(TESTED.replace("04-REQ-1.1", named))[0].requirements

    assert links("04-REQ-1.1") == ("04_gateway/04-REQ-1.1",)
    assert links("04_gateway/04-REQ-1.2") == ("04_gateway/04-REQ-1.2",)
    assert links("04-REQ-1") == ("04_gateway/04-REQ-1.1", "04_gateway/04-REQ-1.2")
    assert links("all") == ("04_gateway/all",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[specification]", "s.toml: this is not TOML: "),
        ("x = 1", "holds [[specification]] tables and nothing else"),
        ("", "holds [[specification]] tables"),
        ("specification = [1]", "specification 1: kind: one of assertion, contract, property, temporal property"),
        (TESTED.replace('"assertion"', '"lemma"'), "kind: one of"),
        (TESTED.replace('text = "It closes."\n', ""), "text: Field required"),
        (TESTED + "colour = 3\n", "colour: there is no such key for this kind"),
        (TESTED.replace("closed", "no/slash"), "name: "),
        (TESTED.replace("closed", "04-REQ-1.1", 1), "this is how requirements are named"),
        (TESTED.replace("closed", "04-req-1.1", 1), "this is how requirements are named"),
        (TESTED.replace("closed", "1.2", 1), "this is how requirements are named"),
        (TESTED.replace("closed", "FR-001", 1), "this is how requirements are named"),
        (TESTED.replace("closed", "US1.E2", 1), "this is how requirements are named"),
        (TESTED.replace("04-REQ-1.1", "04-REQ-7.1"), "04_gateway has no such requirement"),
        (TESTED.replace("04-REQ-1.1", "05_other/05-REQ-1.1"), "there is no spec '05_other'"),
        (TESTED.replace('"04-REQ-1.1"', ""), "requirements: name what it is evidence for"),
        (TESTED + 'command = "make"\n', "either tests"),
        (f'{HEAD}kind = "temporal property"\nformula = "always("\n', "formula: 'the end' where one of"),
        (f'{HEAD}kind = "contract"\nfunction = "m"\nsignature = "() -> int"\npost = ["True"]\n', "module:name"),
        (f'{HEAD}kind = "theorem"\ngoal = "true) (assert false"\n', "none opens"),
        (f'{HEAD}kind = "property"\ntests = ["t.py"]\nexamples = 0\n', "examples: "),
        (f'{HEAD}kind = "contract"\nfunction = "m:f"\nsignature = "()"\npost = ["True"]\n', "type is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str) -> None:
    assert said in wrong(text)


def test_one_bad_specification_does_not_hide_another() -> None:
    found, problems = read_text(TextFile("s.toml", TESTED + TESTED + HEAD), owner_of(SPEC))
    assert [one.address for one in found] == ["04_gateway/closed"]
    assert [one.where for one in problems] == ["s.toml: specification 2", "s.toml: specification 3"]


def test_a_spec_without_a_file_asks_for_nothing_and_a_broken_file_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / SPEC.path
    folder.mkdir(parents=True)
    assert read_spec_library(SPEC, tmp_path) == ((), ())
    (folder / FILE).symlink_to(tmp_path / "nowhere")
    assert "can't be read" in read_spec_library(SPEC, tmp_path)[1][0].what
    (folder / FILE).unlink()
    (folder / FILE).write_text("#" * (MOST_BYTES + 1))
    (problem,) = read_spec_library(SPEC, tmp_path)[1]
    assert (problem.spec, "split it" in problem.what) == ("04_gateway", True)
    assert read_spec_library(replace(SPEC, is_withdrawn=True), tmp_path) == ((), ())


def test_a_spec_cannot_speak_for_what_belongs_to_none(tmp_path: Path) -> None:
    spec = replace(SPEC, name="library", path="specs/library")
    (tmp_path / spec.path).mkdir(parents=True)
    (tmp_path / spec.path / FILE).write_text(TESTED)
    found, (problem,) = read_spec_library(spec, tmp_path)
    assert (found, "give this spec another name" in problem.what) == ((), True)


# Whose word counts


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    opened = fresh_state(tmp_path / "state.db")
    yield opened
    opened.close()


class Person:
    """Somebody with a key."""

    def __init__(self, name: str, namespace: str = WAIVERS) -> None:
        self.private = Ed25519PrivateKey.generate()
        self.signer = Signer(name, (namespace,), public_of(self.private))

    def signs(self, one: Specification, state: State = State.ADOPTED, repository: str = "r", name: str = "") -> str:
        said = Statement(
            repository, one.address, one.version, state, AT, name or self.signer.principal, self.signer.key.id
        )
        return said.signed_with(self.private)


ALICE, MALLORY = Person("alice"), Person("mallory")
TRUST = Trust("r", lambda: (ALICE.signer,))


def proposed(db: Database, one: Specification = FREE) -> Entry:
    with transaction(db):
        library.propose(db, AT, [one], Author(Who.AGENT, "04_gateway:2 l-1"))
    return stored.entries(db, one.address)[-1]


def decide(db: Database, entry: Entry, envelope: str, state: State = State.ADOPTED, trust: Trust = TRUST) -> None:
    with transaction(db):
        library.of_person(db, entry, state, AT, envelope, trust, "")


def test_what_is_proposed_binds_nothing_until_a_person_signs(db: Database) -> None:
    entry = proposed(db)
    assert library.binding(db, "04_gateway", TRUST) == ()
    decide(db, entry, ALICE.signs(FREE))
    assert library.binding(db, "04_gateway", TRUST) == (FREE,)
    assert library.binding(db, "05_other", TRUST) == ()
    decide(db, entry, ALICE.signs(FREE, State.WITHDRAWN), State.WITHDRAWN)
    assert library.binding(db, "04_gateway", TRUST) == ()


def test_the_same_is_proposed_once(db: Database) -> None:
    proposed(db)
    proposed(db)
    assert len(stored.entries(db)) == 1


@pytest.mark.parametrize(
    "envelope",
    [
        "",
        "{}",
        MALLORY.signs(FREE),
        MALLORY.signs(FREE, name="alice"),
        ALICE.signs(FREE, repository="another"),
        ALICE.signs(FREE, State.WITHDRAWN),
        ALICE.signs(replace(FREE, text="It does nothing.")),
        ALICE.signs(replace(FREE, address="library/other")),
        ALICE.signs(FREE).replace("payloadType", "payloadtype"),
    ],
)
def test_a_signature_about_something_else_or_by_somebody_else_adopts_nothing(db: Database, envelope: str) -> None:
    entry = proposed(db)
    with pytest.raises(NotAllowed):
        decide(db, entry, envelope)
    assert library.binding(db, "04_gateway", TRUST) == ()
    assert [one.state for one in stored.entries(db)] == [State.PROPOSED]


def test_a_key_that_is_trusted_for_ledgers_alone_adopts_nothing(db: Database) -> None:
    carol = Person("carol", LEDGER)
    with pytest.raises(NotAllowed):
        decide(db, proposed(db), carol.signs(FREE), trust=Trust("r", lambda: (carol.signer,)))


def test_an_adoption_whose_signer_is_not_trusted_any_more_binds_and_shows_nothing(db: Database) -> None:
    decide(db, proposed(db), ALICE.signs(FREE))
    (bound,) = library.binding(db, "04_gateway", Trust("r", lambda: (MALLORY.signer,)))
    assert (bound.address, bound.version) == (FREE.address, FREE.version)
    assert "nobody who is trusted" in bound.doubt

    def unreadable() -> tuple[Signer, ...]:
        raise KeyTrouble("allowed_signers: others may write it")

    (bound,) = library.binding(db, "04_gateway", Trust("r", unreadable))
    assert bound.doubt


def test_a_withdrawal_that_nobody_trusted_signed_takes_nothing_back(db: Database) -> None:
    decide(db, proposed(db), ALICE.signs(FREE))
    gone = MALLORY.signs(FREE, State.WITHDRAWN)
    with transaction(db):
        stored.add(db, AT, [Change(FREE, State.WITHDRAWN, Author(Who.PERSON, "mallory"), "", gone)])
    assert library.binding(db, "04_gateway", TRUST) == (FREE,)


def test_a_row_that_does_not_fit_its_version_shows_nothing(db: Database) -> None:
    decide(db, proposed(db), ALICE.signs(FREE))
    check = '{"lane": "tests", "select": [], "command": "true"}'
    guards = [name for name, sql in db.triggers_dict.items() if "specifications" in sql]
    db.executescript("".join(f"DROP TRIGGER {name};" for name in guards))
    db.execute("UPDATE specifications SET lane = ?", [check])
    (bound,) = library.binding(db, "04_gateway", TRUST)
    assert "does not fit its version" in bound.doubt


def test_a_spec_adopts_its_own_and_every_change_is_a_record_of_the_ledger(db: Database) -> None:
    other = replace(ONE, text="It shuts.")
    for wanted in ([ONE], [ONE], [other], []):
        with transaction(db):
            library.sync(db, AT, "04_gateway", wanted)
    states = [(entry.state, entry.version) for entry in stored.entries_of_spec(db, "04_gateway")]
    assert states == [
        (State.ADOPTED, ONE.version),
        (State.ADOPTED, other.version),
        (State.WITHDRAWN, other.version),
    ]
    sql = "SELECT status, version, spec_name FROM ledger WHERE kind = 'specification' ORDER BY position"
    assert [tuple(row) for row in db.execute(sql)] == [(*row, "04_gateway") for row in states]
    assert library.binding(db, "04_gateway", TRUST) == ()


def test_what_is_kept_is_read_back_whole(db: Database) -> None:
    for text in (TESTED, f'{HEAD}kind = "theorem"\ngoal = "(= 1 1)"\naxioms = "(declare-const x Int)"\n'):
        (one,) = read(text)
        with transaction(db):
            library.sync(db, AT, "04_gateway", [one])
        assert library.binding(db, "04_gateway", TRUST) == (one,)


def test_an_owner_without_a_spec_names_every_requirement_in_full() -> None:
    owner = Owner("library", {"04_gateway": {"04-REQ-1.1": ("04-REQ-1.1",)}})
    found, problems = read_text(TextFile("s.toml", TESTED), owner)
    assert (found, len(problems)) == ((), 1)
    (one,), _ = read_text(TextFile("s.toml", TESTED.replace("04-REQ", "04_gateway/04-REQ")), owner)
    assert one == FREE


def test_the_documentation_shows_a_file_that_can_be_used() -> None:
    page = (Path(__file__).parents[2] / "docs/library.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    found = read(example)
    assert {one.kind for one in found} == set(SpecKind) - {SpecKind.REQUIREMENT}
    assert [kind for kind in SpecKind if f"`{kind}`" not in page] == []


@pytest.mark.parametrize("name", ["", "05_other"])
def test_a_withdrawal_in_the_name_of_another_spec_takes_nothing_back(db: Database, name: str) -> None:
    """A row that is written past the engine may have this: only the spec above an address speaks for it."""
    with transaction(db):
        library.sync(db, AT, "04_gateway", [ONE])
        db.execute(
            "INSERT INTO specifications SELECT id + 1, address, version, kind, text, 'withdrawn', 'spec:' || ?, ?, "
            "requirements, lane, note, envelope, at FROM specifications",
            [name, name],
        )
    assert library.adopted(stored.entries(db), TRUST) == (ONE,)
