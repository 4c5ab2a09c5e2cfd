"""What people write for ids, and the ids that are meant."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Criterion, Requirement
from agent_fox.specs.common.id_ranges import PartIndex, index_of


def requirement(number: int, criteria: int, edges: int) -> Requirement:
    own = f"03-REQ-{number}"
    return Requirement(
        own,
        "T",
        criteria=tuple(Criterion(f"{own}.{n}", "a") for n in range(1, criteria + 1)),
        edge_cases=tuple(Criterion(f"{own}.E{n}", "b") for n in range(1, edges + 1)),
    )


INDEX = index_of([requirement(1, 3, 2), requirement(2, 2, 0), requirement(3, 0, 0)], "03")
ALL = "1.1 1.2 1.3 1.E1 1.E2 2.1 2.2 3"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("03-REQ-1.1", "1.1"),
        ("[03-REQ-1.1], [03-REQ-1.E1]", "1.1 1.E1"),
        ("1.1, 1.E1", "1.1 1.E1"),
        ("REQ-1.1; `2.2`", "1.1 2.2"),
        ("03-REQ-1.1 through 03-REQ-1.E2", "1.1 1.2 1.3 1.E1 1.E2"),
        ("03-REQ-1.2 to 03-REQ-1.3", "1.2 1.3"),
        ("1.1-1.2, 1.E1-E2", "1.1 1.2 1.E1 1.E2"),
        ("03-REQ-1.2-E1", "1.2 1.3 1.E1"),
        ("03-REQ-1.1–1.3", "1.1 1.2 1.3"),
        ("03-REQ-1.3 – 03-REQ-2.1", "1.3 1.E1 1.E2 2.1"),
        ("03-REQ-1.*", "1.1 1.2 1.3 1.E1 1.E2"),
        ("03-REQ-1.E*", "1.E1 1.E2"),
        ("03-REQ-2", "2.1 2.2"),
        ("2, 3", "2.1 2.2 3"),
        ("all", ALL),
        ("All requirements", ALL),
        ("03-REQ-1.1 (conforms to protocol 2.1)", "1.1"),
        ("(structural)", ""),
        ("1.1, 1.1", "1.1"),
        ("", ""),
    ],
)
def test_what_is_written_means_these_ids(written: str, meant: str) -> None:
    assert INDEX.expand(written) == (tuple(f"03-REQ-{tail}" for tail in meant.split()), ())


@pytest.mark.parametrize("written", ["03-REQ-9.9", "1.9", "04-REQ-1.1", "AC-1", "03-REQ-PROP-1"])
def test_what_the_spec_does_not_have_is_named(written: str) -> None:
    assert INDEX.expand(written) == ((), (written,))


def test_a_range_beyond_the_last_id_keeps_what_is_there_and_says_so() -> None:
    assert INDEX.expand("2.1-2.5") == (("03-REQ-2.1", "03-REQ-2.2"), ("an end of 2.1-2.5",))


def test_ids_of_another_make_are_known_by_their_names() -> None:
    index = index_of([Requirement("12-REQ-PROP-3", "T")], "12")
    assert index.expand("12-REQ-PROP-3") == (("12-REQ-PROP-3",), ())


def test_an_empty_spec_has_no_ids_to_name() -> None:
    assert PartIndex("03").expand("all") == ((), ())
