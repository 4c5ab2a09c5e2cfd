"""What a requirement names, whether its tests have to do with it, and whose tools they use."""

from __future__ import annotations

import pytest

from agent_fox.verifier.mutants.languages import language_of
from agent_fox.verifier.proof.lab import WHOLE
from agent_fox.verifier.proof.subjects import Aims, Ran, Sight, Stars, matcher, offered, plain, subjects, unmet

CART = """\
class Cart:
    def __init__(self):
        self.lines = []

    def __len__(self):
        return len(self.lines)

    def total(self):
        return self.summed()

    def summed(self):
        return sum(self.lines)
"""
SLUG = """\
exports.short = (text) => text.slice(0, 5);
exports.slugify = function slugify(text) {
  return text;
};
"""


def ran(file: str, text: str, *owners: str) -> Ran:
    """A file of which these functions were executed."""
    language = language_of(file)
    assert language is not None
    sites = language.sites(text)
    starts = {
        site.owner_range[0] if site.owner_range else site.owner_line for site in sites if site.owner in ("", *owners)
    }
    return Ran(text, sites, frozenset({0, *starts}))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("`greet` SHALL return", ("greet",)),
        ("`Cart.total()` and `fmt::Display` SHALL", ("Cart.total()", "fmt::Display")),
        ("`save!`, `is_empty?` and `add(a, b)` SHALL", ("save!", "is_empty?", "add(a, b)")),
        ("WHEN `settings.toml` is away, it SHALL", ("settings.toml",)),
        ("it SHALL return `None`, `true` or an `int`", ()),
        ("`-v`, `--verbose`, `GET /users`, `/users`, `401`, `a b` and `x` SHALL", ()),
        ("it SHALL say `", ()),
    ],
)
def test_names_of_code_stand_between_backticks(text: str, named: tuple[str, ...]) -> None:
    assert subjects(text) == named


@pytest.mark.parametrize(
    ("requirement", "test", "is_met"),
    [
        ("it SHALL add", "", True),
        ("`parse_date` SHALL", "assert parse_date('1.2.2026')", True),
        ("`parse_date` SHALL", "assert parseDate('1.2.2026')", True),
        ("`parse_date` SHALL", "assert amount(3)", False),
        ("`parse_date` or `amount` SHALL", "assert amount(3)", True),
        ("`TaskScheduler` SHALL", "assert Scheduler().next()", True),
        ("`task_scheduler` SHALL", "assert Scheduler().next()", False),
        ("`HTTPServer` SHALL", "assert server.port", True),
        ("`MAX_SIZE` SHALL", "assert size(3)", True),
        ("`Cart.total` SHALL", "assert Cart()", False),
        ("`user.name` SHALL", "assert user()", True),
        ("`settings.toml` SHALL", "read('settings.toml')", True),
        ("`settings.toml` SHALL", "assert amount(3)", False),
    ],
)
def test_tests_are_about_a_requirement_that_shares_a_name_with_them(requirement: str, test: str, is_met: bool) -> None:
    assert (not unmet(requirement, Sight([plain(test)], ()))) is is_met


@pytest.mark.parametrize(
    ("requirement", "executed", "is_met"),
    [
        ("`Cart.total` SHALL", ("Cart.__len__",), False),
        ("`Cart.total` SHALL", ("Cart.total", "Cart.summed"), True),
        ("`Cart.summed` SHALL", ("Cart.__len__",), False),
        ("`summed` SHALL", ("Cart.total",), True),  # what runs names it
        ("`lines` SHALL", ("Cart.__len__",), True),  # no function: the file names it
        ("`Cart` SHALL", ("Cart.__len__",), True),
        ("`discount` SHALL", ("Cart.total",), False),
    ],
)
def test_a_function_that_never_ran_is_not_what_was_tested(
    requirement: str, executed: tuple[str, ...], is_met: bool
) -> None:
    assert (
        not unmet(requirement, Sight([plain("from cart import Cart")], [ran("cart.py", CART, *executed)]))
    ) is is_met


def test_functions_of_javascript_are_told_by_where_they_stand() -> None:
    quiet, all_of_it = ran("title.js", SLUG), ran("title.js", SLUG, "slugify")
    whole = Ran(SLUG, quiet.sites, frozenset({WHOLE}))
    asked = [plain("short('Hello')")]
    assert unmet("`slugify` SHALL", Sight(asked, [quiet])) == "`slugify`"
    assert not unmet("`slugify` SHALL", Sight(asked, [all_of_it]))
    assert not unmet("`slugify` SHALL", Sight(asked, [whole])), "it is not known which of its functions ran"


