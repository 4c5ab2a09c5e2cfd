"""What is said of a requirement's tests before any work: every small world."""

from __future__ import annotations

from itertools import product

from agent_fox.core.verdicts.proof import Shown
from agent_fox.core.verdicts.red import Now, Seen, now_of


def test_only_what_was_seen_to_fail_can_fail() -> None:
    for named, red, green, held in product([True, False], repeat=4):
        for shown in (None, *Shown):
            found = now_of(Seen(named, red, green, held), shown)
            seen_to_fail = red or (green and shown is not None and shown.how is not None)
            assert found.can_fail is bool(seen_to_fail), (named, red, green, held, shown)


def test_each_state_has_its_word_and_what_could_not_be_run_is_not_known() -> None:
    assert now_of(Seen(is_named=False)) is Now.NO_TEST
    assert now_of(Seen(is_named=False, is_held=True)) is Now.UNKNOWN
    assert now_of(Seen(is_named=True)) is Now.UNKNOWN
    assert now_of(Seen(is_named=True, is_red=True)) is Now.RED
    assert now_of(Seen(is_named=True, is_green=True), Shown.DISCRIMINATES) is Now.GREEN
    assert now_of(Seen(is_named=True, is_green=True), Shown.VACUOUS) is Now.CANNOT_FAIL
    assert now_of(Seen(is_named=True, is_green=True), Shown.UNDECIDED) is Now.UNKNOWN
    assert now_of(Seen(is_named=True, is_green=True)) is Now.UNKNOWN
