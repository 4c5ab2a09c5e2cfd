"""Which texts are near enough to each other that a pairing needs no person."""

from __future__ import annotations

import pytest

from agent_fox.core.likeness import MARGIN, Near

WORDS = [f"w{number}" for number in range(40)]


def text(shared: int) -> frozenset[str]:
    """Forty words, so many of which are those of WORDS."""
    return frozenset((*WORDS[:shared], *(f"other{shared}-{number}" for number in range(40 - shared))))


@pytest.mark.parametrize(("shared", "is_rival"), [(39, True), (38, False), (37, False)])
def test_a_text_is_a_rival_only_where_it_is_nearer_than_the_margin(shared: int, is_rival: bool) -> None:
    assert MARGIN == 0.05  # two words of forty, to the last bit
    pairs, doubts = Near({"new": text(40)}, {"same": text(40), "near": text(shared)}, 0.5).pairs()
    assert (pairs, doubts) == (({}, {"new": ("same", "near")}) if is_rival else ({"new": "same"}, {}))
