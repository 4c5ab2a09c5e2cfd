"""A pattern of module level: what `re.compile` gives, from its first use on."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from agent_fox.core.regex import regex


def test_it_serves_as_the_pattern_that_it_becomes() -> None:
    lazy, real = regex(r"(?P<word>a)(b)?", re.IGNORECASE), re.compile(r"(?P<word>a)(b)?", re.IGNORECASE)
    for _ in range(2):
        assert lazy.sub("-", "xAB") == real.sub("-", "xAB") == "x-"
        assert [found.span() for found in lazy.finditer("aA")] == [(0, 1), (1, 2)]
        assert (lazy.pattern, lazy.flags, lazy.groups) == (real.pattern, real.flags, real.groups)
        assert lazy.groupindex == real.groupindex
    assert regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_match_names_a_pattern_that_is_equal_to_it() -> None:
    one, other = regex("a"), regex("b")
    found = one.match("a")
    assert found is not None
    assert (found.re == one, found.re == other, one == found.re, one == regex("a"), one == other) == (
        *(True, False, True, True, False),
    )
    assert {one: 1}[found.re] == 1


def test_what_is_no_pattern_is_told_at_its_first_use() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("")
    with pytest.raises(AttributeError, match="nothing"):
        regex("a").nothing  # type: ignore[attr-defined] # noqa: B018


def test_a_copy_is_a_pattern_too_and_what_every_object_may_be_asked_is_not_passed_on() -> None:
    made = regex("a+")
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(other) is type(made)
        assert other.findall("aab") == ["aa"]
    with pytest.raises(AttributeError, match=r"^__nothing__$"):
        made.__nothing__  # type: ignore[attr-defined] # noqa: B018
