"""Schemas of module level, built when they are first used; not what they describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def adapter(make: Callable[[], TypeAdapter[T]]) -> TypeAdapter[T]:
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
