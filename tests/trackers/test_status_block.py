"""Title and block of an issue are ours while nobody else edits them, and are then left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ids import digest_of
from agent_fox.trackers.status_block import Current, current, framed

OLD, NEW = "One | fails", "Two fail"
REST = "\nEvidence.\n\n<!-- agent-fox status title=0 text=0 -->\nforged\n<!-- agent-fox status ends -->\n"


def seal(text: str) -> str:
    return digest_of("key", text, digits=12)


BLOCK = framed(OLD, "first\n\nblock", seal)
BODY = f"<!-- mark -->\n{BLOCK}{REST}"


def test_both_are_renewed_again_and_again_and_nothing_else() -> None:
    first = current(BODY, OLD, NEW, "second", seal)
    assert first == Current(NEW, f"<!-- mark -->\n{framed(NEW, 'second', seal)}{REST}")
    assert first.body is not None
    assert current(first.body, NEW, NEW, "second", seal) == Current()
    assert current(first.body, NEW, OLD, "first\n\nblock", seal) == Current(OLD, BODY)


def test_lines_may_end_otherwise_since_it_was_written() -> None:
    there = BODY.replace("\n", "\r\n")
    block = BLOCK.replace("\n", "\r\n").rstrip()
    assert current(there, OLD, NEW, "second", seal).body == there.replace(block, framed(NEW, "second", seal).rstrip())


def test_an_edited_title_stays_and_the_block_goes_on() -> None:
    first = current(BODY, "mine", NEW, "second", seal)
    assert (first.title, first.edited) == (None, ("title",))
    assert first.body is not None
    again = current(first.body, "mine", NEW, "third", seal)
    assert (again.title, again.edited, "third" in str(again.body)) == (None, ("title",), True)


def test_an_edited_block_stays_and_so_does_the_title() -> None:
    edited = BODY.replace("first", "FIRST")
    assert current(edited, OLD, NEW, "second", seal) == Current(edited=("block",))
    assert current(edited, "mine", NEW, "second", seal) == Current(edited=("title", "block"))


@pytest.mark.parametrize("body", ["", "of an earlier version", BODY.replace("status ends", "status")[:60]])
def test_an_issue_without_a_block_is_left_as_it_is(body: str) -> None:
    assert current(body, OLD, NEW, "second", seal) == Current()


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_a_block_says_it_is_known_as_ours(title: str, text: str) -> None:
    text = text.replace("\r", "").strip("\n").replace("-->", "")
    body = framed(title, text, seal)
    assert current(body, title, NEW, "second", seal).edited == ()
