"""What is imported or made only when it is first asked for: entries of tables, modules, schemas of module level."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Generic, TypeVar

from agent_fox.core.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Late(Generic[T]):
    """One entry of a table: `module:NAME`, the place of a T. The module is imported by the first `load`."""

    place: str

    def load(self) -> T:
        module, name = self.place.split(":")
        loaded: T = getattr(import_module(module), name)
        return loaded


class LateModule:
    """What only a command's body needs, so that its help, and what it does otherwise, start without it:

    if TYPE_CHECKING:
        from agent_fox.evidence.signing import keys
    else:
        keys = late_module("agent_fox.evidence.signing.keys")

    It stands where the module's name is wanted, and imports the module when something of it is first asked for.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> object:
        return getattr(import_module(self.name), attribute)


late_module = LateModule


def moved(old: str, new: str) -> Callable[[str], object]:
    """The `__getattr__` of a module that has moved: what is asked of it comes from the new one, with a warning."""

    def attribute(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        warnings.warn(f"{old} is {new} now", DeprecationWarning, stacklevel=2)
        return getattr(import_module(new), name)

    return attribute


def adapter(make: Callable[[], T]) -> T:
    """What `make` makes, but at the first use: `ORDER = adapter(lambda: TypeAdapter(Order))`."""
    return LateAdapter(make)  # type: ignore[return-value] # it stands in for what it makes


class LateAdapter:
    """An adapter that is made when one of its attributes is first asked for, and kept."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make
        self.made: object = None

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self.build(), name)
        return value

    def build(self) -> object:
        if self.made is None:
            self.made = self.make()
        return self.made
