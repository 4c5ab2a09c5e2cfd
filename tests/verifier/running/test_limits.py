"""Bounds on a command, and how they are said."""

from __future__ import annotations

from agent_fox.system.cgroups import places
from agent_fox.verifier.running.limits import OUR_OWN, Limits, confined

HELD = {place.resource.controller for place in places()}


def test_every_bound_holds_in_a_group_or_is_watched() -> None:
    with confined(Limits(1.0, 1, 64 << 20, 10)) as bounds:
        in_group = {"memory": bounds.group.is_bounding("memory"), "processes": bounds.group.is_bounding("pids")}
        assert in_group == {"memory": "memory" in HELD, "processes": "pids" in HELD}
        everything = {"memory": 64 << 20, "processes": 10 + OUR_OWN}
        assert bounds.watched == {name: bound for name, bound in everything.items() if not in_group[name]}


def test_bounds_are_said_in_words_with_how_well_they_hold() -> None:
    with confined(Limits(1.0, 1, 64 << 20, 10)) as bounds:
        memory, processes = bounds.words.split("; ")
    assert memory.startswith("at most 64 MiB of memory")
    assert processes.startswith("at most 10 processes")
    assert ("only looked at" in memory) == ("memory" not in HELD)
    assert ("only looked at" in processes) == ("pids" not in HELD)


def test_no_bound_is_no_word() -> None:
    with confined(Limits(1.0, 1)) as bounds:
        assert (bounds.words, bounds.watched, bounds.group.folders) == ("", {}, ())
