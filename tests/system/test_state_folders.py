"""How a node is called in names of files."""

from __future__ import annotations

from agent_fox.system.state_folders import file_name


def test_logs_of_nodes_with_names_that_look_alike_are_told_apart() -> None:
    names = ["a b:1", "a-b:1", "a+b:1", "a/b:1", "ä b:1"]
    assert file_name("04_gateway:2:reviewer:audit-review") == "04_gateway-2-reviewer-audit-review"
    assert file_name("a-b:1") == "a-b-1"
    assert len({file_name(name) for name in names}) == len(names)
    assert not any(letter in file_name(name) for name in names for letter in " /+:")
