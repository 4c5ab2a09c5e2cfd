"""What the shapes of programs' lines are made of. Of a line only what a shape names is read."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T")
Word = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Count = Annotated[int, Field(ge=0)]
Many = Annotated[tuple[T, ...], Field(strict=False)]


class Shape(BaseModel, defer_build=True):
    """Part of a line, of the very types that it names."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)
