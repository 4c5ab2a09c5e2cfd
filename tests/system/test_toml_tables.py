"""Tables from TOML and variables, for any model."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from agent_fox.system.toml_tables import Toml, explain, put_variables, read_table

FILE = Path("shop.toml")


class Shelf(BaseModel):
    model_config = ConfigDict(extra="forbid")
    width: int = 1


class Shop(BaseModel):
    model_config = ConfigDict(extra="forbid")
    shelves: dict[str, list[Shelf]] = {}
    name: str | int = ""


def complaint(table: Toml) -> str:
    with pytest.raises(ValidationError) as caught:
        Shop.model_validate(table)
    return explain(caught.value, Shop, table, {}, FILE)


def test_a_file_that_is_not_there_is_an_empty_table(tmp_path: Path) -> None:
    assert read_table(tmp_path / "shop.toml", FILE) == {}


def test_a_variable_makes_the_tables_it_needs() -> None:
    table: Toml = {}
    places = put_variables(table, "SHOP__", {"SHOP__A__B": "1", "OTHER__A": "2"})
    assert (table, places) == ({"a": {"b": 1}}, {("a", "b"): "SHOP__A__B"})


def test_a_key_in_a_list_in_a_named_table_is_found() -> None:
    said = complaint({"shelves": {"left": [{}, {"widht": 3}]}})
    assert said.startswith("shop.toml: shelves.left[1].widht = 3: unknown setting; did you mean")
    assert "shelves.left[1].width" in said


def test_what_the_branches_of_a_type_allow_is_one_sentence() -> None:
    assert complaint({"name": []}) == "shop.toml: name = []: allowed is a text or a whole number"
