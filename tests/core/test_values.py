"""A late dataclass is to its users what the library's is, before and after its methods are compiled."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
from dataclasses import field
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import ClassVar, Generic, TypeVar

import pydantic
import pytest

from agent_fox.core.values import LATE, Json, dataclass, to_document, to_object

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    names: tuple[str, ...] = field(default=(), compare=False)
    seen: list[int] = field(default_factory=list, repr=False, hash=False)
    unit: ClassVar[str] = "mm"


@dataclasses.dataclass(frozen=True, slots=True)
class TheirPoint:
    x: int
    y: int = 2
    names: tuple[str, ...] = field(default=(), compare=False)
    seen: list[int] = field(default_factory=list, repr=False, hash=False)
    unit: ClassVar[str] = "mm"


@dataclass(frozen=True, slots=True)
class Checked:
    """With methods of its own."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("below 0")

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checked)

    def __hash__(self) -> int:
        return 7


@dataclass(frozen=True, slots=True)
class Box(Generic[T]):
    held: T


@dataclass(frozen=True, slots=True)
class Deep(Point):
    z: int = 3


def test_it_is_late_at_all() -> None:
    @dataclass(frozen=True, slots=True)
    class Unused:
        a: int

    before = {name: vars(Unused)[name] for name in LATE}
    assert Unused(1).a == 1
    assert all(vars(Unused)[name] is not method for name, method in before.items())


def test_what_makes_a_class_compiles_nothing() -> None:
    compiled: list[str] = []

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and called in (exec, compile):
            compiled.append(frame.f_code.co_name)

    sys.setprofile(watch)
    try:

        @dataclass(frozen=True, slots=True)
        class Unused:
            a: int

    finally:
        sys.setprofile(None)
    assert compiled == []
    assert Unused(a=1) == Unused(1)


def test_a_class_without_words_of_its_own_is_told_by_its_name() -> None:
    assert (Point.__doc__, Checked.__doc__) == ("Point", "With methods of its own.")


def test_it_is_made_compared_hashed_and_shown_as_the_librarys_is() -> None:
    assert (Point(1), Point(1, 3, seen=[4])) != (Point(2), Point(1))
    assert Point(1, names=("a",)) == Point(1)
    assert Point(1, seen=[1]) != Point(1, seen=[2])
    assert hash(Point(1, seen=[1])) == hash(Point(1, seen=[2])) == hash(TheirPoint(1))
    assert repr(Point(1, names=("a",))) == "Point(x=1, y=2, names=('a',))"
    assert Point(1).seen is not Point(1).seen
    assert Point(1) != TheirPoint(1)  # type: ignore[comparison-overlap]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_whatever_is_asked_first_makes_it() -> None:
    @dataclass(frozen=True, slots=True)
    class Held:
        a: int = 1

    bare = Held.__new__(Held)
    object.__setattr__(bare, "a", 1)
    assert bare == Held()
    assert {bare: "found"}[Held()] == "found"


@pytest.mark.parametrize("kind", [Point, TheirPoint])
def test_nothing_of_it_can_be_set_or_deleted(kind: type[Point]) -> None:
    one = kind(1)
    for name in ("x", "other"):
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError, AttributeError)):
            setattr(one, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    assert not hasattr(one, "__dict__")


def test_who_tries_is_told_which_field_it_was() -> None:
    one = Point(1)
    for name in ("x", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)


def test_a_class_above_it_may_have_more_that_can_be_set_and_deleted() -> None:
    class Named(Point):
        name: str

    one = Named(1)
    one.name = "first"
    assert (one.name, one.x) == ("first", 1)
    del one.name
    assert not hasattr(one, "name")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x


def test_a_copy_is_made_by_what_the_class_says_of_its_state() -> None:
    @dataclass(frozen=True, slots=True)
    class Kept:
        a: int

        def __getstate__(self) -> object:
            return self.a + 1

        def __setstate__(self, state: int) -> None:
            object.__setattr__(self, "a", state * 10)

    assert copy.copy(Kept(1)) == Kept(20)


def test_a_state_that_is_not_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Point.__new__(Point).__setstate__([1])  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [Point, TheirPoint])
def test_the_librarys_functions_take_it(kind: type[Point]) -> None:
    one = kind(1, seen=[5])
    assert dataclasses.replace(one, x=4) == kind(4, seen=[5])
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "names": (), "seen": [5]}
    assert [part.name for part in dataclasses.fields(kind)] == ["x", "y", "names", "seen"]
    assert (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))) == (one, one, one)
    match one:
        case kind(x, 2):
            assert x == 1
        case _:
            pytest.fail("it does not match by position")


