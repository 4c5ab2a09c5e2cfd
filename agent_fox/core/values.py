"""Values: dataclasses whose methods are compiled when one of them is first called, and their form as JSON documents.

A command loads up to 180 dataclasses and uses a few of them; compiling the methods of them all was nearly half of its
start. See ADR 0041; of documents, ADR 0058. Not what the values mean.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Set
from enum import Enum
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):  # noqa: ANN001, ANN003, ANN201 - the library's own types, see above
        """`dataclasses.dataclass`; late for a class without a dataclass as base that is `frozen` with `slots`."""
        if cls is None:
            return lambda given: dataclass(given, **options)
        has_base = any(dataclasses.is_dataclass(base) for base in cls.__bases__)
        if has_base or options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(cls, **options)
        return _late(cls)


PLAIN = frozenset({type(None), bool, int, float})
PLAIN_OR_TEXT = PLAIN | {str}
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_document(value: object, text: Callable[[str], str] | None = None) -> Json:
    """The value in JSON's own types: a dataclass is an object with its fields in order, a sequence a list, a set a
    sorted list, a word of an enumeration its value. `text` is applied to every text but names.

    Raises TypeError for what JSON has no form for, such as bytes or a path.
    """
    if type(value) in (PLAIN if text else PLAIN_OR_TEXT):  # nearly all; the rest is asked one by one
        return value  # type: ignore[return-value]
    match value:
        case Enum():
            return to_document(value.value, text)
        case str():
            return text(value) if text else value
        case int() | float():
            return value
        case Mapping():
            return {str(name): to_document(each, text) for name, each in value.items()}
        case list() | tuple() | Set():
            return [to_document(each, text) for each in (sorted(value) if isinstance(value, Set) else value)]
    return to_object(value, text=text)


def to_object(
    value: object, *, only: Iterable[str] = (), without: Iterable[str] = (), text: Callable[[str], str] | None = None
) -> dict[str, Json]:
    """A dataclass as an object: all fields, `only` these and in this order (properties too), or all `without` some."""
    names = only or names_of(type(value))  # type: ignore[arg-type] # a class has a hash
    if without:
        names = [name for name in names if name not in without]
    as_it_is = PLAIN if text else PLAIN_OR_TEXT
    return {name: each if type(each := getattr(value, name)) in as_it_is else to_document(each, text) for name in names}


@cache
def names_of(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass in their order. Raises TypeError for another class."""
    return tuple(each.name for each in dataclasses.fields(kind))


LATE = ("__init__", "__repr__", "__eq__", "__hash__")
BARE = {"init": False, "repr": False, "eq": False, "slots": True}
"""What the library makes of a late class at once: its fields and slots, and no method."""


def _late(cls: type[object]) -> type[object]:
    """The class with its fields and slots, and for each method of LATE that it does not define one that makes it."""
    own = dict(vars(cls))
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # the library would ask for the signature, which takes longer than all the rest
    made = dataclasses.dataclass(**BARE)(cls)
    params = vars(made)["__dataclass_params__"]
    params.init = params.repr = params.eq = params.frozen = True
    late = [name for name in LATE if own.get(name) is None]

    def build() -> None:
        kept = {
            name: own[name]
            for name in ("__module__", "__annotations__", *own.get("__annotations__", ()))
            if name in own
        }
        if hasattr(made, "__post_init__"):
            kept["__post_init__"] = made.__post_init__
        twin: type[object] = dataclasses.dataclass(frozen=True)(type(cls.__name__, (), kept))
        for name in late:
            setattr(made, name, vars(twin)[name])

    for name in late:
        setattr(made, name, _building(made, name, build))
    _freeze(made, {name for name in ("__getstate__", "__setstate__") if name in own})
    return made


def _building(made: type[object], name: str, build: Callable[[], None]) -> Callable[..., object]:
    """The method that makes all late ones, and then does what it is called for."""

    def method(self: object, *arguments: object, **named: object) -> object:
        build()
        return getattr(made, name)(self, *arguments, **named)

    method.__name__ = name
    return method


def _freeze(made: type[object], defined: set[str]) -> None:
    """What the library gives to a frozen class with slots: no field is set or deleted, and a copy has all of them."""
    names = tuple(field.name for field in dataclasses.fields(made))  # type: ignore[arg-type] # it was made one above

    def refuse_setting(self: object, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def refuse_deleting(self: object, name: str) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def set_state(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    methods = {"__setattr__": refuse_setting, "__delattr__": refuse_deleting}
    methods |= {
        name: method for name, method in (("__getstate__", state), ("__setstate__", set_state)) if name not in defined
    }
    for name, method in methods.items():
        setattr(made, name, method)
