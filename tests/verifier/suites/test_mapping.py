"""Which tests show which requirement: exactly those that are claimed or that name it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.spec import Trace
from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.ground.sources import Naming
from agent_fox.verifier.suites.mapping import Claim, Ownership, read_claims

CART = Case(("TestCart",), "test_total[2]", "tests/unit/test_cart.py")
OTHER = Case((), "test_total", "tests/unit/test_mycart.py")


@pytest.mark.parametrize(
    "text",
    [
        "tests/unit/test_cart.py",
        "test_cart.py",
        "tests/unit/",
        "unit/test_cart.py::TestCart",
        "unit/test_cart.py::test_total",
        "test_cart.py::TestCart::test_total",
        "test_cart.py::TestCart::test_total[2]",
        "TestCart::test_total",
        "test_total",
        "TestCart",
        "test_cart.py::test_to*",
    ],
)
def test_a_claim_names_a_test_by_any_tail_of_its_id(text: str) -> None:
    assert _claim(text).names_case(CART)


@pytest.mark.parametrize(
    "text",
    [
        "cart.py",
        "test_mycart.py",
        "tests/unit/test_cart.py::test_tot",
        "test_cart.py::TestBasket::test_total",
        "test_cart.py::TestCart::test_total[3]",
        "tests/integration/",
        "total_test",
    ],
)
def test_a_claim_names_no_test_by_a_likeness(text: str) -> None:
    assert not _claim(text).names_case(CART)


def test_a_claim_finds_a_test_whose_report_leaves_out_files() -> None:
    assert _claim("tests/unit/test_cart.py").names_case(Case(("tests", "unit", "test_cart"), "test_x"))


def test_the_cells_of_a_table_are_read_as_people_write_them() -> None:
    claims, odd = read_claims(("`test_a.py::test_b`, `test_c[1, 2]`", "test_d and tests/e.py", "—", "N/A", "by hand"))
    assert [claim.text for claim in claims] == ["test_a.py::test_b", "test_c[1, 2]", "test_d", "tests/e.py"]
    assert odd == ("N/A", "by hand")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_04_req_1_1_adds", {"04-REQ-1.1"}),
        ("test_04_REQ_1_10", {"04-REQ-1.10"}),
        ("test_04_req_1_e1", {"04-REQ-1.E1"}),
        ("test_104_req_1_1", set()),
        ("test_04_req_1_12", set()),
        ("test_1_1", set()),
    ],
)
def test_a_test_name_names_whole_ids_only(name: str, found: set[str]) -> None:
    assert Naming(["04-REQ-1.1", "04-REQ-1.10", "04-REQ-1.E1", "1.1"]).in_name(name) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Covers 04-REQ-1.1, and 04-req-1.E1.", {"04-REQ-1.1", "04-REQ-1.E1"}),
        ("All of 04-REQ-1.", {"04-REQ-1"}),
        ("04-REQ-1.1.2 and 104-REQ-1 and 04-REQ-12", set()),
        ("version 1.1", set()),
    ],
)
def test_prose_names_whole_ids_only(text: str, found: set[str]) -> None:
    assert Naming(["04-REQ-1", "04-REQ-1.1", "04-REQ-1.E1", "1.1"]).in_text(text) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("TestReq04_1_1", {"04-REQ-1.1"}),
        ("test04Req1_1Rejects", {"04-REQ-1.1"}),
        ("req04_1E1IsKept", {"04-REQ-1.E1"}),
        ("Cart_04-REQ-1.10 adds", {"04-REQ-1.10"}),
        ("TestReq04_1_12", set()),
        ("TestReq104_1_1", set()),
    ],
)
def test_names_in_the_manner_of_other_languages_name_ids_too(name: str, found: set[str]) -> None:
    assert Naming(["04-REQ-1.1", "04-REQ-1.10", "04-REQ-1.E1"]).in_name(name) == found


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("CartTest#total", Case(("com", "shop", "CartTest"), "total()", "src/test/java/com/shop/CartTest.java")),
        ("com.shop.CartTest#total", Case(("com", "shop", "CartTest"), "total")),
        ("src/test/java/com/shop/CartTest.java", Case(("com", "shop", "CartTest"), "total")),
        ("pkg/cart_test.go::TestTotal", Case(("TestTotal",), "empty", "pkg/cart_test.go")),
        ("tests/cart.rs::totals", Case((), "totals", "tests/cart.rs")),
        ("`cart.test.js > Cart > adds, and keeps`", Case(("Cart",), "adds, and keeps", "src/cart.test.js")),
        ("src/cart.test.ts::adds two", Case(("Cart",), "adds two", "src/cart.test.ts")),
        ("Cart > adds", Case(("Cart",), "adds")),
    ],
)
def test_tests_of_other_languages_are_claimed_as_people_write_them(text: str, case: Case) -> None:
    assert _claim(text).names_case(case)
    assert not _claim(text).names_case(Case(("Basket",), "other", "src/basket.test.js"))


def test_nothing_to_look_for_is_found_nowhere() -> None:
    assert Naming([]).in_name("test_04_req_1_1") == frozenset()


def test_a_requirement_has_the_tests_of_every_row_about_it() -> None:
    rows = (Trace("01-REQ-1.1", tests=("test_cart.py",)), Trace("01-REQ-1.1", tests=("test_gone",)))
    mapped = Ownership(CheckOrder({"01-REQ-1.1": "x"}, traceability=rows)).map((CART, OTHER), {})
    assert mapped["01-REQ-1.1"].cases == (CART,)
    assert [claim.text for claim in mapped["01-REQ-1.1"].absent] == ["test_gone"]


@given(st.lists(st.text(max_size=60)))
def test_no_cell_of_a_table_is_too_odd_to_be_read(cells: list[str]) -> None:
    claims, odd = read_claims(tuple(cells))
    assert all(claim.path or claim.names for claim in claims)
    assert all(odd)


def _claim(text: str) -> Claim:
    claims, _ = read_claims((text,))
    return claims[0]
