"""The limits that deciding needs."""

from __future__ import annotations

from agent_fox.core.policy import Policy


def test_the_defaults_are_three_attempts_two_readings_and_a_stop_without_progress() -> None:
    found = Policy()
    assert (found.attempts, found.readings, found.review_attempts, found.stop_without_progress) == (3, 2, 2, True)
    assert (found.goes_on_after_escalation, found.top_rung) == (False, 0)


def test_a_spec_has_its_own_rungs_or_those_of_all() -> None:
    policy = Policy(top_rung=1, top_rungs={"01_a": 3})
    assert (policy.top_rung_of("01_a"), policy.top_rung_of("02_b")) == (3, 1)
