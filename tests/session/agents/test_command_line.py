"""What all adapters share: how much of a tool's answer an event keeps."""

from __future__ import annotations

from agent_fox.session.agents.command_line import LONGEST_SHOWN, shown


def test_of_a_long_answer_the_beginning_and_more_of_the_end_are_kept_and_the_rest_is_counted() -> None:
    text = "head" + "x" * 10_000 + "1 failed"
    kept = shown(text)
    assert kept.startswith("headx")
    assert kept.endswith("x1 failed")
    assert f"… {len(text) - LONGEST_SHOWN} characters are left out" in kept
    assert len(kept) < LONGEST_SHOWN + 50


def test_an_answer_that_has_room_is_kept_whole() -> None:
    assert shown("x" * LONGEST_SHOWN) == "x" * LONGEST_SHOWN
