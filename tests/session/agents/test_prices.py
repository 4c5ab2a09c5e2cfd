"""Prices: the shipped table, a project's own over it, and names under which a model is known."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.session.agents.events import Tokens
from agent_fox.session.agents.prices import PricesError, names_of, price, price_of_sum, read_prices

SHIPPED = read_prices()
MILLION = 1_000_000


def test_the_shipped_table_is_dated_and_holds_all_three_providers() -> None:
    assert date(2026, 11, 1) <= SHIPPED.as_of <= date(2026, 12, 31)
    for beginning in ("claude-", "gpt-", "gemini-"):
        assert sum(name.startswith(beginning) for name in SHIPPED.models) >= 8


def test_every_shipped_price_is_plausible() -> None:
    for name, listed in SHIPPED.models.items():
        assert 0 < listed.input < listed.output <= 100, name
        assert listed.cache_read is not None, name
        assert listed.cache_read < listed.input, name
        assert listed.cache_write is None or listed.input < listed.cache_write < 2 * listed.input, name
        if listed.long is not None:
            assert listed.long.input > listed.input, name
            assert listed.long.output > listed.output, name


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        (Tokens(input=MILLION), 4.00),
        (Tokens(output=MILLION), 20.00),
        (Tokens(cache_read=MILLION), 0.20),
        (Tokens(cache_write=MILLION), 5.00),
        (Tokens(input=37_787, output=36), 0.151868),
        (Tokens(), 0.0),
    ],
)
def test_a_request_costs_what_each_kind_of_token_costs(tokens: Tokens, dollars: float) -> None:
    assert price("claude-opus-5-5", tokens, SHIPPED) == pytest.approx(dollars)


def test_a_long_prompt_costs_more_and_caches_count_to_its_length() -> None:
    short, long = Tokens(input=40_000, cache_read=60_000), Tokens(input=40_000, cache_read=60_001)
    assert price("claude-haiku-5-5", short, SHIPPED) == pytest.approx(0.0046)
    assert price("claude-haiku-5-5", long, SHIPPED) == pytest.approx(0.02300005)
    assert price_of_sum("claude-haiku-5-5", long, SHIPPED) == pytest.approx(0.00460001)


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-5-5",
        "Claude-Opus-5-5",
        "anthropic/claude-opus-5-5",
        "openrouter/anthropic/claude-opus-5-5",
        "claude-opus-5-5-20260922",
        "claude-opus-5-5@20260922",
        "claude-opus-5-5[1m]",
        "anthropic/claude-opus-5-5-20260922[1m]",
        "claude-opus-5-5-latest",
        " claude-opus-5-5 ",
    ],
)
def test_a_model_is_known_by_all_its_names(name: str) -> None:
    assert SHIPPED.find(name) == SHIPPED.models["claude-opus-5-5"]


def test_openai_dates_and_google_paths_are_known_too() -> None:
    assert SHIPPED.find("openai/gpt-5.4-mini-2026-03-05") == SHIPPED.models["gpt-5.4-mini"]
    assert SHIPPED.find("models/gemini-2.5-flash-lite") == SHIPPED.models["gemini-2.5-flash-lite"]
    assert SHIPPED.find("gemini-3.1-pro-preview-customtools") == SHIPPED.models["gemini-3.1-pro-preview*"]


@pytest.mark.parametrize(
    "name", ["", "/", "scripted", "gpt-5.4-ultra", "claude-opus-5-6", "claude-opus", "gpt", "gemini-2.5-pro-tts", "*"]
)
def test_a_model_that_is_not_listed_has_no_price(name: str) -> None:
    assert price(name, Tokens(1, 1), SHIPPED) is None


def test_a_projects_own_file_comes_first_and_the_rest_stays(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(
        'as_of = "2027-01-01"\n[models]\n'
        'Scripted = { input = 1, output = 2 }\n"gpt-5.4*" = { input = 7, output = 8 }\n'
        '"gpt-5.4-m*" = { input = 9, output = 9 }\n'
        "claude-opus-5-5 = { input = 100, output = 200 }\n"
    )
    table = read_prices(own)
    assert table.as_of == date(2027, 1, 1)
    assert price("scripted", Tokens(MILLION, MILLION, MILLION, MILLION), table) == 5
    assert price("claude-opus-5-5", Tokens(input=MILLION), table) == 100
    assert price("claude-opus-5", Tokens(input=MILLION), table) == 5
    assert price("gpt-5.4-nano", Tokens(input=MILLION), table) == 7
    assert price("gpt-5.4-mini", Tokens(input=MILLION), table) == 9


def test_no_file_of_its_own_is_no_error(tmp_path: Path) -> None:
    assert read_prices(tmp_path / "prices.toml") == SHIPPED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[models", "this is not TOML"),
        ('[models]\nx = { input = "free", output = 1 }', "models.x.input"),
        ("[models]\nx = { input = -1, output = 1 }", "models.x.input"),
        ("[models]\nx = { input = nan, output = 1 }", "models.x.input"),
        ("[models]\nx = { input = 1 }", "output must be given"),
        ("[models]\nx = { input = 1, output = 1, cached = 1 }", "models.x.cached"),
        ("[models]\nx = { input = 1, output = 1, long = { input = 1, output = 2 } }", "above must be given"),
        ('[models]\n"" = { input = 1, output = 1 }', "has no name"),
        ("[prices]\nx = 1", "prices"),
        ('as_of = "soon"', "as_of"),
        ("\xff", "prices.toml"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(text: str, says: str, tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_bytes(text.encode("latin-1"))
    with pytest.raises(PricesError) as raised:
        read_prices(own)
    assert says in str(raised.value)
    assert str(own) in str(raised.value)
    assert "\n" not in str(raised.value)


@given(st.text(max_size=60))
def test_any_name_is_looked_for_without_an_error(name: str) -> None:
    assert len(names_of(name)) <= 3
    assert price(name, Tokens(1, 1), SHIPPED) is None or any(each in SHIPPED.models for each in names_of(name))
