"""Numbers are ids where a test calls them so, and says of which spec where several have them. Never by a likeness."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.spec import Trace
from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.ground.sources import Source
from agent_fox.verifier.suites.counted_ids import CountedIds, NamedTest
from agent_fox.verifier.suites.mapping import Ownership

SPEC = "locking-service"
IDS = ("1", "1.1", "1.2", "1.12", "1.E1", "2", "2.4")
ALONE = CountedIds(IDS, SPEC)
AMONG = CountedIds(
    (*IDS, "FR-001", "US1.2", "Property 1"),
    SPEC,
    ("parking", "unlock-service"),
    (*IDS, "FR-001", "US1.2", "Property 1"),
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_req_1_2", {"1.2"}),
        ("test_requirement_1_2_rejects", {"1.2"}),
        ("TestRequirement1_2Rejects", {"1.2"}),
        ("testReq1_12", {"1.12"}),
        ("test_req_1_e1_is_kept", {"1.E1"}),
        ("test_locking_service_1_2_rejects", {"1.2"}),
        ("TestLockingService_Req1_2", {"1.2"}),
        ("Requirement 1.2: rejects", {"1.2"}),
        ("test_requirement_1_is_whole", {"1"}),
        ("test_1_2", set()),
        ("test_version_1_2", set()),
        ("test_req_1_2_3", set()),
        ("test_req_1_23", set()),
        ("test_req_3_1", set()),
        ("test_04_req_1_2", set()),
        ("test_prereq_1_2", set()),
        ("test_unlocking_service_1_2", set()),
    ],
)
def test_a_name_says_a_number_is_an_id(name: str, found: set[str]) -> None:
    assert ALONE.named_by(NamedTest(function=name)) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Validates: Requirements 1.1, 2.4", {"1.1", "2.4"}),
        ("**Validates: Requirements 1.1 and 1.2**", {"1.1", "1.2"}),
        ("_Requirements: 1.2_", {"1.2"}),
        ("_Requirements: 1.1, 1.E1, 2_", {"1.1", "1.E1", "2"}),
        ("Requirement 1.2.", {"1.2"}),
        ("Covers req. 1.2, and more", {"1.2"}),
        ("Requirement 2: the door", {"2"}),
        ("locking-service 1.2", {"1.2"}),
        ("see locking-service/1.2, too", {"1.2"}),
        ("`locking-service` 1.2", {"1.2"}),
        ("Locking_Service Requirement 1.2", {"1.2"}),
        ("version 1.2", set()),
        ("1.2", set()),
        ("requires 1.2", set()),
        ("Requirements 1.2.3", set()),
        ("Requirements: 2 files are there", set()),
        ("Requirements 1.1-1.2", set()),
        ("locking-service-1.2.jar", set()),
        ("locking-service 1.2.3", set()),
        ("unlocking-service 1.2", set()),
        ("Requirement 1.2b", set()),
        ("Requirement 7.7", set()),
    ],
)
def test_words_say_a_number_is_an_id(said: str, found: set[str]) -> None:
    assert ALONE.named_by(NamedTest(said=said)) == found


@pytest.mark.parametrize(
    "test",
    [
        NamedTest(said="locking-service, Requirement 1.2"),
        NamedTest(said="Feature: locking-service, Property 9\nValidates: Requirements 1.2"),
        NamedTest(function="test_locking_service_1_2"),
        NamedTest(classes=("TestLockingService",), function="test_req_1_2"),
        NamedTest(function="test_req_1_2", path="tests/locking_service/test_doors.py"),
        NamedTest(function="test_req_1_2", path="tests/test_locking_service.py"),
        NamedTest(function="test_req_1_2", path="tests/test_doors.py", text='"""Tests of specs/locking-service."""'),
    ],
)
def test_an_id_that_other_specs_have_too_counts_where_the_test_names_the_spec(test: NamedTest) -> None:
    assert AMONG.named_by(test) == {"1.2"}


@pytest.mark.parametrize(
    "test",
    [
        NamedTest(function="test_req_1_2", path="tests/test_doors.py"),
        NamedTest(said="Validates: Requirements 1.2", path="tests/test_parking.py", text="locking-service"),
        NamedTest(said="Feature: parking. Requirement 1.2", path="tests/test_locking_service.py"),
        NamedTest(said="Requirement 1.2 of locking-service and of unlock-service"),
        NamedTest(classes=("TestUnlockService",), function="test_req_1_2", text="locking-service"),
        NamedTest(function="test_req_1_2", text="uses locking-service and unlock-service"),
        NamedTest(function="test_unlock_service_1_2"),
        NamedTest(said="FR-001 and US1.2 and Property 1"),
    ],
)
def test_an_id_that_other_specs_have_too_counts_nowhere_else(test: NamedTest) -> None:
    assert AMONG.named_by(test) == frozenset()


def test_ids_with_letters_that_every_spec_has_follow_the_same_rule() -> None:
    named = AMONG.named_by(
        NamedTest(said="Feature: locking-service, Property 1: tokens (FR-001)", function="test_us1_2")
    )
    assert named == {"Property 1", "FR-001", "US1.2"}


def test_a_spec_of_one_word_is_not_named_by_an_ordinary_sentence() -> None:
    ids = CountedIds(["1.2"], "parking", ["locking-service"], ["1.2"])
    assert not ids.named_by(NamedTest(said="Requirement 1.2: parking is paid for", text="the parking lot"))
    assert ids.named_by(NamedTest(said="Feature: parking, Requirement 1.2"))
    assert ids.named_by(NamedTest(function="test_req_1_2", path="tests/parking/test_fees.py"))
    assert ids.named_by(NamedTest(function="test_req_1_2", path="src/parking.test.ts"))


def test_a_numbered_spec_is_called_without_its_number_too_unless_another_one_is() -> None:
    assert CountedIds(["1.2"], "003-photo-albums", ["004-other"], ["1.2"]).named_by(NamedTest(said="photo-albums 1.2"))
    twins = CountedIds(["1.2"], "003-photo-albums", ["004-photo-albums"], ["1.2"])
    assert not twins.named_by(NamedTest(said="photo-albums 1.2"))
    assert twins.named_by(NamedTest(said="003-photo-albums 1.2"))


def test_a_class_and_a_function_do_not_make_one_number_together() -> None:
    test = NamedTest(classes=("Requirement 1",), function="2 doors are closed")
    assert ALONE.named_by(test) == {"1"}


def test_a_property_of_the_design_shows_what_it_validates() -> None:
    traces = (Trace("1.1", ("Property 1",)), Trace("2.4", ("Property 1",)))
    order = CheckOrder({"1.1": "x", "2.4": "y", "1.2": "z"}, traceability=traces, spec=SPEC)
    case = Case((), "invalid_token_rejected", "tests/auth_properties.rs")
    said: dict[tuple[str, ...], str] = {
        ("invalid_token_rejected",): "/// Feature: locking-service, Property 1: Invalid Auth Token Rejection"
    }
    mapped = Ownership(order).map([case], {case.file: Source(case.file, "", said)})
    assert {id: one.named for id, one in mapped.items()} == {"1.1": (case,), "2.4": (case,), "1.2": ()}


def test_a_test_of_the_whole_requirement_proves_none_of_its_criteria() -> None:
    case = Case((), "test_requirement_1_is_kept", "tests/test_doors.py")
    mapped = Ownership(CheckOrder({"1.1": "x"}, spec=SPEC)).map([case], {})
    assert (mapped["1.1"].named, mapped["1.1"].of_parent) == ((), (case,))


def test_ids_that_name_their_spec_need_no_other_word() -> None:
    order = CheckOrder({"04-REQ-1.2": "x", "1.1": "y"}, spec="04_doors", others=("05_cars",), shared=("1.1",))
    case = Case((), "test_04_req_1_2", "tests/test_cars.py")
    assert Ownership(order).map([case], {})["04-REQ-1.2"].named == (case,)


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_whatever_a_test_says_only_known_ids_come_of_it(said: str, name: str, spec: str) -> None:
    known = ["1", "1.2", "FR-001", "Property 1"]
    found = CountedIds(known, spec, [name], known).named_by(NamedTest((said,), name, f"{said} {spec} 1.2", name, said))
    assert found <= set(known)


@pytest.mark.parametrize(
    "piece", ["1.1, ", "requirement ", "requirements 1.1, ", "locking-service ", "1.", "feature:", " and 1"]
)
def test_long_lines_are_read_in_passing(piece: str) -> None:
    said = piece * (200_000 // len(piece))
    assert AMONG.named_by(NamedTest(said=said, text=said, function=said[:2000])) <= {*IDS}
