"""What the shapes of programs' lines are made of. Of a line only what a shape names is read."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Word = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Count = Annotated[int, Field(ge=0)]


class Shape(BaseModel, defer_build=True):
    """Part of a line, of the very types that it names."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)