def test_pydantic_reads_and_writes_it() -> None:
    reader = pydantic.TypeAdapter(tuple[Point, ...])
    read = reader.validate_json('[{"x": 1, "seen": [1]}, {"x": 2, "y": 0, "names": ["a"]}]')
    assert read == (Point(1, seen=[1]), Point(2, 0, ("a",)))
    assert reader.validate_json(reader.dump_json(read)) == read
    with pytest.raises(pydantic.ValidationError, match="x\n  Field required"):
        reader.validate_python([{"y": 1}])


def test_methods_of_its_own_stay_and_what_follows_the_making_runs() -> None:
    assert (repr(Checked(1)), Checked(1) == Checked(2), hash(Checked(1))) == ("own", True, 7)
    with pytest.raises(ValueError, match="below 0"):
        Checked(-1)


@pytest.mark.parametrize("make", [dataclass, dataclasses.dataclass])
def test_a_making_of_its_own_stays_and_what_has_no_fields_is_a_value_too(make: type) -> None:
    @make(frozen=True, slots=True)
    class Doubled:
        size: int

        def __init__(self, half: int) -> None:
            object.__setattr__(self, "size", 2 * half)

    @make(frozen=True, slots=True)
    class Nothing:
        pass

    assert repr(Doubled(4)).endswith("Doubled(size=8)")
    assert Nothing() == Nothing()


def test_one_may_be_generic_or_the_base_of_another() -> None:
    assert Box(1) == Box[int](1) != Box(2)
    assert Deep(1, z=4) == Deep(1, z=4) != Deep(1)
    assert repr(Deep(1)) == "Deep(x=1, y=2, names=(), z=3)"
    assert isinstance(Deep(1), Point)


def test_it_is_to_the_library_as_one_of_its_own() -> None:
    assert repr(vars(Point)["__dataclass_params__"]) == repr(vars(TheirPoint)["__dataclass_params__"])
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):

        @dataclasses.dataclass
        class Loose(Point):  # type: ignore[misc] # this is what the library refuses
            pass


class Size(Enum):
    SMALL = "small"


class Word(str):
    """What pydantic and others hand on as a text."""


class Count(int):
    """What is a number beside what it is."""


@dataclass(frozen=True, slots=True)
class Sized:
    name: str
    size: Size
    most: float | None = None

    @property
    def title(self) -> str:
        return f"the {self.name}"


@pytest.mark.parametrize(
    ("value", "document", "loud"),
    [
        (None, None, None),
        (True, True, True),
        (1.5, 1.5, 1.5),
        (Count(3), 3, 3),
        ("a", "a", "A"),
        (Word("a"), "a", "A"),
        (Size.SMALL, "small", "SMALL"),
        ({1: "a", "b": Size.SMALL}, {"1": "a", "b": "small"}, {"1": "A", "b": "SMALL"}),
        (["b", "a", 3], ["b", "a", 3], ["B", "A", 3]),
        (("b", Word("a")), ["b", "a"], ["B", "A"]),
        (frozenset({"b", "a", "c"}), ["a", "b", "c"], ["A", "B", "C"]),
        (
            Sized("a", Size.SMALL), {"name": "a", "size": "small", "most": None},
            {"name": "A", "size": "SMALL", "most": None},
        ),
        (Box([Box("a")]), {"held": [{"held": "a"}]}, {"held": [{"held": "A"}]}),
    ],
)  # fmt: skip
def test_a_value_has_one_form_as_a_document_and_every_text_in_it_can_be_replaced(
    value: object, document: Json, loud: Json
) -> None:
    assert to_document(value) == document
    assert to_document(value, str.upper) == loud


@pytest.mark.parametrize("value", [b"a", Path("a"), [object()]])
def test_what_json_has_no_form_for_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="must be called with a dataclass type or instance"):
        to_document(value)


def test_an_object_has_all_fields_or_those_that_are_asked_for_in_their_order() -> None:
    sized = Sized("a", Size.SMALL, 2.5)
    assert list(to_object(sized).items()) == [("name", "a"), ("size", "small"), ("most", 2.5)]
    assert list(to_object(sized, only=("size", "title")).items()) == [("size", "small"), ("title", "the a")]
    assert to_object(sized, without=("size",)) == {"name": "a", "most": 2.5}
    assert to_object(sized, only=("size", "name"), without=("size",), text=str.upper) == {"name": "A"}
