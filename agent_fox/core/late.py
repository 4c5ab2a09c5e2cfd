"""What a table names and nobody imports before it is asked for; not what any table holds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Late(Generic[T]):
    """One entry of a table: `module:NAME`, the place of a T. The module is imported by the first `load`."""

    place: str

    def load(self) -> T:
        module, _, name = self.place.partition(":")
        found: T = getattr(import_module(module), name)
        return found
