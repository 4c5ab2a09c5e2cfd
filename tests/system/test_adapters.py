"""An adapter is made when it is first used, once."""

from __future__ import annotations

from pydantic import TypeAdapter

from agent_fox.system.adapters import adapter


def test_an_adapter_is_made_at_its_first_use_and_kept() -> None:
    made: list[str] = []

    def make() -> TypeAdapter[list[int]]:
        made.append("once")
        return TypeAdapter(list[int])

    numbers = adapter(make)
    assert made == []
    assert numbers.validate_python(["1", 2]) == [1, 2]
    assert numbers.dump_json([3]) == b"[3]"
    assert made == ["once"]
