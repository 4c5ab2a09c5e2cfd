"""What a launch is called on disk."""

from __future__ import annotations

from agent_fox.engine.launching import safe


def test_logs_of_nodes_with_names_that_look_alike_are_told_apart() -> None:
    names = ["a b:1", "a-b:1", "a+b:1", "a/b:1", "ä b:1"]
    assert safe("04_gateway:2:reviewer:audit-review") == "04_gateway-2-reviewer-audit-review"
    assert safe("a-b:1") == "a-b-1"
    assert len({safe(name) for name in names}) == len(names)
    assert not any(letter in safe(name) for name in names for letter in " /+:")
