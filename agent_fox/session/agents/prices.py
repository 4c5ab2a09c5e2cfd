"""What tokens cost, from a dated table that ships with the package and a project's own file over it.

A model that neither lists has no price, and what it did has no known cost: no price is ever guessed from a similar
name.
"""

from __future__ import annotations

from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agent_fox.core.regex import regex
from agent_fox.system.toml_tables import TableError, explain, read_table

if TYPE_CHECKING:
    from agent_fox.session.agents.events import Tokens

SHIPPED = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000

Dollars = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]

_DATE = regex(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$")
_WINDOW = regex(r"\[\w+\]$")


class PricesError(ValueError):
    """A file of prices that cannot be used: one line with the file, the place, and what is allowed."""


class _Table(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rates(_Table):
    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_complete(cls, data: object) -> object:
        if isinstance(data, dict):
            missing = [name for name, field in cls.model_fields.items() if field.is_required() and name not in data]
            if missing:
                raise ValueError(f"{' and '.join(missing)} must be given too")
        return data

    def cost(self, tokens: Tokens) -> float:
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        fresh = tokens.input * self.input + tokens.output * self.output
        return (fresh + tokens.cache_read * read + tokens.cache_write * write) / MILLION


class _LongRates(_Rates):
    above: int = Field(ge=1)


class ModelPrice(_Rates):
    """Dollars per million tokens of one model; `long` those of a request with a prompt of more than `above` tokens."""

    long: _LongRates | None = None

    @property
    def is_free(self) -> bool:
        rates = (self, *([self.long] if self.long is not None else []))
        return not any(rate.input or rate.output or rate.cache_read or rate.cache_write for rate in rates)

    def of(self, tokens: Tokens) -> float:
        """Dollars of one request."""
        if self.long is not None and tokens.all_input > self.long.above:
            return self.long.cost(tokens)
        return self.cost(tokens)


class Prices(_Table):
    """A table of prices. `as_of` is when its newest figure was read; a project's own prices are in `own`."""

    as_of: date
    models: dict[str, ModelPrice] = Field(default_factory=dict)
    own: dict[str, ModelPrice] = Field(default_factory=dict, exclude=True)

    def find(self, model: str) -> ModelPrice | None:
        """The price of a model under any of its names, None where it is not listed."""
        names = names_of(model)
        candidates = (_best(name, table) for table in (self.own, self.models) for name in names)
        return next((price for price in candidates if price is not None), None)


class _OwnFile(_Table):
    as_of: date | None = None
    models: dict[str, ModelPrice] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_are_not_empty(self) -> _OwnFile:
        if any(not name.strip() for name in self.models):
            raise ValueError("a model has no name")
        return self


def read_prices(extra: Path | None = None) -> Prices:
    """The shipped table with the project's own file over it, where there is one.

    Raises PricesError for a file that is not such a table.
    """
    shipped = Prices.model_validate(read_table(SHIPPED, SHIPPED))
    if extra is None:
        return shipped
    try:
        table = read_table(extra, extra)
        own = _OwnFile.model_validate(table)
    except TableError as error:
        raise PricesError(str(error)) from error
    except ValidationError as error:
        raise PricesError(explain(error, _OwnFile, table, {}, extra)) from error
    lowered = {name.lower(): price for name, price in own.models.items()}
    return shipped.model_copy(update={"own": lowered, "as_of": own.as_of or shipped.as_of})


def price(model: str, tokens: Tokens, table: Prices) -> float | None:
    """Dollars of one request's tokens; None where the model is not listed."""
    listed = table.find(model)
    return None if listed is None else listed.of(tokens)


def price_of_sum(model: str, tokens: Tokens, table: Prices) -> float | None:
    """Dollars of several requests that are known together only: as if none of them had a long prompt."""
    listed = table.find(model)
    return None if listed is None else listed.cost(tokens)


def names_of(model: str) -> tuple[str, ...]:
    """What a model may be listed as: as it is called, without its provider or window, without its date."""
    whole = model.strip().lower()
    bare = _WINDOW.sub("", whole.rpartition("/")[2])
    undated = _DATE.sub("", bare).removesuffix("-latest")
    return tuple(dict.fromkeys(name for name in (whole, bare, undated) if name))


def _best(name: str, table: dict[str, ModelPrice]) -> ModelPrice | None:
    if name in table:
        return table[name]
    fitting = [pattern for pattern in table if "*" in pattern and fnmatchcase(name, pattern)]
    return table[max(fitting, key=lambda pattern: (len(pattern), pattern))] if fitting else None


def prices_of(repo: Path) -> Path | None:
    own = repo / ".agent-fox/prices.toml"
    return own if own.is_file() else None