@pytest.mark.parametrize(
    ("test", "product", "found"),
    [
        ("from shop import *\nassert abs(x) < 1", "def abs(x): ...", ("abs", "shop.py")),
        ("from shop import *\nassert len(x) == 1", "len = lambda x: 1", ("len", "shop.py")),
        ("from shop import *\nassert sorted(x)", "from order import sorted", ("sorted", "shop.py")),
        ("from math import isclose\nfrom shop import *\nassert isclose(x, 1)", "isclose = max", ("isclose", "shop.py")),
        ("from shop import *\nfrom math import isclose\nassert isclose(x, 1)", "isclose = max", None),
        ("from shop import *\nassert total(x)", "def total(x): ...\ndef abs(x): ...", None),
        ("from shop import *\nassert abs(x) < 1", "def abs(x): ...\n__all__ = ['total']", None),
        ("from shop import *\nassert abs(x) < 1", "def abs(x): ...\n__all__ = ['abs']", ("abs", "shop.py")),
        ("from shop import total\nassert abs(x) < 1", "def abs(x): ...", None),
        ("from other import *\nassert abs(x) < 1", "def abs(x): ...", None),
        ("from shop import *\nassert round(x) < 1", "def round(x): ...", None),
        ("from shop import *\nassert (", "def abs(x): ...", None),
        ("from shop import *\nassert abs(x)", "def abs(", None),
    ],
)
def test_a_star_brings_tools_of_the_product(test: str, product: str, found: tuple[str, str] | None) -> None:
    replaced = Stars.of(test).replaced(["shop.py"], lambda _: offered(product), frozenset({"round"}))
    assert next(replaced, None) == found


def test_a_module_is_found_wherever_modules_begin() -> None:
    product, test = "def abs(x): ...", "from shop.money import *\nassert abs(x)"
    for path in ("shop/money.py", "src/shop/money.py", "shop/money/__init__.py"):
        assert [*Stars.of(test).replaced([path], lambda _: offered(product), frozenset())] == [("abs", path)]
    others = ["money.py", "pawnshop/money.py"]
    assert not [*Stars.of(test).replaced(others, lambda _: offered(product), frozenset())]


@pytest.mark.parametrize(
    ("test", "path", "found"),
    [
        ("from fractions import Fraction", "fractions.py", [("Fraction", "fractions.py")]),
        ("from fractions import Fraction", "src/fractions.py", [("Fraction", "src/fractions.py")]),
        ("from fractions import Fraction", "shop/fractions.py", []),
        ("from fractions import Share", "fractions.py", []),  # the language has none of this name
        ("from shop import Fraction", "fractions.py", []),
    ],
)
def test_a_module_in_the_place_of_the_language_s_is_told(test: str, path: str, found: list[tuple[str, str]]) -> None:
    product = "class Fraction: ...\nclass Share: ..."
    assert [*Stars.of(test).replaced([path], lambda _: offered(product), frozenset())] == found
    assert not [*Stars.of(test).replaced([path], lambda _: offered(product), frozenset({"fractions"}))]


def test_files_are_read_once_however_many_requirements_rest_on_them() -> None:
    texts = {"test_shop.py": "from shop import *\nassert total(1)", "shop.py": "def total(x):\n    return x\n"}
    read: list[str] = []

    def text_of(path: str) -> str:
        read.append(path)
        return texts[path]

    aims = Aims(text_of, lambda _: (), frozenset({"shop.py"}), frozenset({"shop.py"}))
    executed = frozenset({("shop.py", 1)})
    for number in range(500):
        why = aims.why_not(f"`other_{number}` SHALL", frozenset({"test_shop.py"}), frozenset(), executed)
        assert why == f"the requirement names `other_{number}`, which its tests neither name nor run"
        assert not aims.why_not("`total` SHALL", frozenset({"test_shop.py"}), frozenset(), executed)
    assert sorted(read) == ["shop.py", "test_shop.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from unittest.mock import ANY\nx = ANY", "unittest.mock.ANY"),
        ("from unittest.mock import ANY as SOME", "unittest.mock.ANY"),
        ("from unittest import mock\ndef f():\n    return mock.ANY", "mock.ANY"),
        ("import unittest.mock\nx = unittest.mock.ANY", "unittest.mock.ANY"),
        ("from dirty_equals import IsPositive", "dirty_equals"),
        ("from typing import Any\nx: Any = 'mock'", ""),
        ("from unittest.mock import patch\nx = patch", ""),
        ("class Kind:\n    ANY = 1\nx = Kind.ANY  # not a mock", ""),
        ("from unittest.mock import (", ""),
    ],
)
def test_what_equals_everything_is_known_by_where_it_comes_from(text: str, found: str) -> None:
    assert matcher(text) == found
