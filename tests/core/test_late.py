"""What is late is imported when it is asked for, and not before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest
from pydantic import TypeAdapter

from agent_fox.core.late import Late, adapter, late_module, moved

PROGRAM = """
import sys
from agent_fox.core.late import Late, adapter, late_module
entry, module = Late("wave:Error"), late_module("colorsys")
assert not {"wave", "colorsys"} & set(sys.modules)
entry.load(), module.rgb_to_hsv
assert {"wave", "colorsys"} <= set(sys.modules)
"""


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_an_entry_is_what_stands_at_its_place() -> None:
    half: Late[Callable[[int, int], Fraction]] = Late("fractions:Fraction")
    assert half.load()(1, 2) == Fraction(1, 2)


def test_a_late_module_gives_what_the_module_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    module = late_module("colorsys")
    monkeypatch.setattr("colorsys.ONE_THIRD", "replaced")
    assert module.ONE_THIRD == "replaced"


def test_what_is_asked_of_a_module_that_has_moved_comes_from_the_new_one_with_a_warning_to_who_asks() -> None:
    attribute = moved("old.place", "colorsys")
    with pytest.warns(DeprecationWarning, match=r"^old\.place is colorsys now$") as told:
        assert attribute("ONE_THIRD") == 1 / 3
    assert [each.filename for each in told] == [__file__]
    with pytest.raises(AttributeError, match=r"^__path__$"):
        attribute("__path__")


@pytest.mark.parametrize(("place", "error"), [("no_such:thing", ModuleNotFoundError), ("json:no_such", AttributeError)])
def test_a_wrong_place_is_an_error_at_its_first_use(place: str, error: type[Exception]) -> None:
    entry: Late[object] = Late(place)
    with pytest.raises(error):
        entry.load()


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
