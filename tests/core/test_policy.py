"""The limits that deciding needs."""

from __future__ import annotations

from agent_fox.core.policy import Policy, Switch


def test_the_defaults_are_three_attempts_two_readings_and_a_stop_without_progress() -> None:
    found = Policy()
    assert (found.attempts, found.readings, found.review_attempts, found.stop_without_progress) == (3, 2, 2, True)
    assert (found.goes_on_after_escalation, found.top_rung) == (False, 0)


def test_a_spec_has_its_own_rungs_or_those_of_all() -> None:
    policy = Policy(top_rung=1, top_rungs={"01_a": 3})
    assert (policy.top_rung_of("01_a"), policy.top_rung_of("02_b")) == (3, 1)


def test_a_spec_has_its_own_second_agent_or_that_of_all() -> None:
    assert (Policy().switch, Policy().has_second_agent("01_a")) == (Switch.SECOND, False)
    policy = Policy(second_agent=True, second_agents={"01_a": False})
    assert (policy.has_second_agent("01_a"), policy.has_second_agent("02_b")) == (False, True)


def test_who_could_not_speak_clearly_is_followed_by_the_next_stronger_one() -> None:
    policy = Policy(reading_rungs={("verifier", ""): 1, ("verifier", "01_a"): 2})
    assert [policy.next_reading_rung("verifier", "01_a", rung) for rung in (0, 1, 2)] == [1, 2, 2]
    assert [policy.next_reading_rung("verifier", "02_b", rung) for rung in (0, 1)] == [1, 1]
    assert policy.next_reading_rung("reviewer", "01_a", 0) == 0


def test_a_rung_that_the_settings_no_longer_have_is_kept() -> None:
    assert Policy().next_reading_rung("verifier", "01_a", 2) == 2
