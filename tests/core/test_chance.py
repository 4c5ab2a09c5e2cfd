"""Chance that anybody can work out again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.chance import drawn


@given(st.text(), st.text())
def test_a_number_is_from_zero_up_to_one_and_the_same_every_time(seed: str, name: str) -> None:
    assert 0 <= drawn(seed, name) < 1
    assert drawn(seed, name) == drawn(seed, name)


def test_half_of_many_names_are_below_one_half() -> None:
    below = sum(drawn("seed", f"spec {number}") < 0.5 for number in range(10_000))
    assert 4_800 < below < 5_200


def test_another_seed_draws_anew() -> None:
    numbers = {drawn(f"seed {number}", "01_a") for number in range(1_000)}
    assert len(numbers) == 1_000
