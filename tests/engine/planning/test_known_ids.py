"""What a state remembers of ids that no file writes, and of whose ids they are too."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Trace
from agent_fox.engine.planning.known_ids import earlier_readings, with_kept_ids
from agent_fox.engine.record.shared_ids import KnownIds, order_among
from agent_fox.specs.planner import plan_of
from agent_fox.store.plan import ids_ever
from agent_fox.store.state import open_state
from agent_fox.system.state_folders import STATE
from tests.engine.desk import BARE, Desk

RING, STOP, LIGHT = "THE bell SHALL ring when it is pulled", "nothing is heard at night", "a lamp shows that it is on"


def spec(name: str, *texts: str) -> Spec:
    parts = tuple(Criterion(f"1.{at}", text) for at, text in enumerate(texts, 1))
    ids = frozenset({"1", *(part.id for part in parts)})
    requirement = Requirement("1", f"The {name}", "", parts)
    return Spec(name, "kiro", f"specs/{name}", requirements=(requirement,), groups=(Group(1, "Build"),), implied=ids)


def desk_of(root: Path, *specs: Spec) -> Desk:
    (root / STATE).parent.mkdir(parents=True)
    return Desk.open((root / STATE).parent, specs)


def names(read: Spec) -> dict[str, str]:
    return {part.text: part.id for part in read.parts}


def test_an_id_that_any_earlier_plan_had_is_given_to_no_other_text(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, spec("bell", RING, STOP))
    (shorter,), _ = with_kept_ids([spec("bell", RING)], tmp_path)
    desk.replan(plan_of([shorter], (), BARE))
    (longer,), _ = with_kept_ids([spec("bell", RING, LIGHT)], tmp_path)
    assert names(longer) == {RING: "1.1", LIGHT: "1.3"}


def test_a_spec_that_went_and_comes_back_has_its_ids_again(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, spec("bell", RING, STOP), spec("lamp", LIGHT))
    desk.replan(plan_of([spec("lamp", LIGHT)], (), BARE))
    (back, _), problems = with_kept_ids([spec("bell", LIGHT, RING, STOP), spec("lamp", LIGHT)], tmp_path)
    assert names(back) == {LIGHT: "1.3", RING: "1.1", STOP: "1.2"}
    assert [problem.spec for problem in problems] == ["bell"]


def test_a_text_that_went_and_comes_back_as_it_was_has_its_id_again(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, spec("bell", RING, STOP))
    for texts in ((RING,), (RING, LIGHT)):
        (read,), _ = with_kept_ids([spec("bell", *texts)], tmp_path)
        desk.replan(plan_of([read], (), BARE))
    (back,), _ = with_kept_ids([spec("bell", STOP, LIGHT)], tmp_path)
    assert names(back) == {STOP: "1.2", LIGHT: "1.3"}
    assert desk.rows("SELECT id FROM plan_parts ORDER BY id") == [("1.1",), ("1.3",)]


def test_a_spec_that_is_taken_back_and_stands_again_has_its_ids_again(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, spec("bell", RING, STOP))
    told = replace(spec("bell", RING, STOP), requirements=(), withdrawn=("1.1", "1.2"), is_withdrawn=True)
    (gone,), _ = with_kept_ids([told], tmp_path)
    desk.replan(plan_of([gone], (), BARE))
    (back,), problems = with_kept_ids([spec("bell", LIGHT, RING, STOP)], tmp_path)
    assert names(back) == {LIGHT: "1.3", RING: "1.1", STOP: "1.2"}
    assert ([one.id for one in back.requirements], len(problems)) == (["1"], 1)


def test_a_spec_of_the_same_name_in_another_folder_is_another_one_while_the_first_is_there(tmp_path: Path) -> None:
    desk_of(tmp_path, spec("bell", RING, STOP))
    elsewhere = replace(spec("bell", STOP, RING), path="other/bell")
    (moved,), _ = with_kept_ids([elsewhere], tmp_path)
    assert names(moved) == {STOP: "1.2", RING: "1.1"}
    (tmp_path / "specs" / "bell").mkdir(parents=True)
    assert with_kept_ids([elsewhere], tmp_path) == ((elsewhere,), ())


def test_without_a_state_or_with_one_that_cannot_be_read_nothing_is_known(tmp_path: Path) -> None:
    read = spec("bell", RING)
    assert with_kept_ids([read], tmp_path) == ((read,), ())
    (tmp_path / STATE).parent.mkdir()
    for content in (b"", b"no database", b"SQLite format 3\x00" + b"\x01" * 2000):
        (tmp_path / STATE).write_bytes(content)
        assert with_kept_ids([read], tmp_path) == ((read,), ())


def test_a_state_of_an_older_format_is_remembered_too(tmp_path: Path) -> None:
    desk_of(tmp_path, spec("bell", RING, STOP)).db.close()
    with closing(sqlite3.connect(tmp_path / STATE)) as older, older:
        older.executescript("PRAGMA user_version = 2; DROP VIEW gates; DROP TABLE ledger; DROP TABLE waivers")
    assert {*earlier_readings([spec("bell", STOP)], tmp_path)["bell"].used} == {"1.1", "1.2"}


def test_ids_that_another_spec_has_or_had_are_shared_and_those_with_a_specs_number_never(tmp_path: Path) -> None:
    mine = replace(spec("bell", RING, STOP), traceability=(Trace("1.1", ("Property 1", "TS-1")),))
    written = Requirement("04-REQ-1", "Numbered", "", (Criterion("04-REQ-1.1", LIGHT),))
    numbered = replace(spec("04_door"), requirements=(written,), implied=frozenset())
    desk = desk_of(tmp_path, mine, spec("lamp", LIGHT, STOP), numbered)
    desk.replan(plan_of([mine, spec("lamp", LIGHT), numbered], (), BARE))
    known = KnownIds(ids_ever(desk.db))
    order = order_among(mine, known)
    assert (order.spec, order.others) == ("bell", ("04_door", "lamp"))
    assert order.shared == ("1", "1.1", "1.2", "Property 1")
    assert order_among(numbered, known).shared == ()


def test_a_spec_alone_shares_nothing(tmp_path: Path) -> None:
    with closing(open_state(tmp_path / "state.db")) as db:
        assert order_among(spec("bell", RING), KnownIds(ids_ever(db))).shared == ()


def test_a_spec_that_nobody_could_read_may_have_had_any_id() -> None:
    known = KnownIds({"bell": frozenset({"1.1"}), "lost": frozenset()})
    assert known.shared("bell", ["1.1", "2.1"]) == {"1.1", "2.1"}
    assert known.shared("lost", ["1.1", "2.1"]) == {"1.1"}
    assert KnownIds({"bell": frozenset({"1.1"})}).shared("bell", ["1.1"]) == set()
